"""pyrovice: sparse, non-negative embeddings from odd-one-out judgments, in Pyro."""

from pyrovice import bounds, checks, guides, participants, plot, priors
from pyrovice.calibration import Calibration
from pyrovice.checkpoints import Checkpoint
from pyrovice.diagnosis import diagnose
from pyrovice.errors import (
    CheckpointError,
    DataError,
    GuideError,
    OverwriteError,
    PriorError,
    PyroviceError,
    PyroviceWarning,
    SavedFitError,
    WriteError,
)
from pyrovice.evaluation import Evaluation
from pyrovice.example import load_example
from pyrovice.fitted import Fit
from pyrovice.fitting import fit, spose
from pyrovice.guides import MAP, LowRank, MeanField
from pyrovice.inference_data import to_arviz
from pyrovice.model import Model
from pyrovice.model_comparison import compare
from pyrovice.priors import ARD, Horseshoe, LearnedSpikeSlab, SpikeSlab
from pyrovice.refining import refine
from pyrovice.reproducibility import (
    Reproducibility,
    align,
    redundancy,
    representative,
    reproducibility,
)
from pyrovice.sampling import sample
from pyrovice.significance import ChoiceComparison, compare_choices, compare_dimensions
from pyrovice.simulation import simulate
from pyrovice.stopping import MaxEpochs, Stability
from pyrovice.storage import load
from pyrovice.sweeping import sweep
from pyrovice.sweeps import Sweep
from pyrovice.training import Anneal, Training
from pyrovice.tripletizing import tripletize
from pyrovice.triplets import Triplets

__version__ = "0.1.0"

__all__ = [
    "ARD",
    "MAP",
    "Anneal",
    "Calibration",
    "Checkpoint",
    "CheckpointError",
    "ChoiceComparison",
    "DataError",
    "Evaluation",
    "Fit",
    "GuideError",
    "Horseshoe",
    "LearnedSpikeSlab",
    "LowRank",
    "MaxEpochs",
    "MeanField",
    "Model",
    "OverwriteError",
    "PriorError",
    "PyroviceError",
    "PyroviceWarning",
    "Reproducibility",
    "SavedFitError",
    "SpikeSlab",
    "Stability",
    "Sweep",
    "Training",
    "Triplets",
    "WriteError",
    "align",
    "bounds",
    "checks",
    "compare",
    "compare_choices",
    "compare_dimensions",
    "diagnose",
    "fit",
    "guides",
    "load",
    "load_example",
    "participants",
    "plot",
    "priors",
    "redundancy",
    "refine",
    "representative",
    "reproducibility",
    "sample",
    "simulate",
    "spose",
    "sweep",
    "to_arviz",
    "tripletize",
]

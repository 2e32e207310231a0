"""pyrovice: sparse, non-negative embeddings from odd-one-out judgments, in Pyro."""

from pyrovice import guides, plot
from pyrovice.criticism import bounds, checks
from pyrovice.criticism.across_seeds import (
    Reproducibility,
    align,
    redundancy,
    representative,
    reproducibility,
)
from pyrovice.criticism.diagnosis import diagnose
from pyrovice.criticism.model_comparison import compare
from pyrovice.criticism.people_reliability import people_reliability
from pyrovice.criticism.significance import ChoiceComparison, compare_choices, compare_dimensions
from pyrovice.data import participants, readers
from pyrovice.data.feature_files import read_features
from pyrovice.data.tripletizing import tripletize
from pyrovice.data.triplets import Triplets
from pyrovice.errors import (
    CheckpointError,
    ChoiceError,
    DataError,
    GuideError,
    OverwriteError,
    PriorError,
    PyroviceError,
    PyroviceWarning,
    SavedFitError,
    WriteError,
)
from pyrovice.guides import MAP, LowRank, MeanField
from pyrovice.inference.checkpoints import Checkpoint
from pyrovice.inference.fitting import fit, spose
from pyrovice.inference.nuts import sample
from pyrovice.inference.refining import refine
from pyrovice.inference.settings import Anneal, Training
from pyrovice.inference.stopping import MaxEpochs, Stability
from pyrovice.model import choices, priors
from pyrovice.model.example import load_example
from pyrovice.model.model import Model
from pyrovice.model.people import People
from pyrovice.model.priors import ARD, Features, Horseshoe, LearnedSpikeSlab, SpikeSlab
from pyrovice.model.simulation import simulate
from pyrovice.results.arviz_groups import to_arviz
from pyrovice.results.calibration import Calibration
from pyrovice.results.fit import Fit
from pyrovice.results.saved_fits import load
from pyrovice.results.scores import Evaluation
from pyrovice.storage.version import __version__
from pyrovice.sweeps.result import Sweep
from pyrovice.sweeps.run import sweep

__all__ = [
    "ARD",
    "MAP",
    "Anneal",
    "Calibration",
    "Checkpoint",
    "CheckpointError",
    "ChoiceComparison",
    "ChoiceError",
    "DataError",
    "Evaluation",
    "Features",
    "Fit",
    "GuideError",
    "Horseshoe",
    "LearnedSpikeSlab",
    "LowRank",
    "MaxEpochs",
    "MeanField",
    "Model",
    "OverwriteError",
    "People",
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
    "__version__",
    "align",
    "bounds",
    "checks",
    "choices",
    "compare",
    "compare_choices",
    "compare_dimensions",
    "diagnose",
    "fit",
    "guides",
    "load",
    "load_example",
    "participants",
    "people_reliability",
    "plot",
    "priors",
    "read_features",
    "readers",
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

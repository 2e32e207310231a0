"""pyrovice: sparse, non-negative embeddings from odd-one-out judgments, in Pyro.

Names are imported when they are first used, so that what is not needed takes no time.
"""

import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyrovice.storage.registry import FINDERS
from pyrovice.storage.version import __version__

if TYPE_CHECKING:
    from pyrovice import guides, plot
    from pyrovice.criticism import bounds, checks
    from pyrovice.criticism.across_seeds import (
        Reproducibility,
        align,
        redundancy,
        representative,
        reproducibility,
    )
    from pyrovice.criticism.asking import next_triplets
    from pyrovice.criticism.consensus import Consensus, consensus
    from pyrovice.criticism.diagnosis import diagnose
    from pyrovice.criticism.dimension_count import Dimensionality, dimensionality
    from pyrovice.criticism.exclusions import ExclusionEffect, exclusion_effect
    from pyrovice.criticism.forecasting import Forecast, forecast
    from pyrovice.criticism.group_embeddings import GroupComparison, compare_groups
    from pyrovice.criticism.interval_calibration import IntervalCalibration, calibrate
    from pyrovice.criticism.model_comparison import compare
    from pyrovice.criticism.people_reliability import people_reliability
    from pyrovice.criticism.significance import (
        ChoiceComparison,
        compare_choices,
        compare_dimensions,
    )
    from pyrovice.criticism.split_halves import SplitHalf, split_half
    from pyrovice.data import participants, readers
    from pyrovice.data.feature_files import read_features
    from pyrovice.data.trial_lists import read_answers, trial_list
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
    from pyrovice.inference.fitting import fit
    from pyrovice.inference.nuts import sample
    from pyrovice.inference.refining import refine
    from pyrovice.inference.settings import Anneal, Training
    from pyrovice.inference.spose_rate import spose
    from pyrovice.inference.stopping import MaxEpochs, Stability
    from pyrovice.model import choices, priors
    from pyrovice.model.example import load_example
    from pyrovice.model.model import Model
    from pyrovice.model.people import People
    from pyrovice.model.priors import (
        ARD,
        CumulativeShrinkage,
        Features,
        Horseshoe,
        LearnedSpikeSlab,
        SpikeSlab,
    )
    from pyrovice.model.simulation import simulate
    from pyrovice.results.arviz_groups import to_arviz
    from pyrovice.results.calibration import Calibration
    from pyrovice.results.fit import Fit
    from pyrovice.results.saved_fits import load
    from pyrovice.results.scores import Evaluation
    from pyrovice.sweeps.result import Sweep
    from pyrovice.sweeps.run import sweep

# Where each public name is, as above.
HOMES = {
    "pyrovice.criticism.across_seeds": (
        "Reproducibility",
        "align",
        "redundancy",
        "representative",
        "reproducibility",
    ),
    "pyrovice.criticism.consensus": (
        "Consensus",
        "consensus",
    ),
    "pyrovice.criticism.asking": ("next_triplets",),
    "pyrovice.criticism.diagnosis": ("diagnose",),
    "pyrovice.criticism.dimension_count": (
        "Dimensionality",
        "dimensionality",
    ),
    "pyrovice.criticism.exclusions": (
        "ExclusionEffect",
        "exclusion_effect",
    ),
    "pyrovice.criticism.forecasting": (
        "Forecast",
        "forecast",
    ),
    "pyrovice.criticism.group_embeddings": (
        "GroupComparison",
        "compare_groups",
    ),
    "pyrovice.criticism.interval_calibration": (
        "IntervalCalibration",
        "calibrate",
    ),
    "pyrovice.criticism.model_comparison": ("compare",),
    "pyrovice.criticism.people_reliability": ("people_reliability",),
    "pyrovice.criticism.significance": (
        "ChoiceComparison",
        "compare_choices",
        "compare_dimensions",
    ),
    "pyrovice.criticism.split_halves": (
        "SplitHalf",
        "split_half",
    ),
    "pyrovice.data.feature_files": ("read_features",),
    "pyrovice.data.trial_lists": (
        "read_answers",
        "trial_list",
    ),
    "pyrovice.data.tripletizing": ("tripletize",),
    "pyrovice.data.triplets": ("Triplets",),
    "pyrovice.errors": (
        "CheckpointError",
        "ChoiceError",
        "DataError",
        "GuideError",
        "OverwriteError",
        "PriorError",
        "PyroviceError",
        "PyroviceWarning",
        "SavedFitError",
        "WriteError",
    ),
    "pyrovice.guides": (
        "MAP",
        "LowRank",
        "MeanField",
    ),
    "pyrovice.inference.checkpoints": ("Checkpoint",),
    "pyrovice.inference.fitting": ("fit",),
    "pyrovice.inference.nuts": ("sample",),
    "pyrovice.inference.refining": ("refine",),
    "pyrovice.inference.settings": (
        "Anneal",
        "Training",
    ),
    "pyrovice.inference.spose_rate": ("spose",),
    "pyrovice.inference.stopping": (
        "MaxEpochs",
        "Stability",
    ),
    "pyrovice.model.example": ("load_example",),
    "pyrovice.model.model": ("Model",),
    "pyrovice.model.people": ("People",),
    "pyrovice.model.priors": (
        "ARD",
        "CumulativeShrinkage",
        "Features",
        "Horseshoe",
        "LearnedSpikeSlab",
        "SpikeSlab",
    ),
    "pyrovice.model.simulation": ("simulate",),
    "pyrovice.results.arviz_groups": ("to_arviz",),
    "pyrovice.results.calibration": ("Calibration",),
    "pyrovice.results.fit": ("Fit",),
    "pyrovice.results.saved_fits": ("load",),
    "pyrovice.results.scores": ("Evaluation",),
    "pyrovice.sweeps.result": ("Sweep",),
    "pyrovice.sweeps.run": ("sweep",),
}
MODULES = {
    "bounds": "pyrovice.criticism.bounds",
    "checks": "pyrovice.criticism.checks",
    "choices": "pyrovice.model.choices",
    "guides": "pyrovice.guides",
    "participants": "pyrovice.data.participants",
    "plot": "pyrovice.plot",
    "priors": "pyrovice.model.priors",
    "readers": "pyrovice.data.readers",
}
_WHERE = {name: home for home, names in HOMES.items() for name in names}
# The rooms can be reached by name too.
_ROOMS = (
    "cli", "criticism", "data", "errors", "guides", "inference", "model", "plot", "report",
    "results", "storage", "sweeps",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(_imported(_WHERE[name]), name)
    elif name in MODULES or name in _ROOMS:
        value = _imported(MODULES.get(name, f"pyrovice.{name}"))
    else:
        raise AttributeError(f"module 'pyrovice' has no attribute {name!r}")
    globals()[name] = value
    return value


def _imported(module: str) -> ModuleType:
    """Import a module of ours, silently: the first one brings Pyro with it."""
    with warnings.catch_warnings():
        # Said by tqdm in a notebook without ipywidgets, where bars are text.
        warnings.filterwarnings("ignore", message="IProgress not found")
        return import_module(module)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _import_all() -> None:
    """Have everything registered that a file may hold."""
    for home in HOMES:
        import_module(home)


FINDERS.append(_import_all)

__all__ = [
    "ARD",
    "MAP",
    "Anneal",
    "Calibration",
    "Checkpoint",
    "CheckpointError",
    "ChoiceComparison",
    "ChoiceError",
    "Consensus",
    "CumulativeShrinkage",
    "DataError",
    "Dimensionality",
    "Evaluation",
    "ExclusionEffect",
    "Features",
    "Fit",
    "Forecast",
    "GroupComparison",
    "GuideError",
    "Horseshoe",
    "IntervalCalibration",
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
    "SplitHalf",
    "Stability",
    "Sweep",
    "Training",
    "Triplets",
    "WriteError",
    "__version__",
    "align",
    "bounds",
    "calibrate",
    "checks",
    "choices",
    "compare",
    "compare_choices",
    "compare_dimensions",
    "compare_groups",
    "consensus",
    "diagnose",
    "dimensionality",
    "exclusion_effect",
    "fit",
    "forecast",
    "guides",
    "load",
    "load_example",
    "next_triplets",
    "participants",
    "people_reliability",
    "plot",
    "priors",
    "read_answers",
    "read_features",
    "readers",
    "redundancy",
    "refine",
    "representative",
    "reproducibility",
    "sample",
    "simulate",
    "split_half",
    "spose",
    "sweep",
    "to_arviz",
    "trial_list",
    "tripletize",
]

"""What pyrovice raises and warns with."""

import sys
import warnings


class PyroviceError(ValueError):
    """Base of the errors that pyrovice raises on purpose."""


class DataError(PyroviceError):
    """Judgments, names or a data file that cannot mean what they must mean."""


class PriorError(PyroviceError):
    """A prior that is not a density, or that cannot serve as one here."""


class ChoiceError(PyroviceError):
    """A choice model that gives no probabilities of answers."""


class GuideError(PyroviceError):
    """A guide that cannot be combined with the model it was given for."""


class SavedFitError(PyroviceError):
    """A file that should hold a fit and does not."""


class CheckpointError(PyroviceError):
    """A file that should be a checkpoint of this fit and is not."""


class WriteError(PyroviceError, OSError):
    """A file that could not be written."""


class OverwriteError(PyroviceError, FileExistsError):
    """A file stands where one was to be written."""


class PyroviceWarning(UserWarning):
    """Something that the user should know before trusting a result."""


class InterruptedWarning(PyroviceWarning):
    """Training or sampling was stopped by Ctrl-C."""


def tell(message: str, kind: type[PyroviceWarning] = PyroviceWarning) -> None:
    """Warn at the line of the user's that led here, however deep inside the package it arose."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == __name__.split(".")[0]

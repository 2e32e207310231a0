"""What pyrovice raises and warns with."""


class PyroviceError(ValueError):
    """Base of the errors that pyrovice raises on purpose."""


class DataError(PyroviceError):
    """Judgments, names or a data file that cannot mean what they must mean."""


class PriorError(PyroviceError):
    """A prior that is no density, or that cannot serve as one here."""


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
    """Training was stopped by Ctrl-C."""

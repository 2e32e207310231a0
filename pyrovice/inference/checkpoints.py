"""A long fit that survives being killed.

The state of training goes to a file at intervals. A fit that is started again
with the same file goes on from there and ends with the same numbers, bit for
bit, as if nothing had happened.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from pyrovice.errors import CheckpointError, OverwriteError, PyroviceError
from pyrovice.inference.run import Run
from pyrovice.storage.archive import pack, reading, unpack
from pyrovice.storage.atomic import write_whole
from pyrovice.storage.identity import differences

FORMAT = "pyrovice checkpoint 1"
# Writing takes at most this share of the time, however large the guide is.
SHARE = 1 / 20


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a fit saves its state; a path alone stands for the defaults.

    Parameters
    ----------
    path : path
        The file. It is made if it does not exist, and is left when the fit is done:
        the same fit again then returns at once. A file that is not a checkpoint, or one
        of other data or settings, is refused and left alone.
    seconds : float
        Time between two saves. They happen between epochs.

    Examples
    --------
    >>> import tempfile, pathlib, pyrovice as pv
    >>> data = pv.load_example().triplets
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "example.checkpoint"
    >>> short = pv.Training(stop=pv.MaxEpochs(200))
    >>> fit = pv.fit(data, training=short, checkpoint=pv.Checkpoint(path, seconds=60))
    >>> again = pv.fit(data, training=short, checkpoint=path)
    >>> again.history.equals(fit.history)
    True
    """

    path: str | Path
    seconds: float = 30.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise TypeError(f"checkpoint={self.path!r}; expected a path, or Checkpoint(path).")
        if not (isinstance(self.seconds, int | float) and self.seconds >= 0):
            raise PyroviceError(f"Checkpoint(seconds={self.seconds!r}); expected 0 or more.")
        object.__setattr__(self, "path", Path(self.path))

    @classmethod
    def of(cls, given: str | Path | Checkpoint) -> Checkpoint:
        """The checkpoint that a path alone stands for."""
        return given if isinstance(given, Checkpoint) else cls(given)


class Keeper:
    """Saves the state of one run, and finds it again.

    Parameters
    ----------
    checkpoint : Checkpoint
        Where and how often.
    identity : dict
        What this fit is, as :mod:`pyrovice.storage.identity` says it.
    """

    def __init__(self, checkpoint: Checkpoint, identity: dict[str, str]) -> None:
        self.path = Path(checkpoint.path)
        self.seconds = checkpoint.seconds
        # Random numbers and sums are the same bits only with the same torch.
        self.identity = identity | {"torch": torch.__version__}
        self._next_save = 0.0
        self._written: tuple[int, ...] | None = None

    def begin(self, run: Run) -> None:
        """Take up an earlier run, or be sure from the start that this one can be saved."""
        if not self.path.exists():
            self.save(run)
            return
        with reading(self.path, "a checkpoint of pyrovice", CheckpointError):
            record, arrays = unpack(self.path)
            self._refuse_others(record)
            run.take_up(record["run"], arrays)
        self._written = self._stamp()
        self._next_save = time.monotonic() + self.seconds

    @property
    def due(self) -> bool:
        """Whether it is time to save."""
        return time.monotonic() >= self._next_save

    def save(self, run: Run) -> None:
        """Put the state of `run` in the place of its earlier state."""
        began = time.monotonic()
        record, arrays = run.state()
        content = pack({"format": FORMAT, "identity": self.identity, "run": record}, arrays)
        earlier = self.path.exists()
        if earlier and self._stamp() != self._written:
            self._refuse_what_is_there()
        try:
            write_whole(self.path, content, replace=earlier)
        except OverwriteError:
            # Another one began at the same moment.
            self._refuse_what_is_there()
            write_whole(self.path, content, replace=True)
        self._written = self._stamp()
        now = time.monotonic()
        self._next_save = now + max(self.seconds, (now - began) / SHARE)

    def _refuse_what_is_there(self) -> None:
        """Refuse what somebody wrote here meanwhile, unless it is the same fit, run twice."""
        with reading(self.path, "a checkpoint of pyrovice", CheckpointError):
            self._refuse_others(unpack(self.path)[0])

    def _refuse_others(self, record: dict[str, object]) -> None:
        theirs = record["identity"]
        if record["format"] != FORMAT or not isinstance(theirs, dict):
            raise ValueError("it has another format")
        names = differences(theirs, self.identity)
        if names:
            each = "; ".join(
                f"{name} was {theirs.get(name)} and is now {self.identity.get(name)}"
                for name in names
            )
            raise CheckpointError(
                f"this is a checkpoint of another fit: {each}. Give this fit another path, or "
                "call the earlier one again as it was."
            )

    def _stamp(self) -> tuple[int, ...]:
        status = self.path.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size

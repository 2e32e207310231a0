"""A folder that keeps the fits of a sweep, so that no crash costs more than what was running.

::

    store/
        3f0c…/               data and settings that belong together
            settings.json    which, in words
            91ab….fit        one fit: pyrovice.load reads it
            …

Every file is written whole or not at all. Nothing is deleted or replaced.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyrovice.errors import OverwriteError, PyroviceError, SavedFitError, WriteError
from pyrovice.results.saved_fits import notes_in
from pyrovice.storage.atomic import write_whole
from pyrovice.storage.identity import differences, digest

SETTINGS = "settings.json"


class Store:
    """The results of one choice of data and settings.

    Parameters
    ----------
    folder : Path
        Where all results are. It is made if it does not exist.
    settings : dict
        What these results have in common, as :mod:`pyrovice.storage.identity` says it.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self.root = folder
        self.folder = folder / digest(settings)
        self.is_new = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(
                f"The store {folder} cannot be made: {error.strerror or error}. Choose a folder "
                "that can be written to."
            ) from error
        about = self.folder / SETTINGS
        if not about.exists():
            # Another sweep of the same settings may have written it meanwhile.
            with contextlib.suppress(OverwriteError):
                write_whole(about, json.dumps(self.settings, indent=1).encode())

    def path(self, identity: Mapping[str, str]) -> Path:
        """Where the fit of this identity is, or will be."""
        return self.folder / f"{digest(identity)}.fit"

    def find(self, identity: Mapping[str, str]) -> Mapping[str, Any] | None:
        """The scores of the fit of this identity, if it was made before."""
        path = self.path(identity)
        if not path.exists():
            return None
        try:
            notes = notes_in(path)
            names = differences(notes["identity"], identity)
            scores = notes["scores"]
            if names or not isinstance(scores, dict):
                raise SavedFitError(f"{path} is another fit: it differs in {', '.join(names)}.")
            return scores
        except (SavedFitError, KeyError, AttributeError, TypeError) as error:
            raise SavedFitError(
                f"{error} Move it out of the store, and that fit is made again."
                if isinstance(error, SavedFitError)
                else f"{path} is not a result of a sweep. Move it out of the store."
            ) from error

    def keep(self, identity: Mapping[str, str], content: bytes) -> Path:
        """Write a result, unless another sweep wrote the same one meanwhile."""
        path = self.path(identity)
        try:
            write_whole(path, content)
        except OverwriteError:
            self.find(identity)
        return path

    def others(self) -> list[str]:
        """Names of the settings in which other results in this store differ from these."""
        names: dict[str, None] = {}
        for about in sorted(self.root.glob(f"*/{SETTINGS}")):
            if about.parent != self.folder:
                names |= dict.fromkeys(differences(_read_settings(about), self.settings))
        return list(names)


def _read_settings(about: Path) -> dict[str, str]:
    try:
        words = json.loads(about.read_text(encoding="utf-8"))
        return {str(name): str(word) for name, word in words.items()}
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise PyroviceError(
            f"{about} is damaged ({error}); move its folder out of the store."
        ) from error

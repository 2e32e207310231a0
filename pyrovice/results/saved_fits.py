"""A fit in one file (see :mod:`pyrovice.storage.archive`).

Loading runs no code: it reads numbers and text, and looks up names in a short list.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyro
import torch

from pyrovice.errors import OverwriteError, SavedFitError
from pyrovice.guides import SiteGuide
from pyrovice.model.model import Model
from pyrovice.results.fit import Fit
from pyrovice.results.hyperposterior import Hyperposterior
from pyrovice.results.posterior import POSTERIORS, Posterior
from pyrovice.storage.archive import group, pack, reading, unpack
from pyrovice.storage.atomic import write_whole
from pyrovice.storage.registry import GivenAsCode, describe, restore
from pyrovice.storage.version import __version__

FORMAT = 1
WHAT = "a fit that pyrovice saved"


def save(fit: Fit, path: Path, *, overwrite: bool) -> None:
    """Write `fit` to `path`, whole or not at all."""
    if path.exists() and not overwrite:
        raise OverwriteError(
            f"{path} exists and is not replaced. Choose another name, or say "
            "fit.save(path, overwrite=True)."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; make it first.")
    write_whole(path, to_bytes(fit), replace=overwrite)


def to_bytes(fit: Fit, **notes: Any) -> bytes:
    """The content of a file that holds `fit`, with `notes` about it in its record."""
    history = fit.history.reset_index()
    record = {
        "format": FORMAT,
        "pyrovice": __version__,
        "prior": describe(fit.prior, "prior"),
        "guide": describe(fit.guide_family, "guide"),
        "training": describe(fit.training),
        "seed": fit.seed,
        "names": list(fit.names),
        "converged": fit.converged,
        "n_judgments": fit.n_judgments,
        "data_digest": fit.data_digest,
        "first_dimensions": fit.first_dimensions,
        "pruned": fit.pruned,
        "history": {name: str(kind) for name, kind in history.dtypes.items()},
        "notes": notes,
    }
    arrays = {f"posterior/{name}": array for name, array in fit.posterior.arrays().items()}
    arrays |= {f"hyper/{name}": draws for name, draws in fit.hyperposterior.draws.items()}
    arrays |= {f"history/{name}": history[name].to_numpy() for name in history}
    if isinstance(fit.fitted_guide, SiteGuide):
        arrays |= {
            f"guide/{name}": value.detach().cpu().numpy()
            for name, value in fit.fitted_guide.named_parameters()
        }
    return pack(record, arrays)


def load(path: str | Path) -> Fit:
    """Read a fit that :meth:`Fit.save` wrote.

    Predictions, embedding and history are those of the saved fit. The file
    holds no judgments: ``fit.model`` must be called with some.

    Examples
    --------
    >>> import tempfile, pathlib, pyrovice as pv
    >>> example = pv.load_example()
    >>> fit = pv.fit(example.triplets, dimensions=12)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "example.fit"
    >>> fit.save(path)
    >>> again = pv.load(path)
    >>> bool((again.predict(example.triplets) == fit.predict(example.triplets)).all())
    True
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; expected a file that fit.save(path) wrote."
        )
    return from_source(path)


def from_source(source: Path | bytes) -> Fit:
    """The fit in a file or in the content of one."""
    with reading(source, WHAT, SavedFitError):
        return _rebuild(*unpack(source))


def notes_in(source: Path | bytes) -> dict[str, Any]:
    """The notes that :func:`to_bytes` was given, from a file that is whole."""
    with reading(source, WHAT, SavedFitError):
        notes = unpack(source)[0]["notes"]
        if not isinstance(notes, dict):
            raise ValueError("its notes are none")
        return notes


def _rebuild(record: dict[str, Any], arrays: dict[str, np.ndarray]) -> Fit:
    if record["format"] != FORMAT:
        raise SavedFitError(
            f"it has the format {record['format']}, and this version of pyrovice reads {FORMAT}. "
            f"It was written by pyrovice {record.get('pyrovice')}."
        )
    names = tuple(str(name) for name in record["names"])
    posterior = _posterior(group(arrays, "posterior"), len(names))
    prior, training = restore(record["prior"], "prior"), restore(record["training"])
    model = Model(prior, len(names), posterior.shape[1])
    family, guide = restore(record["guide"], "guide"), None
    # Pyro has no plates of size zero, so a fit without dimensions has no guide either.
    if posterior.shape[1] and not isinstance(prior, GivenAsCode) and group(arrays, "guide"):
        guide = _guide(family, model, group(arrays, "guide"))
    history = pd.DataFrame(
        {name: _column(arrays[f"history/{name}"], kind) for name, kind in record["history"].items()}
    )
    return Fit(
        prior=prior,
        guide_family=family,
        training=training,
        seed=int(record["seed"]),
        names=names,
        model=model,
        posterior=posterior,
        history=history.set_index("epoch"),
        converged=bool(record["converged"]),
        n_judgments=int(record["n_judgments"]),
        data_digest=str(record["data_digest"]),
        fitted_guide=guide,
        first_dimensions=int(record["first_dimensions"]),
        hyperposterior=_hyperposterior(group(arrays, "hyper"), posterior.shape[1]),
        pruned=bool(record["pruned"]),
    )


def _column(values: np.ndarray, kind: str) -> np.ndarray:
    if values.ndim != 1 or not {np.dtype(kind).kind, values.dtype.kind} <= set("iufb"):
        raise SavedFitError("its history does not consist of columns of numbers.")
    return values.astype(kind)


def _posterior(arrays: dict[str, np.ndarray], n_objects: int) -> Posterior:
    kind = POSTERIORS.get(frozenset(arrays))
    shapes = {array.shape[-2:] for array in arrays.values()}
    numeric = all(array.dtype in (np.float32, np.float64) for array in arrays.values())
    if kind is None or len(shapes) != 1 or not numeric or shapes.pop()[0] != n_objects:
        raise SavedFitError("its posterior does not fit its record.")
    return kind(**arrays)


def _hyperposterior(arrays: dict[str, np.ndarray], dimensions: int) -> Hyperposterior:
    if any(
        draws.ndim == 0 or draws.shape[1:] not in ((), (dimensions,)) for draws in arrays.values()
    ):
        raise SavedFitError("its hyperparameters do not fit its posterior.")
    return Hyperposterior(arrays)


def _guide(
    family: Callable[[Model], SiteGuide], model: Model, parameters: dict[str, np.ndarray]
) -> SiteGuide:
    with pyro.settings.context(module_local_params=True):
        guide = family(model)
    expected = {name: tuple(value.shape) for name, value in guide.named_parameters()}
    if expected != {name: value.shape for name, value in parameters.items()}:
        raise SavedFitError("its guide does not fit its prior.")
    for name, value in parameters.items():
        guide.put(name, torch.from_numpy(value))
    return guide

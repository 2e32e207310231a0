"""A fit in one file (see :mod:`pyrovice.storage.archive`).

Loading runs no code: it reads numbers and text, and looks up names in a short list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyro
import torch

from pyrovice.errors import OverwriteError, SavedFitError
from pyrovice.guides import SiteGuide
from pyrovice.model.choices import Choice, DotProduct
from pyrovice.model.model import Model
from pyrovice.model.priors import Prior
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.results.fit import Fit
from pyrovice.results.posterior import Posterior, SiteDraws
from pyrovice.results.saved_checks import check_claims, check_guide, check_values, checked_names
from pyrovice.results.weights import KINDS, Weights
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


def to_bytes(fit: Fit, beside: Mapping[str, np.ndarray] | None = None, **notes: Any) -> bytes:
    """The content of a file that holds `fit`, with `notes` about it and arrays beside it."""
    history = fit.history.reset_index()
    record = {
        "format": FORMAT,
        "pyrovice": __version__,
        "prior": describe(fit.prior, "prior"),
        "choice": describe(fit.choice, "choice"),
        "guide": describe(fit.guide_family, "guide"),
        "training": describe(fit.training),
        "seed": fit.seed,
        "names": list(fit.names),
        "converged": fit.converged,
        "n_judgments": fit.n_judgments,
        "data_digest": fit.data_digest,
        "first_dimensions": fit.first_dimensions,
        "pruned": fit.pruned,
        "unjudged": list(fit.unjudged),
        "from_chains": fit.posterior.from_chains,
        "sites": {name: list(site.axes) for name, site in fit.posterior.others.items()},
        "model_dimensions": fit.model.dimensions,
        "columns": None if fit.columns is None else list(fit.columns),
        "known_people": _labels(fit.model.known_people),
        "people": describe(fit.model.people),
        "judgments_by_person": list(fit.judgments_by_person),
        "dimension_names": list(fit.dimension_names),
        "found_by": list(fit.found_by),
        "history": {name: str(kind) for name, kind in history.dtypes.items()},
        "notes": notes,
    }
    arrays = {f"posterior/{name}": array for name, array in fit.posterior.arrays().items()}
    arrays |= {f"site/{name}": site.values for name, site in fit.posterior.others.items()}
    arrays |= {f"stats/{name}": values for name, values in fit.posterior.sample_stats.items()}
    arrays |= {f"prior/{name}": value for name, value in fit.model.parameters.arrays().items()}
    arrays |= {f"history/{name}": history[name].to_numpy() for name in history}
    arrays |= {f"beside/{name}": values for name, values in (beside or {}).items()}
    if isinstance(fit.fitted_guide, SiteGuide):
        arrays |= {
            f"guide/{name}": value.detach().cpu().numpy()
            for name, value in fit.fitted_guide.named_parameters()
        }
    return pack(record, arrays)


def load(path: str | Path, *, prior: Prior | None = None, choice: Choice | None = None) -> Fit:
    """Read a fit that :meth:`Fit.save` wrote.

    Predictions, embedding and history are those of the saved fit. The file
    holds no judgments: ``fit.model`` must be called with some.

    Parameters
    ----------
    path : path
        The file.
    prior, choice : optional
        What was given to the fit as code, which no file can hold. Without the prior there
        are no guide, no ``refine`` and no draws of the prior; without the choice there are
        no predictions.

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
    return from_source(path, prior, choice)


def from_source(
    source: Path | bytes, prior: Prior | None = None, choice: Choice | None = None
) -> Fit:
    """The fit in a file or in the content of one."""
    with reading(source, WHAT, SavedFitError):
        record, arrays = unpack(source)
        for role, given in (("prior", prior), ("choice", choice)):
            _refuse_another(record, role, given)
        return _rebuild(record, arrays, prior, choice)


def _refuse_another(record: dict[str, Any], role: str, given: Any) -> None:
    """Refuse a prior or choice that is not the one that the file names."""
    if given is None:
        return
    there = record.get(role)
    if not (isinstance(there, dict) and there.get("kind") == "code"):
        raise SavedFitError(f"it holds its {role} itself, {restore(there)!r}; leave {role}= out.")
    named = describe(given, role)
    if named != there:
        raise SavedFitError(
            f"its {role} was {there['text']}, and {role}={named.get('text', given)} is another; "
            "pass the one that was fitted."
        )


def notes_in(source: Path | bytes) -> dict[str, Any]:
    """The notes that :func:`to_bytes` was given, from a file that is whole."""
    with reading(source, WHAT, SavedFitError):
        notes = unpack(source)[0]["notes"]
        if not isinstance(notes, dict):
            raise ValueError("its notes are not a record")
        return notes


def beside_in(source: Path | bytes) -> dict[str, np.ndarray]:
    """The arrays that :func:`to_bytes` put beside a fit."""
    with reading(source, WHAT, SavedFitError):
        return group(unpack(source)[1], "beside")


def _rebuild(
    record: dict[str, Any],
    arrays: dict[str, np.ndarray],
    prior: Prior | None,
    choice: Choice | None,
) -> Fit:
    if record["format"] != FORMAT:
        raise SavedFitError(
            f"it has the format {record['format']}, and this version of pyrovice reads {FORMAT}. "
            f"It was written by pyrovice {record.get('pyrovice')}."
        )
    names = checked_names(record["names"])
    check_claims(record, arrays)
    weights = _weights(group(arrays, "posterior"), len(names))
    check_values(arrays)
    prior = prior or restore(record["prior"], "prior")
    choice = choice or restore(record.get("choice", describe(DotProduct())), "choice")
    training = restore(record["training"])
    model = Model(
        prior,
        len(names),
        _model_dimensions(record, arrays, weights.shape[1]),
        choice=choice,
        people=restore(record.get("people")),
        known_people=record.get("known_people"),
    )
    family, guide = restore(record["guide"], "guide"), None
    # Pyro has no plates of size zero, so a fit without dimensions has no guide either.
    given_as_code = isinstance(prior, GivenAsCode) or isinstance(choice, GivenAsCode)
    if model.dimensions and not given_as_code:
        if group(arrays, "prior"):
            # Looking at the model makes its parameters, which then get their values.
            _ = model.structure
            model.parameters.put(group(arrays, "prior"))
        if group(arrays, "guide"):
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
        posterior=Posterior(
            weights,
            _sites(record, arrays, weights.shape, len(model.known_people or ())),
            # Before it was said, fits without settings of training were those of chains.
            bool(record.get("from_chains", training is None)),
            _sample_stats(group(arrays, "stats"), weights),
        ),
        history=history.set_index("epoch"),
        converged=bool(record["converged"]),
        n_judgments=int(record["n_judgments"]),
        data_digest=str(record["data_digest"]),
        fitted_guide=guide,
        first_dimensions=int(record["first_dimensions"]),
        pruned=bool(record["pruned"]),
        columns=_columns(record, model.dimensions),
        unjudged=tuple(str(name) for name in record.get("unjudged", ())),
        judgments_by_person=tuple(int(n) for n in record.get("judgments_by_person", ())),
        dimension_names=_names_of_dimensions(record, weights.shape[1]),
        found_by=_shares(record, weights.shape[1]),
    )


def _model_dimensions(record: dict[str, Any], arrays: dict[str, np.ndarray], kept: int) -> int:
    """Those of the posterior, or all of a model that cannot be pruned, as its guide shows."""
    dimensions = int(record.get("model_dimensions", kept))
    sizes = {size for array in group(arrays, "guide").values() for size in array.shape}
    if dimensions != kept and dimensions not in sizes:
        raise SavedFitError("its model does not fit its guide.")
    return dimensions


def _columns(record: dict[str, Any], dimensions: int) -> tuple[int, ...] | None:
    if record.get("columns") is None:
        return None
    columns = tuple(int(column) for column in record["columns"])
    if any(not 0 <= column < dimensions for column in columns):
        raise SavedFitError("its dimensions are not those of its model.")
    return columns


def _names_of_dimensions(record: dict[str, Any], count: int) -> tuple[str, ...]:
    names = record.get("dimension_names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SavedFitError("the names of its dimensions are not a list of text.")
    if len(names) not in (0, count):
        raise SavedFitError(f"it has {len(names)} names for {count} dimensions.")
    return tuple(names)


def _shares(record: dict[str, Any], count: int) -> tuple[float, ...]:
    shares = tuple(float(share) for share in record.get("found_by", ()))
    if len(shares) not in (0, count) or not all(0 <= share <= 1 for share in shares):
        raise SavedFitError("its dimensions are not those of a consensus.")
    return shares


def _column(values: np.ndarray, kind: str) -> np.ndarray:
    if values.ndim != 1 or not {np.dtype(kind).kind, values.dtype.kind} <= set("iufb"):
        raise SavedFitError("its history does not consist of columns of numbers.")
    return values.astype(kind)


def _weights(arrays: dict[str, np.ndarray], n_objects: int) -> Weights:
    kind = KINDS.get(frozenset(arrays))
    shapes = {array.shape[-2:] for array in arrays.values()}
    numeric = all(array.dtype in (np.float32, np.float64) for array in arrays.values())
    if kind is None or len(shapes) != 1 or not numeric or shapes.pop()[0] != n_objects:
        raise SavedFitError("its posterior does not fit its record.")
    return kind(**arrays)


def _sites(
    record: dict[str, Any], arrays: dict[str, np.ndarray], shape: tuple[int, int], people: int
) -> dict[str, SiteDraws]:
    """Draws of the sites other than X; the first files had those of the prior only."""
    older = group(arrays, "hyper")
    found = {
        name: SiteDraws(draws[None], ("dimension",) * (draws.ndim - 1))
        for name, draws in older.items()
        if draws.ndim
    }
    for name, draws in group(arrays, "site").items():
        found[name] = SiteDraws(draws, tuple(map(str, record["sites"][name])))
    sizes = {"object": shape[0], "dimension": shape[1], "person": people, "place": 3}
    for site in found.values():
        axes, lengths = site.axes, site.values.shape[2:]
        if len(axes) != len(lengths) or any(
            sizes.get(axis, length) != length for axis, length in zip(axes, lengths, strict=True)
        ):
            raise SavedFitError("the draws of its sites do not fit its posterior.")
    if len(found) < len(older):
        raise SavedFitError("the draws of its sites do not fit its posterior.")
    return found


def _sample_stats(arrays: dict[str, np.ndarray], weights: Weights) -> dict[str, np.ndarray]:
    shape = weights.arrays().get("stored", np.empty((0, 0))).shape[:2]
    if any(values.shape != shape or values.dtype.kind not in "fib" for values in arrays.values()):
        raise SavedFitError("what it says of its chains does not fit them.")
    return arrays


def _labels(people: tuple[Any, ...] | None) -> list[Any] | None:
    """Labels as JSON has them."""
    if people is None:
        return None
    return [label.item() if isinstance(label, np.generic) else label for label in people]


def _guide(
    family: Callable[[Model], SiteGuide], model: Model, parameters: dict[str, np.ndarray]
) -> SiteGuide:
    check_guide(family, parameters)
    with pyro_locked(), pyro.settings.context(module_local_params=True):
        guide = family(model)
    expected = {name: tuple(value.shape) for name, value in guide.named_parameters()}
    if expected != {name: value.shape for name, value in parameters.items()}:
        raise SavedFitError("its guide does not fit its prior.")
    for name, value in parameters.items():
        guide.put(name, torch.from_numpy(value))
    return guide

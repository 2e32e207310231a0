"""The page: what is said about a fit, put into the template and written to one file."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from pyrovice.criticism.checks import report
from pyrovice.criticism.diagnosis import diagnose
from pyrovice.criticism.dimension_count import Dimensionality
from pyrovice.data.triplets import Triplets
from pyrovice.errors import OverwriteError, PyroviceError
from pyrovice.plot.images import Images
from pyrovice.report.content import counted, describe
from pyrovice.report.object_table import objects
from pyrovice.report.participants_table import participants
from pyrovice.report.people_table import people
from pyrovice.report.pictures import figures
from pyrovice.results.fit import Fit
from pyrovice.storage.atomic import write_whole


def write(
    fit: Fit,
    path: Path,
    data: Triplets | None,
    held_out: Triplets | None,
    dimensionality: Dimensionality | None,
    title: str | None,
    images: str | Path | None,
    overwrite: bool,
) -> None:
    """Write the page about `fit` to `path`, whole or not at all."""
    if path.exists() and not overwrite:
        raise OverwriteError(
            f"{path} exists and is not replaced. Choose another name, or say "
            "fit.report(path, overwrite=True)."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {path.parent} does not exist; make it first.")
    page = render(fit, data, held_out, dimensionality, title, images)
    write_whole(path, page.encode(), replace=overwrite)


def render(
    fit: Fit,
    data: Triplets | None = None,
    held_out: Triplets | None = None,
    dimensionality: Dimensionality | None = None,
    title: str | None = None,
    images: str | Path | None = None,
) -> str:
    """The page as HTML."""
    for name, given in (("data", data), ("held_out", held_out)):
        if given is not None and not isinstance(given, Triplets):
            raise TypeError(f"{name} is a {type(given).__name__}; expected Triplets.")
    if data is not None and not fit.was_fitted_to(data):
        raise PyroviceError(
            "These are not the judgments that were fitted. Pass those as data, and judgments that "
            "the fit has not seen as held_out: fit.report(path, data=train, held_out=test)."
        )
    templates = Environment(
        loader=PackageLoader("pyrovice.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    kept = fit.n_dimensions
    found = None
    if data is not None:
        found = diagnose(fit, data, held_out=held_out, dimensionality=dimensionality, refits=0)
    # What the diagnosis computed is shown, and not computed again.
    calibration, checked = (None, None) if found is None else (found.calibration, found.checks)
    if found is None and held_out is not None:
        calibration, checked = fit.calibration(held_out), report(fit, held_out)
    return templates.get_template("page.html").render(
        title=title or f"{len(fit.names):,} objects in {kept} dimension{'s' * (kept != 1)}",
        about=describe(fit, data, held_out, found, checked),
        counted=counted(dimensionality),
        figures=figures(fit, calibration, checked, dimensionality),
        objects=objects(fit, data, None if images is None else Images(Path(images), fit.names)),
        people=people(fit),
        participants=participants(data),
    )

"""The table published with THINGS, ``triplets_large_final_correctednc_correctedorder.csv``.

Separated by tabs in spite of its name, with a header. Images are counted from 1, and `choice`
is the position 1, 2 or 3 of the odd one. `noise_ceiling` is 0 for ordinary judgments and 1 to
3 for the repeated sets; it is a column of `Triplets.trials`, beside `reaction_time` and `set`
(the HIT: twenty trials).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrovice.data.readers.finishing import Found, Options, finish
from pyrovice.data.readers.source import Sample, Source
from pyrovice.data.readers.table import header, read_with_header
from pyrovice.errors import DataError

IMAGES = ("image1", "image2", "image3")
WANTED = (*IMAGES, "choice")


def recognise(sample: Sample) -> str | None:
    """By its columns."""
    found = header(sample, WANTED)
    return None if found is None else f"the columns {', '.join(WANTED)}"


def read(source: Source, options: Options, decided: str) -> dict[str, Any]:
    """The arguments of `Triplets`."""
    found = header(source.sample(), WANTED)
    if found is None:
        raise DataError(
            f"{source.label}, line 1 has no columns {', '.join(WANTED)}; expected the table "
            "published with THINGS."
        )
    more = ("RT", "noise_ceiling", "subject_id", "HIT_nr")
    table = read_with_header(source, *found, (*WANTED, *more), text=["HIT_nr"])
    ids = table.whole(IMAGES, "an image")
    table.leave_out(np.asarray(table.columns["choice"].isna()), "without an answer")
    position = table.whole(["choice"], "a choice")[:, 0]
    table.complain((position < 1) | (position > 3), "holds a choice outside 1 to 3")
    trials: dict[str, Any] = {}
    if "RT" in table:
        trials["reaction_time"] = table.measured("RT", "a reaction time")
    if "noise_ceiling" in table:
        trials["noise_ceiling"] = table.whole(["noise_ceiling"], "a noise_ceiling")[:, 0]
    if "HIT_nr" in table:
        trials["set"] = table.columns["HIT_nr"].to_numpy(dtype=object)
    return finish(
        Found(
            table,
            ids,
            np.clip(position - 1, 0, 2),
            first_id=1,
            on_screen=True,
            participants=table.labels("subject_id") if "subject_id" in table else None,
            trials=trials,
        ),
        options,
        "things",
        decided,
    )

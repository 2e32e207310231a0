"""Judgments and embeddings as files for other programs: whole, and never in place of another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pyrovice.data.formulas import without_formulas
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError, tell
from pyrovice.storage.atomic import whole_file

if TYPE_CHECKING:
    from pyrovice.data.triplets import Triplets

SEPARATOR_OF_ENDING = {".csv": ",", ".tsv": "\t"}


def write_judgments(triplets: Triplets, path: Path, escape_formulas: bool) -> None:
    """Write ids or names, as the ending says; see `Triplets.write`."""
    if path.suffix in SEPARATOR_OF_ENDING:
        table = without_formulas(triplets.to_dataframe(), escape_formulas)
        with whole_file(path) as file:
            table.to_csv(file, sep=SEPARATOR_OF_ENDING[path.suffix], index=False)
    elif path.suffix in (".npy", ".txt"):
        _write_ids(triplets, path)
    else:
        raise DataError(
            f"{path.name} ends in {path.suffix!r}; expected .npy or .txt for ids, .csv or .tsv "
            "for names."
        )


def write_embedding(embedding: pd.DataFrame, path: Path, escape_formulas: bool = False) -> None:
    """Write an objects x dimensions table, as the ending says; see `Fit.write_embedding`."""
    if path.suffix in SEPARATOR_OF_ENDING:
        called = [dim if isinstance(dim, str) else f"dim_{dim}" for dim in embedding]
        table = embedding.set_axis(called, axis=1)
        table.insert(0, "object", embedding.index)
        table = without_formulas(table, escape_formulas)
        with whole_file(path) as file:
            table.to_csv(file, sep=SEPARATOR_OF_ENDING[path.suffix], index=False)
    elif path.suffix == ".txt":
        with whole_file(path) as file:
            np.savetxt(file, embedding.to_numpy(), fmt="%.6g")
    else:
        raise DataError(
            f"{path.name} ends in {path.suffix!r}; expected .tsv or .csv with names, or .txt with "
            "nothing but numbers."
        )


def _write_ids(triplets: Triplets, path: Path) -> None:
    """The kept pair, the odd one and numeric participants, as the VICE program reads them."""
    if triplets.anchored.any():
        raise DataError(
            f"{int(triplets.anchored.sum())} judgments have an anchor, which this format cannot "
            "hold; write them to a .csv file."
        )
    rows = np.arange(len(triplets))
    pair = np.argsort(np.arange(3) == triplets.odd[:, None], axis=1, kind="stable")
    columns = triplets.objects[rows[:, None], pair]
    if triplets.participants is not None:
        if triplets.participants.dtype.kind not in "iu":
            raise DataError(
                "The participants have names, or some are not known, but this format holds only "
                "numbers; write them to a .csv file."
            )
        columns = np.column_stack([columns, triplets.participants])
    beside = [] if triplets.trials is None else list(triplets.trials)
    if beside:
        tell(
            f"{path.name} holds ids only: what else is known of the judgments "
            f"({first_few(beside)}) is not in it. A .csv file holds all."
        )
    with whole_file(path) as file:
        if path.suffix == ".npy":
            np.save(file, columns, allow_pickle=False)
        else:
            np.savetxt(file, columns, fmt="%d")

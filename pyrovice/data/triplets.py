"""Odd-one-out judgments: the container that everything else takes.

A judgment is three distinct objects and the one of them that was picked as the
odd one. The three objects are kept in ascending order and the odd one as a
position 0, 1 or 2, so that the observed outcome varies and can be predicted
and checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pyrovice.data.arrays import rows_to_judgments
from pyrovice.data.columns import OBJECT_COLUMNS, Columns
from pyrovice.data.concatenation import joined
from pyrovice.data.description import Description, describe, facts_about
from pyrovice.data.html_tables import html_table
from pyrovice.data.reading_report import Reading
from pyrovice.data.repeats import question_keys, repeated_questions, repeats_table, triplet_keys
from pyrovice.data.splits import check_fractions, deal, equal_fractions, fold_fractions
from pyrovice.data.validation import (
    NO_ANCHOR,
    check_anchor,
    check_ids,
    check_names,
    check_participants,
    check_rows,
    check_trials,
    default_names,
    positions_within,
    whole_numbers,
)
from pyrovice.data.writing import write_judgments
from pyrovice.errors import DataError

CONTENT = ("objects", "odd", "names", "anchor", "participants", "trials", "reading")


class Triplets:
    """Validated, immutable odd-one-out judgments over one set of objects.

    Parameters
    ----------
    objects : array of shape (n, 3)
        Object ids 0 ... m-1, ascending in each row.
    odd : array of shape (n,)
        Position (0, 1 or 2) of the odd object within its row.
    names : sequence of str, optional
        One name per object; objects that were never judged may be named too.
        Without names the objects are called by their ids.
    anchor : array of shape (n,), optional
        For anchored judgments ("is the anchor more like a or b?") the position
        of the anchor, which cannot be the odd one; -1 where there is none.
    participants : array of shape (n,), optional
        Who judged; None where that is not known.
    trials : DataFrame of n rows, optional
        What else is known about each judgment. It plays no part in a fit, but stays with
        its judgment. :mod:`pyrovice.participants` looks at the columns `position`
        (1, 2 or 3: where the answer stood on the screen), `reaction_time` (milliseconds) and
        `set` (trials that came together), :mod:`pyrovice.checks` at `place_1` ... `place_3`
        (where each of the three objects stood).

    Attributes
    ----------
    reading : Reading or None
        What the file said, if the judgments were just read from one: the format, rows
        that were left out and why, catch trials. Parts of the data have none.

    Examples
    --------
    >>> import pyrovice as pv
    >>> t = pv.Triplets([[0, 1, 2], [0, 1, 3]], [2, 1], names=["cat", "dog", "car", "bus"])
    >>> t
    Triplets(2 judgments of 4 objects)
    >>> t.to_dataframe()
      object_1 object_2 object_3  odd
    0      cat      dog      car  car
    1      cat      dog      bus  dog

    Most data have the odd object in a column of its own:

    >>> pv.Triplets.from_array([[1, 0, 2], [3, 0, 1]], names=t.names) == t
    True
    """

    __slots__ = CONTENT

    objects: NDArray[np.int32]
    odd: NDArray[np.int8]
    anchor: NDArray[np.int8]
    participants: NDArray[Any] | None
    names: tuple[str, ...]
    trials: pd.DataFrame | None
    reading: Reading | None

    def __init__(
        self,
        objects: ArrayLike,
        odd: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        anchor: ArrayLike | None = None,
        participants: ArrayLike | None = None,
        trials: pd.DataFrame | None = None,
        reading: Reading | None = None,
    ) -> None:
        ids = whole_numbers(objects, "objects")
        if ids.ndim != 2 or ids.shape[1] != 3:
            raise DataError(
                f"objects has shape {ids.shape}, expected (n, 3): one row per judgment, "
                "three object ids in each."
            )
        n = len(ids)
        names = check_names(names, ids)
        check_ids(ids, names)
        check_rows(ids)
        odd = positions_within(odd, n, "odd", lowest=0)
        anchor = check_anchor(anchor, odd)
        if participants is not None:
            participants = check_participants(participants, n)
        if trials is not None:
            trials = check_trials(trials, n)
        for array in (ids := ids.astype(np.int32), odd, anchor):
            array.flags.writeable = False
        values = (ids, odd, names, anchor, participants, trials, reading)
        for slot, value in zip(CONTENT, values, strict=True):
            object.__setattr__(self, slot, value)

    # ------------------------------------------------------------------ made from

    @classmethod
    def from_array(
        cls,
        array: ArrayLike,
        *,
        odd: str | ArrayLike = "last",
        names: Sequence[str] | None = None,
        n_objects: int | None = None,
        participants: ArrayLike | None = None,
    ) -> Self:
        """Judgments from rows of three ids in any order.

        Parameters
        ----------
        array : array of shape (n, 3)
            Object ids, 0-based.
        odd : {"last", "first"} or array of shape (n,)
            The column that holds the odd object: the same one in every row, or
            one column number (0, 1, 2) per row.
        names : sequence of str, optional
            One name per object.
        n_objects : int, optional
            How many objects there are, if some were never judged and there are
            no names to count.
        participants : array of shape (n,), optional
            Who judged.

        Examples
        --------
        >>> import pyrovice as pv
        >>> pv.Triplets.from_array([[5, 2, 3]], odd="first").odd
        array([2], dtype=int8)
        """
        return cls(**rows_to_judgments(array, odd, names, n_objects), participants=participants)

    @classmethod
    def from_dataframe(
        cls,
        frame: pd.DataFrame,
        *,
        objects: Sequence[str] = OBJECT_COLUMNS,
        odd: str | None = None,
        position: str | None = None,
        chosen: str | None = None,
        positions: Sequence[Any] = (1, 2, 3),
        anchor: str | None = None,
        participant: str | None = None,
        reaction_time: str | None = None,
        reaction_time_unit: str = "ms",
        set: str | None = None,
        on_screen: bool | None = None,
        catch: str | None = None,
        passed: str | None = None,
        names: Sequence[str] | None = None,
        bad_rows: str = "refuse",
    ) -> Self:
        """Judgments from a table with named columns.

        Columns without a role stay beside the judgments, in `trials`.

        Parameters
        ----------
        frame : DataFrame
            One row per judgment.
        objects : three column names
            The columns with the objects shown: names, or 0-based ids.
        odd : str, optional
            The column with the odd object itself, ``"odd"`` by default. It may be one of the
            three in `objects`, if the odd one always stands there.
        position : str, optional
            Instead of `odd`: a column that says *where* the odd one stood.
        chosen : str, optional
            Instead of `odd`, with an anchor: the column with the object that was chosen as more
            like the anchor.
        positions : sequence of three
            What stands in `position` for the first, second and third of
            `objects`.
        anchor : str, optional
            The column with the anchor object, empty where there is none.
        participant : str, optional
            The column that says who judged, empty where nobody knows.
        reaction_time : str, optional
            The column with reaction times, for :mod:`pyrovice.participants`.
        reaction_time_unit : {"ms", "s"}
            Milliseconds or seconds.
        set : str, optional
            The column that says which trials came together, for :mod:`pyrovice.participants`.
        on_screen : bool, optional
            Whether `objects` are the places on the screen, from left to right, so that
            `trials` says where the answer and each object stood. By default they are if
            `position` is given, or if they are neither sorted nor the odd one always stands in
            the same column.
        catch : str, optional
            The column that says 1, true, yes or catch where a row is a catch trial. These are not
            judgments; ``reading.catch`` has who passed, for :mod:`pyrovice.participants`.
        passed : str, optional
            The column that says 1 or true where a catch trial was passed, 0 or false where not.
            By default those are passed in which the object that is not shown twice is the odd one.
        names : sequence of str, optional
            All objects in the order wanted; sorted names of the table otherwise.
        bad_rows : {"refuse", "leave out"}
            What to do with rows that are not judgments.

        Examples
        --------
        >>> import pandas as pd, pyrovice as pv
        >>> table = pd.DataFrame(
        ...     {"left": ["cat", "bus"], "mid": ["car", "cat"], "right": ["dog", "dog"],
        ...      "choice": [2, 1], "who": ["ann", "bob"]}
        ... )
        >>> t = pv.Triplets.from_dataframe(
        ...     table, objects=["left", "mid", "right"], position="choice", participant="who"
        ... )
        >>> t.to_dataframe().iloc[:, :6]
          object_1 object_2 object_3  odd participant  position
        0      car      cat      dog  car         ann         2
        1      bus      cat      dog  bus         bob         1
        """
        from pyrovice.data.dataframes import columns_to_judgments

        columns = Columns(
            objects, odd, position, chosen, positions, anchor, participant, reaction_time,
            reaction_time_unit, set, on_screen, catch, passed,
        )  # fmt: skip
        return cls(**columns_to_judgments(frame, columns, names, bad_rows))

    @classmethod
    def read(cls, path: str | Path, format: str = "auto", **options: Any) -> Self:
        """Judgments from a file or folder; see :mod:`pyrovice.readers`.

        Parameters
        ----------
        path : path
            A file in one of the formats of :mod:`pyrovice.readers`, as it is, as ``.gz``
            or alone in a ``.zip``; tables also as ``.xlsx`` (with openpyxl), ``.parquet`` (with
            pyarrow) or records in JSON. Or a folder with ``train_90`` and ``test_10``.
        format : str
            Its format, or ``"auto"`` to decide from the content. What was decided and
            which rows were left out is in the attribute `reading`.
        **options
            ``names`` (a sequence, or the path of a text file with one name per line),
            ``n_objects``, ``first_id`` (0 or 1: where ids begin, if not where the
            format says), ``bad_rows="leave out"`` to leave out rows that are not judgments,
            ``unpacked_limit`` (bytes that a packed file may unpack to, 2 GiB by default),
            ``encoding`` (if not UTF-8), ``sheet`` (of a workbook), and options of single
            readers, such as ``part="test"`` for a folder, or ``objects=[...]``, ``odd=...`` and
            all others of :meth:`from_dataframe` for a table with columns of your own.

        Examples
        --------
        >>> import tempfile, pathlib, pyrovice as pv
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "judgments.txt"
        >>> _ = path.write_text("0 1 2\\n3 1 0\\n")
        >>> t = pv.Triplets.read(path)
        >>> t
        Triplets(2 judgments of 4 objects)
        >>> t.reading.decided
        'three columns of whole numbers: ids from 0, the odd one third'
        """
        from pyrovice.data.readers import read

        return cls(**read(Path(path), format, **options))

    @classmethod
    def concat(cls, parts: Sequence[Triplets]) -> Self:
        """Join judgments of the same objects, in the order given.

        Examples
        --------
        >>> import pyrovice as pv
        >>> t = pv.Triplets([[0, 1, 2]], [2])
        >>> pv.Triplets.concat([t, t])
        Triplets(2 judgments of 3 objects, 1 triplet judged repeatedly)
        """
        return cls(**joined(list(parts)))

    def __add__(self, other: Triplets) -> Triplets:
        """The judgments of both, one after the other: ``data + new`` is ``concat([data, new])``."""
        return self.concat([self, other]) if isinstance(other, Triplets) else NotImplemented

    # ------------------------------------------------------------------ turned into

    def to_dataframe(self) -> pd.DataFrame:
        """One row per judgment, by name, with the columns of `trials`.

        `from_dataframe` reads it back, with ``anchor="anchor"`` and
        ``participant="participant"`` where there are such columns.
        """
        from pyrovice.data.dataframes import judgments_to_columns

        return judgments_to_columns(self)

    def write(self, path: str | Path, *, escape_formulas: bool = False) -> None:
        """Write judgments to a new file, in the format that its ending names.

        ``.npy`` and ``.txt`` hold ids with the odd one last, as the VICE program reads
        them, and participants if they are numbers; ``.csv`` and ``.tsv`` hold names,
        anchors, participants and the columns of `trials`.

        Parameters
        ----------
        path : path
            The new file.
        escape_formulas : bool
            Whether names that a spreadsheet would run as formulas, ``=1+1``, get an
            apostrophe before them. It is taken off when the file is read.

        Examples
        --------
        >>> import tempfile, pathlib, pyrovice as pv
        >>> t = pv.Triplets([[0, 1, 2]], [1], names=["cat", "dog", "car"])
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
        >>> t.write(path)
        >>> pv.Triplets.read(path, names=t.names) == t
        True
        """
        write_judgments(self, Path(path), escape_formulas)

    # ------------------------------------------------------------------ taken apart

    def split(self, *fractions: float, seed: int, stratify: bool = False) -> tuple[Triplets, ...]:
        """Disjoint random parts, one per fraction.

        All judgments of one triplet go to the same part, so that no question
        of a test part was seen in training.

        Parameters
        ----------
        *fractions : float
            The share of the judgments for each part; they may sum to less than
            one, and what is left over is in no part.
        seed : int
            The same seed gives the same parts.
        stratify : bool
            Whether each part gets its share of every participant's judgments. Triplets
            that several people judged stay whole and are spread as a group.

        Examples
        --------
        >>> import pyrovice as pv
        >>> data = pv.load_example().triplets
        >>> train, test = data.split(0.9, 0.1, seed=0)
        >>> len(train) + len(test) == len(data)
        True
        """
        part = self._part_of_each_row(check_fractions(fractions), seed, stratify)
        return tuple(self[part == i] for i in range(len(fractions)))

    def partitions(self, fraction: float, seed: int, stratify: bool = False) -> list[Triplets]:
        """As many disjoint random parts of this size as the data give; see `split`.

        For studies of how many judgments are needed: for example a fit to each of ten tenths.

        Examples
        --------
        >>> import pyrovice as pv
        >>> [len(part) for part in pv.load_example().triplets.partitions(0.25, seed=0)]
        [5000, 5000, 5000, 5000]
        """
        fractions = equal_fractions(fraction)
        part = self._part_of_each_row(fractions, seed, stratify)
        return [self[part == i] for i in range(len(fractions))]

    def folds(self, k: int, seed: int, stratify: bool = False) -> list[tuple[Triplets, Triplets]]:
        """Pairs of (train, test) for cross-validation; see `split`.

        Every judgment is in exactly one of the `k` test parts.

        Examples
        --------
        >>> import pyrovice as pv
        >>> folds = pv.load_example().triplets.folds(5, seed=0)
        >>> [(len(train), len(test)) for train, test in folds[:2]]
        [(16000, 4000), (16000, 4000)]
        """
        part = self._part_of_each_row(fold_fractions(k), seed, stratify)
        return [(self[part != i], self[part == i]) for i in range(part.max() + 1)]

    def subset(self, n: int, seed: int) -> Triplets:
        """`n` judgments chosen at random without replacement, in their old order."""
        if not 1 <= n <= len(self):
            raise DataError(f"subset(n={n}) of {len(self)} judgments; use 1 to {len(self)}.")
        chosen = np.random.default_rng(seed).choice(len(self), n, replace=False)
        return self[np.sort(chosen)]

    def compact(self) -> Triplets:
        """The same judgments over the objects that occur in them, keeping their names."""
        seen, ids = np.unique(self.objects, return_inverse=True)
        return type(self)(
            ids.reshape(self.objects.shape),
            self.odd,
            names=[self.names[i] for i in seen.tolist()],
            anchor=self.anchor,
            participants=self.participants,
            trials=self.trials,
        )

    def repeats(self) -> pd.DataFrame:
        """One row per triplet that was judged more than once, with its answers.

        Returns
        -------
        DataFrame
            `object_1` ... `object_3` (names), `odd_1` ... `odd_3` (how often
            each of them was the odd one), `judgments` (their sum), and
            `anchor` (a name) if any judgment is anchored.

        Examples
        --------
        >>> import pyrovice as pv
        >>> pv.Triplets([[0, 1, 2], [0, 1, 2], [0, 1, 3]], [2, 1, 0]).repeats()
          object_1 object_2 object_3  odd_1  odd_2  odd_3  judgments
        0        0        1        2      0      1      1          2
        """
        return repeats_table(self)

    # ------------------------------------------------------------------ facts

    def describe(self) -> Description:
        """What there is to know before a fit: coverage, repeats, people, what looks wrong.

        Examples
        --------
        >>> import pyrovice as pv
        >>> pv.load_example().triplets.describe()
        20,000 judgments of 80 objects
          17,727 different triplets; 2,104 questions were asked more than once
          answers at the first, second and third place in the order of ids: 34.1%, 24.9%, 40.9%
          an object is in 698 to 837 judgments (median 750); 100.0% of all pairs were shown together
        """
        return describe(self)

    @property
    def n_objects(self) -> int:
        """How many objects there are, judged or not."""
        return len(self.names)

    @property
    def is_named(self) -> bool:
        """Whether the objects have names of their own rather than just their ids."""
        return self.names != default_names(self.n_objects)

    @property
    def anchored(self) -> NDArray[np.bool_]:
        """Which judgments have an anchor, shape (n,)."""
        return self.anchor != NO_ANCHOR

    @property
    def options(self) -> NDArray[np.int64]:
        """How many answers each judgment allowed: 3, or 2 with an anchor."""
        return np.where(self.anchored, 2, 3)

    def people(self) -> tuple[Any, ...]:
        """The labels of those who judged and are known, each once, sorted."""
        if self.participants is None:
            return ()
        labels = pd.Series(self.participants).dropna().unique().tolist()
        # Labels of several types have no order of their own.
        alike = len({type(label) for label in labels}) == 1
        return tuple(sorted(labels) if alike else sorted(labels, key=repr))

    def digest(self, *, people: bool = True) -> str:
        """A fingerprint of the judgments, equal for equal data on every machine.

        Who answered is part of it where that is known, unless ``people=False``.
        """
        content = hashlib.sha256()
        for array in (self.objects.astype("<i4"), self.odd, self.anchor):
            content.update(np.ascontiguousarray(array).tobytes())
        content.update("\0".join(self.names).encode())
        if people and self.participants is not None:
            content.update(b"\0\0" + "\0".join(map(str, self.participants)).encode())
        return content.hexdigest()

    def __len__(self) -> int:
        return len(self.objects)

    def __getitem__(self, rows: Any) -> Triplets:
        """The judgments at a mask, an index array or a slice, over the same objects."""
        if isinstance(rows, int | np.integer):
            rows = [int(rows)]
        return type(self)(
            self.objects[rows],
            self.odd[rows],
            names=self.names,
            anchor=self.anchor[rows],
            participants=None if self.participants is None else self.participants[rows],
            trials=None if self.trials is None else self.trials.iloc[rows],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Triplets):
            return NotImplemented
        if self.participants is None or other.participants is None:
            same_people = self.participants is other.participants
        else:
            same_people = np.array_equal(self.participants, other.participants)
        return bool(
            same_people
            and self.names == other.names
            and np.array_equal(self.objects, other.objects)
            and np.array_equal(self.odd, other.odd)
            and np.array_equal(self.anchor, other.anchor)
        )

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Triplets are immutable; make new ones instead of setting {name!r}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, tuple(getattr(self, name) for name in CONTENT)

    def __repr__(self) -> str:
        return f"Triplets({', '.join(facts_about(self))})"

    def _repr_html_(self) -> str:
        shown = self[: min(len(self), 5)].to_dataframe()
        more = [] if len(shown) == len(self) else [f"... and {len(self) - len(shown):,} more"]
        return html_table(repr(self), list(shown), shown.to_numpy().tolist(), more)

    def distinct_judgments(
        self, beside: NDArray[np.integer] | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """One row of each distinct judgment (question and answer), and how often it was made.

        With a number `beside` every row, such as that of a person, -1 for nobody, judgments with
        two numbers are distinct.
        """
        made = self._questions() * 3 + self.odd
        if beside is not None:
            # Numbered anew, so that the product below cannot overflow.
            _, made = np.unique(made, return_inverse=True)
            made = made * (beside.max() + 2) + beside + 1
        _, first, counts = np.unique(made, return_index=True, return_counts=True)
        return first, counts

    def repeated(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """First row of each question asked more than once, and its answers by position."""
        return repeated_questions(self._questions(), self.odd)

    def _part_of_each_row(
        self, fractions: Sequence[float], seed: int, stratify: bool
    ) -> NDArray[np.intp]:
        if stratify and self.participants is None:
            raise DataError(
                "stratify=True spreads every participant's judgments over the parts, but these "
                "do not say who judged; leave it out, or give participants."
            )
        people = self.participants if stratify else None
        return deal(triplet_keys(self.objects, self.n_objects), fractions, seed, people)

    def _questions(self) -> NDArray[np.int64]:
        return question_keys(self.objects, self.anchor, self.n_objects)


def _rebuild(*content: Any) -> Triplets:
    return Triplets(**dict(zip(CONTENT, content, strict=True)))

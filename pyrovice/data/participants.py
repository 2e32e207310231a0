"""Who did not take the task seriously: the paper's exclusion rules, to combine at will.

A rule is a small value that says, for every participant, whether it excludes them.
:func:`review` applies rules and reports who is excluded by which; nothing is dropped until
``review(...).kept(data)`` is called. Without a rule it gives the table to choose one by. Rules look
at the columns of `Triplets.trials` that the readers fill: `reaction_time` in milliseconds,
`position`, and `set` where trials came in sets.

>>> import numpy as np, pandas as pd, pyrovice as pv
>>> data = pv.simulate(np.eye(3).repeat(4, axis=0), 600, seed=0)
>>> data = pv.Triplets(
...     data.objects, data.odd, names=data.names, participants=np.repeat(["ann", "bob"], 300),
...     trials=pd.DataFrame({"position": [1, 2, 3] * 100 + [1, 1, 2] * 100}),
... )
>>> result = pv.participants.review(data, pv.participants.OnePosition())
>>> result
1 of 2 participants excluded, with 300 of 600 judgments
  one place too often (more than 40 % of at least 200 answers at one place): 1 (bob)
>>> result.exclusions["excluded_by"].to_dict()
{'bob': 'one place too often'}
>>> result.kept(data)
Triplets(300 judgments of 12 objects, 1 participant, 85 triplets judged repeatedly)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from pyrovice.data.agreement import agreement_with_others
from pyrovice.data.triplets import Triplets
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError


class Rule(ABC):
    """Says who should be excluded.

    `reason` is what a table says it excludes people for, in a few words; without one it has the
    rule as it was typed.
    """

    reason: ClassVar[str] = ""

    @abstractmethod
    def __call__(self, data: Triplets) -> pd.Series:
        """True for those excluded, indexed by participant."""

    def in_words(self) -> str:
        """What exactly it excludes people for, as it would be written in a paper."""
        return name_of(self)


@dataclass(frozen=True)
class TooFast(Rule):
    """Overly fast responses in several sets of trials (THINGS, ADJECTIVES).

    A set is too fast if at least `quick_share` of its responses took less than `quick`
    milliseconds and at least `fast_share` of them less than `fast`. Sets are those of the
    column `set`, or otherwise complete runs of `trials` trials in the order of the data.
    Trials without a reaction time do not count.
    """

    reason = "answers too fast"
    sets: int = 5
    trials: int = 20
    quick: float = 800
    quick_share: float = 0.25
    fast: float = 1100
    fast_share: float = 0.5

    def __call__(self, data: Triplets) -> pd.Series:
        frame = _trials_with(data, "reaction_time", self)
        timed = frame.dropna(subset="reaction_time")
        by = timed.groupby("participant", sort=False)
        sets = timed["set"] if "set" in timed else by.cumcount() // self.trials
        groups = timed.groupby(["participant", sets.rename("set")], sort=False)["reaction_time"]
        if "set" in timed and groups.size().median() < 2:
            raise DataError(
                "Most sets of the column 'set' of data.trials hold one response of a person, so "
                "that no share of them can be too fast; expected trials that one person did "
                f"together. Leave the column out to take runs of {self.trials} trials instead."
            )
        quick = groups.agg(lambda times: (times < self.quick).mean()) >= self.quick_share
        fast = groups.agg(lambda times: (times < self.fast).mean()) >= self.fast_share
        too_fast = quick & fast
        if "set" not in timed:
            too_fast &= groups.size() >= self.trials
        return _for_everybody(too_fast.groupby("participant").sum() >= self.sets, data)

    def in_words(self) -> str:
        return (
            f"at least {self.sets} {'set' if self.sets == 1 else 'sets'} of trials with "
            f"{_percent(self.quick_share)} of answers below {self.quick:g} ms and "
            f"{_percent(self.fast_share)} below {self.fast:g} ms"
        )


@dataclass(frozen=True)
class OnePosition(Rule):
    """More than `share` of at least `trials` answers at one place (THINGS, ADJECTIVES).

    Judgments with an anchor, whose answers have two places, do not count.
    """

    reason = "one place too often"
    share: float = 0.4
    trials: int = 200

    def __call__(self, data: Triplets) -> pd.Series:
        frame = _trials_with(data, "position", self)[~data.anchored]
        counts = pd.crosstab(frame["participant"], frame["position"])
        total = counts.sum(axis=1)
        return _for_everybody(
            (counts.max(axis=1) > self.share * total) & (total >= self.trials), data
        )

    def in_words(self) -> str:
        return f"more than {_percent(self.share)} of at least {self.trials} answers at one place"


@dataclass(frozen=True)
class QuickOnTheWhole(Rule):
    """A median reaction time below `milliseconds` (FOOD)."""

    reason = "too quick on the whole"
    milliseconds: float = 500

    def __call__(self, data: Triplets) -> pd.Series:
        frame = _trials_with(data, "reaction_time", self)
        median = frame.groupby("participant")["reaction_time"].median()
        return _for_everybody(median < self.milliseconds, data)

    def in_words(self) -> str:
        return f"a median reaction time below {self.milliseconds:g} ms"


@dataclass(frozen=True)
class FailedCatch(Rule):
    """More than `allowed` catch trials failed (FOOD: none is allowed).

    Catch trials are a table with the columns `participant` and `passed`; by default that of
    the file, ``data.reading.catch``.
    """

    reason = "catch trials failed"
    allowed: int = 0
    catch: pd.DataFrame | None = field(default=None, repr=False, compare=False)

    def __call__(self, data: Triplets) -> pd.Series:
        failed = self.failures(data)
        if failed is None:
            raise DataError(
                "There are no catch trials by participant; pass FailedCatch(catch=table) with the "
                "columns 'participant' and 'passed', on the command line --catch-trials FILE. "
                "Parts of data, and files written from it, do not keep those of the file that was "
                "read."
            )
        return _for_everybody(failed > self.allowed, data)

    def in_words(self) -> str:
        if self.allowed == 0:
            return "at least one failed catch trial"
        trials = "catch trial" if self.allowed == 1 else "catch trials"
        return f"more than {self.allowed} failed {trials}"

    def failures(self, data: Triplets) -> pd.Series | None:
        """How many each participant failed, if that is known."""
        catch = self.catch
        if catch is None and data.reading is not None:
            catch = data.reading.catch
        if catch is None or not {"participant", "passed"} <= set(catch):
            return None
        return (~catch["passed"].astype(bool)).groupby(catch["participant"]).sum()


# What the paper did.
THINGS = (TooFast(), OnePosition())
FOOD = (QuickOnTheWhole(), FailedCatch())


@dataclass(frozen=True, eq=False, repr=False)
class Review:
    """What is known of everybody, who is excluded, and by which rule.

    Attributes
    ----------
    table : DataFrame
        A row per participant: `judgments`; as far as the data tell, `median_time` (the median
        reaction time in milliseconds), `one_position` (the largest share of their answers at one
        place, anchored ones apart) and `catch_failed` (failed catch trials); `agreement`, the
        share of their answers that the counts of pairs of all others predict; `lapse`, the share
        that look like guesses beside them; a column per rule, and `excluded`.
    rules : tuple of Rule
        What was applied.
    """

    table: pd.DataFrame
    rules: tuple[Rule, ...]

    @property
    def excluded(self) -> list[Any]:
        """Those whom any rule excludes."""
        return self.table.index[self.table["excluded"]].tolist()

    @property
    def exclusions(self) -> pd.DataFrame:
        """Those who are excluded, with what is known of them and by which rules, in words."""
        rules = dict(zip(map(name_of, self.rules), reasons(self.rules), strict=True))
        out = self.table[self.table["excluded"]]
        why = [
            "; ".join(said for rule, said in rules.items() if row[rule])
            for row in out[list(rules)].to_dict("records")
        ]
        return out.drop(columns=[*rules, "excluded"]).assign(excluded_by=why)

    def kept(self, data: Triplets) -> Triplets:
        """The judgments of everybody else."""
        if data.participants is None:
            raise DataError("These judgments do not say who judged.")
        keep = ~np.isin(data.participants, self.excluded)
        if not keep.any():
            raise DataError(
                f"The rules exclude everybody, {len(self.excluded):,} people. Look at the table of "
                "the review, and whether the columns of data.trials hold what the rules expect: "
                "reaction times in milliseconds, places from 1 to 3, sets of trials."
            )
        return data[keep]

    def __repr__(self) -> str:
        judgments = self.table["judgments"]
        if not self.rules:
            known = self.table.drop(columns="excluded").round(3)
            return f"{len(known):,} participants, no rule applied\n{known}"
        lines = [
            f"{len(self.excluded):,} of {len(self.table):,} participants excluded, with "
            f"{judgments[self.table['excluded']].sum():,} of {judgments.sum():,} judgments"
        ]
        for rule, reason in zip(self.rules, reasons(self.rules), strict=True):
            who = list(self.table.index[self.table[name_of(rule)]])
            exactly = rule_in_words(rule)
            said = reason if reason == exactly else f"{reason} ({exactly})"
            lines.append(f"  {said}: {len(who):,}" + (f" ({first_few(who)})" if who else ""))
        return "\n".join(lines)


def review(data: Triplets, *rules: Rule) -> Review:
    """What there is to know of all participants, and whom rules exclude.

    Parameters
    ----------
    data : Triplets
        Judgments that say who judged.
    *rules : Rule
        For example ``*pv.participants.THINGS``, or any function from the data to a Series
        of booleans indexed by participant. Without any, nobody is excluded.

    Examples
    --------
    >>> import pyrovice as pv
    >>> data = pv.load_example(people=12).triplets
    >>> table = pv.participants.review(data).table
    >>> table.columns.tolist()
    ['judgments', 'agreement', 'lapse', 'excluded']

    A rule of one's own:

    >>> pv.participants.review(data, lambda data: table.lapse > 0.9).excluded
    []
    """
    if data.participants is None:
        raise DataError("These judgments do not say who judged; give participants.")
    table = _known_of_everybody(data, rules)
    for rule in rules:
        table[name_of(rule)] = rule(data).reindex(table.index, fill_value=False).astype(bool)
    table["excluded"] = table[[name_of(rule) for rule in rules]].any(axis=1)
    return Review(table, rules)


def name_of(rule: Rule) -> str:
    """The column of a rule in a table; one of one's own is called after its function."""
    name = getattr(rule, "__name__", "<lambda>")
    # Functions without a name would all be called the same.
    return repr(rule) if name == "<lambda>" else str(name)


def reasons(rules: Sequence[Rule]) -> list[str]:
    """What each rule excludes people for, in as few words as tell them apart."""
    short = [getattr(rule, "reason", "") or name_of(rule) for rule in rules]
    return [
        reason if short.count(reason) == 1 else rule_in_words(rule)
        for rule, reason in zip(rules, short, strict=True)
    ]


def rule_in_words(rule: Rule) -> str:
    """What exactly a rule excludes people for; one that is a plain function has only its name."""
    return rule.in_words() if isinstance(rule, Rule) else name_of(rule)


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _known_of_everybody(data: Triplets, rules: tuple[Rule, ...]) -> pd.DataFrame:
    table = pd.Series(data.participants).value_counts().to_frame("judgments")
    table = table.rename_axis("participant").sort_index()
    by = pd.Series(data.participants, name="participant")
    if data.trials is not None and "reaction_time" in data.trials:
        table["median_time"] = data.trials["reaction_time"].groupby(by).median()
    if data.trials is not None and "position" in data.trials and not data.anchored.all():
        counts = pd.crosstab(by[~data.anchored], data.trials["position"][~data.anchored])
        table["one_position"] = counts.max(axis=1) / counts.sum(axis=1)
    given = [rule for rule in rules if isinstance(rule, FailedCatch)]
    failed = (given or [FailedCatch()])[0].failures(data)
    if failed is not None:
        table["catch_failed"] = failed.reindex(table.index, fill_value=0)
    return table.join(agreement_with_others(data))


def _trials_with(data: Triplets, column: str, rule: Rule) -> pd.DataFrame:
    if data.trials is None or column not in data.trials:
        there = "nothing" if data.trials is None else ", ".join(map(repr, data.trials))
        raise DataError(
            f"{type(rule).__name__} needs the column {column!r} of data.trials, which has {there}. "
            "Say where it is in your table: Triplets.read(path, ..., reaction_time='rt', "
            "set='block'), on the command line pyrovice convert --reaction-time rt --set block; "
            "positions are known if the columns of objects are places on the screen, "
            "on_screen=True."
        )
    return data.trials.assign(participant=data.participants)


def _for_everybody(excluded: pd.Series, data: Triplets) -> pd.Series:
    everybody = pd.Index(pd.Series(data.participants).dropna().unique(), name="participant")
    return excluded.reindex(everybody, fill_value=False).astype(bool)

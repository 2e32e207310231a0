"""What may differ between people, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import pandas as pd
import pyro.distributions as dist
from pyro.distributions.torch_distribution import TorchDistributionMixin
from torch.distributions import constraints

from pyrovice.data.triplets import Triplets
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError, PyroviceError
from pyrovice.model.fixed_or_learned import as_typed, is_number
from pyrovice.storage.registry import saved

Spread: TypeAlias = bool | float | TorchDistributionMixin

# What is learned under unless the user says otherwise: log-weights of people differ by .15 to .4,
# log-temperatures by about .3, and the logits of lapse rates by about 1.
DEFAULT_SPREADS = {"weights": 0.5, "temperature": 0.5, "lapse": 1.5, "own": 0.25}
TRAITS = tuple(DEFAULT_SPREADS)


@saved
@dataclass(frozen=True, eq=False)
class People:
    """How people differ around one shared embedding X.

    Person p sees object i at [x_i + e_pi]₊ √w_p, and their similarities are divided by a
    temperature t_p; with probability λ_p they answer at random::

        log w_pk   ~ Normal(0, weight_spread_k)        a weight per person and dimension
        log t_p    ~ Normal(0, temperature_spread)     a temperature per person
        logit λ_p  ~ Normal(logit typical_lapse, lapse_spread)
        e_pik      ~ Normal(0, own_spread_k)           deviations of a person's own

    The typical person has weights and temperature one and no deviations, and X is what this
    person sees. That gives X its scale: weights and temperatures are relative to their geometric
    mean over the people who answered. How much people differ is learned, so that somebody with
    few answers stays near the others. A judgment whose person is not known is fitted as the
    typical person's, and predicted by averaging over new people.

    Parameters
    ----------
    weights, temperature, lapse, own : bool, float or distribution
        What differs. False: nothing. True: it does, and its spread is learned under a
        half-Normal prior. A distribution: the prior of that spread. A number: the spread.
        `own` needs many judgments per person and few objects.
    groups : mapping or Series, optional
        From a person's label to the name of their group; of a Series, which may be a column of a
        table of judgments, people are the index. The log-weights of each group then
        have a mean of their own, Normal(0, weight_spread_k). People it does not name are in
        no group, and neither are those whose group is missing (None or NaN).

    Examples
    --------
    >>> import pyrovice as pv, pyro.distributions as dist
    >>> pv.People()
    People(weights=True, temperature=True)
    >>> pv.People(weights=dist.HalfNormal(0.3), temperature=0.2, lapse=True)
    People(weights=HalfNormal(scale=0.3), temperature=0.2, lapse=True)
    """

    weights: Spread = True
    temperature: Spread = True
    lapse: Spread = False
    own: Spread = False
    groups: Any = None

    def __post_init__(self) -> None:
        for trait in TRAITS:
            object.__setattr__(self, trait, _checked(trait, getattr(self, trait)))
        if not any(self.varies(trait) for trait in TRAITS):
            raise PyroviceError(
                "People(...) in which nothing differs is one mind: leave people= out, or say "
                "weights=True or temperature=True."
            )
        object.__setattr__(self, "groups", _pairs(self.groups))
        if self.groups is not None and not self.varies("weights"):
            raise PyroviceError(
                "Groups differ in their weights, and weights=False: say weights=True, or leave "
                "groups= out."
            )

    def varies(self, trait: str) -> bool:
        """Whether people differ in a trait, one of ``TRAITS``."""
        return getattr(self, trait) is not False

    def spread(self, trait: str) -> float | TorchDistributionMixin:
        """The spread of a trait, or what it is learned under."""
        given = getattr(self, trait)
        return dist.HalfNormal(DEFAULT_SPREADS[trait]) if given is True else given

    def group_of(self) -> dict[Any, str]:
        """The group of everybody who is in one."""
        return dict(self.groups or ())

    def _content(self) -> tuple[Any, ...]:
        # Pyro's distributions are equal only to themselves.
        return (*(as_typed(getattr(self, trait)) for trait in TRAITS), self.groups)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, People):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        parts = [
            f"{trait}={as_typed(getattr(self, trait))}" for trait in ("weights", "temperature")
        ]
        parts += [f"{t}={as_typed(getattr(self, t))}" for t in ("lapse", "own") if self.varies(t)]
        if self.groups is not None:
            names = sorted(set(self.group_of().values()))
            parts.append(f"groups of {', '.join(names)}")
        return f"People({', '.join(parts)})"


def check_people(people: Any) -> People | None:
    """What was given as ``people=``, if it is one mind or several."""
    if people is None or isinstance(people, People):
        return people
    if people is People:
        return People()
    raise PyroviceError(
        f"people={people!r}; expected None for one mind, or pv.People(weights=True, "
        "temperature=True, lapse=False)."
    )


def check_people_of(data: Triplets, people: Any) -> None:
    """Refuse data that do not say who answered, if that is asked."""
    if check_people(people) is None:
        return
    if data.participants is None:
        raise DataError(
            "people= needs to know who answered, and these judgments do not say: give "
            "participants=..., for example Triplets.from_dataframe(table, participant='who'), on "
            "the command line pyrovice convert table.csv -o judgments.csv "
            "--objects left,middle,right --odd answer --participant who"
        )
    known = data.people()
    if len(known) < 2:
        by = f"one person, {known[0]!r}" if known else "nobody who is known"
        raise DataError(
            f"people= is about how people differ, and these judgments are by {by}; leave people= "
            "out, on the command line --people."
        )


def _checked(trait: str, spread: Any) -> Any:
    if isinstance(spread, bool):
        return spread
    if is_number(spread) and spread > 0:
        return float(spread)
    if isinstance(spread, TorchDistributionMixin) and not spread.shape():
        bounds = vars(spread.support)
        if spread.support is constraints.positive or bounds.get("lower_bound", -1.0) >= 0:
            return spread
    raise PyroviceError(
        f"People({trait}={spread!r}); expected False, True, the spread as a positive number, or "
        "a distribution of positive numbers to learn it under, such as dist.HalfNormal(0.3)."
    )


def _pairs(groups: Any) -> tuple[tuple[Any, str], ...] | None:
    """The groups as (person, group), which can be compared and saved."""
    if groups is None:
        return None
    if isinstance(groups, pd.DataFrame):
        raise PyroviceError(
            f"groups= is a table with the columns {first_few(map(repr, groups))}; expected one "
            "column of it, indexed by person: groups=table.set_index('person')['group']."
        )
    if isinstance(groups, pd.Series):
        groups = _by_person(groups)
    elif isinstance(groups, tuple):
        groups = dict(groups)
    if not isinstance(groups, Mapping) or not groups:
        raise PyroviceError(
            f"groups={groups!r}; expected the group of each person, for example "
            'groups={"ann": "expert", "bob": "novice"}, or a Series indexed by person.'
        )
    known = {_plain(who): str(group) for who, group in groups.items() if not pd.isna(group)}
    if not known:
        raise PyroviceError("groups= has no group for anybody: every value is missing.")
    return tuple(known.items())


def _by_person(groups: pd.Series) -> dict[Any, Any]:
    """The group of each person from a column, which may name a person in many rows."""
    groups = groups.dropna()
    differing = groups.groupby(level=0).nunique()
    torn = differing.index[differing > 1]
    if len(torn):
        raise PyroviceError(
            f"groups= has {first_few(map(repr, torn))} in more than one group; expected one group "
            "of each person."
        )
    return groups.to_dict()


def _plain(label: Any) -> Any:
    """A label of NumPy's as Python's own, which a file can hold."""
    return label.item() if hasattr(label, "item") else label

"""What a fit knows of the people who answered: each of them, and groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from pyrovice.data.validation import whole
from pyrovice.data.wording import first_few
from pyrovice.errors import DataError, PyroviceError
from pyrovice.model.choices.kept_pairs import asked_kept
from pyrovice.model.people import Crowd
from pyrovice.model.people.traits import Traits, seen
from pyrovice.model.priors import Features
from pyrovice.results.label_blind import label_blind
from pyrovice.results.similarity import similarity_of

if TYPE_CHECKING:
    from pyrovice.results.fit import Fit

INTERVAL = {"5 %": 0.05, "95 %": 0.95}
STATISTICS = ("median", "mean", "sd")
GROUP_COLUMNS = ["dimension", "groups", "difference", *INTERVAL, "P(> 0)", "p_value"]


def crowd_of(fit: Fit) -> Crowd:
    """The people of a fit, if they differ."""
    if not isinstance(fit.model.answers, Crowd):
        raise PyroviceError(
            "This fit is of one mind, so there is nothing to say about single people: fit with "
            "people=pv.People()."
        )
    return fit.model.answers


def axis_labels(fit: Fit) -> dict[str, Sequence[Any]]:
    """See `Fit.labels`."""
    found: dict[str, Sequence[Any]] = {"object": fit.names, "dimension": list(fit._dimensions())}
    if isinstance(fit.prior, Features):
        found |= fit.prior.coordinates
    if fit.model.asks_where:
        found["place"] = (1, 2, 3)
    if isinstance(fit.model.answers, Crowd):
        found["person"] = fit.model.known_people or ()
        found["group"] = fit.model.answers.groups
    return found


def people_table(fit: Fit) -> pd.DataFrame:
    """See `Fit.people`."""
    crowd = crowd_of(fit)
    known = list(fit.model.known_people or ())
    columns: dict[str, Any] = {"judgments": list(fit.judgments_by_person)}
    if crowd.groups:
        group_of = fit.model.people.group_of()  # type: ignore[union-attr]
        columns["group"] = [group_of.get(person) for person in known]
    for trait in ("temperature", "lapse"):
        site = fit.posterior.others.get(f"person_{trait}")
        if site is not None:
            columns |= _with_interval(trait, site.pooled)
    weights = fit.posterior.others.get("person_weight")
    if weights is not None:
        for place, dimension in zip(fit.kept_positions(), fit.embedding(), strict=True):
            columns |= _with_interval(f"weight {dimension}", weights.pooled[:, :, place])
    return pd.DataFrame(columns, index=pd.Index(known, name="person"))


def _with_interval(name: str, draws: NDArray[np.floating]) -> dict[str, NDArray[np.floating]]:
    ends = {f"{name} {end}": np.quantile(draws, q, axis=0) for end, q in INTERVAL.items()}
    return {name: np.median(draws, axis=0), **ends}


@dataclass(frozen=True, eq=False, repr=False)
class Person:
    """One of the people who answered, as a fit knows them; made by :meth:`Fit.person`.

    Attributes
    ----------
    label : object
        What they are called in the data.
    judgments : int
        How many of theirs were fitted.
    """

    fit: Fit
    label: Any
    judgments: int

    @property
    def _number(self) -> int:
        assert self.fit.model.known_people is not None
        return self.fit.model.known_people.index(self.label)

    def traits(self) -> pd.DataFrame:
        """Temperature, lapse and a weight per kept dimension, with 90 % intervals."""
        row = self.fit.people().loc[[self.label]].iloc[0]
        names = [n for n in row.index if n.split()[0] in ("temperature", "lapse", "weight")]
        names = [name for name in names if not name.endswith("%")]
        return pd.DataFrame(
            [[row[name], *(row[f"{name} {end}"] for end in INTERVAL)] for name in names],
            index=pd.Index(names, name="trait"),
            columns=["median", *INTERVAL],
        ).astype(float)

    def embedding(
        self, statistic: str = "median", pruned: bool = True, draws: int = 200, seed: int = 0
    ) -> pd.DataFrame:
        """The embedding as this person sees it, [x + e]₊ √w, objects x dimensions.

        Parameters
        ----------
        statistic : {"median", "mean", "sd"}
            Over posterior draws of the embedding and of the person's traits.
        pruned : bool
            Whether to give the kept dimensions only.
        draws, seed : int
            How many draws, and their seed.
        """
        if statistic not in STATISTICS:
            raise PyroviceError(
                f"statistic={statistic!r}; expected one of {', '.join(map(repr, STATISTICS))}."
            )
        views = np.stack(
            [self._view(sites).numpy() for sites in self.fit.posterior.each(draws, seed)]
        )
        values = getattr(np, {"sd": "std"}.get(statistic, statistic))(views, axis=0)
        return self.fit._frame(values, pruned)

    def similarity(
        self, statistic: str = "mean", *, draws: int = 20, seed: int = 0, thirds: int | None = None
    ) -> pd.DataFrame:
        """Objects x objects: how probably this person keeps a pair; see :meth:`Fit.similarity`."""
        if statistic not in ("mean", "sd"):
            raise PyroviceError(f"statistic={statistic!r}; expected 'mean' or 'sd'.")
        mean, sd = similarity_of(self._kept, self.fit.posterior, draws, seed, thirds)
        names = pd.Index(self.fit.names, name="object")
        return pd.DataFrame(mean if statistic == "mean" else sd, index=names, columns=names)

    def _view(self, sites: dict[str, torch.Tensor]) -> torch.Tensor:
        traits = Traits(sites.get("person_weight"), None, None, sites.get("person_own"))
        return seen(sites["X"], self._number, traits)

    def _kept(self, sites: dict[str, torch.Tensor], third: torch.Tensor) -> torch.Tensor:
        model, number = self.fit.model, self._number
        if not hasattr(model.choice, "kept_probability"):
            return asked_kept(
                lambda asked: model.choice_log_probability(sites, asked.by(number)),
                model.n_objects,
                third,
            )
        one = torch.ones(number + 1)
        temperature = sites.get("person_temperature", one)[number]
        view = self._view(sites)
        kept = model.choice.given(sites, view).kept_probability(view, third, temperature)
        if "person_lapse" in sites:
            lapse = sites["person_lapse"][number]
            kept = kept * (1 - lapse) + lapse / 3
        return kept

    def __repr__(self) -> str:
        return f"Person({self.label!r}, {self.judgments:,} judgments)\n{self.traits().round(2)}"


def person(fit: Fit, label: Any) -> Person:
    """See `Fit.person`."""
    crowd_of(fit)
    known = list(fit.model.known_people or ())
    if label not in known:
        raise DataError(
            f"person({label!r}): nobody of that name was fitted; there are "
            f"{first_few(map(repr, known))}."
        )
    return Person(fit, label, fit.judgments_by_person[known.index(label)])


def group_table(fit: Fit, permutations: int, seed: int) -> pd.DataFrame:
    """See `Fit.groups`."""
    crowd = crowd_of(fit)
    if crowd.group is None:
        raise PyroviceError(
            "This fit knows of no groups: fit with people=pv.People(groups={person: group, ...})."
        )
    means = fit.posterior.others["group_log_weight"].pooled
    blind = _label_blind(fit, crowd)
    group = crowd.group.numpy()
    rows = []
    for a, b in combinations(range(len(crowd.groups)), 2):
        p_values = _permuted(blind, group, a, b, permutations, seed)
        for place, dimension in zip(fit.kept_positions(), fit.embedding(), strict=True):
            difference = means[:, a, place] - means[:, b, place]
            rows.append(
                {
                    "dimension": dimension,
                    "groups": f"{crowd.groups[a]} - {crowd.groups[b]}",
                    "difference": difference.mean(),
                    **{end: np.quantile(difference, q) for end, q in INTERVAL.items()},
                    "P(> 0)": (difference > 0).mean(),
                    "p_value": p_values[place],
                }
            )
    # Named also where there is no row, because no dimension is kept.
    table = pd.DataFrame(rows, columns=GROUP_COLUMNS)
    return table.set_index(["dimension", "groups"])


def _label_blind(fit: Fit, crowd: Crowd) -> NDArray[np.float64]:
    """Everybody's log-weights as they would be without knowing of groups, (people, dimensions)."""
    others = fit.posterior.others
    drawn = np.log(others["person_weight"].pooled.astype(float))
    assert crowd.group is not None
    # Those in no group are around zero; they are not exchanged.
    centre = np.zeros_like(drawn)
    for number in range(len(crowd.groups)):
        members = np.flatnonzero(crowd.group.numpy() == number)
        # As expected given its members: what a draw adds by chance, all members would share.
        mean = drawn[:, members].sum(1, keepdims=True) / (len(members) + 1)
        centre[:, members] = mean
    learned = others.get("weight_spread")
    spread = crowd.people.spread("weights") if learned is None else learned.pooled.astype(float)
    return label_blind(drawn, centre, np.broadcast_to(spread, drawn[:, 0].shape))


def _permuted(
    values: NDArray[np.float64],
    group: NDArray[np.integer],
    a: int,
    b: int,
    permutations: int,
    seed: int,
) -> NDArray[np.float64]:
    """Two-sided p-values of the difference of two groups, by exchanging their members."""
    values = values[np.isin(group, (a, b))]
    first = group[np.isin(group, (a, b))] == a
    rng = np.random.default_rng(seed)

    def difference(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        return np.abs(values[chosen].mean(0) - values[~chosen].mean(0))

    observed = difference(first)
    times = whole(permutations, "permutations", least=1)
    as_large = sum(
        (difference(rng.permutation(first)) >= observed - 1e-12).astype(int) for _ in range(times)
    )
    return np.asarray((1 + as_large) / (1 + times))

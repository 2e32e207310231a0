"""One function that accepts every kind of choice, and one that asks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pyro import poutine
from pyro.poutine.util import prune_subsample_sites
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.errors import ChoiceError
from pyrovice.model.choices.pairs import rule_out_anchors
from pyrovice.model.choices.softmax_choice import SoftmaxChoice
from pyrovice.model.distributions import OddOneOut
from pyrovice.model.judgments import Judgments
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.storage.identity import name_of

Choice: TypeAlias = Callable[[Tensor, Judgments], Tensor]

# Judgments whose probabilities are added up, and what rounding may make of their sum.
FEW, TOLERANCE = 100, 1e-3
# What a message proposes for something that is learned.
PLAUSIBLE = {
    "temperature": "0.5",
    "lapse": "0.05",
    "position": "(0.2, 0, -0.2)",
    "distinctive": "0.5",
}


class OwnChoice:
    """A choice that a user wrote as a function, with anchors ruled out whatever it says."""

    # A function may look at judgments.person, so equal answers of two people are kept apart.
    asks_who_answered = True
    # The same with judgments.places.
    asks_where = True

    def __init__(self, function: Choice) -> None:
        self.function = function
        self._sums_to_one = False

    def __repr__(self) -> str:
        return name_of(self.function)

    def __call__(self, X: Tensor, judgments: Judgments) -> Tensor:
        # The prior has opened these plates before, and Pyro takes each of them once.
        with poutine.block(hide=["object", "dimension"]):
            log_p = self.function(X, judgments)
        shape = (len(judgments), 3)
        if not isinstance(log_p, Tensor) or log_p.shape[-2:] != shape:
            got = tuple(log_p.shape) if isinstance(log_p, Tensor) else type(log_p).__name__
            raise ChoiceError(
                f"The choice {self!r} returned {got}; expected the log-probability of each of the "
                f"three positions, of shape (..., {shape[0]}, 3), for example "
                "pv.choices.similarities(X, judgments).log_softmax(-1)."
            )
        if judgments.anchor is None:
            if not self._sums_to_one:
                self._check_sums(log_p)
            return log_p
        return rule_out_anchors(log_p, judgments, dim=-1).log_softmax(-1)

    def odd(self, X: Tensor, judgments: Judgments) -> OddOneOut:
        """The distribution of the answers."""
        return OddOneOut(self(X, judgments))

    def _check_sums(self, log_p: Tensor) -> None:
        """Refuse scores that are no log-probabilities, when some are first seen."""
        total = log_p.detach()[..., :FEW, :].exp().sum(-1)
        # So written that a sum that is not a number is far from one.
        far = total[~((total - 1).abs() <= TOLERANCE)]
        if len(far):
            raise ChoiceError(
                f"The choice {self!r} returned log-probabilities of three answers that sum to "
                f"{far[0].item():.3g} instead of 1; end it with .log_softmax(-1)."
            )
        self._sums_to_one = True


def resolve_choice(choice: Any) -> Any:
    """What gives log-probabilities, for a value of :mod:`pyrovice.choices` or a function."""
    if isinstance(choice, type) or not callable(choice):
        raise ChoiceError(
            f"choice={choice!r} is not a choice; expected pv.choices.DotProduct() or a function "
            "(X, judgments) that returns log-probabilities of shape (..., n, 3)."
        )
    return choice if hasattr(choice, "asks_who_answered") else OwnChoice(choice)


def check_choice_of(data: Triplets, choice: Any) -> None:
    """Refuse judgments that do not say what a choice must know."""
    if isinstance(choice, SoftmaxChoice):
        choice.check_data(data)


def log_probability(choice: Any, sites: Mapping[str, Tensor], judgments: Judgments) -> Tensor:
    """Log-probability of each position being odd, given values of all sites.

    Parameters
    ----------
    choice : Choice
        The choice model.
    sites : mapping of str to Tensor
        ``"X"``, rectified or not, and every site that the choice samples; others may be there.
    judgments : Judgments
        What is asked.

    Returns
    -------
    Tensor of shape (..., n, 3)
    """
    answer = resolve_choice(choice)
    given = {name: value for name, value in sites.items() if name != "X"}
    if not given and getattr(answer, "samples_nothing", False):
        # Without Pyro, so that nobody waits for a fit that is running in another thread.
        return answer(sites["X"].relu(), judgments)
    with pyro_locked(), poutine.trace() as traced, poutine.condition(data=given):
        log_p = answer(sites["X"].relu(), judgments)
    for name, _ in prune_subsample_sites(traced.trace).iter_stochastic_nodes():
        if name not in given:
            raise ChoiceError(
                f"The choice {answer!r} samples {name!r}, of which nothing is known here: fit "
                "it to judgments first, or give a choice that fixes it, such as "
                f"{_that_fixes(name, answer)}."
            )
    return log_p


def _that_fixes(name: str, choice: Any) -> str:
    """An example of a choice that does not learn this, as it is typed."""
    if not isinstance(choice, SoftmaxChoice):
        return "pv.choices.DotProduct(lapse=0.05)"
    return f"pv.choices.{type(choice).__name__}({name}={PLAUSIBLE[name]})"

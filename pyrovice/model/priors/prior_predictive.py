"""What a prior says about choices, before any data.

A weight means nothing by itself. What can be judged is how certain the choices
are that a prior expects: people who are shown the same triplet often disagree,
and scales that look harmless for one weight add up over dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyrovice.data.triplets import Triplets
from pyrovice.data.validation import default_names, whole, whole_seed
from pyrovice.errors import DataError, PriorError, PyroviceError, tell
from pyrovice.model.choices import Choice, DotProduct
from pyrovice.model.dimensions import first_dimensions
from pyrovice.model.model import Model
from pyrovice.model.priors.resolve import Prior
from pyrovice.model.pyro_lock import pyro_locked
from pyrovice.model.simulation import random_triplets
from pyrovice.model.structure import draw_prior

# The largest probability from which on a choice counts as near certain.
NEAR_CERTAIN = 0.99
# Warn beyond this share of near-certain choices. The default prior implies 0.10 at 100 dimensions
# and 0.00 at 12; a slab of 8 or a Normal of scale 5 imply 0.79 to 0.97.
MOST_NEAR_CERTAIN = 0.25
# Warn below this gain in accuracy over guessing. The paper's prior gains 0.03 at 7 dimensions and
# 0.14 at 100; a Normal of scale 0.05 gains 0.001 and 0.003.
LEAST_GAIN = 0.01
# Weights kept per draw, so that memory does not grow with the embedding.
MOST_WEIGHTS = 10_000
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False, repr=False)
class PriorPredictive:
    """What a prior implies; made by :func:`pyrovice.priors.predictive`.

    Attributes
    ----------
    prior : Prior
        The prior that was asked about.
    n_objects, dimensions : int
        Shape of the embeddings drawn from it.
    largest : array of shape (draws, n)
        The largest choice probability of each triplet.
    entropy : array of shape (draws,)
        Mean entropy of a choice, in nats.
    zeros : array of shape (draws,)
        Share of the weights that the rectifier makes zero.
    weights : array of shape (draws, k)
        Weights after the rectifier, zeros included: the same k entries of X in
        every draw, all of them up to 10,000.
    guessing : float
        Accuracy of guessing among the allowed answers.
    agreement : array of shape (draws,) or None
        Mean share of the majority answer if the questions that the data repeat
        were answered as often under the prior; None without repeats.
    observed_agreement : float or None
        The same share in the data.
    """

    prior: Prior
    n_objects: int
    dimensions: int
    largest: NDArray[np.float64]
    entropy: NDArray[np.float64]
    zeros: NDArray[np.float64]
    weights: NDArray[np.float64]
    guessing: float
    agreement: NDArray[np.float64] | None
    observed_agreement: float | None

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """What an observer who knows X would predict correctly, shape (draws,)."""
        return self.largest.mean(axis=1)

    @property
    def near_certain(self) -> NDArray[np.float64]:
        """Share of choices with a probability above 0.99, shape (draws,)."""
        return (self.largest > NEAR_CERTAIN).mean(axis=1)

    @property
    def positive_weights(self) -> NDArray[np.float64]:
        """The weights that are not zero, of all draws."""
        return self.weights[self.weights > 0]

    def table(self) -> pd.DataFrame:
        """Mean and quantiles of every quantity.

        `accuracy`, `entropy`, `near_certain`, `zeros` and `agreement` are one
        number per draw; `largest` varies over triplets and draws, `weight` over
        positive weights and draws. `data` holds what the judgments say, for
        the `agreement` on repeated questions.

        Examples
        --------
        >>> import pyrovice as pv
        >>> pv.priors.predictive(pv.SpikeSlab(), (80, 12)).table().round(2)
                      mean    5%   25%   50%   75%   95%
        accuracy      0.53  0.51  0.53  0.54  0.54  0.56
        entropy       0.94  0.91  0.93  0.94  0.96  0.98
        near_certain  0.00  0.00  0.00  0.00  0.01  0.01
        zeros         0.50  0.47  0.49  0.50  0.51  0.53
        largest       0.53  0.35  0.40  0.48  0.63  0.89
        weight        0.50  0.03  0.13  0.30  0.69  1.65
        """
        quantities: dict[str, NDArray[np.float64]] = {
            "accuracy": self.accuracy,
            "entropy": self.entropy,
            "near_certain": self.near_certain,
            "zeros": self.zeros,
            "largest": self.largest,
            "weight": self.positive_weights,
        }
        if self.agreement is not None:
            quantities["agreement"] = self.agreement
        table = pd.DataFrame(
            {name: _mean_and_quantiles(values) for name, values in quantities.items()},
            index=["mean", *(f"{q:.0%}" for q in QUANTILES)],
        ).T
        if self.observed_agreement is not None:
            table["data"] = pd.Series({"agreement": self.observed_agreement})
        return table

    def __repr__(self) -> str:
        return (
            f"PriorPredictive({self.n_objects:,} objects, {self.dimensions} dimensions, "
            f"{len(self.largest)} draws, accuracy {self.accuracy.mean():.3f}, "
            f"{self.near_certain.mean():.1%} near-certain choices)"
        )

    def __str__(self) -> str:
        low, middle, high = (f"{q:.0%}" for q in (0.05, 0.5, 0.95))
        table = self.table()

        def row(label: str, name: str, note: str = "") -> str:
            at = table.loc[name]
            centre = at[middle] if name == "weight" else at["mean"]
            return f"  {label:22}{centre:.3f}   [{at[low]:.3f}, {at[high]:.3f}]{note}"

        lines = [
            f"{getattr(self.prior, '__name__', self.prior)}",
            f"{self.n_objects:,} objects, {self.dimensions} dimensions: mean of "
            f"{len(self.largest)} draws [90 % of them]",
            row("accuracy, knowing X", "accuracy", f"   (guessing {self.guessing:.3f})"),
            row("entropy of a choice", "entropy", " nats"),
            row("near-certain choices", "near_certain"),
            row("zero weights", "zeros"),
        ]
        if len(self.positive_weights):
            lines.append(row("positive weights", "weight", "   (median, 90 % of the weights)"))
        if self.observed_agreement is not None:
            note = f"   (data {self.observed_agreement:.3f})"
            lines.append(row("majority on repeats", "agreement", note))
        return "\n".join(lines)


def predictive(
    prior: Prior,
    data_or_shape: Triplets | tuple[int, int],
    *,
    dimensions: int | str = "auto",
    choice: Choice = DotProduct(),  # noqa: B008 (frozen)
    draws: int = 100,
    triplets: int = 2000,
    seed: int = 0,
) -> PriorPredictive:
    """How certain the choices are that a prior expects, before any data.

    Embeddings are drawn from the prior and rectified, and the model's choice
    probabilities follow. Nothing is fitted.

    Parameters
    ----------
    prior : Prior
        Any of the kinds of prior that :func:`pyrovice.fit` takes.
    data_or_shape : Triplets or (n_objects, dimensions)
        Judgments whose questions are asked, anchors included; their answers
        count only for the agreement on repeated questions. With a shape,
        random triplets are asked.
    dimensions : int or "auto"
        With judgments: the number of dimensions, ``"auto"`` for as many as
        :func:`pyrovice.fit` starts from. A shape says it already.
    choice : Choice
        Any of the kinds of choice that :func:`pyrovice.fit` takes.
    draws : int
        How many embeddings to draw.
    triplets : int
        How many triplets to ask, or a random part of the judgments if there
        are more.
    seed : int
        The same seed gives the same numbers. Other random numbers are not
        touched.

    Returns
    -------
    PriorPredictive

    Warns
    -----
    PyroviceWarning
        If more than a quarter of the choices are near certain, or if knowing X
        predicts them hardly better than guessing.

    Examples
    --------
    >>> import pyrovice as pv
    >>> pv.priors.predictive(pv.SpikeSlab(), (80, 12))
    PriorPredictive(80 objects, 12 dimensions, 100 draws, accuracy 0.535, 0.4% near-certain choices)

    Repeated judgments show how certain people are:

    >>> print(pv.priors.predictive(pv.SpikeSlab(), pv.load_example().triplets, dimensions=12))
    SpikeSlab(spike=0.25, slab=1.0, pi=0.5, family='normal')
    80 objects, 12 dimensions: mean of 100 draws [90 % of them]
      accuracy, knowing X   0.536   [0.503, 0.563]   (guessing 0.333)
      entropy of a choice   0.941   [0.906, 0.983] nats
      near-certain choices  0.004   [0.000, 0.009]
      zero weights          0.501   [0.475, 0.528]
      positive weights      0.299   [0.025, 1.653]   (median, 90 % of the weights)
      majority on repeats   0.719   [0.700, 0.735]   (data 0.729)
    """
    draws = whole(draws, "draws", least=1)
    triplets = whole(triplets, "triplets", least=1)
    seed = whole(seed, "seed", least=0)
    rng = np.random.default_rng(seed)
    if isinstance(data_or_shape, Triplets):
        n_objects, columns = data_or_shape.n_objects, first_dimensions(dimensions, data_or_shape)
        asked = data_or_shape
        if len(asked) > triplets:
            asked = asked.subset(triplets, seed)
        repeats = _repeats(data_or_shape, triplets, rng)
    else:
        n_objects, columns = _shape(data_or_shape, dimensions)
        objects = random_triplets(n_objects, triplets, rng)
        # Triplets need answers; nothing here looks at them.
        asked = Triplets(objects, np.zeros(triplets, int), names=default_names(n_objects))
        repeats = None
    model = Model(prior, n_objects, columns, choice=choice)
    questions = model.judgments(asked)
    size = n_objects * columns
    entries = rng.choice(size, min(size, MOST_WEIGHTS), replace=False)
    largest, weights = np.empty((draws, len(asked))), np.empty((draws, len(entries)))
    entropy, zeros, agreement = np.empty((3, draws))
    with pyro_locked(), torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(whole_seed(seed))
        for i in range(draws):
            sites = {name: _in_double(value) for name, value in draw_prior(model).items()}
            X = sites["X"].relu()
            p = model.choice_log_probability(sites, questions).exp()
            largest[i] = p.amax(-1)
            entropy[i] = torch.special.entr(p).sum(-1).mean()
            zeros[i] = (X == 0).double().mean()
            weights[i] = X.flatten()[entries]
            if repeats is not None:
                asked_again, answers = repeats
                p = model.choice_log_probability(sites, asked_again).exp()
                agreement[i] = _majority(rng.multinomial(answers.sum(axis=1), p.numpy()))
    result = PriorPredictive(
        prior=prior,
        n_objects=n_objects,
        dimensions=columns,
        largest=largest,
        entropy=entropy,
        zeros=zeros,
        weights=weights,
        guessing=float((1 / asked.options).mean()),
        agreement=None if repeats is None else agreement,
        observed_agreement=None if repeats is None else _majority(repeats[1]),
    )
    _warn(result)
    return result


def _shape(shape: Any, dimensions: int | str) -> tuple[int, int]:
    if not isinstance(shape, tuple):
        raise TypeError(
            f"data_or_shape is a {type(shape).__name__}; expected Triplets or a tuple "
            "(n_objects, dimensions), for example (80, 12)."
        )
    if len(shape) != 2:
        raise DataError(
            f"data_or_shape={shape}; expected (n_objects, dimensions), for example (80, 12)."
        )
    if dimensions != "auto":
        raise PyroviceError(
            f"dimensions={dimensions!r} and the shape {shape}, which says it already; leave "
            "dimensions out."
        )
    n_objects, columns = shape
    return whole(n_objects, "n_objects", least=3), whole(columns, "dimensions", least=1)


def _repeats(
    data: Triplets, most: int, rng: np.random.Generator
) -> tuple[Triplets, NDArray[np.intp]] | None:
    """At most so many of the questions asked more than once, and their answers by position."""
    rows, answers = data.repeated()
    if not len(rows):
        return None
    if len(rows) > most:
        chosen = rng.choice(len(rows), most, replace=False)
        rows, answers = rows[chosen], answers[chosen]
    return data[rows], answers


def _majority(answers: NDArray[np.integer]) -> float:
    return float((answers.max(axis=1) / answers.sum(axis=1)).mean())


def _in_double(drawn: Tensor) -> Tensor:
    """A draw of the prior in double precision, if it is finite."""
    if not drawn.isfinite().all():
        raise PriorError(
            "The prior drew a value that is infinite or not a number; use lighter tails, for "
            "example dist.HalfNormal instead of dist.HalfCauchy."
        )
    return drawn.to("cpu", torch.float64)


def _mean_and_quantiles(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not values.size:
        return np.full(1 + len(QUANTILES), np.nan)
    return np.array([values.mean(), *np.quantile(values, QUANTILES)])


def _warn(result: PriorPredictive) -> None:
    sure, accuracy = result.near_certain.mean(), result.accuracy.mean()
    if sure > MOST_NEAR_CERTAIN:
        tell(
            f"Under this prior {sure:.0%} of the choices are near certain (probability above "
            f"{NEAR_CERTAIN}), and knowing X would predict {accuracy:.1%} of them. People who are "
            "shown the same triplet disagree far more often, so the data would have to overcome "
            "the prior. Use a smaller scale, for example "
            "SpikeSlab(spike=0.125, slab=0.5, pi=0.6), or fewer dimensions than "
            f"{result.dimensions}."
        )
    elif accuracy - result.guessing < LEAST_GAIN:
        tell(
            "Under this prior every choice is close to a coin toss: even knowing X would predict "
            f"{accuracy:.1%} of them, and guessing predicts {result.guessing:.1%}. "
            "Similarities that differ so little say nothing about choices, and the prior would "
            "hold them there. Use a larger scale, for example "
            "SpikeSlab(spike=0.25, slab=1.0, pi=0.5), or more "
            f"dimensions than {result.dimensions}."
        )

"""What a fit knows: the posterior embedding and everything that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pyrovice.data.roles import fair_sample
from pyrovice.data.triplets import Triplets
from pyrovice.data.writing import write_embedding
from pyrovice.errors import DataError, GuideError, PyroviceError
from pyrovice.guides import Guide
from pyrovice.model.choices import Choice
from pyrovice.model.model import Model
from pyrovice.model.priors import Prior
from pyrovice.results import pruning
from pyrovice.results.breakdown import break_down
from pyrovice.results.calibration import Calibration, calibrate
from pyrovice.results.evidence import EvidenceBound, evidence_bound
from pyrovice.results.explained import explained, feature_weights, top_features
from pyrovice.results.kept_dimensions import KeptDimensions
from pyrovice.results.mixing import mixing, mixing_of_site
from pyrovice.results.new_objects import with_objects
from pyrovice.results.persons import Person, axis_labels, group_table, people_table, person
from pyrovice.results.posterior import Posterior
from pyrovice.results.prediction import predict
from pyrovice.results.scores import Evaluation, evaluate
from pyrovice.results.similarity import similarity_of
from pyrovice.results.site_tables import hyperparameter_table, site_array
from pyrovice.results.unjudged import warn_of_unjudged

if TYPE_CHECKING:
    import xarray as xr

STATISTICS = ("loc", "mean", "sd")


@dataclass(frozen=True, eq=False, repr=False)
class Fit(KeptDimensions):
    """A fitted embedding; made by :func:`pyrovice.fit` or :func:`pyrovice.load`.

    Attributes
    ----------
    prior, training, seed
        What the fit was asked for.
    guide_family
        The kind of guide that was asked for.
    names : tuple of str
        The objects, in the order of the embedding's rows.
    model : Model
        The Pyro model, with the judgments it was fitted to.
    posterior : Posterior
        What is known of X and of every other latent site, as plain numbers; dimensions in
        descending importance.
    history : DataFrame
        By epoch: `step`, `loss` (−ELBO per judgment) with its parts
        `log_likelihood` and `complexity` (loss = complexity − log_likelihood, in
        nats per judgment; times the number of judgments they are Pyro's ELBO; they
        count every dimension that training had, so that guides that drop idle ones
        compare with each other and not with those that do not; of a point it is no
        bound),
        `dimensions` (kept), `seconds`, and `validation_cross_entropy` and
        `validation_accuracy` if there were validation data.
    converged : bool
        Whether training settled by its own rule.
    n_judgments : int
        How many judgments it was fitted to.
    data_digest : str
        Fingerprint of those judgments, as `Triplets.digest` gives it.
    first_dimensions : int
        How many dimensions training started from.
    pruned : bool
        Whether this is the result of `prune`, all of whose dimensions are kept.
    columns : tuple of int or None
        Where the dimensions of a prior depend on each other or on their order: which dimensions
        of the model these are. They then stay in the order of training.
    unjudged : tuple of str
        Objects that were in no judgment and have no features: nothing is known of them.
    judgments_by_person : tuple of int
        How many judgments of each of ``model.known_people`` were fitted, if people differ.
    dimension_names : tuple of str
        What dimensions are called, empty where they have no name; none if none has one.
    found_by : tuple of float
        Of a consensus (:func:`pyrovice.consensus`): the share of fits that have each dimension.

    Examples
    --------
    >>> import pyrovice as pv
    >>> example = pv.load_example()
    >>> train, test = example.triplets.split(0.9, 0.1, seed=0)
    >>> fit = pv.fit(train, dimensions=12)
    >>> fit.n_dimensions
    7
    >>> set(fit.top_objects(3)[1]) <= set(example.embedding["animal"].nlargest(8).index)
    True
    >>> fit.evaluate(test).accuracy > 0.5
    True
    """

    prior: Prior
    guide_family: Callable[[Model], Guide]
    training: Any
    seed: int
    names: tuple[str, ...]
    model: Model
    posterior: Posterior
    history: pd.DataFrame
    converged: bool
    n_judgments: int
    data_digest: str
    fitted_guide: Guide | None
    first_dimensions: int
    pruned: bool = False
    columns: tuple[int, ...] | None = None
    unjudged: tuple[str, ...] = ()
    judgments_by_person: tuple[int, ...] = ()
    dimension_names: tuple[str, ...] = ()
    found_by: tuple[float, ...] = ()

    # ------------------------------------------------------------------ Pyro

    @property
    def choice(self) -> Choice:
        """How people choose, as it was given to :func:`pyrovice.fit`."""
        return getattr(self.model.choice, "function", self.model.choice)

    @property
    def guide(self) -> Guide:
        """The Pyro guide, for ``pyro.infer``.

        The guides of pyrovice have the dimensions of this fit in the same order; any other
        guide has them in the order in which it was trained.
        """
        if self.fitted_guide is None:
            missing = self.missing_code()
            if missing is not None:
                raise missing.missing()
            raise GuideError(
                f"This fit holds the posterior but not the guide {self.guide_family!r}, which "
                "can be neither saved nor pruned. The fit that pyrovice.fit returned has it."
            )
        return self.fitted_guide

    # ------------------------------------------------------------------ dimensions

    @property
    def n_dimensions(self) -> int:
        """How many dimensions are kept by the default rule."""
        return len(self.kept_positions())

    def importance(self, rule: str | None = None, alpha: float = 0.05) -> pd.Series:
        """How much each dimension matters.

        Parameters
        ----------
        rule : {"fdr", "tail", "max"}, optional
            ``"fdr"`` counts the objects with a credibly positive weight and controls
            the false discovery rate; ``"tail"`` counts those with
            P(X > 0) >= 1 - alpha; ``"max"``, SPoSE's, takes the largest weight. By
            default ``"fdr"``, or ``"max"`` where weights cannot be zero: point
            estimates and priors on positive weights.
        alpha : float
            Level of the first two rules.
        """
        values = pruning.importance(self.posterior, rule, alpha)
        return pd.Series(values, index=self._dimensions(), name="importance")

    def prune(
        self,
        rule: str | None = None,
        alpha: float = 0.05,
        min_objects: int = pruning.MIN_OBJECTS,
        threshold: float = pruning.THRESHOLD,
    ) -> Fit:
        """A fit with the dimensions that matter.

        Those with a credibly positive weight for more than `min_objects` objects, or
        with ``rule="max"`` those whose largest weight exceeds `threshold`. They come in
        descending importance, ties by the sum of their weights. Its `model` and `guide`
        have these dimensions only, unless the prior is one in which dimensions depend on each
        other or on their order (correlations, cumulative shrinkage): then they keep them all,
        and dimensions stay in the order of training; `columns` says which they are. A consensus
        keeps what at least half of its fits have, unless a rule is named.
        """
        if self.found_by and rule is None:
            return replace(self._select(self.kept_positions()), pruned=True)
        values = pruning.importance(self.posterior, rule, alpha)
        chosen = pruning.kept(self.posterior, rule, alpha, min_objects, threshold)
        ranked = pruning.order(values, self.posterior.loc())
        return replace(self._select(ranked[chosen[ranked]]), pruned=True)

    def dimensionality(self, data: Triplets, **options: Any) -> Any:
        """How many dimensions there really are, with an interval and a probability for each.

        `data` are the judgments that were fitted; `resamples`, `seed`, `n_jobs`, `store` and
        `progress` are explained at :func:`pyrovice.dimensionality`. The number that one fit keeps
        depends on its learning rate; this one does not.
        """
        from pyrovice.criticism.dimension_count import dimensionality

        return dimensionality(self, data, **options)

    # ------------------------------------------------------------------ the embedding

    def embedding(self, statistic: str = "loc", pruned: bool = True) -> pd.DataFrame:
        """Objects x dimensions, which are numbered from 1, the most important first.

        Tables, figures, files, coordinates and arguments such as ``which=`` have these numbers.
        Plain arrays have positions, from 0: ``fit.draws(...)[:, :, 0]`` is dimension 1.

        Parameters
        ----------
        statistic : {"loc", "mean", "sd"}
            ``"loc"`` is the rectified posterior median, [μ]₊ for the mean-field
            guide; ``"mean"`` and ``"sd"`` are mean and standard deviation of the
            rectified weight.
        pruned : bool
            Whether to give the kept dimensions only.
        """
        if statistic not in STATISTICS:
            raise PyroviceError(
                f"statistic={statistic!r}; expected one of {', '.join(map(repr, STATISTICS))}."
            )
        return self._frame(getattr(self.posterior, statistic)(), pruned)

    def quantile(self, q: float, pruned: bool = True) -> pd.DataFrame:
        """Objects x dimensions: the posterior quantile `q` of every rectified weight.

        ``fit.quantile(0.05)`` and ``fit.quantile(0.95)`` are the ends of the 90 % intervals.
        """
        if not 0 < q < 1:
            raise PyroviceError(f"quantile({q!r}); expected a number between 0 and 1.")
        return self._frame(self.posterior.quantile(q), pruned)

    def _frame(self, values: NDArray[np.float32], pruned: bool) -> pd.DataFrame:
        frame = pd.DataFrame(
            values, index=pd.Index(self.names, name="object"), columns=self._dimensions()
        )
        return frame.iloc[:, self.kept_positions()] if pruned else frame

    def mixing(self, site: str = "X") -> pd.DataFrame:
        """R-hat and effective sample sizes of every entry of a site of a fit by chains.

        Those of :func:`pyrovice.sample` and :func:`pyrovice.refine`; by default of the weights.
        """
        chains = self.posterior.chains
        if chains is None or len(chains) < 2:
            raise PyroviceError(
                "Only chains can agree or disagree: draws from a guide are independent whether "
                "it is right or not. Have several with pyrovice.refine(fit, data), or with "
                "pyrovice.sample(data, chains=4)."
            )
        if site == "X":
            rows = pd.MultiIndex.from_product(
                [self.names, self._dimensions()], names=["object", "dimension"]
            )
            return mixing(chains).set_axis(rows)
        return mixing_of_site(self.site(site))

    def hyperparameters(self) -> pd.DataFrame:
        """What was learned beside X: mean, sd and 90 % interval of the prior's own parameters.

        Empty for priors and choices without any. Those of single dimensions are of the dimensions
        of this fit, in the same order. They are drawn given what the guide knows of the
        rectified weights, not taken from the guide, which is too sure of them. Sites with
        axes of their own, such as regression weights, are in :meth:`site`.
        """
        return hyperparameter_table(self.posterior.others, self._dimensions())

    def sites(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every latent site: X, and those of the prior and the choice."""
        others = {name: site.values.shape[2:] for name, site in self.posterior.others.items()}
        return {"X": self.posterior.shape, **others}

    def site(self, name: str, draws: int = 500, seed: int = 0) -> xr.DataArray:
        """Posterior draws of one latent site, with named coordinates.

        Parameters
        ----------
        name : str
            One of :meth:`sites`. X is rectified, as everywhere.
        draws : int
            How many draws, where there are no stored ones: those of X under most guides.
        seed : int
            Seed of these draws.

        Returns
        -------
        DataArray
            With the dims `chain`, `draw` and one per plate of the site: `object`,
            `dimension`, or whatever the prior calls it.

        Examples
        --------
        >>> import pyrovice as pv
        >>> fit = pv.fit(pv.load_example().triplets, prior=pv.ARD(), dimensions=12)
        >>> scale = fit.site("scale")
        >>> fit.sites()["scale"] == fit.posterior.shape[1:], scale.dims
        (True, ('chain', 'draw', 'dimension'))
        >>> bool(scale.sel(dimension=1).mean() > 0.3)
        True
        """
        return site_array(self.posterior, self.labels(), name, draws, seed)

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the entries of an axis are called: objects, people and groups, and the prior's."""
        return axis_labels(self)

    # ------------------------------------------------------------------ people

    def people(self) -> pd.DataFrame:
        """A row per person who answered: what they have of their own, of a fit with ``people=``.

        Returns
        -------
        DataFrame
            `judgments`, and as far as they differ in them `temperature`, `lapse` and `weight 1`,
            `weight 2`, ... for the kept dimensions: posterior medians, each followed by the ends
            of its 90 % interval, `temperature 5 %` and `temperature 95 %`. The typical person has
            weights and temperature one.

        Examples
        --------
        Does a dimension's weight go with a questionnaire?

        >>> import pandas as pd, pyrovice as pv
        >>> data = pv.load_example(people=12).triplets
        >>> fit = pv.fit(data, people=pv.People(), dimensions=12)
        >>> age = pd.Series(range(20, 32), index=fit.people().index)
        >>> bool(abs(fit.people()["weight 1"].corr(age, method="spearman")) < 1)
        True
        >>> fit.person("p01").embedding().shape == fit.embedding().shape
        True
        """
        return people_table(self)

    def person(self, label: Any) -> Person:
        """One of those who answered: their embedding, similarities and traits."""
        return person(self, label)

    def groups(self, permutations: int = 2000, seed: int = 0) -> pd.DataFrame:
        """Do groups weigh the dimensions differently? Of a fit with ``People(groups=...)``.

        Parameters
        ----------
        permutations, seed : int
            How often people are exchanged between groups for the p-value, and the seed of it.

        Returns
        -------
        DataFrame
            By dimension and pair of groups: the `difference` of their mean log-weights with its
            90 % interval, ``P(> 0)``, and the two-sided `p_value` of a permutation test over
            people.
        """
        return group_table(self, permutations, seed)

    def draws(self, n: int, seed: int) -> NDArray[np.float32]:
        """Rectified posterior draws of all dimensions, shape (n, objects, dimensions)."""
        if n < 1:
            raise PyroviceError(f"draws(n={n}); expected at least one.")
        return self.posterior.draws(n, seed)

    def similarity(
        self,
        statistic: str = "mean",
        *,
        draws: int = 20,
        seed: int = 0,
        thirds: int | None = None,
    ) -> pd.DataFrame:
        """Objects x objects: how probably a pair is kept, averaged over third objects.

        Parameters
        ----------
        statistic : {"mean", "sd"}
            Mean or standard deviation over posterior draws.
        draws : int
            How many draws; the cost of each grows with the cube of the objects.
        seed : int
            Seed of the draws.
        thirds : int, optional
            Average over so many third objects, drawn once for all pairs; over all by default.
            A hundred do for a thousand objects and more.
        """
        if statistic not in ("mean", "sd"):
            raise PyroviceError(f"statistic={statistic!r}; expected 'mean' or 'sd'.")
        mean, sd = similarity_of(self.model.kept_probability, self.posterior, draws, seed, thirds)
        names = pd.Index(self.names, name="object")
        return pd.DataFrame(mean if statistic == "mean" else sd, index=names, columns=names)

    # ------------------------------------------------------------------ features of the objects

    def embed(self, table: Any, statistic: str = "loc", pruned: bool = True) -> pd.DataFrame:
        """Objects x dimensions of objects that nobody has judged, from a table of their features.

        The features are those of ``prior=pv.Features(...)``; `statistic` and `pruned` are as for
        :meth:`embedding`, and the sd says how much features leave open.
        """
        extended = self.with_objects(table).embedding(statistic, pruned=False)
        new = extended.iloc[len(self.names) :]
        return new.iloc[:, self.kept_positions()] if pruned else new

    def with_objects(self, table: Any) -> Fit:
        """A fit that predicts judgments of new objects too: read them with its ``names``."""
        return with_objects(self, table)

    def explained(self) -> pd.DataFrame:
        """The share of variance of each dimension that features predict for an object left out."""
        return explained(self).iloc[self.kept_positions()]

    def feature_weights(self) -> pd.DataFrame:
        """What one standard deviation of a feature adds to a weight, features x dimensions."""
        return feature_weights(self).iloc[:, self.kept_positions()]

    def top_features(self, k: int = 6) -> pd.DataFrame:
        """The `k` features that go with each kept dimension most closely, as they predict it."""
        return top_features(self, k).iloc[:, self.kept_positions()]

    # ------------------------------------------------------------------ predictions

    def predict(self, triplets: Triplets, draws: int = 50, seed: int = 0) -> NDArray[np.float64]:
        """Probability of each position being the odd one, shape (n, 3).

        The mean over posterior draws, with all dimensions of this fit; use
        ``fit.prune().predict(...)`` for the kept ones only. Positions are those of
        ``triplets.objects``, whose rows are in ascending order of ids.
        """
        if not isinstance(triplets, Triplets):
            raise TypeError(f"predict got a {type(triplets).__name__}; expected Triplets.")
        if triplets.names != self.names and triplets.is_named:
            raise DataError(
                "These judgments name other objects than the fit, or the same in another order; "
                "read them with names=fit.names."
            )
        return predict(self.model, self.posterior, triplets, draws, seed)

    def evaluate(self, triplets: Triplets, draws: int = 50, seed: int = 0) -> Evaluation:
        """Accuracy, cross-entropy and, with repeats, KL divergence and ceiling."""
        if self.unjudged:
            warn_of_unjudged(self.names, self.unjudged, triplets)
        triplets = fair_sample(triplets, "evaluate")
        return evaluate(self.predict(triplets, draws, seed), triplets)

    def calibration(
        self, triplets: Triplets, draws: int = 50, seed: int = 0, bins: int = 10
    ) -> Calibration:
        """Whether answers predicted with some probability come about as often as that."""
        triplets = fair_sample(triplets, "calibration")
        return calibrate(self.predict(triplets, draws, seed), triplets, bins=bins, seed=seed)

    def breakdown(
        self, triplets: Triplets, by: str = "object", draws: int = 50, seed: int = 0
    ) -> pd.DataFrame:
        """Accuracy and cross-entropy by ``"object"`` or by ``"participant"``.

        With their standard errors, and with the accuracy that the model expects of itself.
        """
        triplets = fair_sample(triplets, "breakdown")
        return break_down(self.predict(triplets, draws, seed), triplets, by)

    def elbo(self, data: Triplets, particles: int = 100, seed: int = 0) -> EvidenceBound:
        """The evidence lower bound, to compare guides and priors by on the same judgments.

        Dimensions that training dropped are put back, idle, so that guides that drop them
        compare with those that do not.

        Parameters
        ----------
        data : Triplets
            The judgments that were fitted.
        particles : int
            Draws of the guide.
        seed : int
            Seed of these draws.

        Examples
        --------
        >>> import pyrovice as pv
        >>> data = pv.load_example().triplets
        >>> fit = pv.fit(data, dimensions=12)
        >>> bound = fit.elbo(data)
        >>> bound.dimensions, round(-bound.value / len(data), 2)
        (12, 0.94)
        """
        if not self.was_fitted_to(data):
            raise DataError("These are not the judgments that were fitted: elbo(data) is of those.")
        return evidence_bound(self, data, particles, seed)

    def was_fitted_to(self, data: Triplets) -> bool:
        """Whether these are the judgments that were fitted."""
        # Files of the first version do not know who answered.
        return self.data_digest in (data.digest(), data.digest(people=False))

    # ------------------------------------------------------------------ keeping it

    def to_arviz(
        self,
        data: Triplets | None = None,
        draws: int = 500,
        groups: Sequence[str] | None = None,
        **options: Any,
    ) -> Any:
        """This fit as an ArviZ container; see :func:`pyrovice.to_arviz`."""
        from pyrovice.results.arviz_groups import to_arviz

        return to_arviz(self, data, draws=draws, groups=groups, **options)

    def write_embedding(
        self, path: str | Path, statistic: str = "loc", *, escape_formulas: bool = False
    ) -> None:
        """Write the kept dimensions to a new file, as other programs read them.

        ``.tsv`` and ``.csv`` have an `object` column and `dim_1`, `dim_2`, ..., or their names;
        ``.txt`` has nothing but numbers, a row per object in the order of `names`. See `embedding`
        for `statistic`, and :meth:`Triplets.write` for `escape_formulas`.
        """
        write_embedding(self.embedding(statistic), Path(path), escape_formulas)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write everything but the judgments to one file, for :func:`pyrovice.load`."""
        from pyrovice.results.saved_fits import save

        save(self, Path(path), overwrite=overwrite)

    def report(
        self,
        path: str | Path,
        data: Triplets | None = None,
        *,
        held_out: Triplets | None = None,
        dimensionality: Any = None,
        title: str | None = None,
        images: str | Path | None = None,
        overwrite: bool = False,
    ) -> None:
        """Write a page about this fit: one HTML file, for any browser, without the network.

        Parameters
        ----------
        path : path
            The file to write, for example ``"page.html"``.
        data : Triplets, optional
            The judgments that were fitted; with them the page says how far to trust the fit.
        held_out : Triplets, optional
            Judgments that it has not seen; with them the page says how well it predicts.
        dimensionality : Dimensionality, optional
            What ``fit.dimensionality(data)`` found: the page then has the number of dimensions
            with its interval, and how sure each one is.
        title : str, optional
            What the page is called.
        images : path, optional
            A folder with pictures of the objects, as for :func:`pyrovice.plot.dimensions`.
        overwrite : bool
            Whether a file that is there may be replaced.
        """
        from pyrovice.report import write

        write(self, Path(path), data, held_out, dimensionality, title, images, overwrite)

    def __repr__(self) -> str:
        kept = "1 dimension" if self.n_dimensions == 1 else f"{self.n_dimensions} dimensions"
        return (
            f"Fit({len(self.names):,} objects, {kept} kept, "
            f"{self.n_judgments:,} judgments, {'' if self.converged else 'not '}converged)"
        )


def in_order_of_importance(fit: Fit) -> Fit:
    """The same fit with its dimensions in descending importance."""
    return fit._select(pruning.order(pruning.importance(fit.posterior), fit.posterior.loc()))

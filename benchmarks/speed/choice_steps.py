"""What a step of training costs with each choice, at the size of THINGS."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pyro
import pyro.distributions as dist
import torch

import pyrovice as pv
from pyrovice.data.columns import PLACE_COLUMNS
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.inference.gradients import Gradients
from pyrovice.inference.run import Run
from pyrovice.model.simulation import random_triplets

OBJECTS, DIMENSIONS, BATCH = 1854, 100, 146_000
LAPSE, TEMPERATURE = dist.Beta(1.0, 20.0), dist.LogNormal(0.0, 0.3)
# Steps that are run by Pyro, and one more to warm up.
RECORDED = 3
FAVOUR = dist.Normal(0.0, 0.3)
CHOICES = {
    "dot product": pv.choices.DotProduct(),
    "lapse learned": pv.choices.DotProduct(lapse=LAPSE),
    "temperature learned": pv.choices.DotProduct(temperature=TEMPERATURE),
    "position learned": pv.choices.DotProduct(position=FAVOUR),
    "all three learned": pv.choices.DotProduct(TEMPERATURE, LAPSE, FAVOUR),
    "cosine": pv.choices.Cosine(),
    "contrast": pv.choices.Contrast(),
    "Euclidean": pv.choices.Euclidean(),
}


def run(quick: bool) -> str:
    # Threads that wait for each other count as processor time.
    torch.set_num_threads(1)
    rounds = 3 if quick else 60
    with pyro.settings.context(module_local_params=True), pyro.validation_enabled(False):
        steps = {name: Step(judgments(), choice) for name, choice in CHOICES.items()}
        times = {name: [] for name in steps}
        # They take turns, so that other work on the machine slows all of them alike.
        for turn in range(rounds + RECORDED):
            for name, step in steps.items():
                seconds = step()
                if turn >= RECORDED:
                    times[name].append(seconds)
    cost = {name: float(np.median(each)) for name, each in times.items()}
    paper = cost["dot product"]
    lines = [
        f"One step (draw, likelihood, gradient, Adam) with {BATCH:,} judgments of {OBJECTS:,} "
        f"objects in {DIMENSIONS} dimensions; medians of {rounds} steps in turns, processor time, "
        "one thread.",
        "",
        "| choice | ms | against the dot product |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {name} | {1e3 * each:.0f} | {each / paper:.2f} |" for name, each in cost.items()]
    return "\n".join(lines)


def judgments() -> pv.Triplets:
    """Random answers to random questions, with places on the screen."""
    rng = np.random.default_rng(0)
    places = rng.permuted(np.tile([1, 2, 3], (BATCH, 1)), axis=1)
    return pv.Triplets(
        random_triplets(OBJECTS, BATCH, rng),
        rng.integers(0, 3, BATCH),
        names=range(OBJECTS),
        trials=pd.DataFrame(places, columns=list(PLACE_COLUMNS)),
    )


class Step:
    """A step of training, again and again: by Pyro twice, and then from its record, as in a fit."""

    def __init__(self, data: pv.Triplets, choice: pv.choices.Choice) -> None:
        self.model = pv.Model(pv.SpikeSlab(), OBJECTS, DIMENSIONS, data, choice=choice)
        self.guide = pv.MeanField()(self.model)
        self.rows = self.model.judgments().parts(BATCH)[0].coming_again()
        self.optimizer = torch.optim.Adam(self.guide.parameters(), lr=0.01, fused=True)
        run = Run(self.model, self.guide, optimizer=self.optimizer)
        self.gradients = Gradients(run, TwoTermELBO(max_plate_nesting=2), BATCH)

    def __call__(self) -> float:
        began = time.process_time()
        self.gradients.take(self.rows, again=True)
        self.optimizer.step()
        return time.process_time() - began

"""Where the time of one training step goes, by torch's profiler."""

from __future__ import annotations

import torch
from torch.profiler import ProfilerActivity, profile

import pyrovice as pv
from benchmarks.harness.data import embedding, origin
from pyrovice.guides import MeanField
from pyrovice.guides.elbo import TwoTermELBO
from pyrovice.inference.starts import from_pair_counts
from pyrovice.model.judgments import Judgments
from pyrovice.model.model import Model

N, BATCH = 1_460_000, 146_000
STEPS = 60
KINDS = {
    "matrix products": ("aten::mm", "aten::addmm", "aten::sparse_sampled_addmm"),
    "gathering and scattering similarities": (
        "aten::index_select",
        "aten::gather",
        "aten::take",
        "aten::scatter_add_",
        "aten::index_add_",
        "aten::put_",
    ),
    "softmax": ("aten::_log_softmax", "aten::_log_softmax_backward_data"),
    "random numbers": ("aten::normal_", "aten::randn"),
    "Adam": ("aten::_fused_adam_",),
}


def run(quick: bool) -> str:
    # Threads that wait for each other on a busy machine would be counted as work.
    torch.set_num_threads(1)
    data = pv.simulate(embedding("things_vice42"), N // 10 if quick else N, seed=0)
    batch = Judgments.of(data).parts(BATCH)[0].coming_again()
    lines = [
        f"One step at {data.n_objects} objects and batches of {BATCH:,} "
        f"({origin('things_vice42')}) in one thread, mean of {STEPS}: share of the time in each "
        "kind of operation. "
        "The rest is many small things: the prior's density, the guide's, and Pyro around them.",
        "",
        "| dimensions | ms a step | " + " | ".join(KINDS) + " | the rest |",
        "| --- | --- | " + " | ".join("---" for _ in KINDS) + " | --- |",
    ]
    for dimensions in (100, 45):
        lines.append(row(dimensions, batch))
    return "\n".join(lines)


def row(dimensions: int, batch: Judgments) -> str:
    model = Model(pv.SpikeSlab(0.125, 0.5, 0.6), batch.n_objects, dimensions, batch)
    guide = MeanField()(model)
    guide.start_at(*from_pair_counts(batch, dimensions))
    optimizer = torch.optim.Adam(guide.parameters(), lr=0.01, fused=True)
    elbo = TwoTermELBO(max_plate_nesting=2)

    def step() -> None:
        optimizer.zero_grad()
        log_likelihood, complexity = elbo.terms(model, guide, batch)
        ((complexity - log_likelihood) / N).backward()
        optimizer.step()

    for _ in range(10):
        step()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(STEPS):
            step()
    times = {event.key: event.self_cpu_time_total for event in profiled.key_averages()}
    total = sum(times.values())
    shares = [sum(times.get(name, 0) for name in names) / total for names in KINDS.values()]
    cells = [f"{share:.0%}" for share in (*shares, 1 - sum(shares))]
    return f"| {dimensions} | {total / STEPS / 1000:.1f} | {' | '.join(cells)} |"

"""Independent measurements in processes of one thread each, as many at once as there are cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

import torch

Case = TypeVar("Case")
Result = TypeVar("Result")


def side_by_side(measure: Callable[[Case], Result], cases: Iterable[Case]) -> list[Result]:
    """``[measure(case) for case in cases]``; what takes longest should come first."""
    with ProcessPoolExecutor(
        max_workers=os.cpu_count(),
        mp_context=get_context("spawn"),
        initializer=torch.set_num_threads,
        initargs=(1,),
    ) as pool:
        return list(pool.map(measure, cases))

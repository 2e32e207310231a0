"""What training needs of torch, whatever the program around it has switched off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

from pyrovice.errors import PyroviceError


@contextmanager
def gradients() -> Iterator[None]:
    """Have gradients, also inside ``torch.no_grad()`` or ``torch.inference_mode()``.

    Examples
    --------
    >>> import torch
    >>> with torch.inference_mode(), gradients():
    ...     torch.zeros(1, requires_grad=True).exp().requires_grad
    True
    """
    check_default_dtype()
    with torch.inference_mode(False), torch.enable_grad():
        yield


def tensors_on(device: torch.device | str) -> AbstractContextManager:
    """Have new tensors made on this device.

    Examples
    --------
    >>> import torch
    >>> with torch.device("meta"), tensors_on("cpu"):
    ...     torch.zeros(1).device
    device(type='cpu')
    """
    wanted = torch.device(device)
    # Where tensors are made anyway, a device need not be asked for at every call.
    return nullcontext() if wanted == torch.get_default_device() else wanted


def check_default_dtype() -> None:
    """Refuse numbers too coarse to train with."""
    dtype = torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        raise PyroviceError(
            f"The default dtype of torch is {dtype}; expected torch.float32 or torch.float64. "
            "Switch back first: torch.set_default_dtype(torch.float32)."
        )

"""What makes two fits the same: words and digests that checkpoints and stores go by."""

from __future__ import annotations

import hashlib
import types
import weakref
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from pyro.distributions.torch_distribution import TorchDistributionMixin

from pyrovice.errors import PyroviceError

# Known by their names and versions; what their classes do is not looked at.
LIBRARIES = ("builtins", "numpy", "pyro", "pyrovice", "torch")
PLAIN = (types.NoneType, types.EllipsisType, bool, int, float, complex, str, bytes)


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """The names of what differs."""
    return [name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)]


def digest(words: Mapping[str, str]) -> str:
    """A short name for settings."""
    text = "\n".join(f"{name}={words[name]}" for name in sorted(words))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def recognise(value: Any) -> str:
    """A text that is equal for equal values, in every process.

    Code is recognised by its name, its instructions, and the plain values and functions
    of its own module that it uses.

    Examples
    --------
    >>> import pyrovice as pv
    >>> recognise(pv.SpikeSlab())
    "SpikeSlab(spike=0.25, slab=1.0, pi=0.5, family='normal')"
    >>> scale = 0.3
    >>> def narrow(n_objects, dimensions):
    ...     return pv.SpikeSlab(slab=scale)(n_objects, dimensions)
    >>> once = recognise(narrow)
    >>> once == recognise(narrow)
    True
    >>> scale = 0.4
    >>> once == recognise(narrow)
    False
    """
    if isinstance(value, PLAIN) or _is_ours(value):
        return repr(value)
    name = getattr(value, "__name__", None) or type(value).__name__
    if isinstance(value, TorchDistributionMixin):
        name = repr(value)
    return f"{name} [{content_digest(value)}]"


def name_of(value: Any) -> str:
    """What to call a part of a model where people read it: code by its name, without its address.

    Examples
    --------
    >>> import pyrovice as pv
    >>> def narrow(n_objects, dimensions):
    ...     return pv.SpikeSlab(slab=0.3)(n_objects, dimensions)
    >>> name_of(narrow), name_of(pv.ARD())
    ('narrow', 'ARD(scale=0.5)')
    """
    return getattr(value, "__name__", None) or repr(value)


def content_digest(value: Any, beside: str = "") -> str:
    """A short text that is equal for equal content, and for an equal text beside it."""
    content = hashlib.sha256(beside.encode())
    for part in _content(value, {}):
        content.update(part)
    return content.hexdigest()[:12]


def _is_ours(value: Any) -> bool:
    """Whether this is one of the frozen values of pyrovice, whose repr says it all."""
    return type(value).__module__.startswith("pyrovice.") and hasattr(
        type(value), "__dataclass_fields__"
    )


def _content(value: Any, seen: dict[int, Any]) -> Iterator[bytes]:
    if isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!r};".encode()
        return
    if id(value) in seen:
        yield b"again;"
        return
    # Held on to, because the id of what is gone may be given to something else.
    seen[id(value)] = value
    yield f"{type(value).__qualname__}(".encode()
    for part in _parts(value):
        yield from _content(part, seen)
    yield b")"


def _parts(value: Any) -> list[Any]:
    """What a value consists of."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return [str(value.dtype), str(value.shape), value.tobytes()]
    if isinstance(value, np.generic | torch.dtype | torch.device | torch.Size):
        return [repr(value)]
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, set | frozenset):
        return sorted(recognise(item) for item in value)
    if isinstance(value, dict):
        return [part for key in sorted(value, key=repr) for part in (key, value[key])]
    if isinstance(value, weakref.ref | types.ModuleType):
        return [getattr(value, "__name__", "reference")]
    if isinstance(value, types.CodeType):
        return [value.co_code, value.co_names, value.co_consts]
    if isinstance(value, types.FunctionType):
        return _parts_of_function(value)
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, type):
        ours = {} if value.__module__.split(".")[0] in LIBRARIES else vars(value)
        methods = [ours[name] for name in sorted(ours)]
        functions = [method for method in methods if isinstance(method, types.FunctionType)]
        return [value.__qualname__, *functions]
    if isinstance(value, types.BuiltinFunctionType | property | staticmethod | classmethod):
        return [getattr(value, "__qualname__", "property")]
    if not hasattr(value, "__dict__"):
        raise PyroviceError(
            f"{value!r} cannot be told from others of its kind, which a checkpoint or a store "
            "must be able to do; write it as a function, or as a class with plain attributes."
        )
    return [type(value), vars(value)]


def _parts_of_function(function: types.FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    used = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
    # Libraries are known by their versions; what stands beside the function is part of it.
    beside = {
        name: item
        for name, item in used.items()
        if (isinstance(item, (*PLAIN, tuple, torch.Tensor)) and item is not None)
        or (isinstance(item, types.FunctionType) and item.__module__ == function.__module__)
    }
    return [
        function.__qualname__,
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        cells,
        beside,
    ]


def _names(code: types.CodeType) -> set[str]:
    inner = [item for item in code.co_consts if isinstance(item, types.CodeType)]
    return set(code.co_names).union(*(_names(item) for item in inner))

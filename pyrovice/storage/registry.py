"""Values that a file can hold by name: priors, guides, choices, settings, stopping rules.

Each class registers itself where it is defined. A file holds the name of the class and its fields,
and loading looks the name up here, so that no file can say what code to run.
"""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyrovice.errors import ChoiceError, GuideError, PriorError, PyroviceError, SavedFitError

if TYPE_CHECKING:
    import numpy as np

Class = TypeVar("Class", bound=type)

REGISTERED: dict[str, type] = {}
# Kinds of arrays that a file can hold: numbers and truth values, nothing with references.
NUMBERS = "biuf"
# Called before a name counts as unknown: a module that registers it may not be imported yet.
FINDERS: list[Callable[[], None]] = []


def saved(cls: Class) -> Class:
    """Let files hold values of a frozen dataclass: by its name and its fields.

    Register a class of your own before saving, and again (usually by importing the module
    that defines it) before loading.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from pyrovice.storage.registry import describe, restore, saved
    >>> @saved
    ... @dataclass(frozen=True)
    ... class Halved:
    ...     by: float
    >>> restore(describe(Halved(0.5)))
    Halved(by=0.5)
    """
    if not is_dataclass(cls):
        raise PyroviceError(
            f"{cls.__name__} is not a dataclass, so that a file cannot hold its fields; write "
            "@saved above @dataclass(frozen=True)."
        )
    known = REGISTERED.setdefault(cls.__name__, cls)
    # The same class defined anew, as a notebook's cell does when it is run again, replaces itself.
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise PyroviceError(
            f"Another class called {cls.__name__} ({known.__module__}) is registered already; "
            "choose another name."
        )
    REGISTERED[cls.__name__] = cls
    return cls


def is_registered(value: Any) -> bool:
    """Whether files can hold a value by the name of its class."""
    return type(value) is REGISTERED.get(type(value).__name__)


class GivenAsCode:
    """Stands for a prior, guide or choice that was a function, which no file can hold.

    Attributes
    ----------
    role : str
        The argument that it was: ``"prior"``, ``"guide"`` or ``"choice"``.
    """

    def __init__(self, text: str, role: str) -> None:
        self.text = text
        self.role = role

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self.missing()

    def missing(self) -> PyroviceError:
        """The sentence that says what cannot be done without it, and what to type."""
        again = f"Pass it again: pyrovice.load(path, {self.role}={self.text})."
        if self.role == "guide":
            again = "The fit that pyrovice.fit returned has it."
        errors = {"prior": PriorError, "guide": GuideError, "choice": ChoiceError}
        return errors.get(self.role, SavedFitError)(
            f"The {self.role} {self.text} was given to this fit as code, and a file holds no "
            f"code. {again}"
        )

    def __repr__(self) -> str:
        return self.text


def describe(value: Any, role: str | None = None) -> Any:
    """A value as JSON.

    Parameters
    ----------
    value : object
        A plain value, an array of numbers, a registered value, or a univariate distribution of
        Pyro.
    role : str, optional
        What the value is to a fit, if it may be code; only its name is kept then. What stands
        inside another value has no role, and is refused if it cannot be restored.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return [describe(item) for item in value]
    if _is_array(value):
        return {
            "kind": "array",
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "content": base64.b64encode(value.tobytes()).decode(),
        }
    if is_dataclass(value) and is_registered(value):
        return {
            "kind": type(value).__name__,
            **{f.name: describe(getattr(value, f.name)) for f in fields(value)},
        }
    if _is_pyro_distribution(value):
        arguments = {name: float(getattr(value, name)) for name in value.arg_constraints}
        return {"kind": "distribution", "name": type(value).__name__, "arguments": arguments}
    if role is None:
        name = type(value).__name__
        raise PyroviceError(
            f"{value!r} cannot be saved: no file could say what a {name} is. If it is a frozen "
            f"dataclass, register it, pyrovice.storage.saved({name}), and save again; do the "
            "same before loading."
        )
    return {"kind": "code", "text": getattr(value, "__name__", None) or repr(value)}


def restore(described: Any, role: str = "value") -> Any:
    """What :func:`describe` described."""
    if isinstance(described, list):
        return tuple(restore(item) for item in described)
    if not isinstance(described, dict):
        return described
    kind = described["kind"]
    if kind == "code":
        return GivenAsCode(str(described["text"]), role)
    if kind == "array":
        return _array(described)
    if kind == "distribution":
        return _distribution(described["name"], described["arguments"])
    if kind not in REGISTERED:
        for find in FINDERS:
            find()
    if kind not in REGISTERED:
        raise SavedFitError(
            f"it holds a {kind!r}, which this version of pyrovice does not know. If the class is "
            f"yours, register it first: pyrovice.storage.saved({kind})."
        )
    return REGISTERED[kind](
        **{name: restore(value) for name, value in described.items() if name != "kind"}
    )


def _is_array(value: Any) -> bool:
    import numpy as np

    return isinstance(value, np.ndarray) and value.dtype.kind in NUMBERS


def _array(described: dict[str, Any]) -> np.ndarray:
    import numpy as np

    dtype = np.dtype(described["dtype"])
    if dtype.kind not in NUMBERS:
        raise SavedFitError(f"it holds an array of {dtype}; expected numbers.")
    content = base64.b64decode(described["content"], validate=True)
    return np.frombuffer(content, dtype).reshape([int(size) for size in described["shape"]])


def _distribution(name: str, arguments: dict[str, Any]) -> Any:
    """A univariate distribution of Pyro by its name, checked before and after it is made."""
    import pyro.distributions as dist
    from pyro.distributions.torch_distribution import TorchDistributionMixin

    cls = getattr(dist, name, None)
    if not (isinstance(cls, type) and issubclass(cls, TorchDistributionMixin)):
        raise SavedFitError(f"{name!r} is not a distribution.")
    # Of some classes only the instances know it.
    wanted = getattr(cls, "arg_constraints", None)
    if isinstance(wanted, dict) and set(arguments) != set(wanted):
        raise SavedFitError(f"{name} does not take {', '.join(arguments) or 'nothing'}.")
    try:
        made = cls(**{name: float(value) for name, value in arguments.items()}, validate_args=True)
    except Exception as error:  # whatever a class of Pyro says to arguments it was not made for
        reason = str(error).split("\n", 1)[0]
        raise SavedFitError(f"it holds a {name} that cannot be ({reason}).") from error
    if not _is_pyro_distribution(made):
        raise SavedFitError(f"{name} is not a distribution of one number.")
    return made


def _is_pyro_distribution(value: Any) -> bool:
    import pyro.distributions as dist
    from pyro.distributions.torch_distribution import TorchDistributionMixin

    if not isinstance(value, TorchDistributionMixin) or value.batch_shape or value.event_shape:
        return False
    cls = getattr(dist, type(value).__name__, None)
    arguments = set(inspect.signature(cls).parameters) if cls is type(value) else set()
    return bool(value.arg_constraints) and set(value.arg_constraints) <= arguments

"""A computation that is repeated thousands of times, recorded once.

On small data nearly all of a step is Python: plates, traces and distributions around tensors of a
few hundred entries. What model and guide do with these tensors is the same in every step, so the
operations of the first step are written down (those of the gradient too) and only they are carried
out again. The result is the same to the last bit, and this is looked at before it is relied on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

Results = tuple[Tensor | None, ...]

aten = torch.ops.aten
# Another name for the same numbers; there is nothing to do again.
ALIASES = (aten.detach.default, aten.alias.default)
# Sums into a copy of what they start from. Where that is zeros of nobody else, it can be spared.
INTO_A_COPY = {
    aten.index_add.default: aten.index_add_.default,
    aten.scatter_add.default: aten.scatter_add_.default,
}
ZEROS = (aten.new_zeros.default, aten.zeros.default)
# The same numbers every time, and so is all that follows from them: orders of rows, for example.
FIXED = (
    *(aten.arange.default, aten.arange.start, aten.arange.start_step),
    *(aten.full.default, aten.ones.default, aten.scalar_tensor.default),
)
# The same numbers whatever they are asked of, as long as it has the same shape.
OF_SHAPES = (aten.ones_like.default,)
# Another name for the same numbers too, unless the shape is another.
RESHAPES = (aten.view.default, aten.expand.default, aten._unsafe_view.default)
# Functions of torch itself that do the same as an operation of the record, in less time.
DIRECT = {
    aten.add.Tensor: torch.add,
    aten.sub.Tensor: torch.sub,
    aten.mul.Tensor: torch.mul,
    aten.mul.Scalar: torch.mul,
    aten.div.Tensor: torch.div,
    aten.neg.default: torch.neg,
    aten.exp.default: torch.exp,
    aten.log.default: torch.log,
    aten.pow.Tensor_Scalar: torch.pow,
    aten.sum.default: torch.sum,
    aten.sum.dim_IntList: torch.sum,
    aten.view.default: Tensor.view,
    aten.expand.default: Tensor.expand,
    aten.rsub.Scalar: torch.rsub,
    aten.sigmoid.default: torch.sigmoid,
    aten.clamp.default: torch.clamp,
    aten.add.Scalar: torch.add,
    aten.transpose.int: torch.transpose,
    aten.unsqueeze.default: torch.unsqueeze,
    aten.select.int: torch.select,
    aten.normal_.default: Tensor.normal_,
    aten.index_select.default: torch.index_select,
}
# What undoes itself, and what changes nothing where the other number is one.
NEGATIVE = aten.neg.default
BY_ONE = (
    *(aten.pow.Tensor_Scalar, aten.mul.Tensor, aten.mul.Scalar),
    *(aten.div.Tensor, aten.div.Scalar),
)


class Repeated:
    """A function of tensors that changes none of them, quick when called again and again.

    The first call is recorded, the second is made both ways, and if they agree to the last bit
    (random numbers included) all further calls are carried out from the record.

    Parameters
    ----------
    function : callable
        Takes tensors, always of the same shapes, and returns tensors, or None in place of some.
        All other tensors that it uses are taken for constants.

    Examples
    --------
    >>> square = Repeated(lambda x: (x * x,))
    >>> [square(torch.tensor(x))[0].item() for x in (1.0, 3.0, 5.0)]
    [1.0, 9.0, 25.0]
    >>> square.is_recorded
    True
    """

    def __init__(self, function: Callable[..., Results]) -> None:
        self.function = function
        self._record: Callable[..., Results] | None = None
        self._calls = 0
        self.is_recorded = False

    def __call__(self, *inputs: Tensor) -> Results:
        """The results for these inputs."""
        if self.is_recorded:
            assert self._record is not None
            with torch.no_grad():
                return self._record(*inputs)
        self._calls += 1
        if self._calls == 1 and all(x.device.type == "cpu" for x in inputs):
            recorder = Recorder(inputs)
            with recorder:
                results = self.function(*inputs)
            self._record = recorder.program(results)
            return results
        if self._record is None:
            return self.function(*inputs)
        return self._compared(self._record, inputs)

    def _compared(self, record: Callable[..., Results], inputs: Sequence[Tensor]) -> Results:
        """The results, and whether the record gives the same from now on."""
        before = torch.get_rng_state()
        results = self.function(*inputs)
        after = torch.get_rng_state()
        torch.set_rng_state(before)
        with torch.no_grad():
            again = record(*inputs)
        same = torch.equal(torch.get_rng_state(), after)
        torch.set_rng_state(after)
        self.is_recorded = same and all(map(_equal, results, again))
        self._record = record if self.is_recorded else None
        return results


class Recorder(TorchDispatchMode):
    """Writes down the operations that depend on the inputs, or on chance, while they are done."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self.graph = fx.Graph()
        self.constants = torch.nn.Module()
        self.nodes: dict[int, fx.Node] = {}
        # Tensors are known by their address, which must not be given to another one meanwhile.
        self.alive: list[Any] = []
        self.follows_values = False
        for i, tensor in enumerate(inputs):
            node = self.graph.placeholder(f"input_{i}")
            node.meta["type"], node.meta["ndim"] = tensor.dtype, tensor.dim()
            self._name(tensor, node)

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        varies = [self._varies(x) and operation not in OF_SHAPES for x in given]
        result = operation(*args, **kwargs)
        self.alive.append(result)
        same = operation in ALIASES or (operation in RESHAPES and _laid_out_alike(result, args[0]))
        if same and all(varies):
            self._name(result, self.nodes[id(args[0])])
        elif (
            any(varies)
            or (not given and operation not in FIXED)
            or torch.Tag.nondeterministic_seeded in operation.tags
        ):
            # A number read from a tensor, or a constant written to, cannot be repeated.
            fixed = [x for x, moves in zip(given, varies, strict=True) if not moves]
            writes = operation._schema.is_mutable and any(x is result for x in fixed)
            read = result is not None and not isinstance(result, Tensor | tuple | list)
            self.follows_values |= writes or read
            node = self.graph.call_function(
                operation, tree_map(self._argument, args), tree_map(self._argument, kwargs)
            )
            if isinstance(result, Tensor):
                # Numbers of another type are others, even times one.
                node.meta["type"], node.meta["ndim"] = result.dtype, result.dim()
                self._name(result, node)
            else:
                for i, part in enumerate(result if isinstance(result, tuple | list) else ()):
                    self._name(part, self.graph.call_function(operator.getitem, (node, i)))
        return result

    def program(self, results: Results) -> Callable[..., Results] | None:
        """The operations as a function of the inputs, unless they follow from values."""
        if self.follows_values:
            return None
        self.graph.output(tuple(map(self._argument, results)))
        _leave_out_what_is_known(self.graph)
        self.graph.eliminate_dead_code()
        for node in self.graph.nodes:
            if node.target in INTO_A_COPY:
                start = node.args[0]
                if start.target in ZEROS and len(start.users) == 1:
                    node.target = INTO_A_COPY[node.target]
                    if self._goes_to_different_places(node):
                        # There is nothing to add up.
                        node.target = aten.scatter_.src
            elif node.target in DIRECT and not node.kwargs:
                # Results are the same; the way there is shorter.
                node.target = DIRECT[node.target]
        program: Callable[..., Results] = fx.GraphModule(self.constants, self.graph).forward
        return program

    def _goes_to_different_places(self, node: fx.Node) -> bool:
        """Whether a sum into zeros has one summand each, always at the same places."""
        index: Any = node.args[2]
        source: Any = node.args[3]
        if node.args[1] != 0 or index.op != "get_attr" or node.kwargs:
            return False
        places: Tensor = getattr(self.constants, index.target)
        alone = places.dim() == 1 and source.meta.get("ndim") == 1 and places.dtype is torch.int64
        return alone and len(places.unique()) == len(places)

    def _varies(self, tensor: Tensor) -> bool:
        node = self.nodes.get(id(tensor))
        return node is not None and node.op != "get_attr"

    def _name(self, tensor: Any, node: fx.Node) -> None:
        if isinstance(tensor, Tensor):
            self.nodes[id(tensor)] = node
            self.alive.append(tensor)

    def _argument(self, value: Any) -> Any:
        """What stands for a value in the record."""
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self.nodes:
            name = f"constant_{len(self.nodes)}"
            self.constants.register_buffer(name, value.detach())
            self._name(value, self.graph.get_attr(name))
        return self.nodes[id(value)]


def _leave_out_what_is_known(graph: fx.Graph) -> None:
    """Take what was computed before, and what changes nothing, from where it is known already.

    Derivatives repeat much of what they are derivatives of.
    """
    known: dict[Any, fx.Node] = {}
    changed = _changed_in_place(graph)
    for node in graph.nodes:
        if node.op != "call_function" or node in changed or not _gives_the_same(node):
            continue
        same = _operand(node)
        if same is None:
            key = (node.target, *_as_key((node.args, node.kwargs)))
            same = known.setdefault(key, node)
        # Results are new tensors, never the inputs themselves.
        given = same.op == "placeholder" and any(user.op == "output" for user in node.users)
        if same is not node and same not in changed and not given:
            node.replace_all_uses_with(same)


def _changed_in_place(graph: fx.Graph) -> set[fx.Node]:
    """What is written to, or may share its memory with what is."""
    found: set[fx.Node] = set()
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is not None and schema.is_mutable:
            found |= {node, *node.all_input_nodes}
    return found


def _gives_the_same(node: fx.Node) -> bool:
    """Whether an operation has the same result for the same arguments, in memory of its own."""
    schema = getattr(node.target, "_schema", None)
    return (
        schema is not None
        and not schema.is_mutable
        and torch.Tag.nondeterministic_seeded not in node.target.tags  # type: ignore[union-attr]
        and bool(node.all_input_nodes)
    )


def _operand(node: fx.Node) -> fx.Node | None:
    """What an operation is applied to, if the result is the same: x times one, -(-x)."""
    first = node.args[0]
    if not isinstance(first, fx.Node):
        return None
    if node.target in BY_ONE and isinstance(node.args[1], int | float) and node.args[1] == 1:
        alike = "type" in first.meta and first.meta["type"] == node.meta["type"]
        return first if alike and not node.kwargs else None
    if node.target is NEGATIVE and first.target is NEGATIVE:
        return first.args[0]  # type: ignore[return-value]
    return None


def _as_key(arguments: Any) -> tuple[Any, ...]:
    """Arguments by which equal operations are recognised."""
    leaves, form = tree_flatten(arguments)
    return str(form), *((type(leaf), leaf) for leaf in leaves)


def _laid_out_alike(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.stride() == b.stride()


def _equal(a: Tensor | None, b: Tensor | None) -> bool:
    return a is b if a is None or b is None else torch.equal(a, b)

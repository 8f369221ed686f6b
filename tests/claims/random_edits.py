"""Random edits of a program's graph: some that may change what it computes, some that may not."""

import operator
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node

from export_engine.torch_internals import copy_program, symbols_in

A = torch.ops.aten
OPS = {
    A.sin.default: A.cos.default,
    A.tanh.default: A.relu.default,
    A.relu.default: A.abs.default,
    A.neg.default: A.sin.default,
    A.abs.default: A.neg.default,
    A.cos.default: A.sin.default,
    A.add.Tensor: A.sub.Tensor,
    A.sub.Tensor: A.add.Tensor,
    A.mul.Tensor: A.add.Tensor,
    A.maximum.default: A.minimum.default,
    A.add_.Tensor: A.mul_.Tensor,
    A.mul_.Tensor: A.add_.Tensor,
    operator.add: operator.sub,
    operator.lt: operator.le,
    operator.le: operator.lt,
}
Choice = random.Random


def graph_modules(program: ExportedProgram) -> list[GraphModule]:
    """The program's graph and those that its ops run."""
    return [each for each in program.graph_module.modules() if isinstance(each, GraphModule)]


def calls(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "call_function"]


def _type(node: Node) -> Any:
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return (value.dtype, tuple(map(str, value.shape)))
    return type(value).__name__ if value is not None else None


def _earlier(graph: Graph, node: Node) -> list[Node]:
    nodes = list(graph.nodes)
    return nodes[: nodes.index(node)]


def _read(node: Node) -> list[Node]:
    return [each for each in node.all_input_nodes if _type(each) is not None]


def _replace(node: Node, old: Node, new: Node, choice: Choice) -> bool:
    """Replaces one of the places at which a node reads another."""
    places = sum(each is old for each in _flat(node))
    wanted, at = choice.randrange(places), -1

    def chosen(each: Node) -> Node:
        nonlocal at
        at += each is old
        return new if each is old and at == wanted else each

    node.args = torch.fx.map_arg(node.args, chosen)
    node.kwargs = torch.fx.map_arg(node.kwargs, chosen)
    return True


def _flat(node: Node) -> list[Node]:
    read: list[Node] = []
    torch.fx.map_arg((node.args, node.kwargs), read.append)
    return read


def rewire(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """An input becomes an earlier value of the same type."""
    node = choice.choice([each for each in graph.nodes if _read(each)] or [None])
    if node is None:
        return False
    old = choice.choice(_read(node))
    options = [
        each for each in _earlier(graph, node) if each is not old and _type(each) == _type(old)
    ]
    return bool(options) and _replace(node, old, choice.choice(options), choice)


def exchange(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """Two inputs of a node trade places."""
    nodes = [each for each in graph.nodes if len(set(_flat(each))) > 1]
    if not nodes:
        return False
    node = choice.choice(nodes)
    one, other = choice.sample(sorted(set(_flat(node)), key=str), 2)
    if _type(one) != _type(other):
        return False
    trade = {one: other, other: one}
    node.args = torch.fx.map_arg(node.args, lambda each: trade.get(each, each))
    node.kwargs = torch.fx.map_arg(node.kwargs, lambda each: trade.get(each, each))
    return True


def swap_in_chain(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """`sin(linear(x))` becomes `linear(sin(x))`: each reads what the other read."""
    chains = [
        (first, second)
        for second in calls(graph)
        for first in _read(second)
        if first.op == "call_function" and list(first.users) == [second] and _read(first)
    ]
    chains = [
        (first, second)
        for first, second in chains
        if _type(first) == _type(second) == _type(_read(first)[0])
    ]
    if not chains:
        return False
    first, second = choice.choice(chains)
    source = _read(first)[0]
    second.replace_input_with(first, source)
    second.replace_all_uses_with(first, delete_user_cb=lambda user: user is not first)
    first.replace_input_with(source, second)
    second.append(first)
    return True


def move(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """A node comes as early or as late as its inputs and users allow."""
    nodes = calls(graph)
    if not nodes:
        return False
    node = choice.choice(nodes)
    order = {each: at for at, each in enumerate(graph.nodes)}
    if choice.random() < 0.5:
        inputs = node.all_input_nodes or [next(iter(graph.nodes))]
        max(inputs, key=order.__getitem__).append(node)
        _keep_inputs_first(graph)
    else:
        users = list(node.users) or [graph.output_node()]
        min(users, key=order.__getitem__).prepend(node)
    return True


def _keep_inputs_first(graph: Graph) -> None:
    places = [node for node in graph.nodes if node.op == "placeholder"]
    for one, other in pairwise(places):
        if one.next is not other:
            one.append(other)


def other_op(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    nodes = [each for each in calls(graph) if each.target in OPS]
    if not nodes:
        return False
    node = choice.choice(nodes)
    node.target = OPS[node.target]
    return True


def argument(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """A number or a list of numbers among the arguments is another one."""
    spots = [
        (node, at)
        for node in calls(graph)
        if node.target is not operator.getitem
        for at, each in enumerate(node.args)
        if type(each) in (int, float) or _is_numbers(each)
    ]
    if not spots:
        return False
    node, at = choice.choice(spots)
    old: Any = node.args[at]
    new = [*old[1:], old[0]] if isinstance(old, list) else old + choice.choice((1, -1, 2))
    node.args = (*node.args[:at], new, *node.args[at + 1 :])
    return True


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(each) is int for each in value)


def getitem(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """Another result of an op that has several."""
    nodes = [each for each in calls(graph) if each.target is operator.getitem]
    if not nodes:
        return False
    node = choice.choice(nodes)
    node.args = (node.args[0], 1 - int(node.args[1]) if int(node.args[1]) < 2 else 0)
    return True


def dtype(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """A value is rounded to half of its precision on the way to its users."""
    nodes = [each for each in calls(graph) if _is_float(each) and each.users]
    if not nodes:
        return False
    node = choice.choice(nodes)
    with graph.inserting_after(node):
        half = graph.call_function(A.to.dtype, (node, torch.float16))
    with graph.inserting_after(half):
        back = graph.call_function(A.to.dtype, (half, torch.float32))
    half.meta = {**node.meta, "val": node.meta["val"].to(torch.float16)}
    back.meta = dict(node.meta)
    node.replace_all_uses_with(back, delete_user_cb=lambda user: user is not half)
    return True


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def leave_out(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """An op is gone, and its users read its input."""
    nodes = [each for each in calls(graph) if _read(each) and _type(each) == _type(_read(each)[0])]
    if not nodes:
        return False
    node = choice.choice(nodes)
    node.replace_all_uses_with(_read(node)[0])
    graph.erase_node(node)
    return True


def leave_out_effect(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """An op whose result nobody reads is gone: an op in place, an assert."""
    nodes = [each for each in calls(graph) if not each.users]
    if not nodes:
        return False
    graph.erase_node(choice.choice(nodes))
    return True


def twice(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """An op is applied once more, to its own result."""
    nodes = [each for each in calls(graph) if _read(each) and _type(each) == _type(_read(each)[0])]
    if not nodes:
        return False
    node = choice.choice(nodes)
    with graph.inserting_after(node):
        again = graph.node_copy(node, lambda each: node if each is _read(node)[0] else each)
    again.meta = dict(node.meta)
    node.replace_all_uses_with(again, delete_user_cb=lambda user: user is not again)
    return True


def held(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """Two weights of one type trade their names."""
    specs = [
        spec
        for spec in program.graph_signature.input_specs
        if spec.target and spec.target in program.state_dict
    ]
    pairs = [
        (one, other)
        for one in specs
        for other in specs
        if one.target != other.target
        and one.kind == other.kind
        and program.state_dict[one.target].shape == program.state_dict[other.target].shape
    ]
    if not pairs:
        return False
    one, other = choice.choice(pairs)
    one.target, other.target = other.target, one.target
    return True


def outputs(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """Two outputs trade places, or one is another value."""
    output = program.graph.output_node()
    values = list(output.args[0])
    specs = program.graph_signature.output_specs
    places = [at for at, spec in enumerate(specs) if spec.kind.name == "USER_OUTPUT"]
    one, other = choice.sample(places, 2)
    values[one], values[other] = values[other], values[one]
    specs[one].arg, specs[other].arg = specs[other].arg, specs[one].arg
    output.args = (tuple(values),)
    return True


def guard(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """An assert on a size is added or gone."""
    asserts = [node for node in calls(graph) if node.target is A._assert_scalar.default]
    if asserts and choice.random() < 0.5:
        graph.erase_node(choice.choice(asserts))
        return True
    first = next(node for node in program.graph.nodes if node.name == "x")
    before = program.graph.output_node()
    with program.graph.inserting_before(before):
        size = program.graph.call_function(A.sym_size.int, (first, 0))
        size.meta["val"] = first.meta["val"].shape[0]
        least = program.graph.call_function(operator.ge, (size, 3))
        least.meta["val"] = size.meta["val"] >= 3
        program.graph.call_function(A._assert_scalar.default, (least, "rows"))
    return True


def keyword(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """An argument that is passed by its name is another one, or is left to its default."""
    spots = [(node, name) for node in calls(graph) for name in node.kwargs]
    if not spots:
        return False
    node, name = choice.choice(spots)
    old: Any = node.kwargs[name]
    if type(old) in (int, float) and choice.random() < 0.5:
        node.kwargs = {**node.kwargs, name: old + choice.choice((1, -1))}
    else:
        node.kwargs = {key: value for key, value in node.kwargs.items() if key != name}
    return True


def constant(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """A number of a tensor that the program holds as a constant is another one."""
    names = [
        spec.target
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "CONSTANT_TENSOR" and program.constants[spec.target].numel()
    ]
    if not names:
        return False
    name = choice.choice(names)
    value = program.constants[name].clone()
    value.view(-1)[choice.randrange(value.numel())] += 1
    program.constants[name] = value
    return True


def written(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """Another buffer of the same type is written, or none."""
    specs = program.graph_signature.output_specs
    places = [at for at, spec in enumerate(specs) if spec.kind.name == "BUFFER_MUTATION"]
    if not places:
        return False
    at = choice.choice(places)
    if choice.random() < 0.5:
        output = program.graph.output_node()
        output.args = ((*output.args[0][:at], *output.args[0][at + 1 :]),)
        del specs[at]
        return True
    specs[at].target = {"seen": "b2", "b2": "seen"}.get(specs[at].target, specs[at].target)
    return True


def bound(program: ExportedProgram, graph: Graph, choice: Choice) -> bool:
    """The range of a size is narrower; torch may keep ranges of sizes that no value has."""
    ranges, names = program.range_constraints, symbols_in(program)
    used = sorted((symbol for symbol in ranges if str(symbol) in names), key=str)
    if not used:
        return False
    symbol = choice.choice(used)
    kind = type(ranges[symbol])
    ranges[symbol] = kind(ranges[symbol].lower, 100 + choice.randrange(9))
    return True


Edit = Callable[[ExportedProgram, Graph, Choice], bool]
EDITS: tuple[Edit, ...] = (
    *(rewire, rewire, rewire, exchange, exchange, swap_in_chain, move, other_op, argument),
    *(getitem, dtype, leave_out, leave_out_effect, twice, held, outputs, guard, bound),
    *(keyword, constant, written),
)


def edited(program: ExportedProgram, choice: Choice) -> tuple[str, ExportedProgram] | None:
    """A copy with one edit, and which; None where there was no place for it."""
    copy = copy_program(program)
    copy._range_constraints = dict(program.range_constraints)
    edit = choice.choice(EDITS)
    graph = choice.choice(graph_modules(copy)).graph
    try:
        if not edit(copy, graph, choice):
            return None
        for each in graph_modules(copy):
            each.graph.lint()
            each.recompile()
    except (RuntimeError, AssertionError):  # a value would be read before it is made
        return None
    return edit.__name__, copy


def renamed(program: ExportedProgram, choice: Choice) -> ExportedProgram:
    """A copy whose nodes have other names, also where the signature and messages name them."""
    copy = copy_program(program)
    for at, module in enumerate(graph_modules(copy)):
        for number, node in enumerate(module.graph.nodes):
            if node.op in ("call_function", "placeholder") and (at or node.op != "placeholder"):
                old = node.name
                node._rename(f"v{number}_{choice.randrange(100)}")
                for spec in copy.graph_signature.output_specs if at == 0 else ():
                    if getattr(spec.arg, "name", None) == old:
                        spec.arg.name = node.name
        module.recompile()
    return copy


def reordered(program: ExportedProgram, choice: Choice) -> ExportedProgram:
    """A copy whose ops come in another order that respects inputs, writes and random numbers."""
    copy = copy_program(program)
    for module in graph_modules(copy):
        nodes = calls(module.graph)
        fixed = {node for node in nodes if _has_order(node)}
        left, placed = list(nodes), set[Node]()
        order: list[Node] = []
        while left:
            ready = [
                node
                for node in left
                if all(
                    each.op != "call_function" or each in placed for each in node.all_input_nodes
                )
                and not (fixed and _waits(node, left, fixed))
            ]
            node = choice.choice(ready)
            order.append(node)
            placed.add(node)
            left.remove(node)
        for node in order:
            module.graph.output_node().prepend(node)
        module.graph.lint()
        module.recompile()
    return copy


def _has_order(node: Node) -> bool:
    """Whether an op writes, or draws random numbers."""
    schema = getattr(node.target, "_schema", None)
    writes = schema is not None and schema.is_mutable
    return writes or "rand" in str(node.target) or "dropout" in str(node.target)


def _waits(node: Node, left: list[Node], fixed: set[Node]) -> bool:
    """Whether a node has to come after one that is not placed: all keep their side of a write."""
    earlier = left[: left.index(node)]
    if node in fixed:
        return bool(earlier)
    return any(each in fixed for each in earlier)


def copies(program: ExportedProgram, choice: Choice) -> Iterator[tuple[str, ExportedProgram]]:
    """Copies that are the same program."""
    yield "renamed", renamed(program, choice)
    yield "reordered", reordered(program, choice)

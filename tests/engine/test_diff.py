"""Diffs of real programs against known edits: precision and recall of the changed ops."""

import copy
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest
import torch
from torch.export import ExportedProgram

from export_engine import Exported, Record, Request, Shapes, capture, describe
from export_engine.diff import diff_records
from export_engine.record_diff import ProgramDiff
from export_engine.torch_internals import copied_program
from tests import models

A = torch.ops.aten


@cache
def exported(name: str) -> Exported:
    case = models.llama(8) if name == "llama8" else models.CASES[name]()
    return models.exported(case)


@cache
def recorded(name: str) -> Record:
    return describe(exported(name))


Truth = tuple[set[str], set[str]]
"""Names of the ops that differ: in the first program, and those that are new in the second."""


class Edit(NamedTuple):
    name: str
    edit: Callable[[ExportedProgram, int], Truth | None]
    """Edits a program at its n-th place, and tells what differs; None where there is no place."""


def calls(program: ExportedProgram, *targets: str) -> list[torch.fx.Node]:
    found = [node for node in program.graph.nodes if node.op == "call_function"]
    if not targets:
        return found
    return [node for node in found if any(target in str(node.target) for target in targets)]


def at(nodes: list[torch.fx.Node], place: int) -> torch.fx.Node | None:
    return nodes[place * len(nodes) // 3] if nodes else None


def replaced(program: ExportedProgram, place: int) -> Truth | None:
    node = at(calls(program, "aten.add.Tensor", "aten.relu", "aten.tanh", "aten.gelu"), place)
    if node is None:
        return None
    node.target = A.sub.Tensor if "add" in str(node.target) else A.sigmoid.default
    if node.target is A.sigmoid.default:
        node.kwargs = {}
    return {node.name}, set()


def constant(program: ExportedProgram, place: int) -> Truth | None:
    nodes = [n for n in calls(program) if any(type(a) in (int, float) for a in n.args[1:])]
    node = at([n for n in nodes if "sym_size" not in str(n.target)], place)
    if node is None:
        return None
    spot = next(i for i, a in enumerate(node.args) if i and type(a) in (int, float))
    node.args = (*node.args[:spot], node.args[spot] + 7, *node.args[spot + 1 :])
    return {node.name}, set()


def inserted(program: ExportedProgram, place: int) -> Truth | None:
    node = at(calls(program, "linear", "conv", "matmul", "addmm"), place)
    if node is None:
        return None
    with program.graph.inserting_after(node):
        new = program.graph.call_function(A.relu.default, (node,))
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    return set(), {new.name}


def deleted(program: ExportedProgram, place: int) -> Truth | None:
    node = at(calls(program, "relu", "dropout", "gelu", "contiguous", "tanh", "silu"), place)
    if node is None:
        return None
    node.replace_all_uses_with(node.args[0])
    program.graph.erase_node(node)
    return {node.name}, set()


def reordered(program: ExportedProgram, place: int) -> Truth | None:
    """Each node as late, or as early, as its users and inputs let it."""
    nodes = calls(program)
    for node in nodes[place::7]:
        users = [user for user in node.users if user.op == "call_function"]
        if not node.users or len(users) < len(node.users) or node.target is operator.getitem:
            continue
        order = {each: number for number, each in enumerate(program.graph.nodes)}
        min(users, key=lambda user: order[user]).prepend(node)
    return set(), set()


def renamed(program: ExportedProgram, place: int) -> Truth | None:
    for number, node in enumerate(calls(program)[place:]):
        node._rename(f"value_{number}")
    return set(), set()


def dtype(program: ExportedProgram, place: int) -> Truth | None:
    node = at(calls(program, "linear", "conv", "matmul"), place)
    if node is None:
        return None
    with program.graph.inserting_after(node):
        new = program.graph.call_function(A.to.dtype, (node, torch.float16))
    new.meta = {**node.meta, "val": node.meta["val"].to(torch.float16)}
    node.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    return set(), {new.name}


def layer(program: ExportedProgram, place: int) -> Truth | None:
    """Every activation of one layer replaced."""
    by_layer = defaultdict(list)
    for node in calls(program, "silu", "gelu", "tanh", "relu"):
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        by_layer[stack[len(stack) // 2][0] if stack else ""].append(node)
    if not by_layer:
        return None
    chosen = list(by_layer.values())[place * len(by_layer) // 3]
    for node in chosen:
        node.target, node.kwargs, node.args = A.sigmoid.default, {}, node.args[:1]
    return {node.name for node in chosen}, set()


EDITS = [
    Edit("replace an op", replaced),
    Edit("change a constant", constant),
    Edit("insert an op", inserted),
    Edit("delete an op", deleted),
    Edit("insert a cast", dtype),
    Edit("change one layer", layer),
    Edit("reorder", reordered),
    Edit("rename", renamed),
]
PROGRAMS = ["tutorial", "branching", "vision", "bert2", "gpt2_12", "llama8"]


def found(diff: ProgramDiff, before: Record, after: Record) -> Truth:
    """Names of what the diff says is changed in itself, and of what is new."""
    changed, added = set(), set()
    for graph in diff.graphs:
        mine, theirs = before.graphs[graph.before], after.graphs[graph.after]
        for pair in graph.pairs:
            if any(not change.follows for change in pair.changes):
                changed.add(before.strings[mine.name[pair.before]])
        changed |= {before.strings[mine.name[node]] for node in graph.removed}
        added |= {after.strings[theirs.name[node]] for node in graph.added}
    return changed, added


def _tagged(truth: Truth) -> set[str]:
    return {f"before {name}" for name in truth[0]} | {f"after {name}" for name in truth[1]}


class Score(NamedTuple):
    wanted: int
    said: int
    right: int


@pytest.fixture(scope="module")
def scores() -> Iterator[dict[str, list[Score]]]:
    table: dict[str, list[Score]] = defaultdict(list)
    yield table
    print(f"\n{'edit':<20} {'edits':>6} {'precision':>10} {'recall':>8}")
    for name, rows in table.items():
        wanted, said, right = (sum(column) for column in zip(*rows, strict=True))
        precision = right / said if said else 1.0
        recall = right / wanted if wanted else 1.0
        print(f"{name:<20} {len(rows):>6} {precision:>10.3f} {recall:>8.3f}")


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.slow
def test_a_known_edit_is_what_the_diff_says(
    name: str, edit: Edit, scores: dict[str, list[Score]]
) -> None:
    attempt, before = exported(name), recorded(name)
    for place in range(3):
        program = copied_program(attempt.program)
        truth = edit.edit(program, place)
        if truth is None:
            pytest.skip(f"{name} has no place to {edit.name}")
        program.graph.lint()
        program.graph_module.recompile()
        after = describe(replace(attempt, program=program))
        said = found(diff_records(before, after), before, after)
        names = [_tagged(truth), _tagged(said)]
        scores[edit.name].append(Score(len(names[0]), len(names[1]), len(names[0] & names[1])))
        assert names[1] == names[0]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.slow
def test_a_program_does_not_differ_from_itself_or_its_copy(name: str) -> None:
    before = recorded(name)
    attempt = exported(name)
    request = attempt.request
    assert request is not None
    again = capture(replace(request, target=copy.deepcopy(request.target)))
    assert isinstance(again, Exported)
    for after in (before, describe(again)):
        diff = diff_records(before, after)
        assert diff.others == []
        assert found(diff, before, after) == (set(), set())


@pytest.mark.slow
def test_strict_and_non_strict_trace_the_same_ops() -> None:
    attempt, before = exported("vision"), recorded("vision")
    assert attempt.request is not None
    after = describe(capture(attempt.request.with_changes(strict=True)))
    changed, added = found(diff_records(before, after), before, after)
    assert added == set()
    assert all("num_batches_tracked" in name for name in changed), "which strict does not lift"


class Blocks(torch.nn.Module):
    """Four blocks of three ops, run in the order of their letters in `order`."""

    def __init__(self, order: str) -> None:
        super().__init__()
        self.order = order
        self.blocks = torch.nn.ModuleDict(
            {
                letter: torch.nn.Sequential(
                    torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)
                )
                for letter in "abcd"
            }
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for letter in self.order:
            x = self.blocks[letter](x)
        return x


def test_a_block_that_was_moved_is_still_the_same_block() -> None:
    """Nothing is new; only where the blocks begin, and what comes out, reads another value."""
    args = (torch.ones(2, 8),)
    before, after = (
        describe(capture(Request(target=Blocks(order), args=args))) for order in ("abcd", "acbd")
    )
    diff = diff_records(before, after)
    (graph,) = diff.graphs
    assert (graph.added, graph.removed) == ([], [])
    changed = {
        before.strings[before.graphs[0].name[pair.before]]: [each.what for each in pair.changes]
        for pair in graph.pairs
        if pair.changes
    }
    assert all(what == ["inputs"] for what in changed.values()), changed
    assert set(changed) == {"linear_2", "linear_4", "linear_6"}, "the blocks b, c and d begin there"


def test_symbols_are_the_same_under_other_names() -> None:
    attempt, before = exported("bert2"), recorded("bert2")
    assert attempt.request is not None
    request = attempt.request.with_changes(shapes=Shapes.parse("input_ids: n, length[2..512]"))
    after = describe(capture(request))
    diff = diff_records(before, after)
    assert diff.symbols == [["batch", "n"], ["seq", "length"]]
    assert diff.others == []
    assert found(diff, before, after) == (set(), set())


def test_a_narrower_range_is_a_difference() -> None:
    attempt, before = exported("bert2"), recorded("bert2")
    assert attempt.request is not None
    request = attempt.request.with_changes(shapes=Shapes.parse("input_ids: batch, seq[2..64]"))
    diff = diff_records(before, describe(capture(request)))
    assert [(each.kind, each.name, each.before, each.after) for each in diff.others] == [
        ("symbol", "seq", "[2, 512]", "[2, 64]")
    ]


def test_a_difference_inside_a_branch_is_found_there() -> None:
    attempt, before = exported("branching"), recorded("branching")
    program = copied_program(attempt.program)
    inner = next(
        module
        for name, module in program.graph_module.named_modules()
        if name and any("relu" in str(node.target) for node in module.graph.nodes)
    )
    node = next(node for node in inner.graph.nodes if "relu" in str(node.target))
    node.target = A.sigmoid.default
    inner.recompile()
    after = describe(replace(attempt, program=program))
    diff = diff_records(before, after)
    assert found(diff, before, after)[0] == {node.name}
    titles = [graph.title for graph in diff.graphs if any(p.changes for p in graph.pairs)]
    assert titles == ["main.true_graph_0"] or titles == ["main.true_fn"], titles


def test_a_failure_has_nothing_to_compare() -> None:
    failed = describe(capture(Request(target=lambda x: x + bool(x.sum()), args=(torch.ones(2),))))
    with pytest.raises(ValueError, match="export failed"):
        diff_records(recorded("tutorial"), failed)

"""Real programs, and edits of which it is known what they change: the truth for diffs."""

import operator
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import torch
from torch.export import ExportedProgram

from export_engine.attempt import Exported
from export_engine.describe import describe
from export_engine.diff import diff_records
from export_engine.record import ProgramDiff, Record
from export_engine.torch_internals import copy_program
from tests import models

A = torch.ops.aten
PLACES = 3
"""Each edit is made at so many places of a program, one at a time."""


CASES: dict[str, Callable[[], models.Case]] = {
    **models.CASES,
    **models.SMALL_CASES,
    "llama2": partial(models.llama, 2),
    "llama8": partial(models.llama, 8),
}


@cache
def exported(name: str) -> Exported:
    return models.exported(CASES[name]())


@cache
def recorded(name: str) -> Record:
    return describe(exported(name))


Truth = tuple[set[str], set[str]]
"""Names of the ops that differ: in the first program, and those that are new in the second."""


class Edit(NamedTuple):
    name: str
    edit: Callable[[ExportedProgram, int], Truth | None]
    """Edits a program at its n-th place, and tells what differs; None where there is no place."""
    same: bool = False
    """Whether a program stays the same, up to names and the order of independent ops."""


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
    Edit("reorder", reordered, same=True),
    Edit("rename", renamed, same=True),
]
PLACELESS = (
    ("tutorial", "change a constant"),
    ("branching", "replace an op"),
    ("branching", "insert an op"),
    ("branching", "delete an op"),
    ("branching", "insert a cast"),
    ("branching", "change one layer"),
)
"""Programs without an op, outside of their branches, that an edit is about."""
SMALL_PROGRAMS = [*models.SMALL_CASES, "llama2"]
"""What tests edit."""
PROGRAMS = ["tutorial", "branching", "vision", "bert2", "gpt2_12", "llama8"]
"""What the benchmark edits."""


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
    """Names of changed ops: how many there are, how many a diff says, how many of those rightly."""

    wanted: int
    said: int
    right: int


def scored(name: str, edit: Edit, place: int) -> tuple[Score, set[str], set[str]] | None:
    """The score of a diff, the truth, and what the diff said; None where there is no place."""
    attempt, before = exported(name), recorded(name)
    program = copy_program(attempt.program)
    truth = edit.edit(program, place)
    if truth is None:
        return None
    program.graph.lint()
    program.graph_module.recompile()
    after = describe(replace(attempt, program=program))
    wanted, said = _tagged(truth), _tagged(found(diff_records(before, after), before, after))
    return Score(len(wanted), len(said), len(wanted & said)), wanted, said

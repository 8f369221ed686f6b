"""Diffs of real programs against known edits: precision and recall of the changed ops."""

import copy
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.diff import diff_records
from export_engine.shapes import Shapes
from export_engine.torch_internals import copy_program
from tests.known_edits import (
    EDITS,
    PLACELESS,
    PLACES,
    SMALL_PROGRAMS,
    A,
    Edit,
    Score,
    exported,
    found,
    recorded,
    scored,
)


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


EDITED = [
    pytest.param(name, edit, id=f"{name}-{edit.name}")
    for name in SMALL_PROGRAMS
    for edit in EDITS
    if (name, edit.name) not in PLACELESS
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "edit"), EDITED)
def test_a_known_edit_is_what_the_diff_says(
    name: str, edit: Edit, scores: dict[str, list[Score]]
) -> None:
    for place in range(PLACES):
        made = scored(name, edit, place)
        assert made is not None, f"{name} has no place to {edit.name}"
        score, wanted, said = made
        scores[edit.name].append(score)
        assert said == wanted


@pytest.mark.after_check
def test_programs_that_are_not_edited_have_no_place_for_it() -> None:
    edits = {edit.name: edit for edit in EDITS}
    assert [each for each in PLACELESS if scored(each[0], edits[each[1]], 0) is not None] == []


@pytest.mark.parametrize("name", SMALL_PROGRAMS)
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


@pytest.mark.after_check
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


@pytest.mark.slow
def test_symbols_are_the_same_under_other_names() -> None:
    attempt, before = exported("bert2"), recorded("bert2")
    assert attempt.request is not None
    request = attempt.request.with_changes(shapes=Shapes.parse("input_ids: n, length[2..512]"))
    after = describe(capture(request))
    diff = diff_records(before, after)
    assert diff.symbols == [["batch", "n"], ["seq", "length"]]
    assert diff.others == []
    assert found(diff, before, after) == (set(), set())


@pytest.mark.slow
def test_a_narrower_range_is_a_difference() -> None:
    attempt, before = exported("bert2"), recorded("bert2")
    assert attempt.request is not None
    request = attempt.request.with_changes(shapes=Shapes.parse("input_ids: batch, seq[2..64]"))
    diff = diff_records(before, describe(capture(request)))
    symbol, *sizes = [(each.kind, each.name, each.before, each.after) for each in diff.others]
    assert symbol == ("symbol", "seq", "[2, 512]", "[2, 64]")
    judged = ("accepted", "rejected: seq <= 64")
    assert sizes
    assert {(kind, before, after) for kind, _, before, after in sizes} == {("sizes", *judged)}


@pytest.mark.after_check
def test_a_difference_inside_a_branch_is_found_there() -> None:
    attempt, before = exported("branching"), recorded("branching")
    program = copy_program(attempt.program)
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


@pytest.mark.after_check
def test_a_failure_has_nothing_to_compare() -> None:
    failed = describe(capture(Request(target=lambda x: x + bool(x.sum()), args=(torch.ones(2),))))
    with pytest.raises(ValueError, match="export failed"):
        diff_records(recorded("tutorial"), failed)

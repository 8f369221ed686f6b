"""Decompositions: tables, and every new op tied to the op that it comes from."""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial

import pytest
import torch

from export_engine.attempt import DecompositionTable, Exported, Request, TableError
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.progress import Progress
from export_engine.shapes import Shapes
from export_engine.transform import DecomposeError, decompose
from export_engine.verify import verify
from tests import models

WHOLE = "core -scaled_dot_product_attention"


@cache
def exported(name: str) -> Exported:
    cases = {**models.SMALL_CASES, "llama1": partial(models.llama, 1)}
    return models.exported(cases[name]())


@pytest.mark.after_check
@pytest.mark.parametrize(
    "text", ["core", "none", "core -linear -conv2d", "only t transpose", "only aten.t.default"]
)
def test_a_table_is_read_as_it_is_written(text: str) -> None:
    table = DecompositionTable.parse(text)
    assert str(table) == text
    assert DecompositionTable.parse(str(table)) == table
    if text != "core -linear -conv2d":
        table.to_torch()


@pytest.mark.parametrize("text", ["all", "none t", "only", "core linear", "core -", "only -t"])
def test_a_table_that_means_nothing_says_so(text: str) -> None:
    with pytest.raises(TableError, match="Unknown decomposition table"):
        DecompositionTable.parse(text)


@pytest.mark.after_check
def test_an_op_that_torch_does_not_know_is_named() -> None:
    with pytest.raises(TableError, match="no decomposition for lineer"):
        DecompositionTable.parse("core -lineer").to_torch()


@pytest.mark.slow
def test_a_linear_becomes_core_ops_that_know_where_they_are_from() -> None:
    attempt = exported("tutorial")
    nodes = [str(node) for node in attempt.program.graph.nodes]
    seen: list[Progress] = []
    made = decompose(attempt, DecompositionTable.parse("core"), seen.append)
    assert [str(node) for node in attempt.program.graph.nodes] == nodes
    assert made.level is not None
    assert made.level.untied == ()
    linear = next(each for each in made.level.replaced if each.op == "aten.linear.default")
    assert linear.into == {"aten.permute.default": 1, "aten.addmm.default": 1}
    assert {made.level.origins[node].node for node in ("permute", "addmm")} == {"linear"}
    record = describe(made)
    assert record.level is not None
    assert record.level.outside == []
    assert "decomposed (core)" in record.verdict
    assert seen[-1].done == seen[-1].total
    assert [each.done for each in seen] == sorted(each.done for each in seen)


@pytest.mark.slow
def test_torch_lists_its_operators_once_for_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._export import utils

    attempt = exported("tutorial")
    as_torch_does = attempt.program.run_decompositions()
    list_operators, listed = utils._materialize_cpp_cia_ops, []

    def counted() -> None:
        listed.append(1)
        list_operators()

    monkeypatch.setattr(utils, "_materialize_cpp_cia_ops", counted)
    made = decompose(attempt, DecompositionTable.parse("core"))
    assert len(listed) == 2  # for the table, and for the program
    assert utils._materialize_cpp_cia_ops is counted
    assert str(made.program.graph) == str(as_torch_does.graph)


@pytest.mark.slow
def test_what_is_to_stay_whole_does_and_what_is_outside_is_said() -> None:
    attempt = exported("tutorial")
    kept = decompose(attempt, DecompositionTable.parse("core -linear"))
    record = describe(kept)
    assert record.level is not None
    assert record.level.outside == ["aten.linear.default ×1"]
    only = decompose(attempt, DecompositionTable.parse("only linear"))
    targets = {str(node.target) for node in only.program.graph.nodes}
    assert "aten.linear.default" not in targets
    assert "aten.t.default" in targets


@pytest.mark.after_check
def test_a_python_decomposition_has_its_file_and_line() -> None:
    attempt = capture(Request(target=torch.nn.Hardswish(), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    made = decompose(attempt, DecompositionTable.parse("core"))
    assert made.level is not None
    (one,) = made.level.replaced
    assert one.function.endswith("hardswish")
    assert one.file.endswith(".py")
    assert one.line > 0


@pytest.fixture(scope="module")
def ties() -> Iterator[list[str]]:
    rows: list[str] = []
    yield rows
    print(f"\n{'program':<12} {'ops':>6} {'provenance':>11} {'fallback':>9} {'untied':>7}")
    print("\n".join(rows))


@pytest.mark.parametrize(
    ("name", "table"), [("bert2", "core"), ("gpt2_2", WHOLE), ("llama1", "core")]
)
@pytest.mark.slow
def test_every_core_op_is_tied_to_its_origin(name: str, table: str, ties: list[str]) -> None:
    made = decompose(exported(name), DecompositionTable.parse(table))
    assert made.level is not None
    ops = [node.name for node in made.program.graph.nodes if node.op == "call_function"]
    how = Counter(made.level.origins[op].how for op in ops if op in made.level.origins)
    share = how["provenance"] / len(ops)
    ties.append(
        f"{name:<12} {len(ops):>6} {share:>11.1%} {how['fallback']:>9} {len(made.level.untied):>7}"
    )
    assert made.level.untied == ()
    assert set(made.level.origins) == set(ops)
    assert share > 0.95


@pytest.mark.slow
def test_what_torch_cannot_decompose_is_explained_with_a_way_out() -> None:
    """torch 2.13 takes another layout for granted than its own attention kernel on a CPU gives."""
    if not torch.__version__.startswith("2.13"):
        pytest.skip("what other torches than 2.13 can take apart is not written down here")
    with pytest.raises(
        DecomposeError, match="Keep it as one op: core -scaled_dot_product_attention"
    ):
        decompose(exported("gpt2_2"), DecompositionTable.parse("core"))


@pytest.mark.slow
def test_a_decomposed_program_keeps_its_guarantees() -> None:
    layers = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU()
    shapes = Shapes.parse("input: batch, _, _, _")
    attempt = capture(
        Request(
            target=torch.nn.Sequential(*layers).eval(),
            args=(torch.ones(2, 3, 8, 8),),
            dynamic_shapes=shapes,
        )
    )
    assert isinstance(attempt, Exported)
    made = decompose(attempt, DecompositionTable.parse("core"))
    found = verify(made, describe(made), 3)
    assert found.ok, str(found)


@pytest.mark.after_check
def test_a_table_of_ones_own_is_used_as_it_is() -> None:
    aten = torch.ops.aten
    attempt = capture(Request(target=torch.nn.Hardswish(), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    table = DecompositionTable.of({aten.hardswish.default: lambda x: aten.mul.Tensor(x, 0.5)})
    made = decompose(attempt, table)
    assert made.level is not None
    assert str(made.level.table) == "a table of 1 op"
    assert [each.into for each in made.level.replaced] == [{"aten.mul.Tensor": 1}]
    assert describe(made).level is not None
    for wrong in ({"linear": abs}, {aten.linear: abs}, {aten.linear.default: 3}):
        with pytest.raises(TableError, match="maps ops to functions"):
            DecompositionTable.of(wrong)
    with pytest.raises(TableError, match="A int is not a decomposition table"):
        DecompositionTable.of(3)


@pytest.mark.slow
def test_ops_of_branches_are_not_counted_twice() -> None:
    seen: list[Progress] = []
    decompose(exported("branching"), DecompositionTable.parse("core"), seen.append)
    assert seen[-1].done == seen[-1].total
    assert [each.done for each in seen] == list(range(1, seen[-1].total + 1))


@pytest.mark.slow
def test_an_interrupt_gets_through() -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    before = torch.fx.Interpreter.run_node
    with pytest.raises(KeyboardInterrupt):
        decompose(exported("tutorial"), DecompositionTable.parse("core"), interrupt)
    assert torch.fx.Interpreter.run_node is before

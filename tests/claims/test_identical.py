"""Identical is said only of programs that are proven to be the same."""

import copy
import json
import operator
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.cli import main as command_line
from explorer.testing import assert_same_export
from export_engine.attempt import Exported
from export_engine.diff import diff_records
from export_engine.record import from_json
from export_engine.torch_internals import copy_program
from tests.claims.edit_counts import count_edits
from tests.claims.random_programs import record_of

T = torch.Tensor
X = (torch.randn(4, 8),)


class Order(nn.Module):
    """A sine and two layers, in some order."""

    def __init__(self, order: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.l, self.order = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)]), order

    def forward(self, x: T) -> T:
        for step in self.order:
            x = x.sin() if step == "s" else self.l[int(step)](x)
        return x


class Skip(nn.Module):
    def __init__(self, early: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.l, self.early = nn.Linear(8, 8), early

    def forward(self, x: T) -> T:
        h = self.l(x)
        r = h.relu()
        return torch.cat([r * 2, h if self.early else r], -1)


def explored(model: Any, args: tuple[Any, ...] = X, **options: Any) -> explorer.Exploration:
    model = model.eval() if isinstance(model, nn.Module) else model
    return explorer.explore(model, args, **options)


REWIRED = [(Order("0s"), Order("s0")), (Order("01"), Order("10")), (Skip(False), Skip(True))]


@pytest.mark.after_check
@pytest.mark.parametrize(("one", "other"), REWIRED, ids=["sine", "layers", "skip"])
def test_ops_that_are_wired_otherwise_are_a_difference(one: nn.Module, other: nn.Module) -> None:
    found = explorer.diff(explored(one), explored(other))
    assert not found.ok
    assert "inputs: " in str(found)
    assert explorer.diff(explored(one), explored(one)).ok


@pytest.mark.slow
def test_a_golden_file_is_not_passed_by_a_model_that_is_wired_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = explored(Order("01")).save(tmp_path / "golden.pt2")
    assert_same_export(explored(Order("01")), golden)
    with pytest.raises(AssertionError, match="inputs"):
        assert_same_export(explored(Order("10")), golden)
    source = "from tests.claims.test_identical import Order, X\n"
    source += "def make(): return Order('10').eval(), X\ndef kept(): return Order('01').eval(), X\n"
    (tmp_path / "made_here.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, code in (("make", 1), ("kept", 0)):
        config = f'[[tool.export-explorer.check]]\ncall = "made_here:{name}"\n'
        (tmp_path / "pyproject.toml").write_text(f'{config}golden = "golden.pt2"\n')
        assert command_line.main(["check"]) == code
    other = explored(Order("10")).save(tmp_path / "other.pt2")
    assert command_line.main([str(golden), "--diff", str(other)]) == 1


class Times(nn.Module):
    def __init__(self, *numbers: float) -> None:
        super().__init__()
        self.numbers = list(numbers)

    def forward(self, x: T) -> T:
        return x * torch.tensor(self.numbers)


@pytest.mark.slow
def test_the_values_of_constants_are_part_of_a_program(tmp_path: Path) -> None:
    x = (torch.ones(2),)
    one, again, other = (explored(Times(*each), x) for each in ((1.0, 2.0), (1.0, 2.0), (2.0, 1.0)))
    files = [each.save(tmp_path / f"{at}.pt2") for at, each in enumerate((one, other))]
    assert explorer.diff(one, again).ok
    assert explorer.diff(files[0], again).ok
    for before, after in ((one, other), (files[0], other), (files[0], files[1])):
        found = explorer.diff(before, after)
        assert not found.ok
        assert "lifted_tensor_0" in str(found)


class Named(nn.Module):
    """Two weights that look alike."""

    def __init__(self, names: tuple[str, str], turned: bool = False) -> None:
        super().__init__()
        self.names = names[::-1] if turned else names
        for name in names:
            self.register_parameter(name, nn.Parameter(torch.ones(8)))

    def forward(self, x: T) -> T:
        first, second = (getattr(self, name) for name in self.names)
        return (x + first).sin() * second


@pytest.mark.after_check
def test_weights_go_by_their_names() -> None:
    known, turned = explored(Named(("a", "b"))), explored(Named(("a", "b"), turned=True))
    assert not explorer.diff(known, turned).ok
    renamed = explorer.diff(known, explored(Named(("c", "d"))))
    assert not renamed.ok
    assert "input a: parameter f32[8] → none" in str(renamed)
    assert all(not pair.changes for pair in renamed.diff.graphs[0].pairs)


class Outer(nn.Module):
    def __init__(self, name: str, inner: nn.Module) -> None:
        super().__init__()
        self.add_module(name, inner)
        self.name = name

    def forward(self, x: T) -> T:
        return getattr(self, self.name)(x)


@pytest.mark.after_check
def test_a_renamed_module_is_otherwise_the_same_only_if_its_weights_are_read_alike() -> None:
    before = explored(Outer("old", Named(("a", "b"))))
    same_wiring = explorer.diff(before, explored(Outer("new", Named(("a", "b")))))
    assert not same_wiring.ok
    assert "otherwise the same" in str(same_wiring)
    assert len(same_wiring.diff.renamed[0].others) == 4
    other = explorer.diff(before, explored(Outer("new", Named(("a", "b"), turned=True))))
    assert "old.a" in str(other)
    assert "new.b" in str(other)


def passes(x: T, y: T) -> T:
    return x - y


def passes_turned(y: T, x: T) -> T:
    return y - x


def returns_tuple(x: T) -> Any:
    return x + 1, x + 2


def returns_dict(x: T) -> Any:
    return {"a": x + 1, "b": x + 2}


def returns_others(x: T) -> Any:
    return {"b": x + 1, "a": x + 2}


def returns_list(x: T) -> Any:
    return [x + 1, x + 2]


def returns_ordered(x: T) -> Any:
    return OrderedDict(a=x + 1, b=x + 2)


def takes_two(pair: Any) -> T:
    return pair[0] - pair[1]


TWO = (torch.randn(3), torch.randn(3))
ONE = TWO[:1]


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("one", "other", "args"),
    [
        (passes, passes_turned, TWO),
        (returns_tuple, returns_dict, ONE),
        (returns_tuple, returns_list, ONE),
        (returns_dict, returns_ordered, ONE),
        (returns_dict, returns_others, ONE),
    ],
)
def test_what_a_caller_passes_and_gets_is_part_of_a_program(
    one: Callable[..., Any], other: Callable[..., Any], args: tuple[T, ...]
) -> None:
    found = explorer.diff(explored(one, args), explored(other, args))
    assert not found.ok
    assert len(str(found).splitlines()) > 2


def test_a_list_and_a_tuple_are_two_calls(tmp_path: Path) -> None:
    """torch's program of one rejects the other."""
    one, other = (explored(takes_two, (kind(TWO),)) for kind in (list, tuple))
    for program in (other, other.save(tmp_path / "other.pt2")):
        found = explorer.diff(one, program)
        assert not found.ok
        assert "tuple(tuple(list(*, *)), dict())" in str(found)
    assert explorer.diff(one, one.save(tmp_path / "one.pt2")).ok


def free(x: T, n: T) -> T:
    return x + n.item()


def checked(x: T, n: T) -> T:
    size = n.item()
    torch._check(size > 3)
    return x + size


@pytest.mark.after_check
def test_a_check_that_only_one_program_has_is_a_difference() -> None:
    args = (torch.ones(3), torch.tensor(5))
    programs = explored(free, args), explored(checked, args)
    for one, other in (programs, programs[::-1]):
        found = explorer.diff(one, other)
        assert not found.ok
        assert "_assert_scalar" in str(found)


@pytest.mark.after_check
def test_a_narrower_range_is_a_difference() -> None:
    def doubled(x: T) -> T:
        return x * 2

    one, other = (
        explored(doubled, X, dynamic_shapes=spec) for spec in ("x: rows, _", "x: rows[2..9], _")
    )
    assert not explorer.diff(one, other).ok
    assert not explorer.diff(other, one).ok


@pytest.mark.after_check
def test_a_held_tensor_is_never_paired_with_an_input() -> None:
    def given(x: T, y: T) -> T:
        return x * y

    def held(x: T) -> T:
        return x * torch.tensor([1.0, 2.0, 3.0])

    for one, other in (
        (explored(given, TWO), explored(held, ONE)),
        (explored(held, ONE), explored(given, TWO)),
    ):
        diff = explorer.diff(one, other).diff
        kinds = [
            {each.node: each.kind == "user_input" for each in side.record.signature.inputs}
            for side in (one, other)
        ]
        pairs = [(each.before, each.after) for each in diff.graphs[0].pairs]
        assert all(kinds[0].get(before) == kinds[1].get(after) for before, after in pairs)


def draws(x: T) -> T:
    first, second = torch.rand_like(x), torch.rand_like(x)
    return first - second


def draws_turned(x: T) -> T:
    second, first = torch.rand_like(x), torch.rand_like(x)
    return first - second


def writes(x: T) -> T:
    y = x.clone()
    z = y * 2
    y.add_(1)
    return y + z


def writes_before(x: T) -> T:
    y = x.clone()
    y.add_(1)
    z = y * 2
    return y + z


@pytest.mark.after_check
@pytest.mark.parametrize(("one", "other"), [(draws, draws_turned), (writes, writes_before)])
def test_the_order_of_writes_and_of_random_numbers_is_part_of_a_program(
    one: Callable[..., Any], other: Callable[..., Any]
) -> None:
    found = explorer.diff(explored(one, ONE), explored(other, ONE))
    assert not found.ok
    assert len(str(found).splitlines()) > 2


class Traced(nn.Module):
    def __init__(self, act: nn.Module) -> None:
        super().__init__()
        self.one, self.two, self.act = nn.Linear(4, 4), nn.Linear(4, 4), act

    def forward(self, x: T) -> T:
        return self.act(self.one(x)) + nn.functional.linear(x, self.two.weight)


class Own(nn.Module):
    def forward(self, x: T) -> T:
        return x + 1


@pytest.mark.after_check
def test_a_graph_module_is_compared_by_the_modules_and_tensors_that_it_names() -> None:
    known = torch.fx.symbolic_trace(Traced(nn.LeakyReLU(0.1)))
    assert explorer.diff(known, copy.deepcopy(known)).ok
    assert not explorer.diff(known, torch.fx.symbolic_trace(Traced(nn.LeakyReLU(0.2)))).ok
    for op, old, new in (("get_attr", "two.weight", "one.weight"), ("call_module", "one", "two")):
        other = copy.deepcopy(known)
        [node] = [each for each in other.graph.nodes if (each.op, each.target) == (op, old)]
        node.target = new
        other.recompile()
        assert not explorer.diff(known, other).ok

    class Tracer(torch.fx.Tracer):
        def is_leaf_module(self, module: nn.Module, name: str) -> bool:
            return isinstance(module, Own) or super().is_leaf_module(module, name)

    model = Traced(Own())
    unknown = torch.fx.GraphModule(model, Tracer().trace(model))
    assert not explorer.diff(unknown, copy.deepcopy(unknown)).ok, "nobody looked into Own"


def kit_of(*orders: str) -> explorer.Programs:
    programs = {name: (Order(order).eval(), X) for name, order in zip("ab", orders, strict=False)}
    return explorer.explore_many(programs)


@pytest.mark.slow
def test_two_sets_are_compared_program_by_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, other = kit_of("01", "0s"), kit_of("01", "s0")
    assert explorer.diff(known, kit_of("01", "0s")).ok
    found = explorer.diff(known, other)
    assert (found.ok, found["a"].ok, found["b"].ok) == (False, True, False)
    assert "b: 3 nodes changed" in str(found)
    fewer = explorer.diff(known, kit_of("01"))
    assert (fewer.ok, fewer.removed) == (False, ["b"])
    files = [kit.save(tmp_path / f"{at}.pt2") for at, kit in enumerate((known, other))]
    assert explorer.diff(files[0], known).ok
    with pytest.raises(AssertionError, match="b: 3 nodes changed"):
        assert_same_export(other, files[0])
    for file, code in zip(files, (0, 1), strict=True):
        assert command_line.main([str(files[0]), "--diff", str(file)]) == code
    with pytest.raises(ValueError, match="holds 2 programs"):
        explorer.diff(known, other["a"])


@pytest.mark.after_check
def test_a_set_is_written_as_json(tmp_path: Path) -> None:
    known = kit_of("01", "0s")
    written = json.loads(known.save(tmp_path / "kit.json").read_text())
    assert [each["name"] for each in written["set"]["components"]] == ["a", "b"]
    records = {name: from_json(json.dumps(each)) for name, each in written["programs"].items()}
    assert {name: each.verdict for name, each in records.items()} == {
        name: each.record.verdict for name, each in known.items()
    }


@pytest.mark.after_check
def test_only_a_result_that_is_there_may_go_unread() -> None:
    attempt = explored(lambda x: x.max(-1).values, X).session.entry.attempt
    assert isinstance(attempt, Exported)
    before = record_of(attempt.program)
    for index, identical in ((1, True), (2, False)):
        other = copy_program(attempt.program)
        taken, *_ = (each for each in other.graph.nodes if each.target is operator.getitem)
        with other.graph.inserting_after(taken):
            other.graph.call_function(operator.getitem, (taken.args[0], index)).meta = taken.meta
        assert diff_records(before, record_of(other)).identical is identical


@pytest.mark.slow
def test_of_random_edits_none_that_changes_a_program_is_called_identical(tmp_path: Path) -> None:
    counts = count_edits(range(3), 12, tmp_path, faces_of=3)
    assert not counts.wrong
    assert (counts.changing > 25, counts.copies) == (True, 3 * 2 * 7)


@pytest.mark.slow
def test_a_rewired_program_is_no_decomposition_of_the_first() -> None:
    one, other = explored(Order("01")), explored(Order("10"))
    ours, theirs = (each.decompose("core") for each in (one, other))
    assert not explorer.diff(ours, theirs).ok
    assert explorer.diff(ours, explored(Order("01")).decompose("core")).ok


def test_the_name_of_a_keyword_argument_is_part_of_a_program(tmp_path: Path) -> None:
    def by_y(x: T, y: T) -> T:
        return x - y

    def by_z(x: T, z: T) -> T:
        return x - z

    x, y = TWO
    one = explorer.explore(by_y, (x,), {"y": y})
    for other, said_of_it in (
        (explorer.explore(by_z, (x,), {"z": y}), "passed as z"),
        (explorer.explore(by_y, (x, y)), "y passed by position"),
    ):
        found = explorer.diff(one, other)
        assert not found.ok
        assert said_of_it in str(found)
    assert explorer.diff(explorer.explore(by_y, (x, y)), explorer.explore(by_z, (x, y))).ok
    one.save(str(tmp_path / "one.pt2"))
    assert explorer.diff(one, explorer.view(str(tmp_path / "one.pt2"))).ok

"""What `ex.save` writes is read as the program that was saved, by every reader and every check."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
import torch
from torch import nn

import explorer
from export_engine.archive import ArchiveError, load, read, save
from export_engine.archive.file_source import FileSource
from export_engine.archive.read_sizes import Sizes
from export_engine.archive.same_program import find_difference
from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.describe import CallSizes, Entry, Range, Symbols, TensorValue, describe
from export_engine.diff import diff_records
from export_engine.generation import CutError, cut
from export_engine.record import Record, holds
from export_engine.shapes import Shapes
from export_engine.sizes import (
    Expression,
    UnreadableError,
    compile_formula,
    evaluate_formula,
    evaluate_size,
    find_line,
    parse_size,
)
from export_engine.trace import Recording
from export_engine.verify import verify

from ..planted import plants
from ..seed_cases import seed_cases
from .saved_programs import OWN, ConstantTensor, Program, SharedModule

TORCH_FAILS = {
    "without_a_factory": "torch cannot save a defaultdict without a factory",
    "attended": "torch cannot save flex_attention",
    "attended_with_a_score": "torch cannot save flex_attention",
    "csr_input": "torch cannot save a CSR tensor",
    "old_namedtuples": "torch saves only namedtuples that are registered",
    "return_type": "torch has no name for it",
    "enums": "torch cannot save an enum",
    "enums_of_numbers": "torch cannot save an enum",
    "float_from_data": "torch cannot save a float from data",
    "gradients_inside": "torch cannot load a call without results",
    "dict_of_tuples": "torch loads keys that are tuples as lists",
    "odd_texts": "torch writes guards on texts that it cannot read",
    "meta_input": "there is nothing to run",
    "size_as_input": "strict mode takes it as a tuple, and calls it as a Size",
}
"""What torch itself cannot save, load or call, and why."""
STRICT_FAILS = {"rounded_sizes": "torch cannot save math.floor of a size"}
"""The same of programs of strict mode alone."""


def programs() -> Iterator[Program]:
    """All of them."""
    yield from OWN
    for case in seed_cases():
        yield Program(
            case.name,
            lambda case=case: case.target,  # type: ignore[misc]
            lambda case=case: (case.args, dict(case.kwargs)),  # type: ignore[misc]
            case.shapes,
        )
    for number, plant in enumerate(plants()):
        for which, target in (("faulty", plant.faulty), ("clean", plant.clean)):
            args = plant.args if which == "faulty" else plant.clean_args or plant.args
            yield Program(
                f"{number}-{plant.kind.name.lower()}-{which}",
                lambda target=target: target,  # type: ignore[misc]
                lambda args=args: (args, {}),  # type: ignore[misc]
                plant.shapes,
            )


def exported(program: Program, strict: bool) -> Exported | None:
    """The program; None where it does not export, which is not what is tested here."""
    args, kwargs = program.call()
    shapes = program.shapes or None
    found = capture(
        Request(
            target=program.target(),
            args=args,
            kwargs=kwargs,
            shapes=Shapes.parse(shapes) if isinstance(shapes, str) else shapes,
            strict=strict,
        )
    )
    return None if isinstance(found, Failed) else found


def bare(record: Record) -> Record:
    """Without what says where a program comes from: its title, its mode, texts of its files."""
    return msgspec.structs.replace(
        record,
        title="",
        mode="loaded",
        verdict="",
        torch_version="",
        warnings=[],
        files=[],
        sources_inside=True,
    )


def problems_of(program: Program, strict: bool, folder: Path) -> list[str] | None:
    """What is not the same once it is saved; None where it is not saved."""
    attempt = exported(program, strict)
    if attempt is None:
        return None
    record = describe(attempt)
    path, plain = folder / "saved.pt2", folder / "plain.pt2"
    try:
        save(attempt, record, path)
    except ArchiveError:
        assert program.name in (STRICT_FAILS | TORCH_FAILS if strict else TORCH_FAILS), program.name
        return None
    found = read(path)
    problems = [] if found.kept else [note for note in found.record.warnings if "Record" in note]
    problems += _fields("read", record, found.record)
    problems += _apart("read", record, found.record)
    torch.export.save(attempt.program, plain)
    alone = describe(
        Exported(request=None, recording=Recording(), program=attempt.program, title="plain.pt2")
    )
    difference = find_difference(read(plain).record, alone)
    problems += [f"plain: {difference}"] if difference else []
    if program.name == "dict_of_tuples":  # which its file shows
        return [] if any("signature" in each for each in problems) else ["no difference"]
    if program.name in TORCH_FAILS:
        return problems
    problems += _fields("loaded", found.record, describe(load(path)))
    return problems


def _fields(how: str, one: Record, other: Record) -> list[str]:
    mine, theirs = bare(one), bare(other)
    return [
        f"{how}: {name} differs"
        for name in Record.__struct_fields__
        if getattr(mine, name) != getattr(theirs, name)
    ]


def _apart(how: str, one: Record, other: Record) -> list[str]:
    return [] if diff_records(one, other).identical else [f"{how}: the diff differs"]


NAMED_BY_ITS_CLASS_ALONE = {"class_of_ones_own"}
"""A guard names fields of a class that a file without our Record numbers."""
SAMPLE = [each for each in OWN if each.name not in TORCH_FAILS][::2]


@pytest.mark.slow
def test_a_sample_of_programs_is_the_same_once_saved(tmp_path: Path) -> None:
    _check(SAMPLE, False, tmp_path, at_least=55)


@pytest.mark.thorough
@pytest.mark.parametrize("strict", [False, True])
def test_every_program_is_the_same_once_saved(strict: bool, tmp_path: Path) -> None:
    _check(list(programs()), strict, tmp_path, at_least=230)


def _check(chosen: list[Program], strict: bool, folder: Path, at_least: int) -> None:
    checked, wrong = 0, {}
    for program in chosen:
        problems = problems_of(program, strict, folder)
        checked += problems is not None
        if program.name in NAMED_BY_ITS_CLASS_ALONE:
            problems = [each for each in problems or [] if not each.startswith("plain: ")]
        if problems:
            wrong[program.name] = problems
    assert not wrong
    assert checked >= at_least


@pytest.mark.thorough
@pytest.mark.parametrize("strict", [False, True])
def test_verify_says_of_saving_what_the_diff_says(strict: bool, tmp_path: Path) -> None:
    for program in OWN[::4]:
        attempt = None if program.name in TORCH_FAILS else exported(program, strict)
        if attempt is None:
            continue
        record = describe(attempt)
        said = {each.name: each for each in verify(attempt, record, 2).guarantees}["saved"]
        loaded = describe(load(save(attempt, record, tmp_path / "saved.pt2")))
        assert diff_records(record, loaded).identical, program.name
        assert said.verdict == "holds", (program.name, said.sentence)


# What was found


def reread(ex: explorer.Exploration, folder: Path) -> explorer.Exploration:
    ex.save(folder / "saved.pt2")
    return explorer.load(folder / "saved.pt2")


class ReadsByTuple(nn.Module):
    def forward(self, tables: dict[tuple[int, int], torch.Tensor]) -> torch.Tensor:
        return tables[0, 1] + tables[1, 0]


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict])
def test_keys_that_are_tuples_are_lists_in_a_file(kind: type[Any], tmp_path: Path) -> None:
    tables = kind({(0, 1): torch.ones(3), (1, 0): torch.ones(3)})
    ex = explorer.explore(ReadsByTuple(), (tables,))
    read_again = reread(ex, tmp_path)
    difference = explorer.diff(ex, read_again)
    saved = next(each for each in ex.verify().guarantees if each.name == "saved")
    assert not difference.ok
    assert "with lists as keys" in str(difference)
    assert saved.verdict == "broken"
    assert "`(0, 1)`, `(1, 0)`" in saved.sentence
    assert not [note for note in read_again.record.warnings if "another program" in note]


class ViewOfData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ones(24).view(x.item(), 4)  # type: ignore[arg-type]


def test_guards_stay_where_a_condition_was_decided_while_tracing(tmp_path: Path) -> None:
    ex = explorer.explore(ViewOfData(), (torch.tensor(6),))
    read_again = reread(ex, tmp_path)
    assert [each.text for each in ex.record.guards]
    assert read_again.record.guards == ex.record.guards
    assert not [note for note in read_again.record.warnings if "another program" in note]


def test_a_constant_is_neither_persistent_nor_not(tmp_path: Path) -> None:
    ex = explorer.explore(ConstantTensor(), (torch.randn(3),), strict=True)
    for record in (ex.record, reread(ex, tmp_path).record):
        assert {each.persistent for each in record.signature.inputs} == {None}
        assert not [note for note in record.warnings if "another program" in note]


def test_paths_into_a_defaultdict_are_its_keys(tmp_path: Path) -> None:
    class Reads(nn.Module):
        def forward(self, e: Any) -> torch.Tensor:
            return e["z"] + 1  # type: ignore[no-any-return]

    given = collections.defaultdict(list, {"z": torch.randn(3)})  # type: ignore[arg-type]
    ex = explorer.explore(Reads(), (given,))
    torch.export.save(ex.program, tmp_path / "plain.pt2")
    plain = explorer.load(tmp_path / "plain.pt2")
    for record in (ex.record, reread(ex, tmp_path).record, plain.record):
        assert [each.path for each in record.signature.inputs] == ["e.z"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["loop", "scanned", "branch", "unread_results"])
def test_a_program_is_identical_to_its_file(name: str, tmp_path: Path) -> None:
    program = next(each for each in OWN if each.name == name)
    args, _ = program.call()
    ex = explorer.explore(program.target(), args)
    ex.save(tmp_path / "saved.pt2")
    torch.export.save(ex.program, tmp_path / "plain.pt2")
    for file in ("saved.pt2", "plain.pt2"):
        for trusted in (False, True):
            loaded = explorer.load(tmp_path / file, trusted=trusted)
            if trusted:
                assert loaded.program
            found = explorer.diff(ex, loaded)
            assert found.ok, found.lines()
    said = {each.name: each.verdict for each in ex.verify().guarantees}
    assert said["saved"] == "holds"


@pytest.mark.slow
def test_a_module_that_runs_between_its_own_results_is_drawn(tmp_path: Path) -> None:
    ex = explorer.explore(SharedModule(), (torch.randn(4, 3),), strict=True)
    data, *_ = ex._repr_mimebundle_()
    assert "<svg" in data["text/html"]
    assert "<svg" in ex.save(tmp_path / "page.html").read_text()


def test_inputs_of_generate_without_names_are_a_sentence() -> None:
    class Generating(nn.Module):
        generation_config = object()

        def generate(self, **inputs: Any) -> None: ...

    with pytest.raises(CutError, match=r"inputs is a list. Pass .* by name"):
        cut(Generating(), [torch.ones(1, 3)])  # type: ignore[arg-type]


# Sizes in a file that nobody should trust

FUNCTIONS = (
    *("Add({}, {})", "Mul({}, {})", "Pow({}, {})", "FloatPow({}, {})", "PowByNatural({}, {})"),
    *("FloorDiv({}, {})", "Mod({}, {})", "PythonMod({}, {})", "CeilDiv({}, {})", "Max({}, {})"),
    *("Min({}, {})", "ModularIndexing({}, {}, {})", "CleanDiv({}, {})", "Identity({})", "-{}"),
    *("Rational({}, {})", "Piecewise(({}, {}))", "Equality({}, {})", "sqrt({})", "log({})"),
)
LEAVES = (
    *("0", "1", "-8", "3", "0.5", "-0.5", "1e308", "1e-308", "9223372036854775807", "64"),
    *("oo", "-oo", "nan", "true", "Symbol('s0')", "Symbol('s1')", "Float('-2.5')"),
)


class OneSize(FileSource):
    """A program of one input, whose one size a file gives."""

    ranges: ClassVar[dict[Expression, Range]] = {}
    sizes = Sizes()

    def __init__(self, size: Expression) -> None:
        self.size = size

    @cached_property
    def inputs(self) -> list[Entry]:
        """The input."""
        value = TensorValue("float32", (self.size,), (), "cpu", "strided", False)
        return [Entry("user_input", "x", 0, value)]


def _nonsense(numbers: random.Random, depth: int) -> str:
    if depth == 0 or numbers.random() < 0.2:
        return numbers.choice(LEAVES)
    form = numbers.choice(FUNCTIONS)
    return form.format(*(_nonsense(numbers, depth - 1) for _ in range(form.count("{}"))))


@pytest.mark.after_check
def test_no_size_of_a_file_raises_anything_but_that_it_cannot_be_read() -> None:
    numbers = random.Random(49)
    known = 0
    for _ in range(1_500):
        text = _nonsense(numbers, 4)
        try:
            expression = parse_size(text)
        except UnreadableError:
            continue
        value = evaluate_size(expression, {"s0": numbers.choice((-3, 0, 7)), "s1": 2**62})
        assert value is None or isinstance(value, int | float), text
        assert find_line(expression) is None or len(expression.symbols) == 1
        sizes = CallSizes(OneSize(expression), ["x"], Symbols({}))
        assert all(isinstance(each.example, int) for each in sizes.inputs)
        formula = sizes.compile_size(expression)
        if formula:
            assert holds(formula, [3]) in (True, False)
        known += value is not None
    assert known > 150


OPERATORS: tuple[Callable[[str, str], str], ...] = (
    *(lambda a, b, sign=sign: f"({a}) {sign} ({b})" for sign in "+-*/%"),  # type: ignore[misc]
    *(
        lambda a, b: f"({a}) // ({b})",
        lambda a, b: f"({a}) ** ({b})",
        lambda a, b: f"max({a}, {b})",
    ),
    *(lambda a, b: f"({a}) < ({b})", lambda a, b: f"math.sqrt({a})", lambda a, b: f"round({b})"),
)


@pytest.mark.after_check
def test_a_formula_is_a_real_number_or_an_error_of_arithmetic() -> None:
    numbers = random.Random(49)

    def text(depth: int) -> str:
        if depth == 0:
            return numbers.choice(("d0", "d1", "0", "1", "0.5", "-8", "64", "1e308"))
        return numbers.choice(OPERATORS)(text(depth - 1), text(depth - 1))

    valued = 0
    for _ in range(1_500):
        try:
            formula = compile_formula(text(3), lambda name: name if name[:1] == "d" else None)
            found = evaluate_formula(formula, [-3, 7])
        except (UnreadableError, ArithmeticError, ValueError):
            continue
        assert isinstance(found, int | float)
        valued += found == found
    assert valued > 300

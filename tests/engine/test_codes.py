"""Stable codes: every kind has one and a page, and the page's example makes it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import export_engine
from explorer import explain
from explorer.cli.main import USAGE, main
from export_engine.record import ProgramSet, Record
from export_engine.rules import CODES, RULES, Kind, kinds_of, page_on
from export_engine.rules.__main__ import format_sentences
from export_engine.shapes import ShapesError
from export_engine.torch_internals import missing_shapes_spec
from export_engine.verify.guarantees import CHECKS

# What was once published stays: lines are only ever added here and in `kinds.py`.
PUBLISHED = """
EX101 EXAMPLE_OUT_OF_RANGE, EX102 SHAPES_VIOLATED, EX103 ZERO_ONE, EX104 UNBACKED_SIZE,
EX105 SHAPES_MISMATCH, EX111 BRANCH_ON_DATA, EX112 BRANCH_ON_UNBACKED, EX113 ASSERT_ON_DATA,
EX114 OUTPUT_FROM_DATA, EX115 LOOP_ON_DATA, EX121 NO_FAKE_KERNEL, EX122 DEVICE_MISMATCH,
EX123 OPERATOR_FAILED, EX131 COND_BRANCHES_DIFFER, EX132 COND_MUTATES, EX133 COND_ALIASES,
EX134 COND_SIDE_EFFECT, EX141 UNKNOWN_INPUT_TYPE, EX142 UNKNOWN_OUTPUT_TYPE, EX143 NOT_A_MODULE,
EX151 NUMPY, EX152 DATA_WRITE, EX153 TENSOR_LEAK, EX154 GRAPH_BREAK, EX155 OWN_ERROR,
EX156 MODULE_CHANGED, EX199 UNKNOWN, EX201 BAKED_VALUE, EX202 OUTSIDE_VALUE,
EX203 BAKED_ARGUMENT, EX204 UNUSED_INPUT,
EX205 FIXED_SIZE, EX206 HIDDEN_CONDITION, EX207 OVERLAPPING_INPUTS, EX208 WRITTEN_INPUT,
EX209 SHARED_INPUT, EX210 STATE_CHANGED, EX211 FROZEN_TENSOR, EX212 WRITTEN_CONSTANT,
EX213 FROZEN_PARAMETER, EX214 TIED_WEIGHTS, EX215 TRAINING_MODE, EX216 DEVICE_BAKED,
EX217 DTYPE_BAKED, EX218 RUNTIME_CHECK, EX219 RANDOM, EX220 SYNCHRONISES, EX221 PREDICATE,
EX301 flat, EX302 functional, EX303 lifted, EX304 mapped, EX305 ops, EX306 sound, EX307 refuses,
EX308 checks, EX309 state, EX310 saved, EX311 unflattened, EX312 re-exported, EX313 decomposed
"""


def test_every_kind_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in Kind]
    assert len({*codes}) == len(codes)
    assert len({kind.value for kind in Kind}) == len(codes)
    assert [kind.slug for kind in kinds_of("guarantee")] == [each.name for each in CHECKS]


def test_every_code_has_a_rule_and_each_sentence_its_sample_facts() -> None:
    assert {*RULES} == {kind.code for kind in Kind}
    for rule in RULES.values():
        for name, sentence in rule.sentences().items():
            assert sentence.fields == {*sentence.sample}, f"{rule.__name__}.{name}"


def test_each_sentence_is_said_with_its_facts() -> None:
    calls = list(sentences_said())
    wrong = [
        f"{where}: {rule}.{name} has {sorted(wanted)}, not {sorted(facts)}"
        for where, rule, name, facts in calls
        if facts != (wanted := SENTENCES[rule][name].fields)
    ]
    said = {(rule, name) for _, rule, name, _ in calls}
    said |= {(each.rule.__name__, "CLAIM") for each in CHECKS}
    assert not wrong
    assert not {(rule, name) for rule, held in SENTENCES.items() for name in held} - said


SENTENCES = {rule.__name__: rule.sentences() for rule in RULES.values()}


SAID = re.compile(r"rules\.[A-Z]\w+\.[A-Z_]+")


def sentences_said() -> Iterator[tuple[str, str, str, set[str]]]:
    """Each `rules.BranchOnData.DEPENDS(text=…)` of the engine: where, rule, name and facts."""
    for path in sorted(Path(export_engine.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if " rules" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and SAID.fullmatch(ast.unparse(node.func)):
                _, rule, name = ast.unparse(node.func).split(".")
                facts = {str(each.arg) for each in node.keywords}
                yield f"{path.name}:{node.lineno}", rule, name, facts


def test_sentences_are_printed_with_sample_facts() -> None:
    printed = "\n".join(format_sentences())
    assert "EX111: A branch on data" in printed
    assert "This `if` depends on the values of `x.sum() > 0`" in printed


def test_a_code_keeps_its_meaning() -> None:
    published = dict(each.split() for each in PUBLISHED.replace("\n", " ").split(","))
    assert {code: _named(kind) for code, kind in CODES.items() if code in published} == published


def _named(kind: Kind) -> str:
    return kind.slug if kind.group == "guarantee" else kind.name


def test_headings_of_pages_are_those_of_the_view() -> None:
    assert all(page_on(code).title == kind.value for code, kind in CODES.items())
    assert all(page_on(code).text.startswith(f"# {code}: {kind}") for code, kind in CODES.items())


def codes_made(record: Record | ProgramSet) -> set[str]:
    """The codes of what is wrong."""
    if isinstance(record, ProgramSet):
        return {each.code for each in record.findings}
    rows = record.verification.rows if record.verification else []
    return {
        *([record.failure.code] if record.failure else []),
        *(each.code for each in record.findings),
        *(each.code for each in rows if each.verdict == "broken"),
    }


def run(code: str, folder: Path) -> Any:
    """The example of a page, run as a file of its own."""
    file = folder / f"example_{code}.py"
    file.write_text(page_on(code).example, encoding="utf-8")
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[file.stem]
    return module


@pytest.mark.slow
@pytest.mark.parametrize("code", CODES)
def test_the_example_of_a_page_makes_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if code == "EX104" and missing_shapes_spec():
        with pytest.raises(ShapesError, match=r"ShapesSpec needs torch 2\.14"):
            run(code, tmp_path)
        return
    if code == "EX419":  # only the calls of a generation tell that the argument changes
        run(code, tmp_path)
        return
    assert code in codes_made(run(code, tmp_path).ex.record)


def test_a_code_is_explained_in_python_and_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = explain(" ex111")
    assert page.title == "A branch on data"
    assert "torch.cond" in page.cure
    assert main(["--explain", "EX111"]) == 0
    assert capsys.readouterr().out.strip() == page.text.strip()


def test_a_code_that_there_is_not_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LookupError, match="Did you mean EX111"):
        explain("EX1111")
    assert main(["--explain", "nothing"]) == USAGE
    assert "no code 'nothing'" in capsys.readouterr().err

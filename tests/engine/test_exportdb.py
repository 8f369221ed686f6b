"""ExportDB's cases and torch's graph break pages: read, searched, tried, checked, linked."""

from __future__ import annotations

import sys

import pytest
import torch

from export_engine.attempt import Exported, Failed
from export_engine.capture import capture
from export_engine.exportdb import (
    NoSuchCase,
    SourceProblem,
    case,
    cases,
    check_all,
    graph_break_pages,
    request_of,
    search,
    search_graph_breaks,
)
from export_engine.exportdb.case_source import _MOST_MODULES
from export_engine.fixes import explain

WHOLE = """
import torch

class M(torch.nn.Module):
    def forward(self, x):
        return x.sin()

model, example_args = M(), (torch.ones(3),)
"""
ON_2_13 = torch.__version__.startswith("2.13.")


def test_every_case_is_read_with_what_a_reader_needs() -> None:
    found = cases()
    assert all(each.title and each.source and each.inputs for each in found)
    assert [each.name for each in found] == sorted(each.name for each in found)
    assert not any("\n\n\n" in each.description for each in found)
    operands = case("cond_operands")
    assert operands.tags == ["torch.cond", "torch.dynamic-shape"]
    assert [(each.path, each.text) for each in operands.inputs] == [
        ("x", "f32[3, 2]"),
        ("y", "f32[2]"),
    ]
    assert operands.shapes == "x: dim0_x, _"
    assert "class CondOperands" in operands.source
    if ON_2_13:
        assert len(found) == 36
        assert [each.name for each in found if each.level != "supported"] == ["dynamic_shape_round"]


def test_reading_them_leaves_the_random_numbers_and_the_names_alone() -> None:
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    request_of("own", "import torch\ntorch.rand(9)\n" + WHOLE)
    assert torch.equal(torch.rand(2), wanted)
    assert "example_args" not in globals()


@pytest.mark.parametrize(
    ("query", "first", "count"),
    [
        ("torch.cond", "cond_branch_class_method", 6),
        ("python.assert", "dynamic_shape_assert", 2),
        ("ROUND dynamic", "dynamic_shape_round", 1),
        ("sym_min", "unsupported_operator", 1),
        ("no such thing anywhere", "", 0),
    ],
)
def test_search_looks_at_names_tags_descriptions_and_source(
    query: str, first: str, count: int
) -> None:
    found = [each.name for each in search(query)]
    assert found[:1] == [first][:count]
    if ON_2_13:
        assert len(found) == count


def test_an_unknown_case_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(NoSuchCase, match="Did you mean cond_operands"):
        case("cond_operand")


@pytest.mark.skipif(not ON_2_13, reason="what other torches do is not written down here")
@pytest.mark.slow
def test_all_36_cases_do_what_is_declared_of_them_in_both_modes() -> None:
    seen: list[str] = []
    found = check_all(lambda progress: seen.append(progress.label))
    assert len(found) == len(seen) == 36
    assert [each.name for each in found if not each.as_declared] == []
    by_name = {each.name: each for each in found}
    assert [each.outcome for each in by_name["dynamic_shape_round"].outcomes] == ["failed"] * 2
    assert "must be at least 3" in by_name["dynamic_shape_round"].outcomes[0].sentence
    others = [each for each in found if each.name != "dynamic_shape_round"]
    assert {outcome.outcome for each in others for outcome in each.outcomes} == {"agrees"}


@pytest.mark.slow
def test_a_case_that_is_declared_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from export_engine.exportdb import case_check

    wrong = case("dynamic_shape_round").source
    good = case("list_contains")
    import msgspec

    planted = msgspec.structs.replace(good, source=wrong)
    monkeypatch.setattr(case_check, "cases", lambda: (planted,))
    (found,) = check_all()
    assert not found.as_declared
    assert found.outcomes[0].outcome == "failed"


@pytest.mark.slow
def test_a_program_that_differs_from_eager_is_found() -> None:
    import msgspec

    from export_engine.exportdb.case_check import check_case

    source = WHOLE.replace("x.sin()", "x * next(count)").replace(
        "class M", "import itertools\ncount = itertools.count(1)\n\nclass M"
    )
    planted = msgspec.structs.replace(case("list_contains"), source=source)
    found = check_case(planted)
    assert "differs" in {each.outcome for each in found.outcomes}
    assert not found.as_declared


@pytest.mark.after_check
def test_an_edited_text_runs_in_a_module_of_its_own() -> None:
    request = request_of("own", WHOLE)
    again = request_of("own", WHOLE.replace("sin", "cos"))
    assert request.title == "own(x)"
    assert request.target.__module__ != again.target.__module__  # type: ignore[attr-defined]
    assert not torch.equal(request.target(torch.ones(1)), again.target(torch.ones(1)))
    for each in (request, again.with_changes(strict=True)):
        assert isinstance(capture(each), Exported)


def test_the_modules_of_old_texts_are_forgotten() -> None:
    for _ in range(_MOST_MODULES + 5):
        request_of("own", WHOLE)
    assert len([name for name in sys.modules if name.startswith("exportdb_")]) <= _MOST_MODULES


@pytest.mark.parametrize(
    ("source", "said", "line"),
    [
        ("import torch\nx = (", "This is not valid Python: '\\(' was never closed", 2),
        ("import torch\n\nx = 1 / 0\n", "raised ZeroDivisionError: division by zero", 3),
        ("raise SystemExit", "raised SystemExit", 1),
        ("x = 1", "defines no `model`", 0),
        (WHOLE + "example_args = None", "defines no `example_args`", 0),
        (WHOLE + "example_args = [1]", "Make it a tuple", 0),
        (WHOLE + "example_args = ()", "cannot be called with `example_args`", 0),
        (WHOLE + "model = 3", "Make it a module", 0),
        (WHOLE + "example_kwargs = 3", "Make it a dict", 0),
        (WHOLE + "dynamic_shapes = {'z': {0: 'n'}}", "dynamic_shapes", 0),
        (WHOLE + "dynamic_shapes = 'x: ['", "dynamic_shapes", 0),
    ],
)
def test_a_text_that_cannot_be_exported_says_why(source: str, said: str, line: int) -> None:
    with pytest.raises(SourceProblem, match=said) as raised:
        request_of("own", source)
    assert raised.value.line == line


@pytest.mark.slow
def test_a_failure_links_to_the_case_that_links_back() -> None:
    source = WHOLE.replace("return x.sin()", "return x.sin() if x.sum() > 0 else x")
    attempt = capture(request_of("own", source))
    assert isinstance(attempt, Failed)
    diagnosis = explain(attempt).diagnosis
    assert diagnosis is not None
    link = next(each for each in diagnosis.links if each.kind == "exportdb")
    assert diagnosis.kind.value in case(link.name).explains


def test_graph_breaks_have_pages_without_holes() -> None:
    pages = {each.name: each for each in graph_break_pages()}
    page = pages["GB0170"]
    assert page.title == "Data-dependent branching"
    assert page.explanations[0].startswith("Detected data-dependent branching")
    assert any("torch.cond" in hint for hint in page.hints)
    assert page.url.endswith("gb0170.html")
    texts = [text for each in pages.values() for text in [*each.explanations, *each.hints]]
    assert not [text for text in texts if "{" in text or "_explanation" in text]
    if ON_2_13:
        assert len(pages) == 517


def test_graph_breaks_are_found_by_id_and_by_words() -> None:
    assert [each.name for each in search_graph_breaks("gb0170")] == ["GB0170"]
    assert "GB0170" in [each.name for each in search_graph_breaks("branching data-dependent")][:3]
    assert search_graph_breaks("no such break at all") == []


def test_a_torch_without_a_library_has_no_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    import explorer
    from export_engine.exportdb import cases as all_cases
    from export_engine.torch_internals import library

    monkeypatch.setattr(library, "_case_files", list)
    for cached in (library.exportdb_cases, library.exportdb_library, all_cases):
        cached.cache_clear()
    try:
        assert all_cases() == ()
        assert "ships no cases" in repr(explorer.exportdb.browse())
        assert explorer.exportdb.check().sentence.endswith("has no ExportDB.")
        with pytest.raises(NoSuchCase, match="has 0 cases"):
            case("cond_operands")
    finally:
        for cached in (library.exportdb_cases, library.exportdb_library, all_cases):
            cached.cache_clear()

"""The browser's answers to the page: list, colour, try, refuse."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

import explorer
from explorer.display.handlers import MessageHandlers
from explorer.exportdb.library_handlers import LONGEST_SOURCE, LibraryHandlers
from widgets import LibraryWidget, Refusal


def browser() -> tuple[explorer.typing.Library, LibraryWidget, LibraryHandlers]:
    library = explorer.exportdb.browse("list_contains")
    widget = library.widget()
    answers = widget._answer
    assert isinstance(answers, LibraryHandlers)
    return library, widget, answers


@pytest.mark.after_check
def test_a_case_is_listed_coloured_tried_and_shown() -> None:
    library, widget, answers = browser()
    value, _ = answers("cases", {})
    found = next(each for each in value["cases"] if each["name"] == "list_contains")
    lines, _ = answers("colour", {"source": found["source"]})
    assert "".join(text for _, text in lines["lines"][0]) == "import torch"

    with pytest.raises(Refusal, match="Nothing has been exported yet"):
        answers("record", {"attempt": 0})
    tried, _ = answers("try", {"name": "list_contains", "source": found["source"]})
    assert (tried["problem"], tried["line"]) == ("", 0)
    assert tried["lookouts"] == [("Graph", "the code became these ops: add")]
    assert [each["label"] for each in widget.attempts] == ["non-strict", "strict"]
    assert library.exploration is not None
    assert library.exploration.ok
    _, (encoded,) = answers("record", {"attempt": 0})
    assert encoded == gzip.decompress(widget.record)


@pytest.mark.after_check
def test_a_text_that_cannot_be_run_leaves_what_is_shown() -> None:
    _, widget, answers = browser()
    source = explorer.exportdb.case("list_contains").source
    answers("try", {"name": "list_contains", "source": source})
    before = widget.record
    tried, _ = answers("try", {"name": "list_contains", "source": "import torch\nx = ("})
    assert tried["line"] == 2
    assert "This is not valid Python" in tried["problem"]
    assert widget.record == before


@pytest.mark.slow
def test_an_action_on_an_older_text_does_not_cover_the_newer_one() -> None:
    library, widget, answers = browser()
    source = explorer.exportdb.case("list_contains").source
    answers("try", {"name": "list_contains", "source": source})
    older = library.exploration
    assert older is not None
    answers("try", {"name": "list_contains", "source": source})
    before = widget.record
    older.decompose()
    assert widget.record == before


@pytest.mark.parametrize("source", [None, 3, "x" * (LONGEST_SOURCE + 1)])
def test_what_is_no_text_is_refused(source: Any) -> None:
    _, _, answers = browser()
    with pytest.raises(Refusal):
        answers("try", {"name": "list_contains", "source": source})


@pytest.mark.slow
def test_any_view_can_show_what_a_diagnosis_links_to() -> None:
    ex = explorer.exportdb.try_case("dynamic_shape_round")
    answers = MessageHandlers(ex.session)
    value, _ = answers("case", {"name": "cond_predicate"})
    assert value["case"]["name"] == "cond_predicate"
    value, _ = answers("break", {"name": "GB0170"})
    assert value["page"]["title"] == "Data-dependent branching"
    with pytest.raises(Refusal, match="none is called"):
        answers("case", {"name": "no_such_case"})
    with pytest.raises(Refusal, match="no page"):
        answers("break", {"name": "GB"})


def test_where_no_widget_runs_the_text_is_shown_and_escaped() -> None:
    library = explorer.exportdb.browse("list_contains")
    static = library._static()
    assert "class ListContains" in static["text/plain"]
    assert "<script" not in static["text/html"]
    assert "&#x27;" in static["text/html"] or "&quot;" in static["text/html"]


@pytest.mark.slow
def test_a_case_that_fails_has_fixes_like_any_other() -> None:
    ex = explorer.exportdb.try_case("dynamic_shape_round")
    assert not ex.ok
    assert ex.apply_fixes(0).ok


@pytest.mark.slow
def test_where_to_look_is_said_of_what_is_there() -> None:
    def at(name: str) -> dict[str, str]:
        from export_engine.exportdb import lookouts

        return dict(lookouts(explorer.exportdb.try_case(name).record))

    operands = at("cond_operands")
    assert operands["Graph"] == "cond opens: true_fn and false_fn"
    assert operands["Shapes"].startswith("dim0_x in [")
    assert at("dynamic_shape_round") == {
        "What went wrong": "The requested dynamic shapes do not hold; 4 fixes to apply"
    }
    assert "Findings" not in at("model_attr_mutation")  # each call writes the same list


def test_an_interrupted_text_is_told_so() -> None:
    _, widget, answers = browser()
    with pytest.raises(Refusal, match="Interrupted"):
        answers("try", {"name": "list_contains", "source": "raise KeyboardInterrupt"})
    assert widget.attempts == []

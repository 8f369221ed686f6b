"""Queries: what they match, by other means; errors with columns; one grammar on both sides."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from export_engine.query import FIELDS, QueryError, query
from export_engine.query.asked import NUMBERS, TEXTS
from export_engine.query.typescript import generate
from export_engine.record import Record
from export_engine.record.wire import decode

from ..query_cases import LINE, PATH, QUERIES, told

DATA = json.loads(PATH.read_text())
CASES = {each["query"]: each for each in DATA["cases"]}
FRONT_END = Path(__file__).parents[2] / "widgets/frontend/src"


@pytest.fixture(scope="module")
def record() -> Record:
    return decode(base64.b64decode(DATA["record"]))


@pytest.mark.parametrize("text", QUERIES, ids=repr)
def test_the_kernel_finds_what_the_search_box_finds(record: Record, text: str) -> None:
    """`widgets/frontend/src/query/query.test.ts` reads the same cases."""
    assert told(record, text) == CASES[text], "run python -m tests.query_cases"


def test_the_front_end_has_the_same_fields() -> None:
    assert (FRONT_END / "query/fields.gen.ts").read_text() == generate(), "run make types"
    assert {each.name for each in FIELDS} == {*TEXTS, *NUMBERS, "overlay"}


def named(record: Record, text: str) -> set[str]:
    return {record.strings[record.graphs[graph].name[node]] for graph, node in query(record, text)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("op:linear", {"linear", "linear_1"}),
        ("op:linear & !name:linear_1", {"linear"}),
        ("op:lin", set()),
        ("op:lin*", {"linear", "linear_1"}),
        ("(op:sin | op:cos) & shape:[batch, 8]", {"sin", "cos"}),
        ("kind:parameter & rank = 1", {"p_up_bias", "p_down_bias"}),
        ("kind:parameter numel > 30", {"p_up_weight", "p_down_weight"}),
        ("module:down", {"p_down_weight", "p_down_bias", "linear_1"}),
        ("down & op:linear", {"linear_1"}),
        ("overlay.cost > 0.5", {"linear_1"}),
        ("dtype:i64 & kind:buffer", {"b_offset"}),
        ("finding:EX201", {"relu"}),
        ("delegated:no", {"relu"}),
        ("delegated:xnn*", {"linear"}),
        ("reason:alpha", {"relu"}),
        ("users > 1 & kind:op", {"add"}),
        (f"file:query_cases.py:{LINE}", {"linear", "relu", "add"}),
        ("value.min < 0 & op:relu", set()),
    ],
)
def test_what_matches(record: Record, text: str, names: set[str]) -> None:
    assert named(record, text) == names


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("vlaue.max > 3", 1, "Nearest: value.max"),
        ("op:relu & opp:x", 11, "no field opp"),
        ("value.max > ten", 13, "not with ten"),
        ("(op:relu", 1, "matching [)]"),
        ("op:relu &", 10, "missing"),
        ("overlay.none > 1", 1, "available: cost, note"),
    ],
)
def test_an_error_names_its_column(record: Record, text: str, column: int, said: str) -> None:
    with pytest.raises(QueryError, match=said) as raised:
        query(record, text)
    assert raised.value.column == column
    assert str(raised.value).splitlines()[2].index("^") == column + 1


def test_what_was_not_run_is_told(record: Record) -> None:
    import msgspec

    bare: Any = msgspec.structs.replace(
        record, values=None, pairs=None, profile=None, delegations=[]
    )
    for text, cure in (
        ("value.max > 1", r"\.record_values\(\)"),
        ("error.own > 1", r"\.compare\(\)"),
        ("time > 1", r"\.measure\(\)"),
        ("delegated:no", r"\.delegate\(\)"),
    ):
        with pytest.raises(QueryError, match=cure):
            query(bare, text)

"""No case is worse than in the table: exported, contract, agreement, losses, exports tried.

`make test` tries the cheapest case of each fix and of each failure without one, where it is cheap;
`--thorough` tries all, and holds how many exports they take.
After an improvement, `python -m tests.fixes.outcomes --write` makes the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest

from .outcomes import Outcome, find_worse, measure_limited, read_table, torch_name
from .sources import all_cases

CASES = {each.name: each for each in all_cases()}
TABLE = read_table()
ROWS = {
    (name, mode == "strict"): outcome
    for name, modes in TABLE.get(torch_name(), {}).items()
    for mode, outcome in modes.items()
    if name in CASES
}

_SECONDS = 4
"""CPU time of the dearest case that `make test` tries."""
_NAMED = r"\b(Bound|Give|Let|Require) (?!that\b|torch\b)\S+"
"""A title with a name of the case without quotes."""


def find_kinds(name: str, outcome: Outcome) -> set[tuple[str, ...]]:
    """The fixes of an outcome, without names of the case; of a failure without one, its reason."""
    if not outcome.fixes:
        return {(outcome.ended, outcome.reason, name.partition("/")[0])}
    titles = [re.sub(r"[`'\d].*|\bline\b.*|\w+\.(?=\w)", "", title) for title in outcome.fixes]
    return {(outcome.ended, re.sub(_NAMED, r"\1", title).strip()) for title in titles}


def find_cheapest() -> set[tuple[str, bool]]:
    """Cases that have each kind of fix, and each failure without one, between them.

    Cheap ones first. What only dear ones have is of `make test-thorough`.
    """
    cheap = [key for key, outcome in ROWS.items() if outcome.seconds <= _SECONDS]
    chosen: dict[tuple[str, ...], tuple[str, bool]] = {}
    for key in sorted(cheap, key=lambda key: (ROWS[key].seconds, key)):
        for kind in find_kinds(key[0], ROWS[key]):
            chosen.setdefault(kind, key)
    return set(chosen.values())


CHEAPEST = find_cheapest()


def params() -> Iterator[object]:
    for name, strict in sorted(ROWS):
        marks = [] if (name, strict) in CHEAPEST else [pytest.mark.thorough]
        mode = "strict" if strict else "non-strict"
        yield pytest.param(name, strict, marks=marks, id=f"{name}-{mode}")


@pytest.mark.slow
@pytest.mark.skipif(not ROWS, reason="the table has no outcomes of this torch")
@pytest.mark.parametrize(("name", "strict"), list(params()))
def test_no_case_is_worse(name: str, strict: bool, request: pytest.FixtureRequest) -> None:
    before, now = ROWS[name, strict], measure_limited(CASES[name], strict)

    assert not find_worse(before, now, costs=request.config.getoption("--thorough")), now


def test_every_row_of_the_table_is_of_a_case() -> None:
    rows = {name for cases in TABLE.values() for name in cases if not name.startswith("zoo/")}

    assert not rows - CASES.keys()


GOOD = Outcome(
    "exports", "agrees", calls=["agrees"], ranges={"batch": (0, None)}, guards=["a < b"], exports=2
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ended": "no fix", "reason": "BRANCH_ON_DATA"}, "exported, now: no fix BRANCH_ON_DATA"),
        ({"agreement": "differs"}, "the check: agrees, now: differs"),
        ({"calls": ["refuses"]}, "call 0: agrees, now: refuses"),
        ({"ranges": {}}, "batch was dynamic"),
        ({"ranges": {"batch": (2, None)}}, "batch in [0, None], now: [2, None]"),
        ({"ranges": {"batch": (0, 16)}}, "batch in [0, None], now: [0, 16]"),
        ({"guards": ["a < b", "batch != 3"]}, "it also checks batch != 3"),
        ({"given_up": ["seq is at least 2"]}, "lossless, now: seq is at least 2"),
        ({"exports": 3}, "2 exports, now: 3"),
        ({"exports": 1, "guards": []}, ""),
    ],
)
def test_what_is_worse(changes: dict[str, object], said: str) -> None:
    now = msgspec.structs.replace(GOOD, **changes)

    assert find_worse(GOOD, now) == ([said] if said else [])


def test_of_what_did_not_export_only_a_wrong_program_is_worse() -> None:
    refused = Outcome("no fix", exports=4, refusals=["The loop ends early."])
    wrong = Outcome("exports", "agrees", calls=["agrees", "differs"], exports=3)

    assert find_worse(refused, wrong) == ["a program that differs from eager"]
    assert find_worse(refused, Outcome("no fix")) == ["no longer says: The loop ends early."]
    assert not find_worse(refused, GOOD)
    assert not find_worse(Outcome("no fix", exports=1), GOOD)

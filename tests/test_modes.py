"""Of a slow test in both modes, one run has one of them and the other run the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from .modes import left_out


def item(name: str, *, slow: bool = True, **params: Any) -> pytest.Item:
    return cast(
        "pytest.Item",
        SimpleNamespace(
            nodeid=f"test_a.py::{name}[{params}]",
            callspec=SimpleNamespace(params=params) if params else None,
            get_closest_marker=lambda _: "slow" if slow else None,
        ),
    )


PAIRS = [
    item(f"test_{name}", strict=strict, case=case)
    for name in range(4)
    for case in range(5)
    for strict in (False, True)
]
WHOLE = [
    item("test_fast", slow=False, strict=True),
    item("test_fast", slow=False, strict=False),
    item("test_strict", strict=True),
    item("test_plain"),
]


def test_both_runs_have_every_test_once() -> None:
    items = [*PAIRS, *WHOLE]
    one, other = left_out(items, "one"), left_out(items, "other")

    assert left_out(items, "both") == []
    assert len(one) == len(PAIRS) // 2
    assert sorted(map(id, [*one, *other])) == sorted(map(id, items))
    assert all(each in other for each in WHOLE)


def test_each_run_has_tests_of_both_modes() -> None:
    out = left_out(PAIRS, "one")
    strict = sum(bool(vars(each)["callspec"].params["strict"]) for each in out)

    assert strict in range(8, 13)

"""Pairing equal items of two sequences in order, however long they are."""

from __future__ import annotations

import random
from difflib import SequenceMatcher
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from export_engine.diff import in_order as module
from export_engine.diff.in_order import in_order

ITEMS = st.lists(st.sampled_from("abc"), max_size=30)


@pytest.mark.after_check
@given(ITEMS, ITEMS)
def test_pairs_are_equal_and_rise_in_both(ones: list[str], others: list[str]) -> None:
    found = list(in_order(ones, others))
    assert all(ones[one] == others[other] for one, other in found)
    assert found == sorted(found)
    assert len({one for one, _ in found}) == len({other for _, other in found}) == len(found)


@pytest.mark.after_check
@given(ITEMS, st.integers(0, 30))
def test_one_item_more_or_less_leaves_all_others_paired(ones: list[str], place: int) -> None:
    others = [*ones[:place], "new", *ones[place:]]
    assert len(list(in_order(ones, others))) == len(ones)
    assert len(list(in_order(others, ones))) == len(ones)


@pytest.mark.slow
def test_chains_of_few_ops_are_compared_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Seen(SequenceMatcher):  # type: ignore[type-arg]
        def __init__(self, junk: Any, ones: Any, others: Any, autojunk: bool) -> None:
            seen.append(len(ones) + len(others))
            super().__init__(junk, ones, others, autojunk)

    monkeypatch.setattr(module, "SequenceMatcher", Seen)
    numbers = random.Random(0)
    ones, others = (numbers.choices("ab", k=20_000) for _ in range(2))
    found = list(in_order(ones, others))
    assert found == sorted(found)
    assert len(found) > 7_000
    assert max(seen) <= 2 * module._PIECE

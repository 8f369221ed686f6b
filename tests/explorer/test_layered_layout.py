"""Where the boxes of the static picture stand, and how its edges run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.text.layered_layout import Placed, Size, make_layout

SIZE = Size(width=100, height=40, gap=20, row=30, lane=16)


@st.composite
def graphs(draw: st.DrawFn) -> list[set[int]]:
    """Per box, the earlier boxes that it reads."""
    count = draw(st.integers(0, 14))
    return [
        draw(st.sets(st.integers(0, box - 1), max_size=4)) if box else set() for box in range(count)
    ]


def overlaps(placed: Placed) -> list[tuple[int, int]]:
    return [
        (one, two)
        for one, (x1, y1) in enumerate(placed.boxes)
        for two, (x2, y2) in enumerate(placed.boxes[:one])
        if abs(x1 - x2) < SIZE.width - 1e-6 and abs(y1 - y2) < SIZE.height
    ]


@pytest.mark.after_check
@given(graphs())
def test_no_box_covers_another_and_all_are_in_the_picture(inputs: list[set[int]]) -> None:
    placed = make_layout(inputs, SIZE, pinned=[0])
    assert not overlaps(placed)
    assert all(x >= -1e-6 and x + SIZE.width <= placed.width + 1e-6 for x, _ in placed.boxes)
    assert all(y >= 0 and y + SIZE.height <= placed.height for _, y in placed.boxes)


@pytest.mark.after_check
@given(graphs())
def test_edges_run_downwards_and_through_no_box(inputs: list[set[int]]) -> None:
    placed = make_layout(inputs, SIZE, pinned=[])
    assert len(placed.edges) == sum(map(len, inputs))
    for points in placed.edges:
        ys = [y for _, y in points]
        assert ys == sorted(ys)
        for (x, top), (same, bottom) in zip(points[1::2], points[2::2], strict=False):
            assert (x, bottom) == (same, top + SIZE.height)
            assert not [
                left for left, y in placed.boxes if y == top and left < x < left + SIZE.width
            ]


@pytest.mark.after_check
@given(graphs(), st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=6))
def test_what_reads_a_later_box_stays_where_it_is(
    inputs: list[set[int]], back: list[tuple[int, int]]
) -> None:
    """A module that runs twice reads what was made of its first result."""
    later = [(box, source) for box, source in back if box <= source < len(inputs)]
    joined = [
        each | {source for at, source in later if at == box} for box, each in enumerate(inputs)
    ]
    with_them, without = (make_layout(each, SIZE, pinned=[0]) for each in (joined, inputs))
    assert with_them.boxes == without.boxes
    assert len(with_them.edges) == len(without.edges) + len(set(later))
    assert all(len(points) % 2 == 0 for points in with_them.edges)


def test_a_chain_is_a_straight_line() -> None:
    placed = make_layout([set(), {0}, {1}], SIZE, pinned=[])
    assert {x for x, _ in placed.boxes} == {0}


def test_what_reads_nothing_stands_above_its_reader() -> None:
    placed = make_layout([set(), {0}, {1}, set(), {2, 3}], SIZE, pinned=[0])
    tops = [y for _, y in placed.boxes]
    assert tops[3] == tops[2]

"""Shapes as a value: its short language, what it refuses, and what changed between two."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from export_engine.record import join_path, split_path
from export_engine.shapes import (
    AssumptionChange,
    Auto,
    BoundsChange,
    Computed,
    DimChange,
    Dynamic,
    FormChange,
    Int,
    Named,
    Pinned,
    Relation,
    Shapes,
    ShapesError,
    Spec,
    Static,
    changes,
    combine,
    name_size,
)
from export_engine.sizes import Expression, number, value_of

LARGEST = 2**63 - 1
names = st.sampled_from(["batch", "seq", "h", "_half", "__", "größe", "हिन्दी", "x"])
sizes = st.integers(0, 40) | st.integers(0, LARGEST)
parts = st.text(min_size=0, max_size=6) | st.integers(0, 9) | st.sampled_from(["cache", "_", "a.b"])
paths = st.lists(parts, min_size=1, max_size=3).map(join_path)


@st.composite
def bounds(draw: st.DrawFn, least_width: int = 0) -> tuple[int | None, int | None]:
    low, high = draw(st.none() | sizes), draw(st.none() | sizes)
    if high is not None:
        low, high = (None if low is None else min(low, high)), max(low or 0, high)
        high = min(max(high, (low or 0) + least_width), LARGEST)
        low = None if low is None else min(low, high - least_width)
    return low, high


specs: st.SearchStrategy[Spec] = st.one_of(
    st.just(Static()),
    bounds().map(lambda b: Auto(*b)),
    bounds().map(lambda b: Dynamic(*b)),
    sizes.map(Pinned),
    st.builds(Named, names, st.integers(1, 9), st.integers(-9, 9)),
)


SIGNS = ["+", "-", "*", "//", "%", "min", "max"]
numbers = st.integers(-40, 40) | st.integers(-LARGEST, LARGEST)


def expressions(known: list[str]) -> st.SearchStrategy[Expression]:
    return st.recursive(
        numbers.map(number) | st.sampled_from(known).map(name_size),
        lambda inner: st.builds(combine, st.sampled_from(SIGNS), inner, inner),
        max_leaves=6,
    )


@st.composite
def ints(draw: st.DrawFn) -> Int:
    low, high = draw(st.none() | numbers), draw(st.none() | numbers)
    return Int(low, high) if low is None or high is None else Int(min(low, high), max(low, high))


@st.composite
def all_shapes(draw: st.DrawFn) -> Shapes:
    """Those that Dims can say, and those with assumptions, ints and computed sizes."""
    leaves = draw(st.dictionaries(paths, st.lists(specs, max_size=4).map(tuple), max_size=4))
    leaves |= {
        f"n{number}": (each,) for number, each in enumerate(draw(st.lists(ints(), max_size=2)))
    }
    of_dims = draw(st.dictionaries(names, bounds(least_width=1)))
    plain = Shapes(leaves, of_dims, unbacked=draw(st.booleans()))
    known = [*plain.dims(), *plain.ints()]
    if not known:
        return plain
    sized = st.tuples(st.sampled_from(known).map(name_size), expressions(known)).map(
        lambda pair: Relation("<=", *pair)
    )
    computed = draw(st.lists(expressions(known).map(Computed), max_size=3))
    leaves = {**leaves, "computed": tuple(computed)} if computed else leaves
    relations = sized | st.builds(
        lambda sign, left, name, right: Relation(sign, combine("+", left, name_size(name)), right),
        st.sampled_from(["==", "!=", "<", ">", "<=", ">="]),
        expressions(known),
        st.sampled_from(known),
        expressions(known),
    )
    return Shapes(leaves, of_dims, tuple(draw(st.lists(relations, max_size=3))), plain.unbacked)


@given(all_shapes())
@settings(max_examples=150, deadline=None)
@pytest.mark.slow
def test_parse_is_the_inverse_of_print(shapes: Shapes) -> None:
    read = Shapes.parse(str(shapes))
    assert read == shapes
    assert hash(read) == hash(shapes)
    assert str(read) == str(shapes)


@given(all_shapes())
@settings(max_examples=100, deadline=None)
@pytest.mark.slow
def test_copies_are_equal(shapes: Shapes) -> None:
    assert hash(shapes)
    assert pickle.loads(pickle.dumps(shapes)) == copy.deepcopy(shapes) == replace(shapes) == shapes


def test_a_hash_of_this_process_is_not_pickled() -> None:
    size = combine("+", name_size("a"), 1)
    assert hash(size)
    assert "_hash" not in vars(pickle.loads(pickle.dumps(size)))


def test_a_relation_holds_whatever_its_sizes_are_called() -> None:
    for name in ("min", "a·b", "é", "math"):
        relation = Relation("==", combine("%", name_size(name), 2), 0)
        assert relation.holds({name: 4})
        assert not relation.holds({name: 5})


@given(
    st.text(alphabet='xy:,;.*!_+-[]0123456789 "\\\n\té', max_size=40)
    | st.text(alphabet="xy:,;%=<>!/()-+*12 ", max_size=30).map("x: x; y: y; ".__add__)
    | st.text(max_size=20)
)
@example("x: " + "9" * 5000)
@example('"\\"')
@settings(max_examples=200, deadline=None)
@pytest.mark.slow
def test_any_text_parses_or_points_at_a_column(text: str) -> None:
    try:
        shapes = Shapes.parse(text)
    except ShapesError as error:
        column = error.column
    else:
        column = 0
        assert Shapes.parse(str(shapes)) == shapes
    assert column is not None
    assert 0 <= column <= len(text)


@pytest.mark.after_check
@given(st.lists(st.text(), min_size=1))
def test_a_path_splits_into_what_it_was_joined_from(path: list[str]) -> None:
    assert split_path(join_path(path)) == path


def test_the_language_of_the_design() -> None:
    text = "x: batch, seq[4..512], _; y: batch, 2*seq + 1, *; cache.0.key: batch, _, seq - 3, 3"
    shapes = Shapes.parse(text)
    assert shapes.leaves == {
        "x": (Named("batch"), Named("seq"), Static()),
        "y": (Named("batch"), Named("seq", 2, 1), Auto()),
        "cache.0.key": (Named("batch"), Static(), Named("seq", 1, -3), Pinned(3)),
    }
    assert shapes.dims() == {"batch": (None, None), "seq": (4, 512)}
    assert str(shapes) == text


SAME = {
    "x:batch,seq[ 4 .. 512 ],_;": "x: batch, seq[4..512], _",
    "\n x: batch,\n    _\n\n; y: 2 * seq+1\n": "x: batch, _; y: 2*seq + 1",
    "x: a; y: a[2..]": "x: a[2..]; y: a",
    "x: a[..9]; y: 2*a[..9] - 1": "x: a[..9]; y: 2*a - 1",
    "x: a[0..]": "x: a",
    "x: *[2..16], ![..4], !, *": "x: *[2..16], ![..4], !, *",
    "x: 007, 1*a + 0": "x: 7, a",
    '"x"."a b".0: _': 'x."a b".0: _',
    "x:batch,seq\nseq%16==0;batch+seq<=512": "x: batch, seq; seq % 16 == 0; batch + seq <= 512",
    "a*2<=b; x: a, b": "x: a, b; a*2 <= b",
    "x: a; 2 <= a <= 9; 2 <= a": "x: a; a >= 2; a <= 9",
    "x: a, b, (2*(a + b)), (a*2+1), (b - b + 3)": "x: a, b, (2*(a + b)), 2*a + 1, 3",
    "x: a; a - (2 - a) - 1 != -(-3)": "x: a; a - (2 - a) - 1 != 3",
    "n: int [ -4 .. ]; x: a; n<a": "n: int[-4..]; x: a; n < a",
    "unbacked; x: a": "x: a; unbacked",
    "unbacked: a; x: a; unbacked; a != 3": "unbacked: a; x: a; a != 3",
    "scalar:": "scalar:",
    "": "",
}


@pytest.mark.parametrize("text", SAME)
def test_print_is_canonical(text: str) -> None:
    assert str(Shapes.parse(text)) == SAME[text]


ERRORS = {
    "x batch": (2, "expected `:` and the dims of x"),
    "batch, 3, h; y: a": (5, "name the input of these dims first, as in `x: batch, 3, h`"),
    ": a": (0, "expected the name of an input"),
    "x: a; x: b": (6, "x appears twice"),
    "x: a, b\nx: c": (8, "x appears twice"),
    "x: a,": (5, "expected a dim"),
    "x: ,a": (3, "expected a dim"),
    "x: 2*": (5, "expected a dim"),
    "x: batch seq": (9, "expected `,`"),
    "x: 2 batch": (5, "write `2*batch` for a multiple"),
    "x: h*2": (4, "a multiple is written with the number first: `2*h`"),
    "x: 1 + h": (5, "a sum is written with the name first: `seq + 1`"),
    "x: a +": (6, "expected a number after `+`"),
    "x: a - b": (7, "expected a number after `-`"),
    "x: 0*a": (5, "0*a is not a dim"),
    "x: batch[9..4]": (8, "9 is more than 4"),
    "x: *[9..4]": (4, "9 is more than 4"),
    "x: batch[4..4]": (8, "batch can only be 4; write the size 4"),
    "x: batch[4": (10, "expected `..`"),
    "x: batch[4]": (10, "expected `..`"),
    "x: batch[4..": (12, "expected `]`"),
    "x: batch[4..8; y: a": (13, "expected `]`"),
    "x: a[1..2]; y: a[1..3]": (16, "a already has the bounds [1..2]"),
    "x: a[0..]; y: a[1..3]": (15, "a already has the bounds [0..]"),
    "x: a ? b": (5, "`?` has no meaning here"),
    "x: h//2": (4, "write a computed size in parentheses: `(seq // 2)`"),
    "x: (h//2": (8, "expected `)` after the size"),
    "x: (h/2); y: h": (5, "`/` has no meaning here; sizes are divided by `//`"),
    "xs: [(n, _), (n, _)]": (4, "name inputs in a list or a dict one by one: `xs.0: batch, _`"),
    "xs[0]: n, _": (2, "has its own path: `xs.0: batch, _`"),
    "d: {a: n}": (3, "one by one: `xs.0: batch, _; d.key: batch, _`"),
    "x: a; a = 2": (8, "`=` has no meaning here; equal is `==`"),
    "x: a == 2": (5, "write a relation by itself, after a `;`"),
    "x: a; a == 2, 3": (12, "expected `;` after this relation"),
    "x: a; a % 2": (8, "expected `:` and the dims of a"),
    "x: a; a % == 2": (10, "expected a size name or a number"),
    "x: a; (a % 2 == 0": (13, "expected `)`"),
    "x: a; a % 2 == 0; b <= 4": (18, "no dim is called b; sizes with a name are: a"),
    "x: (a + b), a": (8, "no dim is called b; sizes with a name are: a"),
    "x: _; a <= 4": (6, "no dim is called a; no dim has a name"),
    "x: a; 2 <= 3": (6, "mentions no size"),
    "n: int; x: n": (0, "n is an int argument; use a different name for the dim"),
    "x: a; min(a) >= 2": (11, "expected `,`: min needs two sizes or more"),
    "x: a; max(a, 2 >= 2": (15, "expected `)`"),
    "x: a, min(a, 2)": (9, "write a computed size in parentheses"),
    "x: int, a": (0, "x is an int or a tensor"),
    "n: int[4..-4]": (6, "4 is more than -4"),
    "n: int[4..-]": (11, "expected a number after `-`"),
    "x: 2*int": (5, "`int` cannot name a dim"),
    "x: a; " + "(" * 50 + "a" + ")" * 50 + " <= 2": (27, "nested too deeply"),
    "x: None": (3, "None is a Python keyword and cannot name a dim; `_` means static"),
    "x: 9223372036854775808": (3, "is not a size"),
    "x: 99999999999999999999": (3, "larger than any size"),
    'x."a: b': (2, "quote is not closed"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_point_at_the_column(text: str) -> None:
    column, message = ERRORS[text]
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(text)
    assert caught.value.column == column
    assert message in caught.value.message


def test_an_error_shows_the_line_and_a_caret_under_the_place() -> None:
    with pytest.raises(ShapesError) as caught:
        Shapes.parse("x: batch\ny:\t? , _\nz: _")
    assert str(caught.value).splitlines()[1:] == ["    y: ? , _", "       ^"]


def test_a_long_line_is_cut_around_the_place() -> None:
    long = "x: " + "_, " * 500
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(long + "?" + ", _" * 500)
    _, line, caret = str(caught.value).splitlines()
    assert len(line) < 150
    assert line[caret.index("^")] == "?"


UNWRITABLE: dict[str, Callable[[], object]] = {
    "a dim called _": lambda: Named("_"),
    "a dim called a b": lambda: Named("a b"),
    "a dim called class": lambda: Named("class"),
    "scale 0": lambda: Named("a", 0),
    "a negative size": lambda: Pinned(-1),
    "a size too large": lambda: Pinned(2**63),
    "bounds the wrong way round": lambda: Auto(3, 2),
    "a negative bound": lambda: Dynamic(-3, 2),
    "a Dim of one size": lambda: Shapes({"x": (Named("a"),)}, {"a": (0, 0)}),
    "a path not written as one": lambda: Shapes({"a b": (Static(),)}),
    "an empty path": lambda: Shapes({"": (Static(),)}),
}


@pytest.mark.parametrize("what", UNWRITABLE)
def test_what_cannot_be_written_cannot_be_made(what: str) -> None:
    with pytest.raises(ShapesError):
        UNWRITABLE[what]()


def test_a_shapes_cannot_be_changed_from_outside() -> None:
    leaves = {"x": (Named("a"),)}
    shapes = Shapes(leaves)
    leaves["y"] = (Named("b"),)
    assert str(shapes) == "x: a"
    with pytest.raises(TypeError):
        shapes.leaves["y"] = ()


def test_bounds_go_with_the_last_mention_of_their_dim() -> None:
    shapes = Shapes.parse("x: a[2..9], b[..4]")
    assert replace(shapes, leaves={"x": (Static(), Named("b"))}) == Shapes.parse("x: _, b[..4]")


def test_nothing_named_is_false() -> None:
    assert not Shapes()
    assert Shapes.parse("x: _")
    assert Shapes() == Shapes.parse("  \n; ")


def test_dims_know_their_names() -> None:
    shapes = Shapes.parse("x: 2*a + 1, *; n: !")
    assert shapes.dim_name("x", 0) == "a"
    assert [shapes.dim_name(*place) for place in (("x", 1), ("x", 5), ("y", 0), ("n", 0))] == [
        None
    ] * 4


def test_what_dims_cannot_say() -> None:
    text = "x: batch, seq, (batch + seq); n: int[1..]; seq % 16 == 0; n <= 4*seq"
    shapes = Shapes.parse(text)
    assert shapes.leaves["x"][2] == Computed(combine("+", name_size("batch"), name_size("seq")))
    assert shapes.leaves["n"] == (Int(1),)
    assert shapes.assumptions[0] == Relation("==", combine("%", name_size("seq"), 16), 0)
    assert shapes.unbacked
    assert not Shapes.parse("x: batch, 16*seq").unbacked
    assert str(shapes) == text


def test_relations_hold_as_python_computes_them() -> None:
    shapes = Shapes.parse("x: a, b; a - b*2 % 3 == -1; a // (b - 4) > 1")
    first, second = shapes.assumptions
    assert first.holds({"a": 0, "b": 2})
    assert not first.holds({"a": 1, "b": 2})
    assert not second.holds({"a": 1, "b": 4})  # a zero divisor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0 <= 2*a", "2*a >= 0"),
        ("512 >= a + b", "b + a <= 512"),
        ("a < b", "b >= a + 1"),
        ("3*a <= 10", "a < 4"),
        ("2*a == 4*b", "2*b == a"),
        ("0 == a % 4", "a % 4 == 0"),
        ("a // 2 < b % 3", "b % 3 > a // 2"),
    ],
)
def test_relations_that_say_the_same_are_one(one: str, other: str) -> None:
    shapes = Shapes.parse(f"x: a, b; {one}; {other}")
    (kept,) = shapes.assumptions
    assert not isinstance(kept.left, int)
    assert changes(shapes, Shapes.parse(f"x: a, b; {other}")) == []
    for a, b in product(range(9), repeat=2):
        sizes = {"a": a, "b": b}
        assert kept.holds(sizes) == Shapes.parse(f"x: a, b; {other}").assumptions[0].holds(sizes)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a <= b", "b <= a"),
        ("a < 4", "a <= 4"),
        ("a == 2*b", "b == 2*a"),
        ("a % 4 == 0", "a % 4 != 0"),
    ],
)
def test_relations_that_say_something_else_are_two(one: str, other: str) -> None:
    assert len(Shapes.parse(f"x: a, b; {one}; {other}").assumptions) == 2


def test_what_is_said_of_a_size_goes_with_it() -> None:
    shapes = Shapes.parse("x: a, b, (a // 2); n: int; a % 2 == 0; n <= b")
    assert str(shapes.static({("x", 0)})) == "x: _, b, _; n: int; n <= b"
    assert str(shapes.static({("n", 0)})) == "x: a, b, (a // 2); n: _; a % 2 == 0"


def test_changes_of_assumptions_read_as_sentences() -> None:
    before = Shapes.parse("x: a, b; n: int; a == b")
    found = changes(before, Shapes.parse("x: a, (a // 2); n: int[2..]; a <= 9"))
    assert [str(change) for change in found] == [
        "x dim 1: b → (a // 2)",
        "n dim 0: any int → any int [2..]",
        "no longer assumes a == b",
        "assumes a <= 9",
    ]
    relation = Relation("==", combine("%", name_size("a"), 2), 0)
    assert changes(Shapes.parse("x: a"), Shapes.parse("x: a; a % 2 == 0")) == [
        AssumptionChange(relation, True),
        FormChange(True),
    ]
    assert str(FormChange(False)) == "ShapesSpec → Dims"


def test_changes_read_as_sentences() -> None:
    before = Shapes.parse("x: _, seq[2..512], !; y: dy, _, *; z: gone[..4]")
    after = Shapes.parse("x: batch[..8], seq[4..], 3; y: seq + 1, *[2..16], _")
    found = changes(before, after)
    assert [str(change) for change in found] == [
        "x dim 0: static → batch",
        "x dim 2: dynamic → pinned to 3",
        "y dim 0: dy → seq + 1",
        "y dim 1: static → automatic [2..16]",
        "y dim 2: automatic → static",
        "z dim 0: gone → static",
        "batch: max ∞ → 8",
        "seq: min 2 → 4, max 512 → ∞",
    ]
    assert found[0] == DimChange("x", 0, Static(), Named("batch"))
    assert found[6] == BoundsChange("batch", (None, None), (None, 8))


@pytest.mark.slow
@given(all_shapes())
@settings(max_examples=50, deadline=None)
def test_nothing_changed_between_equals(shapes: Shapes) -> None:
    assert changes(shapes, Shapes.parse(str(shapes))) == []


def test_the_language_needs_no_torch() -> None:
    script = (
        "import sys; from export_engine.shapes import Shapes; str(Shapes.parse('x: a')); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_dim_that_stays_takes_all_of_its_name_along() -> None:
    shapes = Shapes.parse("x: batch, seq[2..64]; y: 2*seq, *, batch")
    assert str(shapes.static({("x", 1)})) == "x: batch, _; y: _, *, batch"
    assert str(shapes.static({("y", 1)})) == "x: batch, seq[2..64]; y: 2*seq, _, batch"
    assert shapes.static(()) == shapes


def allowed(shapes: Shapes, most: int) -> set[tuple[int, ...]]:
    """The sizes of all dims, up to a limit, that a Shapes allows."""
    found = set()
    dims = shapes.dims()
    for values in product(range(2 * most + 8), repeat=len(dims)):
        sizes = dict(zip(dims, values, strict=True))
        inside = all(
            (low or 0) <= sizes[name] and (high is None or sizes[name] <= high)
            for name, (low, high) in dims.items()
        )
        if not inside or not all(each.holds(sizes) for each in shapes.assumptions):
            continue
        made = tuple(
            each.size
            if isinstance(each, Pinned)
            else sizes[each.name] * each.scale + each.offset
            if isinstance(each, Named)
            else value_of(each.expression, sizes)
            for each in shapes.leaves["x"]
            if isinstance(each, Named | Computed | Pinned)
        )
        if all(0 <= size <= most for size in made):
            found.add(made)
    return found


lines = st.builds(Named, st.sampled_from(["a", "b"]), st.integers(1, 3), st.integers(-3, 3))
said_by_dims = st.sampled_from(
    [
        *("a % 2 == 0", "a % 3 == 1", "(2*a + 1) % 4 == 3", "a == 2*b + 1", "b == a"),
        *("b <= 7", "3 < b", "max(a, 3) <= 9", "a + min(1, a) > 1", "a // 2 < 5"),
    ]
)


@given(
    st.lists(lines, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from("ab"), bounds(least_width=2).filter(lambda b: (b[0] or 0) < 5)),
)
@example([Named("a", 1, -3)], {"a": (None, 2)})
@example([Named("a", 1, -2), Named("b", 1, 0)], {"a": (None, 2)})
@example([Named("a", 1, 1)], {"a": (None, 2**63 - 1)})
@settings(max_examples=60, deadline=None)
@pytest.mark.slow
def test_a_spec_allows_what_the_dims_do(dims: list[Spec], limits: dict[str, Any]) -> None:
    shapes = Shapes({"x": tuple(dims)}, limits)
    try:
        spec = shapes.to_spec()
    except ShapesError:  # a dim of one size, or of none, as in `_a - 2` with `a <= 2`
        assert any(len(set(sizes)) <= 1 for sizes in zip(*allowed(shapes, 9), strict=True)) or (
            not allowed(shapes, 9)
        )
        return
    assert spec.unbacked
    assert allowed(spec, 9) == allowed(shapes, 9)
    assert spec.to_spec() is spec


@given(st.lists(said_by_dims, max_size=3))
@settings(max_examples=60, deadline=None)
@pytest.mark.slow
def test_dims_allow_what_the_assumptions_do(assumptions: list[str]) -> None:
    shapes = Shapes.parse("; ".join(["x: a, b, 2*a + 3, (b + 2)", *assumptions, "unbacked"]))
    possible = allowed(shapes, 30)
    if not possible:
        return
    dims = shapes.to_dims()
    assert not dims.unbacked
    assert allowed(dims, 30) == possible


def test_multiples_are_assumptions_of_a_spec_and_the_other_way_round() -> None:
    dims = Shapes.parse("x: batch, 16*_seq[1..32], *; y: 32*_seq + 1; n: !")
    spec = dims.to_spec()
    assert str(spec) == "x: batch, seq[16..512], !; y: 2*seq + 1; n: !; seq % 16 == 0"
    assert str(spec.to_dims()) == "x: batch, 16*_seq[1..32], !; y: 32*_seq + 1; n: !"
    plain = Shapes.parse("x: batch, seq[2..]; y: 2*seq")
    assert str(plain.to_spec()) == "x: batch, seq[2..]; y: 2*seq; unbacked"
    assert plain.to_spec().to_dims() == plain
    assert str(Shapes.parse("x: a, b; n: int[-2..]; n <= 9; a == 4; b < a").to_dims()) == (
        "x: 4, b[..3]; n: ![..9]"
    )


def test_what_no_dim_can_say_is_left_out_of_the_closest_dims() -> None:
    text = "x: a, b; y: (a + b); a + b <= 90; a % 2 == 0; b <= 64"
    closest, left_out = Shapes.parse(text).closest_dims()
    assert (str(closest), left_out) == ("x: 2*_a, b[..64]; y: *", ["a + b <= 90", "a + b"])
    with pytest.raises(ShapesError, match="never holds"):
        Shapes.parse("x: a; 2*a % 4 == 1").closest_dims()


@pytest.mark.parametrize(
    "assumption",
    ["a + b <= 512", "a != 3", "(a*b) % 4 == 0", "2*a == 3*b", "a // 2 == b", "n <= b"],
)
def test_what_no_dim_can_say_is_an_error_at_its_place(assumption: str) -> None:
    text = f"x: a, b; n: int; {assumption}; a <= 512"
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(text).to_dims()
    assert caught.value.message.startswith(f"no Dim can express `{assumption}`")
    assert caught.value.column == text.index(assumption)

"""A branch on a size of which one way is right for every size: `if missing: x = pad(x, missing)`.

Padding by 0 changes nothing, and a table interpolated to its own size is itself. Then the branch is
a shortcut, and without it nothing depends on the size. That both ways give the same is compared
with eager, at sizes where the condition holds and at ones where it does not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple, TypeGuard

from export_engine.attempt import (
    Attempt,
    Edit,
    Exported,
    Failed,
    Fix,
    Request,
    line_before,
    text_in_effect,
)
from export_engine.diagnose import SizesViolated, UnbackedSize, diagnose, is_unrolled
from export_engine.fixes.code.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    free_name,
    spans,
    with_way,
)
from export_engine.fixes.code.try_edit import (
    find_bounds_fix,
    further,
    leads_on,
    make_edit,
    make_fix,
    name_edited_file,
    try_edit,
    with_bounds,
)
from export_engine.fixes.rewrite.rewriting import rewrite as rewrite_control_flow
from export_engine.fixes.try_fixes import both_titles, list_problems, read_failure, tell
from export_engine.in_eager import (
    agrees_at,
    allows_any,
    as_failure,
    calls_without,
    iter_excluded_calls,
)
from export_engine.source import Location, code_of, original_file
from export_engine.traced_sizes import ShapeViolation, assumable

_MOST_SIZES = 3
_MOST_PLACES = 4
"""Places that are rewritten with a branch."""


def suggest_size_branch(attempt: Failed) -> Iterator[Fix]:
    """The way of a branch on a requested size that is right for every size that was compared."""
    request, _ = read_failure(attempt)
    for branch in _find_branches(attempt):
        line, file = branch.place.line, branch.place.file
        text, at = text_in_effect(request.edits, file, line)
        texts: set[str] = set()
        narrower: Fix | None = None
        for way in _WAYS if branch.others else ():
            title = way.title.format(line=line)
            tell(title)
            try:
                if way.rewrite is None:
                    edit = rewrite_control_flow(request, original_file(file), text, at).edit
                else:
                    edit = make_edit(file, text, way.rewrite(text, at))
            except CannotRewrite:
                continue
            if edit.after in texts:
                continue
            texts.add(edit.after)
            fix = _try_branch(attempt, edit, branch, title)
            if fix is None:
                continue
            title = fix.title
            if way.rewrite is _copy_slices:
                title = title.replace(_SLICE, "copy another slice")
            beyond = fix.narrows and way.rewrite is not None  # else it may need more than bounds do
            fix = replace(fix, title=title, why=way.why, beyond_bounds=beyond)
            if way.bounded or not (fix.after and fix.narrows):
                yield fix
                return
            narrower = narrower or fix
        if narrower is not None:
            yield narrower
            return


class _Condition(NamedTuple):
    """A line at which code checks sizes."""

    place: Location
    others: list[Request]
    """Calls at sizes for which its condition is the other way round."""
    texts: frozenset[str] = frozenset()
    """The Dims that it requires."""


def _find_branches(attempt: Failed) -> list[_Condition]:
    """The lines that ask for a size, the first file's; or the one that asks a ShapesSpec's."""
    request, diagnosis = read_failure(attempt)
    facts, shapes = diagnosis.facts, request.shapes
    if isinstance(facts, UnbackedSize) and diagnosis.stack and shapes is not None:
        asked = assumable(attempt, facts.asked)
        calls = [c.request for e in asked for c in iter_excluded_calls(request, shapes, e)]
        return [_Condition(diagnosis.stack[-1], calls)]
    groups: dict[int, list[ShapeViolation]] = {}
    for problem in facts.problems if isinstance(facts, SizesViolated) else ():
        if problem.stack and problem.excluded and not is_unrolled(problem.stack, request.target):
            groups.setdefault(problem.stack[-1].line, []).append(problem)
    return [
        _Condition(
            problems[0].stack[-1],
            [call for p in problems for _, call in islice(calls_without(request, p), _MOST_SIZES)],
            frozenset(problem.text for problem in problems),
        )
        for problems in groups.values()
    ]


def _try_branch(attempt: Failed, edit: Edit, asked: _Condition, title: str) -> Fix | None:
    """A way of a branch, once it was tried, with what has to be done beside it."""
    request, diagnosis = read_failure(attempt)
    if not agrees_at(request, edit, asked.others):
        return None
    edit, result, more = _with_more(request, edit, asked)
    bounds = find_bounds_fix(result)
    if bounds is not None and bounds.narrows and _fails_at_next_branch(result, request, edit):
        bounds = None  # what a fix of that branch keeps, no bound need reject
    if bounds is not None:
        if not allows_any(bounds.apply(request), asked.others):
            return None  # no more than bounds alone
    elif (
        result is None
        or not leads_on(result, diagnosis, edit)
        or _find_left(result, asked)
        or (isinstance(result, Exported) and result.verdict != "agrees")
    ):
        return None
    title = reduce(both_titles, more, title)
    fix = make_fix(request, edit, result, title=title, stack=diagnosis.stack)
    return fix if bounds is None else with_bounds(fix, bounds)


def _fails_at_next_branch(found: Attempt | None, request: Request, edit: Edit) -> bool:
    """Whether an edited model fails at another `if` on a size, below the one that is edited."""
    stack = diagnose(found).stack if isinstance(found, Failed) else ()
    if not stack or stack[-1].file != name_edited_file(request, edit):
        return False
    code = code_of(stack[-1].file)
    statement = code.statement(stack[-1].line) if code is not None else None
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in edit.before


def _with_more(
    request: Request, edit: Edit, asked: _Condition
) -> tuple[Edit, Attempt | None, list[str]]:
    """The attempt with an edit, and with further edits for the same requirement.

    Padded tensors are often cropped after a second branch on the missing size.
    """
    attempt, done = try_edit(request, edit), list[str]()
    for _ in range(_MOST_PLACES):
        places = [p.stack[-1] for p in _find_left(attempt, asked, tied=True) if p.stack]
        here = (place for place in places if original_file(place.file) == edit.file)
        more = next(filter(None, (_rewrite_at(request, edit, e, asked) for e in here)), None)
        if more is None:
            break
        edit = more[0]
        done += [more[1]] if more[1] not in done else []
        attempt = try_edit(request, edit)
    return edit, attempt, done


def _rewrite_at(
    request: Request, edit: Edit, place: Location, asked: _Condition
) -> tuple[Edit, str] | None:
    """An edit with one more place rewritten, and what was done there; None where nothing helps."""
    text, line = text_in_effect(request.with_edit(edit).edits, place.file, place.line)
    for rewrite, done in _MORE:
        with suppress(CannotRewrite):
            both = further(edit, rewrite(text, line))
            if agrees_at(request, both, asked.others):
                return both, done.format(line=line_before(edit, line))
    return None


def _find_left(
    found: Attempt | None, asked: _Condition, *, tied: bool = False
) -> list[ShapeViolation]:
    """The same that is required of a size still: a branch that both ways of a program need.

    Of a program that rejects sizes which eager accepts, whatever it requires. `tied` adds what is
    required of two sizes at once, which no Dim can say.
    """
    if isinstance(found, Exported):
        return list(list_problems(as_failure(found)))
    left = [p for p in list_problems(found) if p.text in asked.texts or (tied and p.kind == "tied")]
    return sorted(left, key=lambda problem: problem.text not in asked.texts)


# -- one way of a branch ---------------------------------------------------------------------------


_Branch = ast.If | ast.IfExp
_Edits = Callable[[Source, _Branch, list[ast.AST]], Iterator[Piece]]
"""Edits of the nodes of a way of a branch."""


def find_branch(source: Source, line: int) -> tuple[ast.stmt, _Branch]:
    """The `if` whose test is at a line, else the conditional expression, with its statement."""
    statements = [node for node in ast.walk(source.function) if isinstance(node, ast.stmt)]
    for statement in statements:
        if isinstance(statement, ast.If) and spans(statement.test, line):
            return statement, statement
    for statement in statements:
        if isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            for part in ast.walk(statement):
                if isinstance(part, ast.IfExp) and spans(part.test, line):
                    return statement, part
    raise CannotRewrite("there is no branch at that line")


def _find_ways(source: Source, line: int) -> tuple[_Branch, list[tuple[bool, list[ast.AST]]]]:
    """The branch at a line, and the nodes of either way; of one that returns, what follows."""
    statement, branch = find_branch(source, line)
    blocks = [
        block if isinstance(block, list) else [block] for block in (branch.body, branch.orelse)
    ]
    if not blocks[1] and isinstance(blocks[0][-1], ast.Return):
        blocks[1] = source.following(statement)
    ways = [[node for part in block for node in ast.walk(part)] for block in blocks]
    return branch, list(zip((True, False), ways, strict=True))


def _one_way(text: str, line: int, taken: bool) -> Rewritten:
    """The text with the branch at a line replaced by what it guards, or by what its `else` does.

    Raises:
        CannotRewrite: there is none, what is left out raises an error, what is kept leaves the
            block, or a loop might not end without what is left out.
    """
    source = Source(text, line)
    branch = find_branch(source, line)[1]
    if any(isinstance(node, ast.NamedExpr | ast.Await) for node in ast.walk(branch.test)):
        raise CannotRewrite("the test binds a name")
    if isinstance(branch, ast.IfExp):
        kept_value = branch.body if taken else branch.orelse
        return source.replace([source.put(branch, f"({source.of(kept_value)})")])
    block, other = (branch.body, branch.orelse) if taken else (branch.orelse, branch.body)
    kept, dropped = ([n for part in way for n in ast.walk(part)] for way in (block, other))
    if any(isinstance(node, ast.Raise) for node in dropped):
        raise CannotRewrite("the other branch raises an error")
    if block and isinstance(block[-1], ast.Raise):
        raise CannotRewrite("the branch only raises")
    loops = [n for n in ast.walk(source.function) if isinstance(n, ast.For | ast.While)]
    around = [loop for loop in loops if branch in ast.walk(loop)]
    leaves = any(isinstance(node, ast.Break | ast.Return) for node in dropped)
    if any(leaves or isinstance(loop, ast.While) for loop in around):
        raise CannotRewrite("the other branch may end a loop")
    if any(isinstance(node, ast.Return | ast.Break | ast.Continue) for node in kept):
        raise CannotRewrite("the branch leaves the block")
    return source.replace([with_way(source, branch, block)])


def _edit_way(find: _Edits, text: str, line: int) -> Rewritten:
    """The text with edits of the first way of a branch that has any, and that way in its place.

    Raises:
        CannotRewrite: there is no such way, or it cannot be taken always.
    """
    source = Source(text, line)
    branch, ways = _find_ways(source, line)
    for taken, way in ways:
        if pieces := list(find(source, branch, way)):
            return _one_way(source.replace(pieces).text, line, taken)
    raise CannotRewrite("neither way of the branch pads or crops")


def _pad_missing(source: Source, branch: _Branch, way: list[ast.AST]) -> Iterator[Piece]:
    """Each `k - rest` as `(k - rest) % k`; of a test for an odd size, each width 1 as `n % 2`."""
    rests = {ast.unparse(n) for n in ast.walk(branch.test) if isinstance(n, ast.Name | ast.BinOp)}
    for node in way:
        match node, branch.test:
            case ast.BinOp(multiple, ast.Sub(), rest), _ if ast.unparse(rest) in rests:
                yield source.put(node, f"(({source.of(node)}) % {_as_factor(source, multiple)})")
            case (
                ast.Call(ast.Name("pad") | ast.Attribute(attr="pad"), [_, widths, *_]),
                ast.BinOp(_, ast.Mod(), ast.Constant(2)),
            ):
                for one in ast.walk(widths):
                    if isinstance(one, ast.Constant) and one.value == 1:
                        yield source.put(one, f"({source.of(branch.test)})")


def _pad_up(text: str, line: int) -> Rewritten:
    """The text padded by `(n + k - 1) // k * k - n`, which torch knows to make a multiple with n.

    torch.cat takes no zeros that may be empty, so these become a pad.
    """
    source = Source(text, line)
    if pads := [*_pad_joined(source, _find_ways(source, line)[1][0][1])]:
        text = source.replace(pads).text
    return _edit_way(_pad_whole, text, line)


def _pad_whole(source: Source, branch: _Branch, way: list[ast.AST]) -> Iterator[Piece]:
    """Each `k - n % k` as `(n + k - 1) // k * k - n`."""
    sizes = {ast.unparse(node): node for node in ast.walk(branch.test) if _is_rest(node)}
    for node in ast.walk(source.function):
        if isinstance(node, ast.Assign) and node.lineno < branch.lineno and _is_rest(node.value):
            sizes |= {ast.unparse(target): node.value for target in node.targets}
    for node in way:
        match node:
            case ast.BinOp(multiple, ast.Sub(), rest) if ast.unparse(rest) in sizes:
                n = _as_factor(source, sizes[ast.unparse(rest)].left)
                by = _as_factor(source, multiple)
                less = str(int(by) - 1) if by.isdecimal() else f"{by} - 1"
                yield source.put(node, f"(({n} + {less}) // {by} * {by} - {n})")


def _is_rest(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def _pad_joined(source: Source, way: list[ast.AST]) -> Iterator[Piece]:
    """Each `torch.cat([x, x.new_zeros(b, n, c)], 1)` of a block as `pad(x, (0, 0, 0, n))`."""
    for node in way:
        match node:
            case ast.Call(
                ast.Attribute(ast.Name("torch"), "cat" | "concat"),
                [ast.List([of, zeros]) | ast.Tuple([of, zeros]), *dims],
                keywords,
            ):
                dims += [keyword.value for keyword in keywords]
            case _:
                continue
        match zeros, dims:
            case ast.Call(ast.Attribute(attr="zeros" | "new_zeros"), sizes), [
                ast.Constant(int(at))
            ]:
                if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
                    sizes = sizes[0].elts
                if any(isinstance(size, ast.Starred) for size in sizes) or not 0 <= at < len(sizes):
                    continue
                later = "0, 0, " * (len(sizes) - 1 - at)
                ends = f"({later}0, {source.of(sizes[at])})"
                text = f"torch.nn.functional.pad({source.of(of)}, {ends})"
                yield source.put(node, text)


def _crop(source: Source, branch: _Branch, way: list[ast.AST]) -> Iterator[Piece]:
    """Each slice `x[:, :-missing]` of what is tested, copied by index up to the size less it."""
    tested = {ast.unparse(inner) for inner in ast.walk(branch.test)}
    for node in way:
        match node:
            case ast.Subscript(ast.Name() | ast.Attribute() as of, index, ast.Load()):
                ends: dict[int, str] = {}
                for dim, part in _dims_of(index):
                    match part:
                        case ast.Slice(None, ast.UnaryOp(ast.USub(), missing), None):
                            if ast.unparse(missing) in tested:
                                size = f"{source.of(of)}.shape[{dim}]"
                                ends[dim] = f":{size} - {_as_factor(source, missing)}"
                if ends and (text := _use_index_select(source, node, ends)):
                    yield source.put(node, text)


def _as_factor(source: Source, node: ast.expr) -> str:
    """A text that can be an operand."""
    text = source.of(node)
    return f"({text})" if isinstance(node, ast.BinOp | ast.UnaryOp | ast.IfExp) else text


# -- slices as copies by index ---------------------------------------------------------------------


def _copy_slices(text: str, line: int) -> Rewritten:
    """The text with the slices of tensors that a line reads as index_select, or writes by index."""
    source = Source(text, line)
    nodes = list(ast.walk(source.function))  # outer ones come first
    in_place = [
        node.value
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr.endswith("_") and node.attr[-2:] != "__"
    ]
    pieces: list[Piece] = []
    for node in nodes:
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        if not spans(node, line) or node in in_place:
            continue  # what is written to a copy is lost
        piece = source.put(node, _use_index_select(source, node))
        is_inside = any(p.start <= piece.start and piece.end <= p.end for p in pieces)
        if piece.text and not is_inside:
            pieces.append(piece)
    pieces = pieces or _write_by_index(source, line)
    if not pieces:
        raise CannotRewrite("that line slices no tensor")
    return source.replace(pieces)


def _copy_in_branches(text: str, line: int) -> Rewritten:
    """The text with the slices of a line copied; of a torch.cond, those that its branches read."""
    try:
        return _copy_slices(text, line)
    except CannotRewrite as reason:
        rewritten: Rewritten | None = None
        for number in _lines_of_branches(Source(text, line), line):
            with suppress(CannotRewrite):
                rewritten = _copy_slices(rewritten.text if rewritten else text, number)
        if rewritten is None:
            raise reason
        return rewritten


def _lines_of_branches(source: Source, line: int) -> list[int]:
    """The lines of the functions that a call at a line names, and that its function defines."""
    nodes = list(ast.walk(source.function))
    calls = [node for node in nodes if isinstance(node, ast.Call) and spans(node, line)]
    named = {a.id for call in calls for a in call.args if isinstance(a, ast.Name)}
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name in named]
    return [statement.lineno for function in functions for statement in function.body]


def _use_index_select(
    source: Source, node: ast.Subscript, ends: Mapping[int, str] = MappingProxyType({})
) -> str:
    """A slice as index_select, empty where it is something else.

    The index is a slice of all indices, so that the bounds mean what they do in the slice; `ends`
    are others, by dim.
    """
    tensor = text = source.of(node.value)
    if text.startswith(f"{source.torch}.arange("):
        return ""  # the indices of a copy
    if not re.fullmatch(r"[\w.]+", text):
        tensor = free_name("sliced", source.names)  # it is named twice, and must be computed once
        text = f"({tensor} := {text})"
    whole = text
    for dim, part in _dims_of(node.slice):
        if not isinstance(part, ast.Slice) or part.step is not None:
            return ""
        if part.lower is not None or part.upper is not None:
            cut = _indices(source, tensor, dim, part, ends.get(dim, ""))
            text += f".index_select({dim}, {cut})"
    return text if text != whole else ""


def _write_by_index(source: Source, line: int) -> list[Piece]:
    """`padded[:, :n] = x`, or `padded[:, :n].copy_(x)`, by indices; empty for other lines."""
    for node in ast.walk(source.function):
        match node:
            case ast.Assign([ast.Subscript(ast.Name()) as target]) if spans(node, line):
                if text := _by_indices(source, target):
                    return [source.put(target, text)]
            case ast.Expr(
                ast.Call(ast.Attribute(ast.Subscript(ast.Name()) as target, "copy_"), [value], [])
            ) if spans(node, line):
                if text := _by_indices(source, target):
                    return [source.put(node, f"{text} = {source.of(value)}")]
    return []


def _by_indices(source: Source, target: ast.Subscript) -> str:
    """A subscript whose slices of neighbouring dims are indices that broadcast; else empty."""
    tensor = source.of(target.value)
    cut = [(dim, part) for dim, part in _dims_of(target.slice) if ast.unparse(part) != ":"]
    last = cut[-1][0] if cut else 0
    if [dim for dim, _ in cut] != list(range(last - len(cut) + 1, last + 1)):
        return ""
    text, start = source.of(target), source.start(target)
    for dim, part in reversed(cut):
        if not isinstance(part, ast.Slice) or part.step is not None:
            return ""
        across = f"[{', '.join([':', *['None'] * (last - dim)])}]" if dim != last else ""
        before, after = source.start(part) - start, source.end(part) - start
        text = f"{text[:before]}{_indices(source, tensor, dim, part)}{across}{text[after:]}"
    return text if cut else ""


def _indices(source: Source, tensor: str, dim: int, cut: ast.Slice, bounds: str = "") -> str:
    """The indices that a slice, or one with other bounds, takes of a dim.

    Bounds that are constants are clamped to the size here: a slice also clamps them, and torch
    guards on whether it has to. Others are those of a slice of all indices, so that they mean what
    they do in the slice.
    """
    size, torch = f"{tensor}.shape[{dim}]", source.torch
    try:
        low, high = (None if e is None else ast.literal_eval(e) for e in (cut.lower, cut.upper))
    except ValueError:
        return f"{torch}.arange({size}, device={tensor}.device)[{bounds or source.of(cut)}]"
    start, end = _clamp(torch, size, low, "0"), _clamp(torch, size, high, size)
    if start != "0" and end != size:
        end = f"{torch}.sym_max({start}, {end})"
    return f"{torch}.arange({start}, {end}, device={tensor}.device)"


def _clamp(torch: str, size: str, bound: int | None, default: str) -> str:
    if not bound:
        return default if bound is None else "0"
    if bound < 0:
        return f"{torch}.sym_max({size} - {-bound}, 0)"
    return f"{torch}.sym_min({bound}, {size})"


def _dims_of(index: ast.expr) -> list[tuple[int, ast.expr]]:
    """A subscript's index for each dim; those after `...` are counted from the last."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    first = next((n for n, part in enumerate(parts) if ast.unparse(part) == "..."), len(parts))
    before = list(enumerate(parts[:first]))
    return before + [(n - len(parts), parts[n]) for n in range(first + 1, len(parts))]


# -- the ways that are tried -------------------------------------------------------------------


_SLICE = "copy a slice by index"
_ALWAYS, _NEVER = (partial(_one_way, taken=taken) for taken in (True, False))
_TO_MULTIPLE, _CROP_ALWAYS = (partial(_edit_way, find) for find in (_pad_missing, _crop))


class _Way(NamedTuple):
    """A rewrite of a branch."""

    title: str
    """With `{line}`."""
    why: str
    rewrite: Callable[[str, int], Rewritten] | None
    """None for that of the whole function, which keeps both branches."""
    bounded: bool = True
    """Whether it comes before others, even with bounds on sizes."""


_MORE: tuple[tuple[Callable[[str, int], Rewritten], str], ...] = (
    (_CROP_ALWAYS, "always crop on line {line}"),
    (_TO_MULTIPLE, "always take the branch on line {line}"),
    (_ALWAYS, "always take the branch on line {line}"),
    (_NEVER, "never take the branch on line {line}"),
    (_copy_in_branches, _SLICE),
)
"""Edits besides taking one branch, with their titles."""
_COMPARED = "Checked against eager on both sides of the condition."
_PADDED = _Way(
    "Always pad up to a multiple on line {line}",
    f"A size that is already a multiple gets no padding. {_COMPARED}",
    _TO_MULTIPLE,
)
_WAYS = (
    _Way(
        "Always take the branch on line {line}",
        f"The branch changes nothing. {_COMPARED}",
        _ALWAYS,
    ),
    _Way(
        "Never take the branch on line {line}",
        f"The branch is a shortcut: the other one returns the same result. {_COMPARED}",
        _NEVER,
    ),
    _PADDED,
    _PADDED._replace(rewrite=_pad_up),
    _Way(
        "Always crop on line {line}",
        f"Without padding, the crop removes nothing. {_COMPARED}",
        _CROP_ALWAYS,
    ),
    _Way(
        "Copy the slice on line {line} by index",
        "torch checks whether a slice is the whole tensor; copying by index needs no such "
        "check. The copy takes as much memory as the slice.",
        _copy_slices,
        bounded=False,
    ),
    _Way(
        "Rewrite the branch on line {line}",
        "The program contains both branches, and the size at run time selects one.",
        None,
    ),
)

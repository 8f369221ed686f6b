"""Staged loops: at once with vmap, as a scan, or as a while_loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.analysis import Liveness
from export_engine.fixes.rewrite.facts import Iteration, Value
from export_engine.fixes.rewrite.form import (
    Block,
    Unequal,
    as_collected,
    as_target,
    as_tuple,
    call,
    fill,
    find_loaded,
    find_names,
    find_site,
    find_stored,
    let,
    load,
    make_function,
    mark,
    method,
    parse_expression,
    without_last_name,
)
from export_engine.fixes.rewrite.starts import dtype_of, zeros_of

_SCAN = "from torch._higher_order_ops.scan import scan"
_MAP = "from torch._higher_order_ops.map import map as map_rows"
_WHILE = "from torch._higher_order_ops.while_loop import while_loop"


class Element(NamedTuple):
    """The element of an iteration, and the tensor of which it is a row."""

    target: ast.expr
    rows: ast.expr


Collected = tuple[str, ast.expr, ast.expr | None]
"""A list, what is appended to it, and whether that counts."""


class Filled(NamedTuple):
    """A list that a loop fills."""

    name: str
    rows: str
    """The name of what the loop adds: another one, where the list has elements before."""
    value: ast.expr
    kept: str
    """The name of which rows count; empty where all do."""
    mask: ast.expr | None


class Loops:
    """The part of a lowering that is about loops."""

    def lower_loop(self: Any, node: ast.For | ast.While, live: set[str]) -> Block:
        """A loop of which Python does not know how often it runs."""
        facts = self.facts.loops[find_site(node)]
        counts = isinstance(node, ast.For) and not facts.has_sized_length and not facts.collected
        lower = self._while if isinstance(node, ast.While) or counts else self._for
        statements: Block = lower(node, facts, live)
        return statements

    def _check_length(self: Any, elements: list[Element], facts: Iteration) -> Block:
        """Whether a loop has a data-dependent length, which a scan has to know."""
        if facts.has_sized_length:
            return []
        if not facts.is_needed:
            raise CannotRewrite("a loop has a data-dependent length, which may be 0")
        statements: Block = []
        self.needs_strict = True
        for at, (target, rows) in enumerate(elements):
            if not isinstance(rows, ast.Name | ast.Attribute):
                name = self.names.new("rows")
                statements.append(let(name, rows))
                elements[at] = Element(target, load(name))
        asked = fill("torch._check($rows.shape[0] > 0)", rows=elements[0].rows)
        return [*statements, ast.Expr(asked)]

    def _for(self: Any, node: ast.For, facts: Iteration, live: set[str]) -> Block:
        line = find_site(node)[0]
        elements, before = self._elements(node)
        inner = live | Liveness.before(node, live)
        with self.inside(), self._taking_rows(node, elements), self._asking_first(node, elements):
            body = self.block(node.body, inner)
        read = find_loaded(*body)
        elements = [e for e in elements if find_stored(e.target) & read]
        stored = find_stored(*body)
        targets = set().union(*(find_stored(element.target) for element in elements))
        filled = [name for name in facts.collected if name in stored]
        needed = Liveness.of(body, live)
        carried = [
            name
            for name in _list_bound_names(body)
            if name in stored and name not in {*filled, *targets} and name in (needed | live)
        ]
        whole = body
        body, collected = self._gather_appends(body, filled)
        step = self.names.of(node, "step")
        statements: Block = [*before]
        peeled = _is_peeled(carried, facts)
        if peeled:
            statements += [*_peel(elements), *whole]
        cuts = self._cuts(node)
        starts = [
            method(load(n), "contiguous")
            if peeled and not facts.start[n].layout
            else self._start(n, facts, cuts)
            for n in carried
        ]
        if not collected and not carried:
            return []
        lists = self._name_lists(collected, facts, peeled)
        if not elements:
            elements = [Element(ast.Name("_", ast.Store()), self._count(node))]
        if self.each == "vmap" and not carried and not cuts and not _has_operator(body):
            self.done.append((line, "vmap"))
            statements += self._each(step, elements, body, lists)
        elif self.each == "map" and not carried and facts.has_sized_length:
            self.done.append((line, "map"))
            self.imports["map"] = _MAP
            statements += self._each(step, elements, body, lists, in_turn=True)
        else:
            statements += self._check_length(elements, facts)
            self.done.append((line, "scan"))
            self.imports["scan"] = _SCAN
            statements += self._scan(step, carried, starts, elements, body, lists, live, facts)
        statements += _join_lists(lists, facts)
        statements[0] = mark(statements[0], node)
        return statements

    def _name_lists(
        self: Any, collected: list[Collected], facts: Iteration, peeled: bool
    ) -> list[Filled]:
        """The lists that a loop fills, each with the names of its rows and of what counts."""
        lists = []
        for name, value, mask in collected:
            kept = self.names.new(f"{name}_kept") if mask is not None else ""
            is_filled = peeled or self._is_filled(name, facts)
            rows = self.names.new(f"{name}_rows") if is_filled else name
            lists.append(Filled(name, rows, value, kept, mask))
        return lists

    def _each(
        self: Any,
        step: str,
        elements: list[Element],
        body: Block,
        lists: list[Filled],
        *,
        in_turn: bool = False,
    ) -> Block:
        """Independent iterations, all at once with vmap or in turn with map."""
        opening: Block = []
        targets = [element.target for element in elements]
        rows = [element.rows for element in elements]
        texts = [t.id if isinstance(t, ast.Name) else self.names.new("item") for t in targets]
        if in_turn and len(targets) > 1:
            targets, texts = [ast.Tuple(targets, ast.Store())], [self.names.new("item")]
        for target, text in zip(targets, texts, strict=True):
            if not isinstance(target, ast.Name):
                opening.append(let(target, load(text)))
        outs = [_fresh(out) if in_turn else _plain(out) for out in _find_outs(lists)]
        end = ast.Return(as_tuple(outs))
        function = make_function(step, texts, without_last_name([*opening, *body, end]))
        asked = ast.Call(call("torch.vmap", load(step)), rows, [])
        if in_turn:
            asked = call("map_rows", load(step), as_tuple(rows))
        return [function, ast.Assign([as_target(_find_results(lists))], asked, lineno=0)]

    def _scan(
        self: Any,
        step: str,
        carried: list[str],
        starts: list[ast.expr],
        elements: list[Element],
        body: Block,
        lists: list[Filled],
        live: set[str],
        facts: Iteration,
    ) -> Block:
        """Iterations one after the other, of which each takes what the one before carries."""
        opening: Block = []
        outs, results = _find_outs(lists), _find_results(lists)
        targets = [element.target for element in elements]
        rows = [element.rows for element in elements]
        if not carried:
            carried, starts = [self.names.new("unused")], [parse_expression("torch.zeros(())")]
        first = carried[0] if len(carried) == 1 else self.names.new("state")
        if len(carried) > 1:
            opening.append(ast.Assign([as_target(carried)], load(first), lineno=0))
        item = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
        if not item:
            item = self.names.new("item")
            target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
            opening.append(let(target, load(item)))
        items = list(dict.fromkeys([first, item]))
        if len(items) == 1:
            items = [first, "_item"]
        end = [_copy(name, facts) for name in carried]
        has_parts = facts.start.get(carried[0], Value("undefined")).layout
        nothing = "torch.zeros(())" if has_parts else f"{carried[0]}.new_zeros(())"
        shown = [_fresh(out) for out in outs] or [parse_expression(nothing)]  # scan stacks it
        last = ast.Return(ast.Tuple([as_tuple(end), as_tuple(shown)], ast.Load()))
        statements: Block = [make_function(step, items, [*opening, *body, last])]
        asked = call("scan", load(step), as_tuple(starts), as_tuple(rows))
        is_read = any(name in live for name in carried)
        ends = as_target([n if n in live else "_" for n in carried] if is_read else ["_"])
        taken = as_target(results or ["_"])
        statements.append(ast.Assign([ast.Tuple([ends, taken], ast.Store())], asked, lineno=0))
        return statements

    def _count_iterations(
        self: Any, node: ast.For, body: Block
    ) -> tuple[Block, ast.expr, Block, str]:
        """A loop over a range as one that counts: before it, its test, its body, its number."""
        match node.iter, node.target:
            case ast.Call(ast.Name(id="range"), [*first, stop], []), ast.Name(id=name):
                if len(first) > 1:
                    raise CannotRewrite("a loop has a step and a data-dependent end")
            case _:
                raise CannotRewrite("a loop has a data-dependent length")
        number, count = self.names.of(node, "number"), self.names.of(node, "count")
        start = self.answer(first[0]) if first else ast.Constant(0)
        before: Block = [let(number, start), let(count, self.answer(stop))]
        test = parse_expression(f"{number} < {count}")
        further = let(number, parse_expression(f"{number} + 1"))
        taken = [let(name, load(number))] if name in find_loaded(*body) else []
        return before, test, [*taken, *body, further], number

    def _while(self: Any, node: ast.For | ast.While, facts: Iteration, live: set[str]) -> Block:
        line = find_site(node)[0]
        inner = live | Liveness.before(node, live)
        before: Block = []
        number = ""
        with self.inside():
            body = self.block(node.body, inner)
            if isinstance(node, ast.While):
                test = self.answer(node.test)
            else:
                before, test, body, number = self._count_iterations(node, body)
        stored = find_stored(*body)
        needed = Liveness.of(body, live) | find_loaded(test)
        carried = [name for name in _list_bound_names(body) if name in stored & (needed | live)]
        if not carried or facts.collected:
            raise CannotRewrite("a list has a data-dependent length")
        going, step = self.names.of(node, "going"), self.names.of(node, "step")
        starts = [
            call("torch.as_tensor", load(name))
            if name == number
            else self._start(name, facts, self._cuts(node))
            for name in carried
        ]
        self.done.append((line, "while_loop"))
        self.imports["while_loop"] = _WHILE
        end = ast.Return(ast.Tuple([_copy(n, facts) for n in carried], ast.Load()))
        asked = call("while_loop", load(going), load(step), ast.Tuple(starts, ast.Load()))
        statements: Block = [
            *before,
            make_function(going, carried, [ast.Return(test)]),
            make_function(step, carried, [*body, end]),
            let(ast.Tuple([as_target([n]) for n in carried], ast.Store()), asked),
        ]
        statements[0] = mark(statements[0], node)
        return statements

    def _cuts(self: Any, node: ast.stmt) -> bool:
        """Whether a loop cuts tensors where numbers of tensors tell."""
        notes = (self.facts.notes.get(find_site(inner), ("",)) for inner in ast.walk(node))
        return any(note[0] in ("cut", "row_cut") for note in notes)

    def _start(self: Any, name: str, facts: Iteration, cuts: bool = False) -> ast.expr:
        """The start of a carried name before the first iteration, as a tensor of its kind.

        Args:
            name: that is carried.
            facts: of the loop.
            cuts: whether an iteration reads numbers: of torch.tensor torch reads that of the first.
        """
        start, after = facts.start.get(name, Value("undefined")), facts.after[name]
        is_alike = (start.kind, start.layout) == (after.kind, after.layout)
        if start.layout and is_alike and facts.is_steady.get(name, False):
            return _copy(name, facts)
        if after.kind not in ("tensor", "bool", "int", "float"):
            raise CannotRewrite(f"`{name}` is not a tensor after an iteration")
        if start.kind == "tensor":
            if after.kind == "tensor" and not facts.is_steady.get(name, True):
                reason = f"`{name}` changes its shape or dtype in an iteration"
                raise Unequal(reason, None, "grown", name)
            if name in facts.shared:
                return method(load(name), "clone")
            return load(name) if start.is_contiguous else method(load(name), "contiguous")
        if start.kind == "none" and name in self.compared:
            reason = f"`{name}` is None before the loop, and compared in it"
            raise Unequal(reason, None, "none", name)
        fill = load(name) if start.is_number else None
        if start.kind not in ("undefined", "none") and not start.is_number:
            raise CannotRewrite(f"`{name}` is not a tensor before the loop")
        if start.is_number and not after.rank:
            is_tensor = after.kind == "tensor" and after.dtype is not None
            dtype = dtype_of(start, after) if is_tensor else {}
            shape = [ast.Tuple([], ast.Load())] if cuts else []
            return call("torch.full" if cuts else "torch.tensor", *shape, load(name), **dtype)
        return zeros_of(after, facts.start, fill)

    def _is_filled(self: Any, name: str, facts: Iteration) -> bool:
        """Whether a list has elements before the loop."""
        start = facts.start.get(name, Value("undefined"))
        return start.kind == "rows" or (start.kind == "list" and bool(start.constant))

    def _gather_appends(self: Any, body: Block, lists: list[str]) -> tuple[Block, list[Collected]]:
        """A body without what it appends at its end, and that."""
        entries: dict[str, Collected] = {}
        several: dict[str, list[tuple[ast.expr, ast.expr | None]]] = {}
        kept: Block = []
        for at, statement in enumerate(body):
            collected = as_collected(statement)
            if collected is not None and collected[0] not in lists and collected[2] is None:
                longer = ast.List([ast.Starred(load(collected[0])), collected[1]], ast.Load())
                kept.append(mark(let(collected[0], longer), statement))
                continue
            if collected is None:
                inner = [node for node in ast.walk(statement) if isinstance(node, ast.stmt)]
                if {pair[0] for pair in map(as_collected, inner) if pair} & {*lists}:
                    raise CannotRewrite("a nested loop appends to a list of the outer loop")
                kept.append(statement)
                continue
            name, value, mask = collected
            if find_loaded(value) & find_stored(*body[at + 1 :]):
                free = self.names.new(f"{name}_row")
                kept.append(let(free, value))
                value = load(free)
            if mask is not None and find_loaded(mask) & find_stored(*body[at + 1 :]):
                free = self.names.new(f"{name}_counts")
                kept.append(let(free, mask))
                mask = load(free)
            pairs = several.setdefault(name, [])
            pairs.append((value, mask))
            if len(pairs) > 1:
                value = call("torch.stack", ast.List([row for row, _ in pairs], ast.Load()))
                true = parse_expression("torch.tensor(True)")
                masks = [counts or true for _, counts in pairs]
                whole = call("torch.stack", ast.List(masks, ast.Load()))
                mask = whole if any(counts for _, counts in pairs) else None
            entries[name] = name, value, mask
        if missing := [name for name in lists if name not in entries]:
            raise CannotRewrite(f"`{missing[0]}` is filled, but not by appending")
        return kept, list(entries.values())

    # -- what it runs over ----------------------------------------------------------------------

    def _elements(self: Any, node: ast.For) -> tuple[list[Element], Block]:
        """The targets of a loop, each with the tensor whose rows it takes."""
        before: Block = []
        return self._of(node.target, node.iter, before), before

    def _of(self: Any, target: ast.expr, rows: ast.expr, before: Block) -> list[Element]:
        match rows:
            case ast.Call(ast.Name(id="range"), args):
                tensors = self.facts.notes.get(find_site(rows), ("", ()))[1]
                ends = [self.answer(argument) for argument in args]
                for at, _ in filter(lambda each: each[1], enumerate(tensors)):
                    ends[at] = method(ends[at], "item")
                return [Element(target, call("torch.arange", *ends))]
            case ast.Call(ast.Name(id="enumerate"), [of]) if isinstance(target, ast.Tuple):
                inner = self._of(target.elts[1], of, before)
                first = inner[0].rows
                if not isinstance(first, ast.Name | ast.Attribute):
                    name = self.names.new("rows")
                    before.append(let(name, first))
                    inner = [Element(inner[0].target, load(name)), *inner[1:]]
                    first = load(name)
                count = fill("torch.arange($rows.shape[0])", rows=first)
                return [Element(target.elts[0], count), *inner]
            case ast.Call(ast.Name(id="zip"), parts) if isinstance(target, ast.Tuple):
                elements: list[Element] = []
                for expression, part in zip(target.elts, parts, strict=True):
                    elements += self._of(expression, part, before)
                return elements
            case ast.Call(ast.Name(id="reversed"), [of]):
                return [
                    Element(value.target, method(value.rows, "flip", ast.Constant(0)))
                    for value in self._of(target, of, before)
                ]
            case ast.Call(ast.Attribute(of, "unbind"), args):
                dim = args[0] if args else ast.Constant(0)
                if isinstance(dim, ast.Constant) and dim.value == 0:
                    return [Element(target, self.answer(of))]
                return [Element(target, method(self.answer(of), "movedim", dim, ast.Constant(0)))]
            case ast.Call(ast.Attribute(of, "tolist"), []):
                return [Element(target, self.answer(of))]
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.BinOp() | ast.Call():
                return [Element(target, self.answer(rows))]
        raise CannotRewrite("a loop iterates over neither a tensor nor a range")

    @contextmanager
    def _asking_first(self: Any, node: ast.For, elements: list[Element]) -> Iterator[None]:
        """While `h is None` of what the loop carries asks whether it is the first iteration."""
        outer = self.answers.first_of

        def first() -> str:
            name: str = self.names.of(node, "is_first")
            if all(name not in find_stored(element.target) for element in elements):
                rows = next((e.rows for e in elements if ast.unparse(e.rows)[:6] != "torch."), None)
                counted = elements[0].rows if rows is None else rows
                first_one = fill("torch.arange($rows.shape[0]) == 0", rows=counted)
                elements.append(Element(ast.Name(name, ast.Store()), first_one))
            return name

        self.answers.first_of = first
        try:
            yield
        finally:
            self.answers.first_of = outer

    @contextmanager
    def _taking_rows(self: Any, node: ast.For, elements: list[Element]) -> Iterator[None]:
        """While `x[:, t]` of a range is a row of `x` that an iteration takes."""
        outer = self.answers.rows_of
        bound, expressions = find_stored(*node.body), dict[str, ast.expr]()
        counter = node.target.id if isinstance(node.target, ast.Name) else ""
        start: ast.expr | None = None
        match node.iter:
            case ast.Call(ast.Name(id="range"), [first, _, *_]):
                start = self.answer(first)

        def row(subscript: ast.Subscript, place: int) -> ast.expr | None:
            parts = subscript.slice
            index = parts.elts[place] if isinstance(parts, ast.Tuple) else parts
            if not isinstance(index, ast.Name) or index.id != counter:
                return cast("ast.expr | None", outer(subscript, place))
            if find_loaded(subscript.value) & bound or not isinstance(subscript.value, ast.Name):
                return None
            text = f"{subscript.value.id},{place}"
            if text not in expressions:
                name = self.names.new(f"{subscript.value.id}_{counter}")
                expressions[text] = load(name)
                rows = subscript.value if start is None else _from(subscript.value, place, start)
                if place:
                    rows = method(rows, "movedim", ast.Constant(place), ast.Constant(0))
                elements.append(Element(ast.Name(name, ast.Store()), rows))
            return expressions[text]

        self.answers.rows_of = row
        try:
            yield
        finally:
            self.answers.rows_of = outer

    def _count(self: Any, node: ast.For) -> ast.expr:
        rows = self._elements(node)[0][0].rows
        assert isinstance(rows, ast.expr)
        return rows


def _from(of: ast.expr, dim: int, start: ast.expr) -> ast.expr:
    """The rows of a tensor from a number on."""
    return fill(f"$of[{':, ' * dim}$start:]", of=of, start=start)


def _find_outs(lists: list[Filled]) -> list[ast.expr]:
    """The results of an iteration."""
    masks = [filled.mask for filled in lists if filled.mask is not None]
    return [*(filled.value for filled in lists), *masks]


def _find_results(lists: list[Filled]) -> list[str]:
    """The names of what all iterations give."""
    return [*(filled.rows for filled in lists), *(filled.kept for filled in lists if filled.kept)]


def _join_lists(lists: list[Filled], facts: Iteration) -> Block:
    """Statements after a loop: several rows of an iteration, those that count, and those before."""
    statements: Block = []
    for name, rows, _, kept, _ in lists:
        for part in (rows, kept) if facts.appended.get(name, 1) > 1 else ():
            if part:
                statements.append(let(part, parse_expression(f"{part}.flatten(0, 1)")))
    for _, rows, _, kept, _ in lists:
        if kept:
            statements.append(let(rows, parse_expression(f"{rows}[{kept}]")))
    for name, rows, _, _, _ in lists:
        if rows != name:
            start = facts.start.get(name, Value("list"))
            first = name if start.kind == "rows" else f"torch.stack({name})"
            statements.append(let(name, parse_expression(f"torch.cat([{first}, {rows}])")))
    return statements


def _peel(elements: list[Element]) -> Block:
    """The targets of the first iteration; the elements are those of the others afterwards."""
    statements: Block = []
    for at, (target, rows) in enumerate(elements):
        statements.append(let(target, fill("$rows[0]", rows=rows)))
        elements[at] = Element(target, fill("$rows[1:]", rows=rows))
    return statements


def _is_peeled(carried: list[str], facts: Iteration) -> bool:
    """Whether the first iteration is apart: it takes what no other does."""
    for name in carried:
        start, after = facts.start.get(name, Value("undefined")), facts.after[name]
        changes = start.kind == "tensor" and str(start[:3]) != str(after[:3])
        if changes:
            return all(facts.is_steady.get(text, True) for text in carried)
    return False


_COPIES = {
    "list": "[part.clone() for part in {}]",
    "tuple": "tuple(part.clone() for part in {})",
    "dict": "{{key: part.clone() for key, part in {}.items()}}",
}


def _copy(name: str, facts: Iteration) -> ast.expr:
    """A carried value that shares no memory with another."""
    if facts.after.get(name, Value("undefined")).is_number:
        return call("torch.as_tensor", load(name))
    layout = facts.start.get(name, Value("undefined")).layout
    return parse_expression(_COPIES.get(layout, "{}.clone()").format(name))


def _plain(value: ast.expr) -> ast.expr:
    return call("torch.as_tensor", value) if isinstance(value, ast.Constant) else value


def _fresh(value: ast.expr) -> ast.expr:
    """A value that shares no memory with what an iteration took."""
    if isinstance(value, ast.BinOp):
        return value
    if isinstance(value, ast.Constant):
        return call("torch.tensor", value)
    return method(value, "clone")


def _has_operator(body: Block) -> bool:
    names = find_names(*body)
    text = "\n".join(ast.unparse(statement) for statement in body)
    return bool(names & {"scan", "while_loop", "map_rows"}) or "torch.cond(" in text


def _list_bound_names(body: Block) -> list[str]:
    entries: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                entries[node.id] = None
    return list(entries)


__all__ = ["Loops"]

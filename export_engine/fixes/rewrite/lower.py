"""Staged sites as torch's operators: where and cond for `if`, others for loops."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.analysis import (
    Liveness,
    find_appended,
    find_fresh,
    find_root,
    find_seen_writes,
    find_shared,
    find_written_in_place,
)
from export_engine.fixes.rewrite.answers import Answers, drop_slices, index_as_rows, negate
from export_engine.fixes.rewrite.elements import Region
from export_engine.fixes.rewrite.expressions import Names
from export_engine.fixes.rewrite.facts import Choice, Facts, Value
from export_engine.fixes.rewrite.form import (
    COLLECT,
    WRITE,
    Block,
    Function,
    Unequal,
    as_collected,
    as_target,
    as_tuple,
    call,
    fill,
    find_loaded,
    find_site,
    find_stored,
    is_own,
    is_same,
    let,
    load,
    make_function,
    map_blocks,
    mark,
    method,
    parse_expression,
    rename,
    start_numbers,
    thunk,
    walk_scope,
)
from export_engine.fixes.rewrite.loops import Loops
from export_engine.fixes.rewrite.simplify import simplify
from export_engine.fixes.rewrite.starts import keyword_of_dtype, write_starts

_TAKING_NONE = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
"""Comparisons that do not raise an error for None."""
Growth = tuple[int, int, int]
"""The dim in which a tensor becomes longer, its rank, and by how much."""
_NO_VALUE = Value("undefined")
_SAYS = frozenset({"print", "warnings", "logging", "logger", "log", "LOG", "_logger"})


class Lowering(Loops):
    """One function's staged sites, lowered together."""

    def __init__(
        self, function: Function, facts: Facts, names: Names, *, each: str = "vmap"
    ) -> None:
        self.function, self.facts, self.names = function, facts, names
        self.each = each
        """The op for independent iterations: vmap, scan or map."""
        self.needs_strict = False
        """Whether torch exports what is made in strict mode only."""
        self.answers = Answers(facts, names, self.masks_of)
        self.shared = find_shared(function.node)
        self.shared_lists = find_shared(function.node, views=False)
        self.depth = 0
        """How many functions of operators are around."""
        self.fresh: set[str] = set()
        """The names that hold what nothing else does."""
        self.imports: dict[str, str] = {}
        self.done: list[tuple[int, str]] = []
        """Each site's line, and what became of it."""
        self.grown: dict[str, tuple[int, str]] = {}
        """By tensor that the loop around adds to: the dim, and the name of how much counts."""
        self.masks: dict[str, str] = {}
        """By list that stays one: the list of which of its pieces count."""
        self.tensors: set[str] = set(facts.tensors)
        """Names whose number is a tensor from some point on."""
        mixed = ({"then", "else"} & c.ways for c in facts.choices.values() if len(c.ways) > 1)
        self.is_mixed = any(mixed)
        """Whether a site is decided by Python in some iterations."""
        self.indices = {
            name
            for node in ast.walk(function.node)
            if isinstance(node, ast.Subscript)
            for name in find_loaded(node.slice)
        }
        """Names that are read in an index."""
        self.compared = set().union(*map(_find_compared, ast.walk(function.node)))
        """Names that are compared in ways that take None, with other values."""
        self.shortcuts: list[ast.expr] = []
        """The values of ways that are left out, which only turn something off."""
        self.synthetic: set[str] = set()
        """Names that are given here."""
        self.starts: dict[str, Value] = {}
        """Names that need a value before the loop that binds them, and what they become."""

    def masks_of(self, name: str) -> str | None:
        """The list of masks that goes with a list."""
        return self.masks.get(name)

    def lower(self, body: Block) -> Block:
        """A function's body without staged sites."""
        statements = self._add_starts(self.block(body, set()))
        at = 1 if _is_docstring(statements) else 0
        lines = [ast.parse(text).body[0] for text in self.imports.values()]
        return [*statements[:at], *lines, *statements[at:]]

    def block(self, statements: Block, live: set[str]) -> Block:
        """A block in normal form, lowered; `live` names matter after it."""
        after = [live]
        for statement in reversed(statements):
            after.append(Liveness.before(statement, after[-1]))
        result: Block = []
        outer, fresh = self.fresh, set(self.fresh)
        for item, later in zip(statements, reversed(after[:-1]), strict=True):
            self.fresh = set(fresh)
            if isinstance(item, ast.For | ast.While):
                self.fresh = find_fresh(item, fresh)
            result += self.statement(item, later)
            find_seen_writes([item], fresh)
        self.fresh = outer
        return result

    def statement(self, node: ast.stmt, live: set[str]) -> Block:
        """A statement, lowered."""
        if isinstance(node, ast.If):
            if self.facts.is_staged(node) or self.facts.notes.get(find_site(node.test)) == "first":
                return self.choice(node, live)
            test = self.answer(node.test)
            body, other = self.block(node.body, live), self.block(node.orelse, live)
            return [_like(ast.If(test, body, other), node)]
        if isinstance(node, ast.For | ast.While):
            if self.facts.is_staged(node):
                self.refuse_shared(node.body, node)
                return self.lower_loop(node, live)
            return self._plain_loop(node, live)
        if isinstance(node, ast.Assert) and (kind := self.facts.notes.get(find_site(node))):
            self.done.append((node.lineno, "check"))
            return [_make_check(self.answer(node.test), _message(node.msg), kind, node)]
        if isinstance(node, ast.Assign) and (masked := self._write_by_mask(node)):
            return masked
        result = self.answers.visit(node)
        assert isinstance(result, ast.stmt)
        return [result if result is node else mark(result, node)]

    def _write_by_mask(self, node: ast.Assign) -> Block:
        """A write of the user's to slices that end where only the program knows, by a mask."""
        match node:
            case ast.Assign([ast.Subscript(ast.Name(id=name), index) as target], value):
                note = self.facts.notes.get(find_site(target), ("",))
                if note[0] != "masked" or name in self.shared:
                    return []
                self.done.append((find_site(node)[0], "mask"))
                named = ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)
                places, new = self.answer(index), self.answer(value)
                return self._as_masked(mark(named, node), load(name), places, new, note[1])
        return []

    def answer(self, node: ast.expr) -> ast.expr:
        """An expression without what Python would ask."""
        result = self.answers.visit(node)
        assert isinstance(result, ast.expr)
        return result

    def refuse_shared(self, statements: Block, node: ast.AST) -> None:
        """Refuses writes in place that another name would see."""
        line = find_site(node)[0]
        lines = {n.lineno for s in statements for n in ast.walk(s) if hasattr(n, "lineno")}
        own = [
            n
            for n in walk_scope(self.function.node.body)
            if isinstance(n, ast.stmt) and n.lineno in lines and not hasattr(n, "body")
        ]
        numbers = {
            name
            for loop in self.facts.loops.values()
            for name, value in {**loop.start, **loop.after}.items()
            if value.is_number or (value.rank == 0 and value.kind == "tensor")
        }
        for choice in self.facts.choices.values():
            numbers |= {n for n, p in choice.pairs.items() if all(a.is_number for a, *_ in p)}
        numbers |= self.facts.tensors.keys()
        starts = [value for loop in self.facts.loops.values() for value in loop.start.items()]
        lists = {name for name, value in starts if value.kind in ("list", "tree")}
        written = find_written_in_place(own)
        written = (written & self.shared - numbers - lists) | (written & lists & self.shared_lists)
        written |= find_appended(own) & self.shared_lists
        written &= find_seen_writes(statements, set(self.fresh))
        for name in sorted(written):
            raise CannotRewrite(
                f"line {line} may write to `{name}`, which may share memory with another name"
            )

    def _plain_loop(self, node: ast.For | ast.While, live: set[str]) -> Block:
        head = find_loaded(node.iter if isinstance(node, ast.For) else node.test)
        inner = live | head | Liveness.before(node, live)
        outer, self.grown = self.grown, {}
        body = self.block(node.body, inner)
        grown, self.grown = self.grown, outer
        other = self.block(node.orelse, live)
        if isinstance(node, ast.While):
            return [_like(ast.While(self.answer(node.test), body, other), node)]
        rows = self.answer(node.iter)
        starts, ends = Block(), Block()
        for name, (dim, size) in grown.items():
            number = f"torch.scalar_tensor({name}.shape[{dim}], dtype=torch.int64)"
            starts.append(let(size, parse_expression(number)))
            ends.append(let(name, parse_expression(f"{name}[{':, ' * dim}:{size}.item()]")))
        return [*starts, _like(ast.For(node.target, rows, body, other, lineno=0), node), *ends]

    # -- choices --------------------------------------------------------------------------------

    def choice(self, node: ast.If, live: set[str]) -> Block:
        """A staged `if`."""
        facts = self.facts.choices[find_site(node)]
        line = find_site(node)[0]
        if _raises(node.body) or _raises(node.orelse):
            return self._check(node, facts, live)
        self.refuse_shared([*node.body, *node.orelse], node)
        if _only_says([*node.body, *node.orelse], live):
            self.done.append((line, "skip"))
            exporting = call("torch.compiler.is_exporting")
            return [mark(ast.If(ast.UnaryOp(ast.Not(), exporting), [node], []), node)]
        if any(is_message(statement) for statement in [*node.body, *node.orelse]):
            return self._print_first(node, live)
        if (short := self._find_shortcut(node, facts)) is not None:
            self.done.append((line, "shortcut"))
            self.shortcuts += [value.value for value in short]
            return self.block(node.orelse if short is node.body else node.body, live)
        symbol = "symbol" in facts.ways
        may_raise = facts.may_raise and not self.depth and not self._has_other_kinds(node, facts)
        filled = _find_filled(node.body) | _find_filled(node.orelse)
        growth = self._find_growth(node, facts, live)
        selects = all(_selects(p) for n, p in facts.pairs.items() if n not in {*filled, *growth})
        may_raise &= not growth
        if symbol or may_raise or facts.is_unsafe or not selects:
            if filled:
                raise CannotRewrite(
                    f"line {line} appends in a branch that cannot run unconditionally"
                )
            self.done.append((line, "cond"))
            return self._cond(node, facts, live)
        self.done.append((line, "where"))
        return self._where(node, facts, live)

    def _find_growth(
        self, node: ast.If, facts: Choice, live: set[str]
    ) -> dict[str, tuple[int, int, int]]:
        """The tensors that a loop of a known number of iterations adds to, until it is left."""
        if self.depth or not find_site(node)[2].endswith(":going"):
            return {}
        growth = {name: _as_growth(pairs) for name, pairs in facts.pairs.items() if name in live}
        return {name: more for name, more in growth.items() if more is not None}

    def _select_grown(self, test: ast.expr, name: str, new: ast.expr, growth: Growth) -> Block:
        """A longer tensor, or the one before padded with zeros; how much of it counts."""
        dim, rank, more = growth
        size = self.grown.setdefault(name, (dim, self.names.new(f"{name}_size")))[1]
        longer = f"torch.where($test, $new.shape[{dim}], {size})"
        padded = f"torch.nn.functional.pad({name}, {(*[0] * 2 * (rank - 1 - dim), 0, more)})"
        return [
            let(size, fill(longer, test=test, new=new)),
            let(name, fill(f"torch.where($test, $new, {padded})", test=test, new=new)),
        ]

    def _print_first(self, node: ast.If, live: set[str]) -> Block:
        """A staged `if` that prints and computes: the message first, if nothing is exported."""
        ways = (node.body, node.orelse)
        groups = [list(filter(is_message, way)) for way in ways]
        if find_loaded(*groups[0], *groups[1]) & find_stored(*node.body, *node.orelse):
            raise CannotRewrite(f"line {find_site(node)[0]} prints what it computes")
        rest = [[n for n in way if not is_message(n)] for way in ways]
        message = mark(ast.If(node.test, groups[0] or [ast.Pass()], groups[1]), node)
        without = mark(ast.If(node.test, rest[0], rest[1]), node)
        self.done.append((find_site(node)[0], "skip"))
        exporting = ast.UnaryOp(ast.Not(), call("torch.compiler.is_exporting"))
        return [ast.If(exporting, [message], []), *self.choice(without, live)]

    def _find_shortcut(self, node: ast.If, facts: Choice) -> Any:
        """The way that only sets names to None that are tensors on the other; None without one."""
        for way in (node.body, node.orelse):
            names = [n for n in find_stored(*way) if _turns_off(facts.pairs.get(n, []))]
            if names and all(_is_off(statement) for statement in way):
                return way
        return None

    def _has_other_kinds(self, node: ast.If, facts: Choice) -> bool:
        """Whether torch.cond does not take what the ways of a branch do or give."""
        if _find_filled(node.body) | _find_filled(node.orelse):
            return True
        kinds = {e.kind for pairs in facts.pairs.values() for pair in pairs for e in pair[:2]}
        return bool(kinds & {"none", "other", "list", "undefined", "rows"})

    def _check(self, node: ast.If, facts: Choice, live: set[str]) -> Block:
        """An `if` that raises an error."""
        line = find_site(node)[0]
        raising, rest = (node.body, node.orelse) if _raises(node.body) else (node.orelse, node.body)
        if len(raising) != 1 or not isinstance(raising[0], ast.Raise):
            raise CannotRewrite(f"line {line} computes before it raises an error")
        self.done.append((line, "check"))
        test = self.answer(node.test)
        symbol = "symbol" in facts.ways
        if raising is node.body:
            if (
                isinstance(test, ast.Compare)
                and len(test.ops) == 1
                and type(test.ops[0]) in _OPPOSITE
            ):
                opposite = _OPPOSITE[type(test.ops[0])]()
                test = ast.Compare(test.left, [opposite], test.comparators)
            else:
                test = negate(test, "symbol" if symbol else "not")
        kind = "symbol" if symbol else "tensor"
        error = raising[0].exc
        expression = error.args[0] if isinstance(error, ast.Call) and error.args else None
        return [_make_check(test, _message(expression), kind, node), *self.block(rest, live)]

    def _where(self, node: ast.If, facts: Choice, live: set[str]) -> Block:
        then, other = self.block(node.body, live), self.block(node.orelse, live)
        for effect in (*_find_effects(then), *_find_effects(other)):
            text = ast.unparse(effect)
            raise CannotRewrite(
                f"line {find_site(node)[0]} branches around `{text}`, which has a side effect"
            )
        reads = _find_read(other), _find_read(then)
        then, first, held = self._take_collected(then, reads[0])
        other, second, more_held = self._take_collected(other, reads[1])
        ways = (then, other)
        lists = {name for name, _ in [*held, *more_held]}
        outs = [n for n in _in_order([*then, *other]) if n in live - lists]
        test, before = self._test(node, facts, outs, ways, bool(first or second or lists))
        for counts, appended in ((test, held), (negate(test), more_held)):
            for _, asked in appended:
                inner = asked.args[2] if len(asked.args) > 2 else None
                both = ast.BinOp(counts, ast.BitAnd(), inner) if inner is not None else counts
                asked.args = [*asked.args[:2], both]
        sides = [
            self._side(way, outs, reads)
            for way, reads in zip(ways, (find_loaded(*other), set()), strict=True)
        ]
        statements: Block = [*before]
        for lines, _ in sides:
            statements += lines
        growth = self._find_growth(node, facts, live)
        for name in outs:
            one, two = sides[0][1].get(name), sides[1][1].get(name)
            if name in growth and one is not None:
                if not isinstance(one, ast.Name):
                    longer = self.names.new(f"new_{name}")
                    statements.append(let(longer, one))
                    one = load(longer)
                statements += self._select_grown(test, name, one, growth[name])
                continue
            value = self._select(test, name, one, two, node)
            if find_site(node)[2].endswith(":going") and _is_flag(name, one, sides[0][0]):
                assert one is not None
                value = one  # a flag that stays, whatever is done behind it
            statements.append(let(name, value))
        statements += self._collect_both(test, first, second)
        if statements:
            statements[0] = (
                mark(statements[0], node) if not is_own(statements[0]) else statements[0]
            )
        return statements

    def _test(
        self, node: ast.If, facts: Choice, outs: list[str], ways: tuple[Block, Block], more: bool
    ) -> tuple[ast.expr, Block]:
        """A test as a bool tensor, and what computes it first where it is read more than once."""
        test = self.answer(node.test)
        test = _as_bool(test, facts)
        if isinstance(test, ast.UnaryOp) and find_site(node)[2].endswith(":going"):
            return load(self.names.of(node, "running")), [let(self.names.of(node, "running"), test)]
        is_name = isinstance(test, ast.Name) and test.id not in outs
        computed = any(not isinstance(s, ast.Assign) for way in ways for s in way)
        bound = find_stored(*ways[0], *ways[1]) & find_loaded(test)
        once = len(outs) == 1 and not more and not computed and not bound
        if is_name or once:
            return test, []
        name = self.names.of(node, "condition")
        self.synthetic.add(name)
        return load(name), [let(name, test)]

    def _side(
        self, way: Block, outs: list[str], other: set[str]
    ) -> tuple[Block, dict[str, ast.expr]]:
        """A branch's statements before the choice, and its value of each name that it binds."""
        values: dict[str, ast.expr] = {}
        for statement in way:
            if not (
                isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
                and statement.targets[0].id in outs
                and statement.targets[0].id not in values
                and not _is_write(statement.value)
                and not find_loaded(statement.value) & (set(outs) - {statement.targets[0].id})
                and not find_loaded(statement.value) & values.keys()
            ):
                break
            values[statement.targets[0].id] = statement.value
        else:
            return [], values
        stored = find_stored(*way)
        renamed = {n: self.names.new(f"new_{n}") for n in stored if n in outs or n in other}
        self.synthetic |= set(renamed.values())
        lines = _rename_in_order(way, renamed)
        return lines, {name: load(renamed[name]) for name in outs if name in stored}

    def _select(
        self, test: ast.expr, name: str, one: ast.expr | None, two: ast.expr | None, node: ast.If
    ) -> ast.expr:
        pairs = self.facts.choices[find_site(node)].pairs.get(name, [])
        kinds = [(a.kind, b.kind) for a, b, *_ in pairs]
        lines = {kind for both in kinds for kind in both}
        if pairs and all(alike for _, _, alike, _ in pairs):
            return one or two or load(name)
        for at, (mine, other) in enumerate(((one, two), (two, one))):
            if kinds and all(both[1 - at] == "undefined" for both in kinds) and other is None:
                assert mine is not None
                return mine
        if lines & {"none", "other", "list"}:
            apart = ("none", name) if "none" in lines else ()
            raise Unequal(f"`{name}` is a tensor in one branch only", find_site(node), *apart)
        is_index = "tensor" in lines and name in self.indices
        if lines & {"undefined", "bool"} or (
            (self.is_mixed or is_index) and lines & {"int", "float"}
        ):
            self.tensors.add(name)
        if "undefined" in lines:
            values = [v for both in pairs for v in both[:2] if v.kind != "undefined"]
            self.starts[name] = values[0]
        first, second = one or load(name), two or load(name)
        flag = _as_flag(test, first, second, name)
        if flag is not None:
            return flag
        result = call("torch.where", test, first, second)
        is_whole = kinds and all(both == ("int", "int") for both in kinds)
        if is_whole and self.facts.keeps_symbols and not self.depth:
            return method(result, "item")
        return result

    def _take_collected(
        self, way: Block, read: set[str]
    ) -> tuple[Block, list[tuple[str, ast.expr, ast.expr | None]], list[tuple[str, ast.Call]]]:
        """A way without what it appends, and that; the appends that stay, as it reads the list.

        Args:
            way: of a branch.
            read: the names that the other way reads.
        """
        result: list[tuple[str, ast.expr, ast.expr | None]] = []
        held: list[tuple[str, ast.Call]] = []
        kept = Block()
        filled = _find_filled(way)
        for at, statement in enumerate(way):
            collected = as_collected(statement)
            if collected is None or collected[0] not in filled:
                if isinstance(statement, ast.For | ast.While | ast.If) and (
                    _find_collected(statement) & filled
                ):
                    raise CannotRewrite(
                        f"line {find_site(statement)[0]} appends in a loop within a branch"
                    )
                kept.append(statement)
                continue
            name, value, mask = collected
            later = find_stored(*way[at + 1 :])
            if find_loaded(value) & later or not isinstance(value, ast.Name | ast.Constant):
                free = self.names.new(f"{name}_row")
                self.synthetic.add(free)
                kept.append(let(free, value))
                value = load(free)
            if name not in _find_read(way[at + 1 :]):
                result.append((name, value, mask))
                continue
            if self.depth or name in read:
                raise CannotRewrite(f"a branch appends to `{name}` and reads it")
            if name not in self.masks:
                self.masks[name] = self.names.new(f"{name}_kept")
            asked = call(COLLECT, load(name), value, *([mask] if mask is not None else []))
            kept.append(let(name, asked))
            held.append((name, asked))
        return kept, result, held

    def _collect_both(
        self,
        test: ast.expr,
        first: list[tuple[str, ast.expr, ast.expr | None]],
        second: list[tuple[str, ast.expr, ast.expr | None]],
    ) -> Block:
        """Values that two branches append: one by the test, or both, each with a flag."""
        statements: Block = []
        value: ast.expr
        for name in dict.fromkeys([pair[0] for pair in [*first, *second]]):
            one = [pair for pair in first if pair[0] == name]
            two = [pair for pair in second if pair[0] == name]
            if len(one) == len(two) == 1 and not one[0][2] and not two[0][2]:
                values = [group[0][1] for group in (one, two)]
                value = call("torch.where", test, *values)
                if ast.dump(values[0]) == ast.dump(values[1]):
                    value = values[0]
                statements.append(let(name, call(COLLECT, load(name), value)))
                continue
            for ways, mask in ((one, test), (two, negate(test))):
                if ways and not self.depth and name not in self.masks:
                    self.masks[name] = self.names.new(f"{name}_kept")
                for _, value, inner in ways:
                    both = ast.BinOp(mask, ast.BitAnd(), inner) if inner is not None else mask
                    statements.append(let(name, call(COLLECT, load(name), value, both)))
        return statements

    def _cond(self, node: ast.If, facts: Choice, live: set[str]) -> Block:
        site = find_site(node)
        outs = [n for n in _in_order([*node.body, *node.orelse]) if n in live]
        if not outs:
            raise CannotRewrite(f"line {site[0]} has a side effect that cannot be traced")
        for name in outs:
            pairs = facts.pairs.get(name, [])
            kinds = {value.kind for pair in pairs for value in pair[:2]}
            if any(one.kind == other.kind and one[1:2] != other[1:2] for one, other, *_ in pairs):
                raise Unequal(f"`{name}` has different dtypes in the branches", site)
            if any(one.kind == o.kind == "tensor" and one.rank != o.rank for one, o, *_ in pairs):
                raise Unequal(f"`{name}` has different shapes in the branches", site)
            is_tree = all(one.kind == two.kind and same for one, two, _, same in pairs)
            if kinds & {"none", "other", "undefined"} or (kinds & {"list", "tree"} and not is_tree):
                apart = ("none", name) if "none" in kinds else ()
                raise Unequal(f"`{name}` is a tensor in one branch only", site, *apart)
        held = self._held(node)
        with self.inside():
            ways = [self.block(node.body, live), self.block(node.orelse, live)]
        stored = find_stored(*ways[0], *ways[1])
        needed = Liveness.of(ways[0], set(outs)) | Liveness.of(ways[1], set(outs))
        texts = [name for name in _in_order([*ways[0], *ways[1]]) if name in needed & stored]
        texts += sorted(facts.shared & find_loaded(*ways[0], *ways[1]) - set(texts))
        line = find_site(node)[0]
        statements: Block = [*held, *(ast.parse(text).body[0] for text in self.answers.required)]
        self.answers.required.clear()
        numbers = {name for name in texts if facts.before.get(name, _NO_VALUE).is_number}
        names = [self.names.of(node, f"then_{line}"), self.names.of(node, f"else_{line}")]
        for at, (name, way) in enumerate(zip(names, ways, strict=True)):
            kept = numbers - find_stored(*way)
            values = [self._return_value(n, facts, at, is_kept=n in kept) for n in outs]
            lines = [*way, ast.Return(as_tuple(values))]
            statements.append(make_function(name, texts, _return_directly(lines, outs)))
        test = _as_bool(self.answer(node.test), facts)
        operands = ast.Tuple(
            [
                self._as_operand(n, facts.before[n], {facts.before[n].kind})
                if n in numbers
                else method(load(n), "clone")
                if n in facts.shared
                else load(n)
                for n in texts
            ],
            ast.Load(),
        )
        chosen: ast.expr = call("torch.cond", test, load(names[0]), load(names[1]), operands)
        statements.append(ast.Assign([as_target(outs)], chosen, lineno=0))
        statements[0] = mark(statements[0], node)
        self.answers.held.clear()
        return statements

    def _as_operand(self, name: str, value: Value, kinds: Iterable[str]) -> ast.expr:
        """A number as a tensor of the kind that numbers of some kinds have in common.

        torch.as_tensor would fix a size.
        """
        if "float" in kinds:
            is_plain = not isinstance(value.constant, torch.SymInt | torch.SymFloat)
            return call("torch.as_tensor" if is_plain else "torch.scalar_tensor", load(name))
        if "int" in kinds:
            return parse_expression(f"torch.scalar_tensor({name}, dtype=torch.int64)")
        return call("torch.as_tensor", load(name))

    def _held(self, node: ast.If) -> Block:
        """Tensors of what counts of lists that a choice reads, whose pieces may share memory."""
        statements: Block = []
        for name in sorted(find_loaded(node) & self.masks.keys()):
            rows = self.names.new(f"{name}_rows")
            statements.append(let(rows, self.answers.rows(load(name))))
            self.answers.held[name] = rows
        return statements

    def _return_value(self, name: str, facts: Choice, at: int, *, is_kept: bool) -> ast.expr:
        """The result of a branch of cond for a name: no alias, and a tensor.

        `is_kept` of a number that the way leaves as the operand that it got.
        """
        pairs = facts.pairs.get(name, [])
        kinds = {pair[:2][at].kind for pair in pairs}
        both = {value.kind for pair in pairs for value in pair[:2]}
        if kinds <= {"int", "bool"} and both - kinds == {"float"}:
            as_float = f"{name}.to({torch.get_default_dtype()})"
            return parse_expression(as_float if is_kept else f"torch.as_tensor({name} * 1.0)")
        if is_kept:
            return method(load(name), "clone")
        if kinds <= {"int"} and "tensor" in both:
            return self._as_operand(name, pairs[0][:2][at], kinds)
        if kinds <= {"float", "bool"}:
            return call("torch.as_tensor", load(name))
        if kinds <= {"int"} or kinds <= {"list", "tree"}:
            return load(name)
        in_order = all(value.is_contiguous for pair in pairs for value in pair[:2])
        how = "" if in_order else "memory_format=torch.contiguous_format"  # cond compares strides
        return parse_expression(f"{name}.clone({how})")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While what is lowered goes into a function of an operator."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    # -- what is around -------------------------------------------------------------------------

    def _add_starts(self, body: Block) -> Block:
        """A body whose lists have their masks, and whose numbers are tensors where they change."""
        statements = self._place(body)
        first = write_starts(self.starts)
        at = next((n for n, s in enumerate(statements) if self.starts.keys() & find_stored(s)), 0)
        statements = [*statements[:at], *first, *statements[at:]]
        return simplify([self._final(statement) for statement in statements], self.synthetic)

    def _place(self, body: Block) -> Block:
        """Placeholders as statements."""
        statements: Block = []
        for statement in body:
            statements += self._statement_of(statement)
        return statements

    def _statement_of(self, node: ast.stmt) -> Block:
        collected = as_collected(node)
        if collected is not None:
            name, value, mask = collected
            statements: Block = [ast.Expr(method(load(name), "append", value))]
            if name in self.masks:
                kept = mask or parse_expression("torch.tensor(True)")
                statements.append(ast.Expr(method(load(self.masks[name]), "append", kept)))
            return statements
        if isinstance(node, ast.Assign) and (written := self._as_written(node)):
            return written
        match node:
            case ast.Assign([ast.Name(id=name)], ast.List(elts)) if name in self.masks:
                if any(isinstance(part, ast.Starred) for part in elts):
                    raise CannotRewrite(f"`{name}` has elements before the loop")
                counts = ", ".join("torch.tensor(True)" for _ in elts)
                return [node, let(self.masks[name], parse_expression(f"[{counts}]"))]
            case ast.Assign([ast.Tuple(parts)], ast.Tuple()):
                masks = [self.masks.get(getattr(expression, "id", "")) for expression in parts]
                return [node, *(let(text, ast.List([], ast.Load())) for text in masks if text)]
        return [map_blocks(node, self._place)]

    def _as_written(self, node: ast.Assign) -> Block:
        """`x = written(x, i, v)` as a clone, and a write into it."""
        value, target = node.value, node.targets[0]
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            return []
        if value.func.id != WRITE or not isinstance(target, ast.Name):
            return []
        if len(value.args) == 1:
            return [mark(let(target.id, method(value.args[0], "clone")), node)]
        of, index, new = value.args
        note = self.facts.notes.get(find_site(value))
        if note is not None and note[0] == "masked":
            return self._as_masked(node, of, index, new, note[1])
        if note is not None and note[0] in ("dict", "list"):
            place = ast.Subscript(load(target.id), index, ast.Store())
            copied = ast.Dict([None], [of]) if note[0] == "dict" else ast.List([ast.Starred(of)])
            return [mark(let(target.id, copied), node), let(place, new)]
        if note is not None:
            index, at = index_as_rows(index, note[1])
            new = method(new, "unsqueeze", ast.Constant(at)) if note[2] else new
        place = ast.Subscript(load(target.id), index, ast.Store())
        clone = method(of, "clone")
        return [mark(let(target.id, clone), node), let(place, new)]

    def _as_masked(
        self, node: ast.Assign, of: ast.expr, index: ast.expr, new: ast.expr, region: Region
    ) -> Block:
        """`x = written(x, (b, slice(n)), v)` as a choice between old and new by a mask."""
        target, parts = node.targets[0], index.elts if isinstance(index, ast.Tuple) else [index]
        assert isinstance(target, ast.Name)
        if len(region.numbers) > 1:
            raise CannotRewrite(f"line {find_site(node)[0]} writes with several indices and slices")
        if region.is_cut:
            whole = drop_slices(new, [parts[at] for at in region.places])
            if whole is None:
                line = find_site(node)[0]
                raise CannotRewrite(f"line {line} writes a value of a data-dependent length")
            new = whole
        kept = [ast.Slice() if at in region.places else part for at, part in enumerate(parts)]
        while kept and isinstance(kept[-1], ast.Slice) and ast.unparse(kept[-1]) == ":":
            kept.pop()
        statements: Block = [let(target.id, of)] if ast.unparse(of) != target.id else []
        taken, extra = kept, -1
        if region.numbers:
            rows, extra = index_as_rows(ast.Tuple(kept, ast.Load()), region.numbers)
            assert isinstance(rows, ast.Tuple)
            taken = rows.elts
            behind = extra - region.rank + (region.value or 0)
            if region.value and behind >= 0:
                new = method(new, "unsqueeze", ast.Constant(behind))
        masks: list[ast.expr] = []
        for place, dim, ends in zip(region.places, region.dims, region.tensors, strict=True):
            later = region.rank - 1 - dim + int(extra > dim)
            part = parts[place]
            assert isinstance(part, ast.Slice)
            inside = self._find_inside(target.id, place, part, ends, statements)
            masks.append(_with_dims(inside, later))
        chosen_by = masks[0]
        for mask in masks[1:]:
            chosen_by = ast.BinOp(chosen_by, ast.BitAnd(), mask)
        old: ast.expr = load(target.id)
        if taken:
            old = ast.Subscript(old, as_tuple(taken), ast.Load())
        chosen = call("torch.where", chosen_by, new, old)
        if region.value is None:
            chosen = method(old, "masked_fill", chosen_by, new)
        if not taken:
            if region.value is not None:
                chosen = method(chosen, "to", ast.Attribute(load(target.id), "dtype", ast.Load()))
            return [*statements, mark(let(target.id, chosen), node)]
        place_node = ast.Subscript(load(target.id), as_tuple(taken), ast.Store())
        row = self.names.new(f"{target.id}_row")
        clone = let(target.id, method(load(target.id), "clone"))
        return [*statements, mark(let(row, chosen), node), clone, let(place_node, load(row))]

    def _find_inside(
        self, name: str, dim: int, part: ast.Slice, tensors: tuple[bool, bool], statements: Block
    ) -> ast.expr:
        """The mask of what a slice has of a tensor's dim; what it needs is added to statements."""
        at = parse_expression(f"torch.arange({name}.shape[{dim}], device={name}.device)")
        if part.lower is not None and part.upper is not None:
            rows = self.names.new("places")
            statements.append(let(rows, at))
            at = load(rows)
        tests: list[ast.expr] = []
        stems = ((part.lower, ast.GtE(), "start"), (part.upper, ast.Lt(), "end"))
        for (end, how, stem), is_tensor in zip(stems, tensors, strict=True):
            if end is None:
                continue
            if not isinstance(end, ast.Constant):  # which counts from behind where it is negative
                bound = self.names.new(stem)
                if not is_tensor or not isinstance(end, ast.Name):
                    value = end if is_tensor else call("torch.as_tensor", end)
                    statements.append(let(bound, value))
                    end = load(bound)  # noqa: PLW2901
                behind = f"torch.where($end < 0, $end + {name}.shape[{dim}], $end)"
                statements.append(let(bound, fill(behind, end=end)))
                end = load(bound)  # noqa: PLW2901
            tests.append(ast.Compare(at, [how], [end]))
        if len(tests) == 1:
            return tests[0]
        inside = self.names.new("inside")
        statements.append(let(inside, ast.BinOp(tests[0], ast.BitAnd(), tests[1])))
        return load(inside)

    def _final(self, node: ast.stmt) -> ast.stmt:
        """A number's start as a tensor, for a name that is one from some point on."""
        match node:
            case ast.Assign():
                value = start_numbers(node, self._start_number)
                if value is not node.value:
                    return mark(ast.Assign(node.targets, value, lineno=0), node)
            case ast.FunctionDef() if is_own(node) or not self.facts.tensors:
                return node
            case ast.FunctionDef() | ast.For() | ast.While() | ast.If():
                return map_blocks(node, lambda block: [self._final(n) for n in block])
        return node

    def _start_number(self, name: str, value: ast.expr) -> ast.expr:
        if name not in self.tensors:
            return value
        start, dtype = ast.literal_eval(value), self.facts.tensors.get(name)
        if isinstance(start, int) and dtype == torch.get_default_dtype():
            return call("torch.tensor", ast.Constant(float(start)))
        own = {bool: torch.bool, int: torch.int64}.get(type(start), torch.get_default_dtype())
        return call("torch.tensor", value, **keyword_of_dtype(dtype, own))


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.LtE,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def _like(made: ast.stmt, node: ast.stmt) -> ast.stmt:
    """The statement itself, where what was made of it is the same."""
    pairs = zip(ast.iter_fields(made), ast.iter_fields(node), strict=False)
    for (field, new), (_, old) in pairs:
        if field in ("type_comment", "lineno"):
            continue
        same = new is old
        if isinstance(new, list) and isinstance(old, list):
            same = is_same(new, old)
        if not same:
            return mark(made, node)
    return node


def _with_dims(mask: ast.expr, later: int) -> ast.expr:
    """A mask of one dim with further dims of size 1 after it."""
    if not later:
        return mask
    return fill(f"$mask[:{', None' * later}]", mask=mask)


def _selects(pairs: list[tuple[Value, Value, bool, bool]]) -> bool:
    """Whether where can select between two values."""
    for one, two, alike, same_shape in pairs:
        kinds = {one.kind, two.kind}
        if kinds == {"tensor"} and not alike and not same_shape:
            return False
        if not alike and kinds <= {"tree", "list"}:
            return False
        if alike or kinds <= {"undefined", "none", "other", "list"}:
            continue
    return True


def _as_growth(pairs: list[tuple[Value, Value, bool, bool]]) -> Growth | None:
    """How much longer a way's tensor always is; None where it is not."""
    growths = set()
    for one, two, *_ in pairs:
        if one.kind != "tensor" or two[:2] != one[:2] or one.rank != two.rank:
            return None
        more = [_subtract(a, b) for a, b in zip(one.shape, two.shape, strict=True)]
        dims = [dim for dim, number in enumerate(more) if number != 0]
        number = more[dims[0]] if len(dims) == 1 else None
        if number is None or number < 0:
            return None
        growths.add((dims[0], one.rank, number))
    return growths.pop() if len(growths) == 1 else None


def _subtract(one: Any, two: Any) -> int | None:
    """The difference of two sizes, where it is a number."""
    difference = one - two
    if isinstance(difference, torch.SymInt):
        difference = difference.node.expr
        return int(difference) if difference.is_number else None
    return int(difference)


def _find_compared(node: ast.AST) -> set[str]:
    match node:
        case ast.Compare(ops=ops) if any(isinstance(e, _TAKING_NONE) for e in ops):
            return {e.id for e in [node.left, *node.comparators] if isinstance(e, ast.Name)}
    return set()


def _as_bool(test: ast.expr, facts: Choice) -> ast.expr:
    """A test as a bool, or a tensor of one."""
    is_bool = facts.test.kind == "bool" or str(facts.test.dtype) == "torch.bool"
    if not is_bool:
        test = ast.Compare(test, [ast.NotEq()], [ast.Constant(0)])
    return method(test, "squeeze") if facts.test.rank else test


def _is_off(node: ast.stmt) -> bool:
    match node:
        case ast.Assign([ast.Name()], ast.Constant(value=None)):
            return True
    return False


def _turns_off(pairs: list[tuple[Value, Value, bool, bool]]) -> bool:
    kinds = [{one.kind, two.kind} for one, two, *_ in pairs]
    return bool(kinds) and all("none" in both and "tensor" in both for both in kinds)


def _raises(block: Block) -> bool:
    return bool(block) and isinstance(block[-1], ast.Raise)


def is_message(node: ast.AST) -> bool:
    """Whether a statement only prints, logs or warns."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    of = node.value.func
    is_write = isinstance(of, ast.Attribute) and of.attr.endswith("_")
    is_write = is_write or any(keyword.arg == "out" for keyword in node.value.keywords)
    if is_write or any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node)):
        return False
    while isinstance(of, ast.Attribute):
        if of.attr in ("logger", "log", "_logger"):
            return True
        of = of.value
    return isinstance(of, ast.Name) and of.id in _SAYS


def _only_says(block: Block, live: set[str]) -> bool:
    """Whether a block only prints, logs or warns, and computes what it says."""
    return any(
        is_message(n) for statement in block for n in ast.walk(statement) if isinstance(n, ast.stmt)
    ) and all(is_message(statement) or _is_for_messages(statement, live) for statement in block)


def _is_for_messages(node: ast.stmt, live: set[str]) -> bool:
    match node:
        case ast.Assign([ast.Name(id=name)], value) if name not in live:
            return not any(isinstance(n, ast.Call) for n in ast.walk(value))
        case ast.If(_, body, orelse):
            return all(is_message(n) or _is_for_messages(n, live) for n in [*body, *orelse])
    return isinstance(node, ast.Pass)


def _find_collected(node: ast.AST) -> set[str]:
    """The lists that are appended to."""
    statements = [inner for inner in ast.walk(node) if isinstance(inner, ast.stmt)]
    return {pair[0] for pair in map(as_collected, statements) if pair is not None}


def _find_read(block: Block) -> set[str]:
    """The names that statements read, those of appends only in what is appended."""
    return set().union(
        *(
            find_loaded(pair[1]) if (pair := as_collected(node)) else find_loaded(node)
            for node in block
        )
    )


def _find_filled(block: Block) -> set[str]:
    """Lists that are appended to, and begin before a block."""
    own = {
        t
        for statement in block
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List)
        for t in find_stored(statement)
    }
    return set().union(*map(_find_collected, block)) - own


def _make_check(test: ast.expr, message: ast.expr, kind: str, node: ast.AST) -> ast.stmt:
    if kind == "symbol":
        return mark(ast.Expr(call("torch._check", test, thunk(message))), node)
    return mark(ast.Expr(call("torch._assert_async", test, message)), node)


def _message(error: ast.expr | None) -> ast.expr:
    if isinstance(error, ast.Constant) and isinstance(error.value, str):
        return error
    if isinstance(error, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else "…" for p in error.values]
        return ast.Constant("".join(map(str, parts)))
    return ast.Constant("the check does not hold")


def _in_order(statements: Block) -> list[str]:
    """The names that statements bind, in order."""
    entries: dict[str, None] = {}
    for statement in statements:
        for node in sorted(
            (n for n in ast.walk(statement) if isinstance(n, ast.Name)),
            key=lambda n: n.lineno if hasattr(n, "lineno") else 0,
        ):
            if isinstance(node.ctx, ast.Store) and node.id in find_stored(statement):
                entries[node.id] = None
    return list(entries)


def _rename_in_order(way: Block, names: dict[str, str]) -> Block:
    """Statements in which a name is another from where it is bound."""
    statements: Block = []
    active: dict[str, str] = {}
    for statement in way:
        simple = isinstance(statement, ast.Assign) and len(statement.targets) == 1
        if simple:
            assert isinstance(statement, ast.Assign)
            value = rename([statement.value], active)[0]
            active |= {n: names[n] for n in find_stored(statement) if n in names}
            target = rename([statement.targets[0]], active)[0]
            same = value is statement.value and target is statement.targets[0]
            statements.append(
                statement if same else mark(ast.Assign([target], value, lineno=0), statement)
            )
            continue
        stored = {n: names[n] for n in find_stored(statement) if n in names}
        fresh = {n: m for n, m in stored.items() if n not in active}
        for name, new in fresh.items():
            compound = isinstance(statement, ast.For | ast.While | ast.If)
            goes_on = compound and name in Liveness.before(statement, {name})
            if name in find_loaded(statement) or goes_on:
                statements.append(let(new, load(name)))
        active |= stored
        statements += rename([statement], active)
    return statements


def _find_effects(way: Block) -> Iterator[ast.Expr]:
    """Calls for an effect that both ways of a choice would have: of what the way has not made."""
    own = find_stored(*way)
    for statement in way:
        match statement:
            case ast.Expr(ast.Call(function)):
                root = find_root(function.value) if isinstance(function, ast.Attribute) else None
                if root not in own and not ast.unparse(function).startswith("torch."):
                    yield statement


def _is_write(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) == WRITE


def _is_flag(name: str, value: ast.expr | None, lines: Block) -> bool:
    """Whether a value is a name's own, or True."""
    for line in reversed(lines):
        match line, value:
            case ast.Assign([ast.Name(id=new)], made), ast.Name(id=other) if new == other:
                value = made
    match value:
        case ast.BinOp(ast.Name(id=first), ast.BitOr()):
            return first == name
    return False


def _as_flag(test: ast.expr, one: ast.expr, two: ast.expr, name: str) -> ast.expr | None:
    """The choice of a flag as an operation on it."""
    match one, two:
        case ast.Constant(value=True), ast.Name(id=other) if other == name:
            return ast.BinOp(load(name), ast.BitOr(), test)
        case ast.Constant(value=True), ast.Constant(value=False):
            return test
    return None


def _return_directly(lines: Block, outs: list[str]) -> Block:
    """A function's body that returns a value directly where its last statement binds it."""
    if len(lines) < 2 or len(outs) != 1:
        return lines
    end = lines[-1]
    assert isinstance(end, ast.Return)
    match lines[-2], end.value:
        case ast.Assign([ast.Name(id=name)], value), ast.Call(ast.Attribute(attr="clone")):
            if name != outs[0] or _is_write(value):
                return lines
            fresh = isinstance(value, ast.BinOp) or _is_fresh(value)
            expression = value if fresh else method(value, "clone")
            return [*lines[:-2], mark(ast.Return(expression), lines[-2])]
    return lines


def _is_fresh(value: ast.expr) -> bool:
    pair = ("torch.where", "torch.cond")
    return isinstance(value, ast.Call) and ast.unparse(value.func) in pair


def _is_docstring(body: Block) -> bool:
    match body[:1]:
        case [ast.Expr(ast.Constant(value=str()))]:
            return True
    return False

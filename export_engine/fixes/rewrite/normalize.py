"""Normal forms: only assignments, `if`, `for` and `while` are left around what is staged.

No match, break, continue, early return, comprehension, `:=`, augmented assignment, element write or
append: the last three become assignments, so that every effect is a name being bound.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from copy import copy, deepcopy
from typing import cast

import torch

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.analysis import Liveness, find_root, is_in_place
from export_engine.fixes.rewrite.expressions import Names, Staged, is_touched, lift
from export_engine.fixes.rewrite.form import (
    COLLECT,
    EXITS,
    PROBE,
    WRITE,
    Block,
    Function,
    Site,
    as_tuple,
    call,
    fill,
    find_blocks,
    find_loaded,
    find_site,
    find_stored,
    has_exit,
    let,
    load,
    mark,
    method,
    parse_expression,
    rename,
    replace_nodes,
)

RESULT = "result"
_EXITS = ("exit", "quit", "sys.exit")


class Normal:
    """The passes over a function, for what is staged of it."""

    def __init__(
        self,
        function: Function,
        names: Names,
        staged: Staged,
        *,
        is_probed: bool = False,
        splits: frozenset[Site] = frozenset(),
    ) -> None:
        self.function, self.names, self.staged = function, names, staged
        self.is_probed, self.splits = is_probed, splits
        self.results: list[str] = []
        """The function's results, one name for each value."""
        self.synthetic: set[str] = set()
        """Names that are given here."""
        self.attributes: dict[str, str] = {}
        """By path: the name that an attribute has where it is written."""
        self.holding: list[ast.stmt] = []
        """The statements in which attributes are names."""

    def find_form(self) -> Block:
        """The function's body in normal form; unchanged without staged exits."""
        body = self._block(self.function.node.body, inside=False)
        body = self._without_loop_exits(body)
        if not self._leaves_early(body, ast.Return):
            return self._with_attributes(body)
        self.results = self._find_results(body)
        end = ast.Return(ast.Constant(None))
        body = self._nest([*body, end], ast.Return, self._replace_return)
        last = ast.Return(as_tuple([load(name) for name in self.results]))
        return [*self._with_attributes(body), last]

    def _with_attributes(self, body: Block) -> Block:
        """A function's body in which an attribute that a staged site writes is a name there."""
        if not self.attributes:
            return body
        if len(set(self.attributes.values())) < len(self.attributes):
            raise CannotRewrite("two attributes of the same name are written")
        statements: Block = []
        for statement in body:
            held = {p: n for p, n in self.attributes.items() if n in find_stored(statement)}
            if not held:
                statements.append(statement)
                continue
            if has_exit([statement], (ast.Return,)):
                raise CannotRewrite(
                    f"line {find_site(statement)[0]} writes an attribute and returns"
                )

            def find_held(node: ast.AST, held: dict[str, str] = held) -> ast.AST | None:
                if not isinstance(node, ast.Attribute) or ast.unparse(node) not in held:
                    return None
                return ast.copy_location(ast.Name(held[ast.unparse(node)], node.ctx), node)

            result = replace_nodes(statement, find_held)
            self.holding.append(result)
            paths = {name: parse_expression(path) for path, name in held.items()}
            for name in sorted(Liveness.before(result, set(held.values())) & paths.keys()):
                path = paths[name]
                assert isinstance(path, ast.Attribute)
                if self.is_probed:
                    asked = call(f"{PROBE}.hold", path.value, ast.Constant(path.attr))
                    statements.append(ast.Expr(asked))
                statements.append(
                    mark(let(name, parse_expression(ast.unparse(path))), statement, name)
                )
            statements.append(result)
            for name, target in paths.items():
                target.ctx = ast.Store()  # type: ignore[attr-defined]
                statements.append(mark(let(target, load(name)), statement, f"write {name}"))
        return statements

    # -- statements -----------------------------------------------------------------------------

    def _block(self, statements: Block, *, inside: bool) -> Block:
        result: Block = []
        for statement in statements:
            if inside or is_touched(statement, self.staged):
                result += self._statement(statement, inside=inside)
            else:
                result.append(statement)
        return self._split(result)

    def _split(self, statements: Block) -> Block:
        """A block in which both ways of some branches go on, each by itself, to its end."""
        for at, statement in enumerate(statements):
            rest = statements[at + 1 :]
            if not isinstance(statement, ast.If) or find_site(statement) not in self.splits:
                continue
            if not rest or statement.body[-1:] == rest[-1:]:
                break
            rest = self._block(rest, inside=True)
            ways = [[*way, *_decide(rest, way)] for way in (statement.body, statement.orelse)]
            return [*statements[:at], mark(ast.If(statement.test, *ways), statement)]
        return statements

    def _statement(self, node: ast.stmt, *, inside: bool) -> Block:
        """A statement in normal form; `inside` what is staged, all effects are names."""
        match node:
            case ast.Match():
                return self._block(self._as_ifs(node), inside=inside)
            case ast.If() | ast.For() | ast.While():
                return self._convert_compound(node, inside=inside)
            case ast.Expr(ast.Constant()) | ast.Pass() if inside:
                return []
            case ast.Try() | ast.With() | ast.AsyncFor() | ast.AsyncWith():
                raise CannotRewrite(
                    f"line {node.lineno} is a `{type(node).__name__.lower()}` statement"
                )
            case ast.Global() | ast.Nonlocal():
                raise CannotRewrite(f"line {node.lineno} binds a name of another scope")
            case ast.Assign([ast.Name() | ast.Tuple() as target], ast.IfExp() as choice) if (
                self.staged(choice)
            ):
                return self._choose(choice, lambda v: let(target, v), inside=inside)
            case ast.Return(ast.IfExp() as choice) if self.staged(choice):
                return self._choose(choice, ast.Return, inside=inside)
            case ast.FunctionDef() | ast.ClassDef():
                return [node]
        if isinstance(node, ast.Delete) and not inside:
            return [node]
        before, node = self._lift(node)
        if inside or self.staged(node):
            return [*before, *self._effects(node, inside=inside)]
        return [*before, node]

    def _convert_compound(self, node: ast.If | ast.For | ast.While, *, inside: bool) -> Block:
        inner = inside or self.staged(node)
        body = self._block(node.body, inside=inner)
        other = self._block(node.orelse, inside=inner)
        if isinstance(node, ast.If):
            before, test = lift(node.test, self.names, self._binding if inner else self.staged)
            return [*before, *self._append_once(mark(ast.If(test, body, other), node))]
        if isinstance(node, ast.For):
            if inner and (last := self._with_last(node)):
                return self._block(last, inside=inside)
            before, rows = lift(node.iter, self.names, self.staged)
            return [*before, mark(ast.For(node.target, rows, body, other, lineno=0), node)]
        before, test = lift(node.test, self.names, self.staged)
        if before:
            raise CannotRewrite(f"the test of the loop on line {node.lineno} binds a name")
        return [mark(ast.While(test, body, other), node)]

    def _append_once(self, node: ast.If) -> Block:
        """An `if` both of whose ways end in an append or a write to one place, with it after."""
        ends = [_as_placed(block[-1]) for block in (node.body, node.orelse) if block]
        match ends:
            case [(name, place, one), (other, same, two)] if (name, place) == (other, same):
                ways, row = [node.body[:-1], node.orelse[:-1]], one
                if not isinstance(one, ast.Name) or ast.dump(one) != ast.dump(two):
                    row = load(self.names.of(node, f"{name}_row"))
                    self.synthetic.add(row.id)
                    rows = [let(row.id, one), let(row.id, two)]
                    ways = [[*way, end] for way, end in zip(ways, rows, strict=True)]
                branch = mark(ast.If(node.test, *ways), node)
                last = cast("ast.Assign", node.body[-1])
                placed = copy(cast("ast.Call", last.value))
                placed.args = [*placed.args[:-1], row]
                result = mark(placed, last.value)
                return [branch, mark(let(name, result), last)]
        return [node]

    def _binding(self, node: ast.AST) -> bool:
        return isinstance(node, ast.NamedExpr) or self.staged(node)

    def _choose(
        self, node: ast.IfExp, then: Callable[[ast.expr], ast.stmt], *, inside: bool
    ) -> Block:
        """A choice between two values as one between two statements."""
        before, test = lift(node.test, self.names, self.staged)
        body = self._block([then(node.body)], inside=True)
        other = self._block([then(node.orelse)], inside=True)
        return [*before, mark(ast.If(test, body, other), node)]

    def _lift(self, node: ast.stmt) -> tuple[Block, ast.stmt]:
        """A simple statement, and what its expressions need before it."""
        if not is_touched(node, self.staged):
            return [], node
        statement, before = deepcopy(node), Block()
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                own, left = lift(value, self.names, self.staged)
                before += own
                setattr(statement, field, left)
        return before, statement

    def _as_ifs(self, node: ast.Match) -> Block:
        """`match` as a chain of `if`."""
        subject = self.names.of(node, "subject")
        chain: Block = []
        for at, case in reversed(list(enumerate(node.cases))):
            test = _pattern_test(case.pattern, load(subject))
            if test and isinstance(node.subject, ast.List | ast.Tuple):
                test = _without_count(test, len(node.subject.elts))
            for n, inner in enumerate(ast.walk(test) if test else ()):
                if isinstance(inner, ast.BoolOp | ast.Compare) and not hasattr(inner, "lineno"):
                    mark(inner, node, f"{at}-{n}")
            body = [*_bind_pattern(case.pattern, load(subject)), *case.body]
            if case.guard is not None:
                both = ast.BoolOp(ast.And(), [test, case.guard]) if test else case.guard
                test = mark(both, node, f"guard{at}")
            chain = [mark(ast.If(test, body, chain), node, str(at))] if test else body
        return [let(subject, node.subject), *chain]

    def _effects(self, node: ast.stmt, *, inside: bool) -> Block:
        """Augmented assignment, element write and append as assignments."""
        match node:
            case ast.AugAssign(ast.Name(id=name), ast.Add(), ast.List(values)) | ast.Expr(
                ast.Call(ast.Attribute(ast.Name(id=name), "extend"), [ast.List(values)], [])
            ):
                return [
                    mark(let(name, mark(call(COLLECT, load(name), value), node, str(at))), node)
                    for at, value in enumerate(values)
                ]
            case ast.AugAssign(target, how, value):
                read = _as_read(target)
                return [mark(self._write(target, ast.BinOp(read, how, value)), node)]
            case ast.AnnAssign(target, _, value):
                return [mark(self._write(target, value), node)] if value else []
            case ast.Assign([ast.Subscript() | ast.Attribute() as target], value):
                return [mark(self._write(target, value), node)]
            case ast.Assign([_, _, *_] as targets, value):
                name = self.names.of(node, "value")
                return [
                    let(name, value),
                    *(self._write(expression, load(name)) for expression in targets),
                ]
            case ast.Expr(ast.Call(function, args)) if ast.unparse(function) in _EXITS:
                return [mark(ast.Raise(call("SystemExit", *args)), node)]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name() | ast.Subscript() as of, attr))) if (
                is_in_place(attr) and find_root(of)
            ):
                name = find_root(of)
                copied = mark(call(WRITE, load(name)), node, "copied")
                return [mark(let(name, copied), node, "copied"), node]
            case ast.Delete([ast.Subscript(ast.Name(id=name), ast.Constant(value=0))]):
                return [mark(let(name, mark(parse_expression(f"{name}[1:]"), node)), node)]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "pop"), args, [])) if _is_end(
                args
            ):
                return [_without_popped(node, name, args)]
            case ast.Assign(
                [target], ast.Call(ast.Attribute(ast.Name(id=name), "pop"), args, [])
            ) if _is_end(args):
                taken = mark(parse_expression(f"{name}[{'0' if args else '-1'}]"), node, "popped")
                first = mark(ast.Assign([target], taken, lineno=0), node, "popped")
                return [*self._effects(first, inside=inside), _without_popped(node, name, args)]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "append"), [value], [])):
                result = mark(call(COLLECT, load(name), value), node)
                return [mark(let(name, result), node)]
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(id=name), "reverse"), [], [])):
                return [mark(let(name, mark(parse_expression(f"{name}[::-1]"), node)), node)]
            case ast.Expr(
                ast.Call(ast.Attribute(ast.Name() | ast.Attribute() as of, attr), args, keywords)
            ) if is_in_place(attr):
                if not hasattr(torch.Tensor, attr):
                    if not inside:
                        return [node]
                    raise CannotRewrite(f"line {node.lineno} calls `{attr}` for its side effect")
                read = _as_read(of)
                changed = ast.Call(method(method(read, "clone"), attr).func, args, keywords)
                if hasattr(torch.Tensor, attr[:-1]):
                    changed = ast.Call(method(read, attr[:-1]).func, args, keywords)
                return [mark(self._write(of, changed), node)]
        return [node]

    def _write(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        """`x[i] = v` as `x = written(x, i, v)`, and an attribute as a name."""
        match target:
            case ast.Name():
                return let(target.id, value)
            case ast.Subscript(ast.Name(id=name), index):
                result = mark(call(WRITE, load(name), index, value), target)
                return let(name, result)
            case ast.Tuple() if not any(isinstance(n, ast.Attribute) for n in ast.walk(target)):
                return let(target, value)
            case ast.Attribute() if find_root(target) and not _has_elements(target):
                path = ast.unparse(target)
                stem = path.partition(".")[2].replace(".", "_")
                self.attributes[path] = self.names.of(self.function.node, stem)
                return let(self.attributes[path], value)
        raise CannotRewrite(
            f"`{ast.unparse(target)}` is written in a place that must have no side effects"
        )

    # -- exits ----------------------------------------------------------------------------------

    def _leaves_early(self, statements: Block, *kinds: type[ast.stmt]) -> bool:
        """Whether a staged `if` in statements has such an exit."""
        for statement in statements:
            if (
                isinstance(statement, ast.If)
                and self.staged(statement)
                and has_exit([statement], kinds)
            ):
                return True
            if any(self._leaves_early(block, *kinds) for block in find_blocks(statement)):
                return True
        return False

    def _nest(
        self,
        statements: Block,
        kind: type[ast.stmt] | tuple[type[ast.stmt], ...],
        leave: Callable[[ast.stmt], Block],
        rest: Block | None = None,
    ) -> Block:
        """Move the statements after an `if` that may leave into its other branch."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        items: Block = []
        for at, statement in enumerate(statements):
            if isinstance(statement, kinds):
                return items + leave(statement)
            if isinstance(statement, ast.Raise):
                return [*items, statement]
            if isinstance(statement, ast.If) and has_exit(
                [statement], kinds, loops=kinds == (ast.Return,)
            ):
                tail = self._block([*statements[at + 1 :], *(rest or [])], inside=True)
                body = self._nest(statement.body, kinds, leave, tail)
                other = self._nest(statement.orelse, kinds, leave, tail)
                return [*items, mark(ast.If(statement.test, body, other), statement)]
            items.append(statement)
        return items + (self._nest(rest, kinds, leave) if rest else [])

    def _find_results(self, body: Block) -> list[str]:
        """One name of what is returned, or several of a tuple that each return gives."""
        values = [n.value for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]
        sizes = {len(v.elts) if isinstance(v, ast.Tuple) else 0 for v in values}
        stem = RESULT
        if len(sizes) == 1 and (size := sizes.pop()) > 1:
            return [self.names.of(self.function.node, f"{stem}_{n}") for n in range(size)]
        return [self.names.of(self.function.node, stem)]

    def _replace_return(self, node: ast.stmt) -> Block:
        assert isinstance(node, ast.Return)
        value = node.value or ast.Constant(None)
        if len(self.results) == 1:
            return [mark(let(self.results[0], value), node)]
        if not isinstance(value, ast.Tuple):
            return []  # the end of a function that returns before
        pairs = zip(self.results, value.elts, strict=True)
        return [let(name, expression) for name, expression in pairs]

    def _without_loop_exits(self, statements: Block) -> Block:
        """Of staged ifs: break as a flag, continue as `else`, return as a flag and a value."""
        result: Block = []
        for statement in statements:
            if isinstance(statement, ast.If) and is_touched(statement, self.staged):
                body = self._without_loop_exits(statement.body)
                other = self._without_loop_exits(statement.orelse)
                statement = mark(ast.If(statement.test, body, other), statement)  # noqa: PLW2901
            if isinstance(statement, ast.For | ast.While) and is_touched(statement, self.staged):
                result += self._without_exits(statement)
            else:
                result.append(statement)
        return result

    def _without_exits(self, loop: ast.For | ast.While) -> Block:
        body = self._without_loop_exits(loop.body)
        changed = self.staged(loop) or self._leaves_early(body, *EXITS)
        if not changed:
            return [_with_body(loop, body, keeps_else=True)]
        before: Block = []
        after: Block = []
        loop, first = self._with_own_target(loop)
        flag = ""
        only_returns = not has_exit(body, (ast.Break,), loops=False)
        if has_exit(body, (ast.Return,)):
            flag, body = self._flag_returns(loop, body)
            before.append(let(flag, ast.Constant(False)))
            values = [load(name) for name in self.results]
            branch = ast.If(load(flag), [ast.Return(as_tuple(values))], [])
            after.append(mark(branch, loop, "returned"))
        stop = ""
        if has_exit(body, (ast.Break,), loops=False):
            stop = flag if only_returns else self.names.of(loop, "stopped")
        if stop and stop != flag:
            before.append(let(stop, ast.Constant(False)))

        def leave(node: ast.stmt) -> Block:
            if isinstance(node, ast.Break) and stop != flag:
                return [let(stop, ast.Constant(True))]
            return []

        if stop:
            body = self._block(body, inside=True)
        body = [*first, *self._nest(body, (ast.Break, ast.Continue), leave)]
        if loop.orelse:
            other: Block = self._block(loop.orelse, inside=True)
            if stop and stop != flag:
                ended = mark(ast.UnaryOp(ast.Not(), load(stop)), loop, "ended")
                other = [mark(ast.If(ended, other, []), loop, "else")]
            after += other
        if stop:
            going = mark(ast.UnaryOp(ast.Not(), load(stop)), loop, "not")
            if isinstance(loop, ast.While):
                both = mark(ast.BoolOp(ast.And(), [going, loop.test]), loop, "and")
                loop = mark(ast.While(both, loop.body, []), loop)
            else:
                body = [mark(ast.If(going, body, []), loop, "going")]
        return [*before, _with_body(loop, body), *after]

    def _with_own_target(self, loop: ast.For | ast.While) -> tuple[ast.For | ast.While, Block]:
        """A loop whose variable is read elsewhere, over another that the body binds it from."""
        if not isinstance(loop, ast.For):
            return loop, []
        inside = Counter(n.id for n in ast.walk(loop) if isinstance(n, ast.Name))
        own = sorted(find_stored(loop.target))
        if all(self.names.counts[name] <= inside[name] for name in own):
            return loop, []
        others = {name: self.names.of(loop, f"each_{name}") for name in own}
        target = rename([loop.target], others)[0]
        node = ast.For(target, loop.iter, loop.body, loop.orelse, lineno=0)
        return mark(node, loop), [let(name, load(other)) for name, other in others.items()]

    def _with_last(self, node: ast.For) -> Block:
        """A loop that reads `rows[-1]` while it fills `rows`, with the last row as a name."""
        filled: dict[str, str] = {}
        for inner in ast.walk(node):
            match inner:
                case ast.Call(ast.Attribute(ast.Name(id=name), "append"), [_], []):
                    filled[name] = self.names.of(node, f"last_{name}")
        last = _Last(filled)
        body: Block = last.visit(ast.Module(deepcopy(node.body), [])).body
        if not last.found:
            return []
        before: Block = []
        for name in sorted(last.found):
            if _is_bound_first(filled[name], body):
                continue
            last_one = mark(
                let(filled[name], parse_expression(f"{name}[-1]")), node, f"last_{name}"
            )
            before.append(last_one)
        return [*before, mark(ast.For(node.target, node.iter, body, node.orelse, lineno=0), node)]

    def _flag_returns(self, loop: ast.stmt, body: Block) -> tuple[str, Block]:
        """A loop's returns as a flag, the values, and a break."""
        if not self.results:
            self.results = self._find_results(self.function.node.body)
        flag = self.names.of(loop, "returned")

        def swap_returns(statements: Block) -> Block:
            result: Block = []
            for statement in statements:
                if isinstance(statement, ast.Return):
                    result += [
                        *self._replace_return(statement),
                        let(flag, ast.Constant(True)),
                        ast.Break(),
                    ]
                elif isinstance(statement, ast.If) and has_exit([statement], (ast.Return,)):
                    branch = ast.If(
                        statement.test, swap_returns(statement.body), swap_returns(statement.orelse)
                    )
                    result.append(mark(branch, statement))
                else:
                    result.append(statement)
            return result

        return flag, swap_returns(body)


def _decide(rest: Block, way: Block) -> Block:
    """Statements without the branches that a way before them decides: `mode == "fast"`."""
    constants: dict[str, object] = {}
    for statement in way:
        match statement:
            case ast.Assign([ast.Name(id=name)], ast.Constant(value=str() | None)):
                constants[name] = ast.literal_eval(statement.value)
            case _:
                constants = {n: v for n, v in constants.items() if n not in find_stored(statement)}
    constants = {name: value for name, value in constants.items() if name not in find_stored(*rest)}
    result: Block = []
    for statement in rest:
        match statement:
            case ast.If(ast.Compare(ast.Name(id=name), [how], [ast.Constant(value=value)])) if (
                name in constants and isinstance(how, ast.Eq | ast.NotEq | ast.Is | ast.IsNot)
            ):
                is_so = (constants[name] == value) is isinstance(how, ast.Eq | ast.Is)
                taken = statement.body if is_so else statement.orelse
                result += _decide(taken, way)
                if taken and isinstance(taken[-1], (*EXITS, ast.Raise)):
                    return result
            case _:
                result.append(statement)
    return result


def _with_body(
    loop: ast.For | ast.While, body: Block, *, keeps_else: bool = False
) -> ast.For | ast.While:
    """The loop around another body."""
    other = loop.orelse if keeps_else else []
    if isinstance(loop, ast.For):
        return mark(ast.For(loop.target, loop.iter, body, other, lineno=0), loop)
    return mark(ast.While(loop.test, body, other), loop)


class _Last(ast.NodeTransformer):
    """Names what is last in a list, where it is read and where it is appended."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.found: set[str] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`rows[-1]`."""
        match node:
            case ast.Subscript(ast.Name(id=name), ast.UnaryOp(ast.USub(), ast.Constant(value=1))):
                if name in self.names and isinstance(node.ctx, ast.Load):
                    self.found.add(name)
                    return load(self.names[name])
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.AST]:
        """`rows.append(value)`."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(id=name), "append"), [value], []):
                if name in self.names:
                    last = mark(let(self.names[name], value), node, "last")
                    node.value.args = [load(self.names[name])]
                    return [last, node]
        return node


def _is_bound_first(name: str, body: Block) -> bool:
    """Whether an iteration binds a name before it reads it."""
    for statement in body:
        if name in find_loaded(statement):
            return False
        if isinstance(statement, ast.Assign) and name in find_stored(statement):
            return True
    return False


def _pattern_test(pattern: ast.pattern, subject: ast.expr) -> ast.expr | None:
    """The test of a pattern; None where it always matches."""
    match pattern:
        case ast.MatchValue(value):
            return ast.Compare(subject, [ast.Eq()], [value])
        case ast.MatchSingleton(value):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(value)])
        case ast.MatchOr(patterns):
            tests = [_pattern_test(node, subject) for node in patterns]
            if all(tests):
                return ast.BoolOp(ast.Or(), [test for test in tests if test])
        case ast.MatchAs(inner, _):
            return _pattern_test(inner, subject) if inner is not None else None
        case ast.MatchSequence(patterns) if not any(
            isinstance(node, ast.MatchStar) for node in patterns
        ):
            items = [_pattern_test(node, _item(subject, at)) for at, node in enumerate(patterns)]
            count = ast.Compare(call("len", subject), [ast.Eq()], [ast.Constant(len(patterns))])
            kind = call("isinstance", subject, parse_expression("(list, tuple)"))
            return ast.BoolOp(ast.And(), [kind, count, *(test for test in items if test)])
    raise CannotRewrite("a `match` pattern unpacks its subject")


def _as_placed(node: ast.stmt) -> tuple[str, str, ast.expr] | None:
    """The name, the place and the value of a statement that appends to a list or writes into it."""
    match node:
        case ast.Assign([ast.Name(id=name)], ast.Call(ast.Name(id=function), args)):
            if function == COLLECT and len(args) == 2:
                return name, "", args[1]
            if function == WRITE and len(args) == 3:
                return name, ast.dump(args[1]), args[2]
    return None


def _without_count(test: ast.expr, count: int) -> ast.expr | None:
    """The test of a pattern, of which it is known that it has as many parts as its subject."""
    match test:
        case ast.BoolOp(ast.And(), [ast.Call(), ast.Compare(_, [ast.Eq()], [parts]), *items]):
            if isinstance(parts, ast.Constant) and parts.value == count:
                return ast.BoolOp(ast.And(), items) if len(items) > 1 else next(iter(items), None)
    return test


def _bind_pattern(pattern: ast.pattern, subject: ast.expr) -> Block:
    """The names that a pattern binds where it matches."""
    match pattern:
        case ast.MatchAs(inner, name):
            own: Block = [let(name, subject)] if name else []
            return [*own, *(_bind_pattern(inner, subject) if inner is not None else [])]
        case ast.MatchSequence(patterns):
            items = [_bind_pattern(node, _item(subject, at)) for at, node in enumerate(patterns)]
            return [statement for block in items for statement in block]
    return []


def _is_end(args: list[ast.expr]) -> bool:
    """Whether `pop` takes the first or the last element."""
    match args:
        case [] | [ast.Constant(value=0)]:
            return True
    return False


def _without_popped(node: ast.stmt, name: str, args: list[ast.expr]) -> ast.stmt:
    """A list without its first or last element."""
    index = "1:" if args else ":-1"
    return mark(let(name, mark(parse_expression(f"{name}[{index}]"), node)), node)


def _item(subject: ast.expr, at: int) -> ast.expr:
    return fill(f"$of[{at}]", of=subject)


def _as_read(target: ast.expr) -> ast.expr:
    expression = deepcopy(target)
    for node in ast.walk(expression):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            node.ctx = ast.Load()
    return expression


def _has_elements(target: ast.expr) -> bool:
    return any(isinstance(node, ast.Subscript) for node in ast.walk(target))

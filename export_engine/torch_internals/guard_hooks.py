"""Hooks on torch's ShapeEnv: guards, symbols, and their events."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from sympy import Eq, Ge, Gt, Le, Lt, Ne
from sympy.logic.boolalg import Boolean

from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.source import Location, Stack, is_shown, user_stack, without_repeats
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import Capability, hook
from export_engine.torch_internals.generated_code_lines import lines_behind
from export_engine.torch_internals.operators import OpOverload
from export_engine.trace import (
    AskedCondition,
    Narrowing,
    RecordedGuard,
    Recording,
    Replacement,
    SymbolBirth,
)


def guards(into: Recording) -> AbstractContextManager[None]:
    """Records each guard with the line that asked for it."""

    def make(original: Any) -> Any:
        def log_guard(self: Any, prefix: str, g: Any, *args: Any, **kwargs: Any) -> Any:
            with torch_has.LOG_GUARD.tolerate(into):
                kind = "runtime_assert" if "runtime_assert" in prefix else "guard"
                into.add_guard(RecordedGuard(g, kind, _stack_in_any_mode(), _asking_op()))
            return original(self, prefix, g, *args, **kwargs)

        return log_guard

    return hook(torch_has.LOG_GUARD, make)


@undone
def conditions_of_code(into: Recording) -> Iterator[None]:
    """Record conditions on sizes in the model's own code, even those without a guard.

    An `if` asks through `SymBool.__bool__`, and Dynamo for it in strict mode; what an op asks for
    its own sake comes another way. For a comparison that torch answers as it is made, as `n == 0`,
    the sides are remembered.
    """
    seen: set[tuple[Any, Any]] = set()

    def wrap_comparison(capability: Capability) -> Callable[[Any], Any]:
        relation = _RELATIONS[capability.name]

        def make(original: Any) -> Any:
            def compare(self: Any, other: Any) -> Any:
                result = original(self, other)
                try:  # ops compare thousands of times, and code asks for few
                    left = self.expr
                    if not left.is_Integer and getattr(result.expr, "is_Atom", False):
                        vars(result)[_SIDES] = relation, left, other.expr
                except Exception as error:  # noqa: BLE001 - see `tolerate`
                    log_internal_error(error, f"reading {capability.path}")
                    capability.note_change(into, error)
                return result

            return compare

        return make

    def make(original: Any) -> Any:
        def evaluate_expr(self: Any, orig_expr: Any, *args: Any, **kwargs: Any) -> Any:
            answer = original(self, orig_expr, *args, **kwargs)
            if not isinstance(orig_expr, Boolean) or len(seen) >= _MOST_ASKED:
                return answer
            try:
                condition = _find_condition_of_code(orig_expr)
                stack = _stack_in_any_mode() if condition is not None else ()
                if stack and (condition, stack[-1]) not in seen:
                    seen.add((condition, stack[-1]))
                    checks = _asking_op() == "torch._check"
                    into.asked.append(AskedCondition(condition, bool(answer), stack, checks))
            except Exception as error:  # noqa: BLE001 - see `tolerate`
                log_internal_error(error, f"reading {torch_has.EVALUATE.path}")
                torch_has.EVALUATE.note_change(into, error)
            return answer

        return evaluate_expr

    with ExitStack() as hooks:
        hooks.enter_context(hook(torch_has.EVALUATE, make))
        for capability in torch_has.COMPARISONS:
            hooks.enter_context(hook(capability, wrap_comparison(capability)))
        yield


_MOST_ASKED = 1_000
_SIDES = "_asked_in_export_explorer"
_RELATIONS = {"eq": Eq, "ne": Ne, "lt": Lt, "le": Le, "gt": Gt, "ge": Ge}


@undone
def births(into: Recording) -> Iterator[None]:
    """Records each new symbol: of an input's dim, and of a value computed from data.

    One of an input is unbacked too where a ShapesSpec asked for it.
    """
    items: set[Any] = set()

    def wrap_create_symbol(original: Any) -> Any:
        def create_symbol(self: Any, val: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
            if not into.traces:
                into.shape_env = self
            expression = original(self, val, source, *args, **kwargs)
            with torch_has.CREATE_SYMBOL.tolerate(into):
                if getattr(expression, "is_Symbol", False) and expression not in items:
                    items.add(expression)
                    into.add_birth(SymbolBirth(expression, _source_name(source), ()))
            return expression

        return create_symbol

    def wrap_log(original: Any) -> Any:
        def log(self: Any, prefix: str, symbol: Any, *args: Any, **kwargs: Any) -> Any:
            with torch_has.LOG_UNBACKED.tolerate(into):
                source = _source_name(args[1]) if len(args) > 1 and args[1] is not None else ""
                stack = () if source else _stack_in_any_mode()
                items.add(symbol)
                into.add_birth(SymbolBirth(symbol, source, stack, is_drawn=_draws_for_numpy()))
            return original(self, prefix, symbol, *args, **kwargs)

        return log

    with (
        hook(torch_has.CREATE_SYMBOL, wrap_create_symbol),
        hook(torch_has.LOG_UNBACKED, wrap_log),
    ):
        yield


@undone
def consequences(into: Recording) -> Iterator[None]:
    """Records what guards do to symbols: narrower ranges, and symbols found equal to something.

    A range that a symbol is made with is the Dim's own, and no event.
    """

    def cause(symbol: Any) -> int:
        """The last guard, unless the symbol came after it: torch sets its first range itself."""
        for event in reversed(into.events):
            if isinstance(event, RecordedGuard):
                return len(into.guards) - 1
            if isinstance(event, SymbolBirth) and event.symbol == symbol:
                return -1
        return -1

    def is_born(symbol: Any) -> bool:
        return any(birth.symbol == symbol for birth in into.births)

    def wrap_update(original: Any) -> Any:
        def update(self: Any, symbol: Any, *args: Any, **kwargs: Any) -> Any:
            before = torch_has.VAR_TO_RANGE.of(self, {}).get(symbol)
            done = original(self, symbol, *args, **kwargs)
            now = torch_has.VAR_TO_RANGE.of(self, {}).get(symbol)
            with torch_has.UPDATE_RANGE.tolerate(into):
                if now is not None and before is not None and now != before and is_born(symbol):
                    sides = ("lower",) * (now.lower != before.lower)
                    sides += ("upper",) * (now.upper != before.upper)
                    into.events.append(
                        Narrowing(symbol, now.lower, now.upper, sides, cause(symbol))
                    )
            return done

        return update

    def wrap_set_replacement(original: Any) -> Any:
        def set_replacement(self: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
            before = torch_has.REPLACEMENTS.of(self, {}).get(a)
            done = original(self, a, *args, **kwargs)
            now = torch_has.REPLACEMENTS.of(self, {}).get(a)
            if before is None and now is not None:
                into.events.append(Replacement(a, now, cause(a)))
            return done

        return set_replacement

    with (
        hook(torch_has.UPDATE_RANGE, wrap_update),
        hook(torch_has.SET_REPLACEMENT, wrap_set_replacement),
    ):
        yield


def _source_name(source: Any) -> str:
    """The text of a Dynamo source; `name` was a method until 2.10."""
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)


def _stack_in_any_mode() -> Stack:
    """The user's stack now. Strict mode interprets their frames, and Dynamo keeps the list."""
    interpreted = torch_has.EXTRACT_STACK.value() if torch_has.EXTRACT_STACK else ()
    locations = [Location(f.filename, f.lineno or 0, f.name) for f in interpreted]
    shown = without_repeats(location for location in locations if is_shown(location.file))
    return shown or user_stack(sys._getframe(2), lines_behind)


def _find_condition_of_code(condition: Any) -> Any:
    """A condition with symbols that the model's own code asks for; None where an op does."""
    frame: FrameType | None = sys._getframe(2)
    through = None
    check = getattr(torch_has.CHECK.looked.value, "__code__", None)
    for _ in range(_MOST_HOPS):
        if frame is None:
            return None
        code, path = frame.f_code, frame.f_code.co_filename
        if code in _PLAIN_VALUES:
            through = through or frame.f_locals.get("self")
        elif code is check:
            through = frame.f_locals.get("cond")
        elif path == _DYNAMO:
            through = getattr(frame.f_locals.get("self"), "sym_num", None)
            break
        elif through is not None and is_shown(path):
            break
        elif not path.startswith(_PLUMBING):
            return None
        frame = frame.f_back
    sides = getattr(getattr(through, "node", None), _SIDES, None)
    if sides is not None and sides[1].free_symbols:
        relation, left, right = sides
        return relation(left, right, evaluate=False)
    return condition if condition.free_symbols else None


_MOST_HOPS = 16
_TORCH = Path(torch.__file__).parent
_DYNAMO = str(_TORCH / "_dynamo" / "variables" / "tensor.py")
_PLUMBING = (str(_TORCH / "fx" / "experimental"), str(_TORCH / "__init__.py"))
_PLAIN_VALUES = {
    method.__code__
    for cls in (torch.SymBool, torch.SymInt)
    if (method := vars(cls).get("__bool__")) is not None
}
_MOST_FRAMES = 200


def _asking_op() -> str:
    """The origin of a guard: the op nearest to the user's code, or `torch._check`; else empty."""
    frame: FrameType | None = sys._getframe(2)
    text = ""
    dispatch = getattr(torch_has.DISPATCH.looked.value, "__code__", None)
    check = getattr(torch_has.CHECK.looked.value, "__code__", None)
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_code is _EXPORT:
            break
        code = frame.f_code
        if code is dispatch:
            func = frame.f_locals.get("func")
            text = str(func) if isinstance(func, OpOverload) else text
        elif code is check:
            text = "torch._check"
        frame = frame.f_back
    return text


def _draws_for_numpy() -> bool:
    """Whether torch is running a function of `numpy.random`, as Dynamo has it do."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_MOST_FRAMES):
        if frame is None or frame.f_code is _EXPORT:
            return False
        if frame.f_globals.get("__name__") == "torch._numpy.random":
            return True
        frame = frame.f_back
    return False


_EXPORT = torch.export.export.__code__

"""Runs a normal form while torch traces: a plain question stays Python's, a staged one is noted.

Both ways of a staged `if` run, and one iteration of a staged loop. Their results decide how the
site can be lowered; nothing else of the run is kept.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true
from torch.overrides import TorchFunctionMode

from export_engine.defects import log_internal_error
from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.elements import (
    Chosen,
    Elements,
    describe_region,
    find_dims,
    find_scalar_places,
    find_sliced,
    is_list_of_numbers,
    stack,
)
from export_engine.fixes.rewrite.facts import UNDEFINED, Facts, Masked, Rows, describe
from export_engine.fixes.rewrite.form import Site
from export_engine.process import undone
from export_engine.torch_internals import storage_of

_torch: Any = torch  # whose functions of symbols have no types
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)
MATH = frozenset(
    [
        *("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "erf", "erfc", "lgamma"),
        *("sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "asinh", "acosh", "atanh"),
        *("isnan", "isinf", "isfinite"),
    ]
)
"""Functions of Python's math that torch has under the same name."""
_CHECKED = (
    *("embedding", "gather", "scatter", "index_", "take", "cholesky", "inv", "solve", "lstsq"),
    *("multinomial", "bernoulli", "poisson", "one_hot", "cross_entropy", "nll_loss", "bincount"),
    *("repeat_interleave", "masked_scatter", "lu", "linalg_", "_assert_async"),
)
"""How the names of ops begin that read the values of their inputs, and may reject them."""
_OF_SOME = frozenset(
    {"max", "min", "amax", "amin", "argmax", "argmin", "median", "mode", "aminmax"}
)
"""Reductions that raise an error where there are no elements."""
_STAGED = frozenset({"bool", "zero", "size"})
"""Kinds of parts of tests that Python cannot decide."""
_COMPARED = (torch.equal, torch.allclose)
_REDUCED = ("max", "min", "any", "all")


class Probe(Elements):
    """Answer the instrumented function's queries, and fill `Facts`."""

    def __init__(
        self, *, keeps_symbols: bool = False, tensors: Mapping[str, torch.dtype] | None = None
    ) -> None:
        self.facts = Facts(keeps_symbols=keeps_symbols, tensors=dict(tensors or {}))
        self.depth = 0
        """How many staged loops and choices are around."""
        self.watch = _Watch()
        """State of the innermost branch of a staged choice that runs."""
        self.nones: dict[Site, set[bool]] = {}
        """Answers to tests for None."""
        self.counts: list[tuple[Any, Any, Any]] = []
        """The enclosing loops that count by one: the number, where they start and stop."""
        self.steps: list[tuple[Any, Any, int]] = []
        self.held: list[Any] = []
        self.is_guarded = False
        self.carried: list[torch.Tensor] = []
        """Numbers that loops carry."""
        self.is_in_loop = False
        self.joins: dict[Site, list[list[str]]] = {}
        """By test of several parts: for each call, how its parts are known."""
        self.asks_first = False
        """Whether a part of a test is whether it is the first iteration."""

    def reach(self) -> None:
        """The function runs."""
        self.facts.was_reached = True

    def leave(self, value: Any) -> Any:
        """The function's result."""
        self.facts.was_left = True
        return value

    def read(self, value: Callable[[], Any]) -> Any:
        """A name's value, or that it has none yet."""
        try:
            return value()
        except NameError:
            return UNDEFINED

    def start(self, name: str, value: Any) -> Any:
        """A constant that a name is bound to."""
        if name not in self.facts.tensors:
            return value
        return torch.tensor(value, dtype=self.facts.tensors[name], device="cpu")

    def hold(self, owner: Any, name: str) -> None:
        """An attribute is read that a staged site writes: only a buffer's value goes on."""
        if not isinstance(owner, torch.nn.Module) or name not in dict(owner.named_buffers()):
            raise CannotRewrite(f"`{name}` may hold a value from an earlier call")

    # -- tests ----------------------------------------------------------------------------------

    def decide(self, test: Any) -> Any:
        """A bool where it is known while tracing; else the test, as a tensor or a symbol."""
        if isinstance(test, Masked) or (isinstance(test, Rows) and test.is_masked):
            raise CannotRewrite("a test checks if a data-dependent list is empty")
        if isinstance(test, Rows):
            test = test.values.shape[0]
        if isinstance(test, torch.SymInt | torch.SymFloat):
            test = test != 0
        if isinstance(test, torch.SymBool):
            if statically_known_true(test):
                return True
            return False if statically_known_true(_torch.sym_not(test)) else test
        if isinstance(test, torch.Tensor):
            if test.dim() and test.numel() != 1:
                raise CannotRewrite("a test has several values")
            return test.reshape(()) != 0 if test.dtype != torch.bool else test.reshape(())
        return builtins.bool(test)

    def join(self, site: Site, is_or: bool, *parts: Callable[[], Any]) -> Any:
        """`and` and `or`; staged where a part that is not the last is."""
        tests: list[Any] = []
        value: Any = None
        kinds: list[str] = []
        for at, part in enumerate(parts):
            outer, self.is_guarded = self.is_guarded, self.is_guarded or bool(tests)
            self.asks_first = False
            value = self._part(part, is_first=not tests)
            self.is_guarded = outer
            known = self.decide(value)
            if isinstance(known, builtins.bool) and self.asks_first:
                kinds.append("bool")
                tests.append(torch.tensor(known, device="cpu"))
                continue
            if isinstance(known, builtins.bool):
                kinds.append("decided" if known is is_or else "plain")
                if known is is_or:
                    self._note_join(site, kinds)
                    return known if tests else value
                continue
            is_bool = not isinstance(value, torch.Tensor) or value.dtype == torch.bool
            kinds.append("bool" if is_bool else "zero")
            if at == len(parts) - 1 and not tests:
                self._note_join(site, kinds)
                return value  # as Python's own operator does
            tests.append(known)
        if not tests:
            return value
        if any(isinstance(test, torch.Tensor) for test in tests):
            staged = [at for at, kind in enumerate(kinds) if kind != "plain"]
            for n, (at, test) in enumerate(zip(staged, tests, strict=True)):
                if not isinstance(test, torch.Tensor):
                    kinds[at] = "size"
                    tests[n] = torch.ones((), dtype=torch.bool, device="cpu")
        self._note_join(site, kinds)
        return functools.reduce(operator.or_ if is_or else operator.and_, tests)

    def _part(self, part: Callable[[], Any], *, is_first: bool) -> Any:
        """A part of a test: any, where an earlier one asks whether what it reads has a value."""
        try:
            return part()
        except (TypeError, AttributeError) as error:
            if is_first or not _lacks_value(error):
                raise
            return torch.ones((), dtype=torch.bool, device="cpu")

    def _note_join(self, site: Site, kinds: list[str]) -> None:
        """Notes how the parts of a test are joined, over all calls so far."""
        earlier = self.joins.setdefault(site, [])
        earlier.append(kinds)
        merged = [_merge_kinds(set(at) - {""}) for at in zip_longest(*earlier, fillvalue="")]
        for at, kind in enumerate(merged):
            if kind == "decided":  # a part before what it guards is asked first
                is_first = _STAGED.isdisjoint(merged[:at])
                merged[at] = "lazy" if is_first else "bool"
        self.facts.is_mixed |= None in merged
        is_staged = any(not _STAGED.isdisjoint(call) for call in earlier)
        if is_staged and any(kind != "plain" for kind in merged[:-1]):
            self.facts.notes[site] = tuple(merged)

    def negate(self, site: Site, value: Any) -> Any:
        """`not`."""
        known = self.decide(value)
        if isinstance(known, builtins.bool):
            return not known
        self.facts.notes[site] = "symbol" if isinstance(known, torch.SymBool) else "not"
        is_bool = not isinstance(value, torch.Tensor) or value.dtype == torch.bool
        if not is_bool or isinstance(value, torch.SymInt | torch.SymFloat):
            self.facts.notes[site] = "zero"
        return _torch.sym_not(known) if isinstance(known, torch.SymBool) else ~known

    def check(self, site: Site, test: Any) -> None:
        """An `assert`."""
        value = self.decide(test)
        if isinstance(value, builtins.bool):
            if not value:
                raise AssertionError
            return
        self.facts.notes[site] = "symbol" if isinstance(value, torch.SymBool) else "tensor"

    # -- sites ----------------------------------------------------------------------------------

    def choose(
        self,
        site: Site,
        test: Any,
        then: Callable[..., Any],
        other: Callable[..., Any],
        reads: Sequence[str],
        values: Sequence[Any],
        outs: Sequence[str],
    ) -> Any:
        """An `if`."""
        value, choice = self.decide(test), self.facts.choices[site]
        if isinstance(value, builtins.bool):
            choice.ways.add("then" if value else "else")
            return (then if value else other)(*values)
        is_tensor = isinstance(value, torch.Tensor)
        choice.ways.add("tensor" if is_tensor else "symbol")
        choice.test = describe(test)
        entries = dict(zip(reads, values, strict=True))
        choice.shared |= _find_sharing(entries)
        choice.before |= {name: describe(value) for name, value in entries.items()}
        self.depth += 1
        try:
            tests = [] if is_tensor else [value, _torch.sym_not(value)]
            first = self._side(choice, then, values, tests[:1])
            second = self._side(choice, other, values, tests[1:])
        finally:
            self.depth -= 1
        if first is None or second is None:
            taken = first if second is None else second
            if taken is None:
                raise CannotRewrite("both branches fail while tracing")
            return taken
        for name, one, two in zip(outs, first, second, strict=True):
            alike = one is two or (_is_plain(one) and type(one) is type(two) and one == two)
            same = _same_shape(one, two) or self._is_number(one, two)
            choice.pairs[name].append((describe(one), describe(two), alike, same))
        return [self._merge(value, one, two) for one, two in zip(first, second, strict=True)]

    def _side(
        self, choice: Any, way: Callable[..., Any], values: Sequence[Any], held: list[Any]
    ) -> Any:
        """The result of a branch; None if it raises an error."""
        self.held += held
        copies = (type(v)(v) if type(v) in (list, Masked) else v for v in values)
        try:
            with _Watch() as self.watch:
                result = way(*copies)
            choice.may_raise |= self.watch.may_raise
            return result
        except CannotRewrite:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - of the user's code: it is what the way does
            log_internal_error(error, "running a branch while tracing")
            if _lacks_value(error):  # which it has in a later iteration
                return None
            choice.is_unsafe = True
            choice.pairs["!"].append((describe(str(error)), describe(None), False, False))
            return None
        finally:
            del self.held[len(self.held) - len(held) :]

    def _is_number(self, one: Any, two: Any) -> bool:
        """Whether one of two tensors without dims is a number that a loop carries."""
        if any(not isinstance(value, torch.Tensor) or value.dim() for value in (one, two)):
            return False
        return any(value is carried for value in (one, two) for carried in self.carried)

    def _merge(self, test: Any, one: Any, two: Any) -> Any:
        if one is UNDEFINED or two is UNDEFINED or one is two:
            return two if one is UNDEFINED else one
        if isinstance(one, list | Rows) and isinstance(two, list | Rows):
            return _collect(one, two)
        if isinstance(one, tuple) and isinstance(two, tuple) and len(one) == len(two):
            return tuple(self._merge(test, a, b) for a, b in zip(one, two, strict=True))
        if isinstance(test, torch.SymBool):
            if isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor):
                return one if self._holds_for_example(test) else two
            if isinstance(one, torch.Tensor) or isinstance(two, torch.Tensor):
                return one if isinstance(one, torch.Tensor) else two
            if _is_int(one) and _is_int(two):
                return (
                    _torch.sym_ite(test, _torch.sym_int(one), _torch.sym_int(two))
                    if all(isinstance(value, torch.SymInt) for value in (one, two))
                    else one
                    if isinstance(one, torch.SymInt)
                    else two
                )
            test = torch.ones((), dtype=torch.bool, device="cpu")
        if _is_plain(one) and _is_plain(two) and type(one) is type(two) and one == two:
            return one
        numbers = (torch.Tensor, bool, int, float, torch.SymInt, torch.SymFloat)
        if isinstance(one, numbers) and isinstance(two, numbers):
            if isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor):
                fits = _same_shape(one, two) or self._is_number(one, two)
                return torch.where(test, one, two) if fits else one
            chosen = _torch.where(test, one, two)
            is_whole = _is_int(one) and _is_int(two) and not self.depth
            self.facts.reads_whole |= is_whole
            is_whole &= self.facts.keeps_symbols
            return chosen.item() if is_whole else chosen
        return two if one is None else one

    def _holds_for_example(self, test: Any) -> bool:
        """Whether a test of sizes holds for the example; True for data-dependent sizes."""
        return bool(free_unbacked_symbols(test)) or bool(test.node.hint)

    def loop(
        self,
        site: Site,
        rows: Any,
        body: Callable[..., Any],
        reads: Sequence[str],
        values: Sequence[Any],
        outs: Sequence[str],
    ) -> Any:
        """A `for`."""
        entries, loop = dict(zip(reads, values, strict=True)), self.facts.loops[site]
        sequence = rows.values if isinstance(rows, Rows) else rows
        sequence = _Sequence.of(sequence)
        if sequence is None or isinstance(sequence.length, int):
            loop.ways.add("plain")
            items = rows if sequence is None else [sequence.at(n) for n in range(sequence.length)]
            for item in items:
                found = dict(zip(outs, body(item, *[entries[name] for name in reads]), strict=True))
                self.facts.grown |= {
                    n: torch.promote_types(v.dtype, torch.tensor(entries[n], device="cpu").dtype)
                    for n, v in found.items()
                    if _has_grown(entries.get(n), v)
                }
                entries |= found
            return [entries.get(name, UNDEFINED) for name in outs]
        loop.ways.add("rows")
        loop.has_sized_length &= not free_unbacked_symbols(sequence.length)
        return self._run_inside(
            loop, entries, outs, lambda: self._iterate(loop, sequence, body, reads, entries, outs)
        )

    def _run_inside(
        self, loop: Any, entries: dict[str, Any], outs: Sequence[str], run: Callable[[], Any]
    ) -> Any:
        """The result of iterations of a staged loop, whose start is noted first."""
        loop.start |= {name: describe(value) for name, value in entries.items()}
        loop.shared |= _find_sharing({name: entries[name] for name in outs if name in entries})
        self.depth += 1
        outer, self.is_in_loop = self.is_in_loop, True
        try:
            return run()
        finally:
            self.depth -= 1
            self.is_in_loop = outer

    def _iterate(
        self,
        loop: Any,
        sequence: _Sequence,
        body: Callable[..., Any],
        reads: Sequence[str],
        known: dict[str, Any],
        outs: Sequence[str],
    ) -> list[Any]:
        """Two iterations at a staged place; the second takes what the first gave."""
        before = known
        for _ in range(2):
            entries = {n: list(v) if type(v) is list else v for n, v in before.items()}
            taken = {name: self._carry(value, name in outs) for name, value in entries.items()}
            item = sequence.element()
            if isinstance(sequence, _Range) and sequence.is_plain:
                self.counts.append((item, sequence.start, sequence.start + sequence.length))
            found = body(item, *[taken[name] for name in reads])
            result = dict(zip(outs, found, strict=True))
            for name, value in result.items():
                loop.after[name] = describe(value)
                loop.is_steady[name] = _same_shape(before.get(name), value)
                taken_list = entries.get(name)
                before_it = len(taken_list) if isinstance(taken_list, list) else 0
                if isinstance(value, list) and len(value) > before_it:
                    loop.collected[name] = describe(value[-1])
                    loop.appended[name] = len(value) - before_it
                if isinstance(value, Rows):
                    loop.collected[name] = describe(value.piece)
            before = before | {n: v for n, v in result.items() if v is not UNDEFINED}
        gathered = {}
        for name, value in result.items():
            is_filled = isinstance(value, Rows) or name in loop.appended
            count = sequence.length * loop.appended.get(name, 1)
            gathered[name] = _stack(value, count, loop) if is_filled else before.get(name)
        return [gathered.get(name, UNDEFINED) for name in outs]

    def _carry(self, value: Any, is_out: bool) -> Any:
        """A number that a loop changes as the tensor that the program carries."""
        if is_out and isinstance(value, bool | int | float | torch.SymInt | torch.SymFloat):
            dtype = torch.int64 if _is_int(value) else torch.float32
            dtype = torch.bool if isinstance(value, bool) else dtype
            self.carried.append(torch.zeros((), dtype=dtype, device="cpu"))
            return self.carried[-1]
        return value

    def repeat(
        self,
        site: Site,
        test: Callable[..., Any],
        body: Callable[..., Any],
        reads: Sequence[str],
        values: Sequence[Any],
        outs: Sequence[str],
    ) -> Any:
        """A `while`."""
        entries, loop = dict(zip(reads, values, strict=True)), self.facts.loops[site]
        notes, is_mixed, joins = dict(self.facts.notes), self.facts.is_mixed, dict(self.joins)
        for _ in range(10_000):
            going = self.decide(test(*[entries[name] for name in reads]))
            if not isinstance(going, builtins.bool):
                break
            loop.ways.add("plain")
            if not going:
                return [entries.get(name, UNDEFINED) for name in outs]
            entries |= dict(zip(outs, body(*[entries[name] for name in reads]), strict=True))
        else:
            raise CannotRewrite("a loop has too many iterations")
        self.facts.notes, self.facts.is_mixed, self.joins = notes, is_mixed, joins
        if "plain" in loop.ways:  # some are decided by Python: run all of them by the program
            loop.ways.discard("plain")
            entries = dict(zip(reads, values, strict=True))
        loop.ways.add("while")

        def iterate() -> None:
            for _ in range(2):
                taken = {n: self._carry(value, n in outs) for n, value in entries.items()}
                test(*[taken[name] for name in reads])
                result = dict(zip(outs, body(*[taken[name] for name in reads]), strict=True))
                for name, value in result.items():
                    loop.after[name] = describe(value)
                    loop.is_steady[name] = _same_shape(entries.get(name), value)
                entries.update(result)

        self._run_inside(loop, entries, outs, iterate)
        return [entries.get(name, UNDEFINED) for name in outs]

    # -- expressions ----------------------------------------------------------------------------

    def collect(self, site: Site, rows: Any, value: Any) -> Any:
        """`rows.append(value)`."""
        if isinstance(rows, Masked) and not self.depth:
            self.facts.notes[site] = ("masked", 0)
        if isinstance(rows, list):
            return type(rows)([*rows, value])
        if isinstance(rows, Rows):
            if not self.depth:
                self.facts.notes[site] = ("append", 0)
            return Rows(value, rows.values, is_masked=rows.is_masked)
        raise CannotRewrite("`append` is called on something other than a list")

    def copy(self, site: Site, of: Any) -> Any:
        """The object that a method is about to mutate."""
        if not isinstance(of, torch.Tensor):
            raise CannotRewrite("an object is mutated in a place that must have no side effects")
        return of.clone()

    def write(self, site: Site, into: Any, index: Any, value: Any) -> Any:
        """`into[index] = value`, as a new value."""
        if isinstance(into, dict):
            self.facts.notes[site] = ("dict", ())
            return {**into, index: value}
        if isinstance(into, list):
            self.facts.notes[site] = ("list", ())
            if not isinstance(index, int):
                raise CannotRewrite("a list is written at a data-dependent index")
            return [*into[:index], value, *into[index + 1 :]] if index >= 0 else _refuse()
        if not isinstance(into, torch.Tensor):
            raise CannotRewrite("an object is written in a place that must have no side effects")
        if sliced := find_sliced(index):
            self.watch.may_raise |= bool(find_scalar_places(index))
            self.facts.notes[site] = ("masked", describe_region(into, index, value, sliced))
            return into.clone()
        places = find_scalar_places(index)
        rank = value.dim() if isinstance(value, torch.Tensor) else 0
        if places:
            self.watch.may_raise = True
            self.facts.notes[site] = ("write", places, rank, find_dims(index, places))
        return into.clone()

    def call(self, site: Site, name: str, function: Any, *args: Any, **keywords: Any) -> Any:
        """A call; of a builtin by its name, as torch replaces some while it traces."""
        first = args[0] if args else None
        if isinstance(function, Chosen):
            self.facts.notes[site] = ("chosen", 0)
            return function(*args, **keywords)
        if args and (of_numbers := self._of_numbers(site, function, first, keywords)):
            return of_numbers[0]
        if isinstance(first, Rows | Masked) and name not in ("len", "zip", "enumerate", "reversed"):
            return self._of_rows(site, function, first, args[1:], keywords)
        if getattr(function, "__module__", "builtins") not in ("builtins", "functools"):
            name = ""
        match name:
            case "print" if self.depth:
                return None
            case "range":
                if any(isinstance(argument, torch.Tensor) for argument in args):
                    self.facts.notes[site] = (
                        "range",
                        tuple(isinstance(argument, torch.Tensor) for argument in args),
                    )
                return _Range.of(*args) if _is_dynamic(args) else range(*args)
            case "zip" | "enumerate" | "reversed":
                return _arrange(name, function, args, keywords)
            case "len":
                return self._length(site, first)
            case "float" | "bool" | "int" if isinstance(first, torch.Tensor):
                return self._number(site, name, first)
            case "float" | "int" if isinstance(first, torch.SymInt | torch.SymFloat):
                return _torch.sym_float(first) if name == "float" else _torch.sym_int(first)
            case "str" if isinstance(first, torch.Tensor):
                return self.text(site, first)
            case "bool" if isinstance(first, _SYMBOLS):
                return self.decide(first)
            case "max" | "min" if not keywords:
                return self._extreme(site, function, name, args)
        if function in _COMPARED and len(args) > 1:
            return self._compare(site, function, *args, **keywords)
        return function(*args, **keywords)

    def _of_numbers(
        self, site: Site, function: Any, numbers: Any, keywords: dict[str, Any]
    ) -> tuple[torch.Tensor] | None:
        """The result of a function on a list of tensors, if Python would need their values."""
        name = _name_of(function)
        is_type = isinstance(function, type(torch.LongTensor))
        if (
            is_type
            and type(numbers) is list
            and _is_dynamic(tuple(numbers))
            and all(map(_is_int, numbers))
        ):
            self.facts.notes[site] = ("form", f"torch.tensor($first, dtype={function.dtype})")
            return (torch.tensor(numbers, dtype=function.dtype, device="cpu"),)
        if not is_list_of_numbers(numbers):
            return None
        values = stack(numbers)
        if function is torch.tensor and "dtype" not in keywords:
            self.facts.notes[site] = ("form", "torch.stack($first)")
            return (values,)
        if is_type or function is torch.tensor:
            dtype = keywords.get("dtype") or getattr(function, "dtype", torch.get_default_dtype())
            self.facts.notes[site] = ("form", f"torch.stack($first).to({dtype})")
            return (values.to(dtype),)
        is_long = len(numbers) > 2 or name in ("any", "all")
        if name in _REDUCED and _is_builtin(function) and is_long:
            self.facts.notes[site] = ("form", f"torch.stack($first).{name}()")
            return (getattr(values, name)(),)
        return None

    def is_none(self, site: Site, value: Any, negated: bool) -> bool:
        """`value is None`: of what a loop carries, whether it is the first iteration."""
        is_known = value is None
        seen = self.nones.setdefault(site, set())
        if self.is_in_loop:
            seen.add(is_known)
        if len(seen) > 1:
            self.facts.notes[site] = "first"
            self.asks_first = True
        return is_known is not negated

    def _number(self, site: Site, kind: str, value: torch.Tensor) -> Any:
        """A tensor of which Python asks a number: it stays one, but for a size."""
        if not statically_known_true(value.numel() == 1):
            if self.depth:
                raise CannotRewrite("a number is read from a tensor of unknown length")
            return value.item()
        shaped, value = value.dim() > 0, value.reshape(())
        if kind == "item":
            kind = describe(_zero(value)).kind
        is_whole = not value.dtype.is_floating_point
        self.facts.reads_whole |= kind == "int"
        if kind == "int" and not self.depth and self.facts.keeps_symbols:
            if is_whole and value.dtype != torch.bool:
                return value.item()
            self.facts.notes[site] = ("form", "$first.long().item()")
            return value.long().item()
        tensor, text = value, "$first.reshape(())" if shaped else "$first"
        if kind == "int" and (not is_whole or value.dtype == torch.bool):
            tensor, text = value.long(), "$first.long()"
        elif kind == "float" and is_whole:
            tensor = value.to(torch.get_default_dtype())
            text = f"$first.to({tensor.dtype})"
        elif kind == "bool" and value.dtype != torch.bool:
            tensor, text = value != 0, "$first != 0"
        self.facts.notes[site] = ("form", text)
        return tensor

    def _extreme(self, site: Site, function: Any, name: str, args: tuple[Any, ...]) -> Any:
        values = list(args[0]) if len(args) == 1 else list(args)
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        if not tensors or len(values) != 2:
            return function(*args)
        if len(tensors) == 1:
            at = 0 if values[0] is tensors[0] else 1
            how = "min" if name == "max" else "max"
            text = f"$left.clamp({how}=$right)" if at == 0 else f"$right.clamp({how}=$left)"
            self.facts.notes[site] = ("form", text)
            end = values[1 - at]
            return tensors[0].clamp(min=end) if name == "max" else tensors[0].clamp(max=end)
        how = "maximum" if name == "max" else "minimum"
        self.facts.notes[site] = ("form", f"torch.{how}($left, $right)")
        return getattr(torch, how)(*tensors)

    def _of_rows(
        self, site: Site, function: Any, rows: Rows | Masked, args: Any, keywords: dict[str, Any]
    ) -> Any:
        name = _name_of(function)
        dim = keywords.get("dim", args[0] if args else 0)
        if isinstance(rows, Masked):
            whole = torch.stack([_as_tensor(row) for row in rows])
            values = whole[torch.ones(len(rows), dtype=torch.bool, device="cpu")]
        else:
            values = rows.values
        if name in ("list", "tuple") and isinstance(rows, Rows) and not rows.is_masked:
            self.facts.notes[site] = ("form", "$first")
            return rows
        if isinstance(rows, Rows) and rows.loop is not None and not self.depth:
            rows.loop.is_needed |= name in ("stack", "cat", "concat", "vstack")
        if name == "stack":
            self.facts.notes[site] = ("form", f"$rows.movedim(0, {dim})" if dim else "$rows")
            return values.movedim(0, dim)
        if name in ("cat", "concat", "vstack"):
            moved = f"$rows.movedim(0, {dim})" if dim else "$rows"
            self.facts.notes[site] = ("form", f"{moved}.flatten({dim}, {dim + 1})")
            return values.movedim(0, dim).flatten(dim, dim + 1) if dim else values.flatten(0, 1)
        if name == "tensor":
            may_be_empty = isinstance(rows, Masked) or rows.is_masked
            if may_be_empty and not keywords and not values.dtype.is_floating_point:
                raise CannotRewrite("the dtype of torch.tensor depends on whether a list is empty")
            self.facts.notes[site] = ("form", "$rows")
            return values
        if name == "sum" and _is_builtin(function) and not args:
            self.facts.notes[site] = ("form", "$rows.sum(0)")
            return values.sum(0)
        if name in _REDUCED and _is_builtin(function) and values.dim() == 1:
            self.facts.notes[site] = ("form", f"$rows.{name}()")
            return getattr(values, name)()
        raise CannotRewrite("a list that the loop fills is used without being stacked")

    def _compare(self, site: Site, function: Any, *args: Any, **keywords: Any) -> Any:
        """torch.equal and torch.allclose, which read the values that they compare."""
        if any(not isinstance(argument, torch.Tensor) for argument in args[:2]):
            return function(*args, **keywords)
        if function is torch.equal:
            if args[0].shape != args[1].shape:
                return False
            self.facts.notes[site] = ("form", "($left == $right).all()")
            return (args[0] == args[1]).all()
        self.facts.notes[site] = ("isclose", 0)
        return torch.isclose(*args, **keywords).all()

    def _length(self, site: Site, of: Any) -> Any:
        if isinstance(of, Rows | Masked):
            of = of if isinstance(of, Rows) else self._of_rows(site, torch.stack, of, (), {})
            self.facts.notes[site] = ("form", "$rows.shape[0]")
        if isinstance(of, Rows):
            return of.values.shape[0]
        if isinstance(of, _Sequence):
            return of.length
        if not isinstance(of, torch.Tensor):
            return len(of)
        size: Any = of.shape[0]
        if free_unbacked_symbols(size):
            self.facts.notes[site] = ("form", "$rows.shape[0]")
        elif not isinstance(size, int):
            self.facts.notes[site] = ("size", "$rows.shape[0]")  # which len() of Python's would fix
        return size

    def method(self, site: Site, of: Any, name: str, *args: Any, **keywords: Any) -> Any:
        """A call of a method."""
        if isinstance(of, torch.Tensor):
            if name == "item":
                return self._number(site, "item", of)
            if name == "unbind" and not isinstance(of.shape[(args or (0,))[0]], int):
                return _Rowwise(of, (args or (keywords.get("dim", 0),))[0])
            if name == "tolist" and of.dim() == 1 and isinstance(of.numel(), int):
                self.facts.reads_whole |= not of.dtype.is_floating_point
                if not self.facts.keeps_symbols:
                    self.facts.notes[site] = ("form", "$first.unbind()")
                    return list(of.unbind(0))
            if name == "tolist" and (self.depth or not isinstance(of.numel(), int)):
                self.facts.notes[site] = ("form", "$first")
                size: Any = of.shape[0]
                return list(of) if isinstance(size, int) else _Rowwise(of, 0)
        if of is math and args and isinstance(args[0], torch.Tensor) and name in MATH:
            self.facts.notes[site] = ("form", f"torch.{name}($first)")
            return getattr(torch, name)(args[0])
        function = getattr(of, name)
        if args and (of_numbers := self._of_numbers(site, function, args[0], keywords)):
            return of_numbers[0]
        if isinstance(of, torch.nn.Module) and getattr(function, "__self__", None) is of:
            self.facts.own_methods.add(site)
        if function in _COMPARED and len(args) > 1:  # of the module torch
            return self._compare(site, function, *args, **keywords)
        if isinstance(of, torch.Tensor) and args and name in ("equal", "allclose"):
            return self._compare(site, getattr(torch, name), of, *args, **keywords)
        if args and isinstance(args[0], Rows | Masked):
            return self._of_rows(site, function, args[0], args[1:], keywords)
        return function(*args, **keywords)


def _merge_kinds(kinds: set[str]) -> str | None:
    """The kind of a part of a test in all calls; None where they have none in common."""
    if len(kinds) == 1:
        return "plain" if kinds == {"decided"} else next(iter(kinds))
    if kinds == {"plain", "decided"}:
        return "decided"
    return "bool" if kinds <= {"plain", "decided", "bool"} else None


class _Watch(TorchFunctionMode):
    """Notes whether an op is called that raises an error for some data."""

    may_raise = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        tensors = [argument for argument in args if isinstance(argument, torch.Tensor)]
        if name == "__getitem__":
            parts = args[1] if isinstance(args[1], tuple) else (args[1],)
            whole = [part for part in parts if isinstance(part, torch.Tensor)]
            self.may_raise |= any(tensor.dtype != torch.bool for tensor in whole)
        elif name.startswith(_CHECKED):
            self.may_raise = True
        elif name in _OF_SOME:
            self.may_raise |= any(free_unbacked_symbols(tensor.shape) for tensor in tensors)
        return func(*args, **(kwargs or {}))


class _Sequence:
    """The iterable of a staged loop."""

    length: Any = 0

    @staticmethod
    def of(value: Any) -> _Sequence | None:
        """A sequence of a length that may be dynamic; None for Python's own."""
        if isinstance(value, torch.Tensor):
            size: Any = value.shape[0]
            return None if isinstance(size, int) else _Rowwise(value, 0)
        return value if isinstance(value, _Sequence) else None

    def at(self, number: int) -> Any:
        """The element at a place."""
        raise NotImplementedError

    def element(self) -> Any:
        """An element at a place that only the program knows."""
        raise NotImplementedError


class _Range(_Sequence):
    def __init__(self, start: Any, step: Any, length: Any) -> None:
        self.start, self.step, self.length = start, step, length
        self.is_plain = type(start) is int and start >= 0 and step == 1

    @staticmethod
    def of(*args: Any) -> _Range:
        numbers = [a.item() if isinstance(a, torch.Tensor) else a for a in args]
        start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) > 2 else 1
        if not isinstance(step, int):
            raise CannotRewrite("the step of a range is not known while tracing")
        span = stop - start if step > 0 else start - stop
        length = span if abs(step) == 1 else (span + abs(step) - 1) // abs(step)
        return _Range(start, step, length)

    def at(self, number: int) -> Any:
        return self.start + number * self.step

    def element(self) -> Any:
        return torch.zeros((), dtype=torch.int64, device="cpu")


class _Rowwise(_Sequence):
    def __init__(self, values: torch.Tensor, dim: int) -> None:
        self.values, self.dim, self.length = values, dim, values.shape[dim]

    def at(self, number: int) -> Any:
        return self.values.select(self.dim, number)

    def element(self) -> Any:
        return self.values.narrow(self.dim, 0, 1).squeeze(self.dim)


class _Zipped(_Sequence):
    def __init__(self, parts: list[_Sequence]) -> None:
        self.parts = parts
        lengths = [sequence.length for sequence in parts]
        self.length = next((n for n in lengths if not isinstance(n, int)), lengths[0])

    def at(self, number: int) -> Any:
        return tuple(sequence.at(number) for sequence in self.parts)

    def element(self) -> Any:
        return tuple(sequence.element() for sequence in self.parts)


class _Reversed(_Sequence):
    def __init__(self, of: _Sequence) -> None:
        self.part, self.length = of, of.length

    def element(self) -> Any:
        return self.part.element()


def _is_dynamic(args: tuple[Any, ...]) -> bool:
    return any(isinstance(argument, torch.SymInt | torch.Tensor) for argument in args)


def _arrange(name: str, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    values = [argument.values if isinstance(argument, Rows) else argument for argument in args]
    parts = [_Sequence.of(value) for value in values]
    if not any(parts):
        return function(*args, **keywords)
    if name == "reversed":
        assert parts[0] is not None
        return _Reversed(parts[0])
    if name == "enumerate":
        assert parts[0] is not None
        return _Zipped([_Range(0, 1, parts[0].length), parts[0]])
    if not all(parts):
        raise CannotRewrite("a list and a tensor of a dynamic length are iterated together")
    return _Zipped([sequence for sequence in parts if sequence])


def _lacks_value(error: BaseException) -> bool:
    """Whether an operation failed because a name has no value yet."""
    return type(UNDEFINED).__name__ in str(error)


def _find_sharing(values: dict[str, Any]) -> set[str]:
    """The names of tensors that share memory with another one."""
    owners: dict[Any, list[str]] = {}
    for name, value in values.items():
        if (storage := storage_of(value)) is not None:
            owners.setdefault(storage, []).append(name)
    return {name for names in owners.values() if len(names) > 1 for name in names}


def _same_shape(one: Any, two: Any) -> bool:
    if type(one) is type(two) and isinstance(one, dict | list | tuple):
        if len(one) != len(two) or (isinstance(one, dict) and list(one) != list(two)):
            return False
        parts = (value.values() if isinstance(value, dict) else value for value in (one, two))
        return all(_same_shape(a, b) for a, b in zip(*parts, strict=True))
    if not isinstance(one, torch.Tensor) or not isinstance(two, torch.Tensor):
        return type(one) is type(two)
    if one.dim() != two.dim() or one.dtype != two.dtype:
        return False
    return all(
        a is b or statically_known_true(a == b) for a, b in zip(one.shape, two.shape, strict=True)
    )


def _collect(one: Any, two: Any) -> Any:
    """A list that the ways of a branch fill."""
    if isinstance(one, Rows) or isinstance(two, Rows):
        return one if isinstance(one, Rows) else two
    if len(one) == len(two) and not isinstance(one, Masked):
        return one
    return Masked(one if len(one) > len(two) else two)


def _stack(value: Any, length: Any, loop: Any) -> Rows:
    piece = value.piece if isinstance(value, Rows) else value[-1]
    if not isinstance(piece, torch.Tensor):
        if not isinstance(piece, bool | int | float):
            raise CannotRewrite("a loop collects values other than tensors")
        piece = _as_tensor(piece)
    is_masked = isinstance(value, Masked) or getattr(value, "is_masked", False)
    values = piece.unsqueeze(0).expand(length, *piece.shape).clone()
    return Rows(piece, values, is_masked=is_masked, loop=loop)


def _as_tensor(value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value
    return torch.as_tensor(value, device="cpu")


def _has_grown(before: Any, after: Any) -> bool:
    """Whether a number became a tensor."""
    is_number = isinstance(before, bool | int | float)
    return is_number and isinstance(after, torch.Tensor) and not after.dim()


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | type(None) | torch.dtype | torch.device)


def _is_int(value: Any) -> bool:
    return isinstance(value, int | torch.SymInt) and not isinstance(value, bool)


def _zero(value: torch.Tensor) -> Any:
    return False if value.dtype == torch.bool else 0.0 if value.dtype.is_floating_point else 0


def _is_builtin(value: Any) -> bool:
    return getattr(value, "__module__", "") != "torch"


def _name_of(function: Any) -> str:
    """The name of a function, for which torch may have put another while it traces."""
    replaced = getattr(function, "keywords", {}).get("real_callable", function)
    return str(getattr(replaced, "__name__", ""))


def _refuse() -> Any:
    raise CannotRewrite("a list is written by a negative index")


def _run_both(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """The user's own torch.cond: its functions are traced as they are, not by Dynamo."""
    result = true_fn(*operands)
    false_fn(*operands)
    return result


class _Running:
    """The probe that instrumented functions ask."""

    def __init__(self) -> None:
        self.probe: Probe | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.probe, name)


running = _Running()


@undone
def probing(
    *, keeps_symbols: bool = False, tensors: Mapping[str, torch.dtype] | None = None
) -> Iterator[Probe]:
    """A probe, while its block runs."""
    running.probe = probe = Probe(keeps_symbols=keeps_symbols, tensors=tensors)
    cond = torch.cond
    _torch.cond = _run_both
    try:
        yield probe
    finally:
        _torch.cond = cond
        running.probe = None
        probe.facts.close()

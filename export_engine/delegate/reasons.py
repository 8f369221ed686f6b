"""Why a partitioner of ExecuTorch's refused an op: its words, else the line of its rule.

Each rule of a partitioner is a config, whose `check_constraints` answers with True or False and
mostly says why to a WhyNoPartition. Where it does not, it is asked once more under a tracer, which
notes the line that returned.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch

from export_engine.defects import log_internal_error
from export_engine.delegate.backend import Verdict
from export_engine.delegate.executorch_names import WHY, rules_of
from export_engine.process import undone
from export_engine.record import BackendRule
from export_engine.run import Origins
from export_engine.torch_internals import expression_of, is_edge_op, is_unbacked, origins

REFUSED = "export_explorer_verdict"
"""The key of a reason in a node's meta, since nodes are copied while they are lowered."""
_MOST_LINES = 8


class Refusals:
    """A watched partitioner's verdicts on each op."""

    def __init__(self, sources: Origins, refused: Mapping[str, Verdict]) -> None:
        """Make one.

        Args:
            sources: of the program that is lowered.
            refused: its ops that are kept out of the partitions, whatever the rules say.
        """
        self._sources = sources
        self._refused = refused
        self._words: list[tuple[torch.fx.Node, str]] = []
        self.before: dict[str, tuple[list[str], Verdict]] = {}
        """Per op that was refused before it was decomposed: its history, with its own name."""

    @undone
    def watching(self, partitioner: Any) -> Iterator[Refusals]:
        """Watches a partitioner's rules. The partitioner itself is the caller's, and is kept so."""
        rules = rules_of(partitioner)
        for rule in rules.values():
            rule.check_constraints = self._watch(rule, rule.check_constraints)
            rule.get_partition = self._taking(rule, rule.get_partition)
        try:
            with self._listening():
                yield self
        finally:
            for rule in rules.values():
                del rule.check_constraints, rule.get_partition

    @undone
    def _listening(self) -> Iterator[None]:
        """Hears what rules say to any WhyNoPartition."""
        why = WHY.find()
        original = None if why is None else vars(why).get("__call__")
        if why is None or original is None:
            yield
            return

        def keep_words(told: Any, node: Any, reason: str) -> None:
            self._words.append((node, str(reason)))
            original(told, node, reason)

        why.__call__ = keep_words
        try:
            yield
        finally:
            why.__call__ = original

    def _watch(self, rule: Any, check: Callable[..., bool]) -> Callable[..., bool]:
        def check_node(node: torch.fx.Node, program: Any) -> bool:
            self._words.clear()
            refused = self._refused.get(self._sources.of(node)) if self._refused else None
            if refused is not None and is_edge_op(node.target):
                self._keep(node, refused)
                return False
            if check(node, program):
                node.meta[REFUSED] = Verdict(True)
                return True
            self._keep(node, self._verdict(rule, lambda: check(node, program)))
            return False

        return check_node

    def _taking(self, rule: Any, take: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def take_nodes(node: torch.fx.Node, program: Any) -> list[Any]:
            result = take(node, program)
            if node not in result:
                self._words.clear()
                self._keep(node, self._verdict(rule, lambda: take(node, program)))
            return result

        return take_nodes

    def _keep(self, node: torch.fx.Node, verdict: Verdict) -> None:
        if is_edge_op(node.target):
            node.meta[REFUSED] = verdict
        else:  # it is decomposed, and its node with it
            self.before[node.name] = ([*origins(node), node.name], verdict)

    def _verdict(self, rule: Any, ask: Callable[[], object]) -> Verdict:
        words = [reason for _, reason in self._words]
        line, detail = find_refusing_line(rule, ask)
        if words:
            text = "; ".join(dict.fromkeys(word.strip().rstrip(".") for word in words))
            return Verdict(False, f"{text}{f': {detail}' if detail else ''}", "backend", line)
        if line is None:
            return Verdict(False, f"{type(rule).__name__} rejects it without a reason", "rule")
        told = " ".join(line.text.split())
        return Verdict(False, f"{line.name} rejects it: `{told}`", "rule", line)


class _Call(NamedTuple):
    """A call of a method of a rule, and how it returned."""

    name: str
    file: str
    line: int
    detail: str
    is_refusal: bool
    inner: list[_Call]


def find_refusing_line(rule: Any, ask: Callable[[], object]) -> tuple[BackendRule | None, str]:
    """The line of a rule's code that made it refuse, and what it refused there.

    Args:
        rule: a config of a partitioner.
        ask: asks the rule once more.
    """
    calls = _calls_of(rule, ask)
    if not calls:
        return None, ""
    call = calls[0]
    while refusing := [inner_call for inner_call in call.inner if inner_call.is_refusal]:
        call = refusing[0]
    file = Path(call.file)
    text = _statement(call.file, call.line)
    parts = file.parts
    start = parts.index("executorch") if "executorch" in parts else max(len(parts) - 2, 0)
    named = f"{type(rule).__name__}.{call.name}"
    return (
        BackendRule(name=named, file="/".join(parts[start:]), line=call.line, text=text),
        call.detail,
    )


def _calls_of(rule: Any, ask: Callable[[], object]) -> list[_Call]:
    """The calls of a rule's methods while it is asked, each with those inside of it."""
    top: list[_Call] = []
    open_calls: list[list[_Call]] = [top]

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if event != "call" or frame.f_locals.get("self") is not rule:
            return None
        if frame.f_code.co_filename == __file__:
            return None
        inner: list[_Call] = []
        open_calls.append(inner)

        def within(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "return":
                open_calls.pop()
                code = frame.f_code
                open_calls[-1].append(
                    _Call(
                        code.co_name,
                        code.co_filename,
                        frame.f_lineno,
                        _detail(frame),
                        _is_refusal(arg),
                        inner,
                    )
                )
            return within

        return within

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ask()
    except Exception as error:  # noqa: BLE001 - it has answered once already
        log_internal_error(error, "asking a rule once more")
        return []
    finally:
        sys.settrace(before)
    return top


def _is_refusal(returned: Any) -> bool:
    if isinstance(returned, tuple):
        return len(returned) == 2 and returned[0] is False and isinstance(returned[1], list)
    return returned is False or returned == []


def _detail(frame: FrameType) -> str:
    """The dtype that a check rejected, since it only reports an invalid one."""
    f_locals = frame.f_locals
    if frame.f_code.co_name == "_check_inputs_are_valid_dtypes":
        argument, value = f_locals.get("arg"), f_locals.get("arg_val")
        item = f_locals.get("arg") if isinstance(argument, torch.fx.Node) else None
        return _describe_seen("input", item, value)
    if frame.f_code.co_name == "_check_outputs_are_valid_dtypes":
        return _describe_seen("output", None, f_locals.get("val"))
    return ""


def _describe_seen(what: str, node: Any, value: Any) -> str:
    named = f" {node.name}" if isinstance(node, torch.fx.Node) else ""
    if isinstance(value, torch.Tensor):
        if what == "input" and any(map(_is_unknown, value.shape)):
            return f"{what}{named} has a data-dependent size"
        if what == "input" and value.numel() == 0:
            return f"{what}{named} is empty"
        return f"{what}{named} is {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool | int | float):
        return f"{what}{named} is a size, not a tensor"
    return ""


def _is_unknown(size: int | torch.SymInt) -> bool:
    """Whether a size depends on data."""
    symbols = () if isinstance(size, int) else expression_of(size).free_symbols
    return any(map(is_unbacked, symbols))


def _statement(file: str, line: int) -> str:
    """The statement of a line, from the `if` that leads to it."""
    lines, branches = _branches(file)
    start = max((low for low, high in branches if low <= line <= high), default=line)
    return "\n".join(lines[start - 1 : min(line, start + _MOST_LINES - 1)])


@lru_cache(maxsize=16)
def _branches(file: str) -> tuple[list[str], list[tuple[int, int]]]:
    """The lines of a file, and the first and last line of each `if`."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return [], []
    pairs = [
        (node.lineno, body[-1].end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        for body in [node.body]
    ]
    return text.splitlines(), pairs

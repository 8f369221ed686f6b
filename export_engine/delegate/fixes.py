"""Fixes for delegation: rewrites of ops outside, lowered again and compared with eager."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import msgspec
import torch

from export_engine.attempt import Agreement, Exported
from export_engine.defects import log_internal_error
from export_engine.delegate.assemble import Delegated, delegate
from export_engine.delegate.backend import DelegationBackend
from export_engine.delegate.graph_edit import GraphEdit, ProgramEdit
from export_engine.delegate.planned_sizes import SizeBound, find_size_bound
from export_engine.delegate.program_rewrites import ProgramRewrite
from export_engine.delegate.rewrite import Rewrite
from export_engine.delegate.rewrite_kinds import (
    REWRITES,
    find_outside,
    list_rewrites_of_programs,
)
from export_engine.describe import describe, describe_check
from export_engine.error_text import format_with_type
from export_engine.progress import Progress
from export_engine.record import DelegatedOp, Delegation, LinePlace, TriedFix
from export_engine.run import Origins
from export_engine.verify import check

AnyRewrite = Rewrite | ProgramRewrite
AnyFix = AnyRewrite | SizeBound
SIZES = 5
"""At how many sizes a rewritten program is compared with eager."""


class Gain(NamedTuple):
    """The effect of a fix on a delegation."""

    ops_outside: int
    """How many fewer ops are outside."""
    partitions_before: int
    partitions: int
    flops_before: float
    """The share of FLOPs inside."""
    flops: float
    time_before: float = -1
    """Microseconds of a call; -1 where it was not measured."""
    time: float = -1
    sizes: str = ""
    """The sizes that memory is planned for, if they change."""

    @property
    def is_gain(self) -> bool:
        """Whether fewer ops are outside, in no more partitions, no FLOPs left, and no time lost.

        A program of which memory is planned for more sizes gains by that.
        """
        if self.time_before > 0 and self.time > _NOISE * self.time_before:
            return False
        fewer = self.ops_outside > 0 or self.partitions < self.partitions_before or self.sizes
        few = self.partitions <= self.partitions_before or not self.partitions_before
        kept = self.ops_outside >= 0 and few
        return bool(fewer) and kept and self.flops >= self.flops_before - _LEAST

    def __str__(self) -> str:
        word = "more" if self.ops_outside < 0 else "fewer"
        count = abs(self.ops_outside)
        ops = f"{count} {word} {'op' if count == 1 else 'ops'} outside"
        parts = f"{self.partitions_before} → {self.partitions} partitions"
        share = f"{self.flops_before:.1%} → {self.flops:.1%} of FLOPs inside"
        text = f"{ops}, {parts}, {share}{self._change_of_time()}"
        return self.sizes if self.sizes and not self.ops_outside else text

    def _change_of_time(self) -> str:
        if self.time_before <= 0 or self.time <= 0:
            return ""
        change = self.time / self.time_before - 1
        return f", {abs(change):.0%} {'more' if change > 0 else 'less'} time"


_LEAST = 1e-9
_NOISE = 1.1
"""A call that takes so much longer is slower; less is noise of the machine."""


@dataclass(frozen=True, kw_only=True)
class DelegationFix:
    """A rewrite of ops that a backend left, tried."""

    kind: str
    title: str
    ops: tuple[str, ...]
    """The ops of the program that it replaces."""
    places: tuple[LinePlace, ...]
    attempt: Exported = field(repr=False)
    """The attempt whose program is rewritten."""
    delegated: Delegated = field(repr=False)
    """The delegation of the rewritten program, and its stage."""
    gain: Gain
    agreement: Agreement
    """How the rewritten program compares with eager."""
    keeps_all: bool
    """Whether it gives up neither precision, as float32 in place of float64 does, nor a size."""

    @property
    def program(self) -> torch.export.ExportedProgram:
        """The rewritten copy."""
        return self.attempt.program

    @property
    def delegation(self) -> Delegation:
        """The delegation of the rewritten program."""
        return self.delegated.delegation

    @property
    def is_lossless(self) -> bool:
        """Whether it gives up nothing, and agrees with eager wherever it was compared."""
        return self.keeps_all and self.agreement.verdict == "agrees"

    @property
    def data(self) -> TriedFix:
        """As plain data, for the Record."""
        return TriedFix(
            kind=self.kind,
            title=self.title,
            ops=list(self.ops),
            places=list(self.places),
            gain=str(self.gain),
            is_lossless=self.is_lossless,
            agreement=describe_check(self.agreement).sentence,
        )

    def __str__(self) -> str:
        times = f" ×{len(self.ops)}" if len(self.ops) > 1 else ""
        return f"{self.title}{times}: {self.gain}"


def find_fixes(
    attempt: Exported,
    backend: DelegationBackend,
    before: Delegation,
    progress: Callable[[Progress], None] | None = None,
) -> list[DelegationFix]:
    """Each kind of rewrite that applies to an op outside, tried alone; those that gain.

    Raises:
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    trials = _Trials(attempt, backend, before)
    kinds = list(trials.find_applicable())
    tried = []
    for number, rewrite in enumerate(kinds):
        if progress is not None:
            progress(Progress(number, len(kinds), rewrite.title, "fix"))
        fix = trials.run([rewrite])
        if fix is not None:
            tried.append(fix)
    return sorted(tried, key=lambda fix: (-fix.gain.flops, fix.gain.partitions))


def fix_all(
    attempt: Exported,
    backend: DelegationBackend,
    before: Delegation,
    progress: Callable[[Progress], None] | None = None,
) -> DelegationFix | None:
    """All kinds together that are lossless and gain; None where none does.

    All of them at once are tried first. Where that does not gain, they are added one by one.

    Raises:
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    trials = _Trials(attempt, backend, before)
    kinds = [rewrite for rewrite in trials.find_applicable() if rewrite.keeps_all]
    if not kinds:
        return None
    if progress is not None:
        progress(Progress(0, len(kinds), "all rewrites together", "fix"))
    fix = trials.run(kinds)
    if fix is not None and fix.is_lossless:
        return fix
    best, kept = None, list[AnyFix]()
    for number, rewrite in enumerate(kinds):
        if progress is not None:
            progress(Progress(number + 1, len(kinds), rewrite.title, "fix"))
        fix = trials.run([*kept, rewrite])
        is_better = best is None or fix is None or fix.gain.flops >= best.gain.flops
        if fix is not None and is_better and fix.is_lossless:
            best, kept = fix, [*kept, rewrite]
    return best


def try_kinds(
    attempt: Exported, backend: DelegationBackend, before: Delegation, kinds: Iterable[str]
) -> DelegationFix | None:
    """Rewrites ops outside by kinds, named as `Rewrite.kind` is, also where that gains nothing.

    Returns:
        None where no op was rewritten, or the rewritten program cannot be lowered.
    """
    names = set(kinds)
    trials = _Trials(attempt, backend, before)
    chosen = [rewrite for rewrite in trials.list_all() if rewrite.kind in names]
    return trials.run(chosen, only_gains=False)


@dataclass(frozen=True)
class _Retraced:
    """A program after rewrites of whole programs."""

    program: torch.export.ExportedProgram
    outside: Sequence[DelegatedOp]
    """The ops outside, as its nodes are called."""
    done: tuple[str, ...] = ()
    """The ops of the original program that were rewritten."""


class _Trials:
    """Tries rewrites of one program; it is retraced once for each of whole programs."""

    def __init__(self, attempt: Exported, backend: DelegationBackend, before: Delegation) -> None:
        """Make one.

        Args:
            attempt: the program's.
            backend: that lowers it.
            before: the delegation of the program as it is.
        """
        self._attempt, self._backend, self._before = attempt, backend, before
        outside = [op for op in before.outside if not op.graph]
        self._retraced: dict[tuple[ProgramRewrite, ...], _Retraced] = {
            (): _Retraced(attempt.program, outside)
        }

    def list_all(self) -> Iterator[AnyFix]:
        """All kinds: of whole programs, of ops, and a bound of sizes if one is missing."""
        yield from list_rewrites_of_programs(self._backend)
        yield from REWRITES
        if not self._may_apply(SizeBound.kind):
            return  # its Record need not be made
        bound = find_size_bound(self._attempt, describe(self._attempt), self._backend)
        if bound is not None:
            yield bound

    def find_applicable(self) -> Iterator[AnyFix]:
        """The kinds that change at least one op outside, or a size that memory is planned for."""
        for fix in filter(lambda fix: self._may_apply(fix.kind), self.list_all()):
            if isinstance(fix, SizeBound) or self._rewrite([fix])[1]:
                yield fix

    def _may_apply(self, kind: str) -> bool:
        """Whether the delegation lists a kind; one of before has no list."""
        return not self._before.kinds or kind in self._before.kinds

    def run(self, rewrites: Sequence[AnyFix], *, only_gains: bool = True) -> DelegationFix | None:
        """Rewrites ops outside in a copy, lowers it, and compares it with eager.

        Args:
            rewrites: the kinds, in the order in which they are tried on an op.
            only_gains: a rewrite that gains nothing is not compared, and not returned.

        Returns:
            None where no op was rewritten, or the rewritten program cannot be lowered.
        """
        before = self._before
        exported, ops = self._make(rewrites)
        if exported is None:
            return None
        try:
            delegated = delegate(
                exported, describe(exported), self._backend, measure=before.call >= 0
            )
        except Exception as error:  # noqa: BLE001 - it is left out
            log_internal_error(error, f"lowering a program with {rewrites[0].kind} rewritten")
            return None
        delegation = delegated.delegation
        gain = Gain(
            len(before.outside) - len(delegation.outside),
            len(before.partitions),
            len(delegation.partitions),
            before.share_of_flops,
            delegation.share_of_flops,
            before.call,
            delegation.call,
            "".join(fix.gain for fix in rewrites if isinstance(fix, SizeBound)),
        )
        if only_gains and not gain.is_gain:
            return None
        outside = {op.origin: op for op in before.outside}
        return DelegationFix(
            kind=", ".join(rewrite.kind for rewrite in rewrites),
            title="; ".join(rewrite.title for rewrite in rewrites),
            ops=tuple(ops),
            places=tuple(dict.fromkeys(outside[op].place for op in ops if op in outside)),
            attempt=exported,
            delegated=delegated,
            gain=gain,
            agreement=_compare(exported),
            keeps_all=all(rewrite.keeps_all for rewrite in rewrites),
        )

    def _make(self, fixes: Sequence[AnyFix]) -> tuple[Exported | None, list[str]]:
        """An attempt with fixes applied, and the ops that they replace; None where none applies."""
        attempt = self._attempt
        if len(fixes) == 1 and isinstance(fixes[0], SizeBound):
            return fixes[0].export(attempt), []
        program, ops = self._rewrite([fix for fix in fixes if not isinstance(fix, SizeBound)])
        rewritten = replace(attempt, program=program, agreement=None, kept=None, given="rewritten")
        return (rewritten if ops else None), ops

    def _rewrite(
        self, rewrites: Sequence[AnyRewrite]
    ) -> tuple[torch.export.ExportedProgram, list[str]]:
        """A copy in which ops outside are rewritten, and their names.

        Rewrites of ops may replace the ops that one of the whole program emits.
        """
        chosen = [rewrite for rewrite in rewrites if isinstance(rewrite, Rewrite)]
        retraced = self._retrace(
            tuple(rewrite for rewrite in rewrites if isinstance(rewrite, ProgramRewrite))
        )
        sources = Origins(self._attempt.program, nested=False)
        done = [*retraced.done]
        changed, left = {*done}, {op.origin for op in retraced.outside}
        edit = ProgramEdit(retraced.program, left)
        for node in list(edit.program.graph.nodes):
            if node.op != "call_function" or node.name not in left:
                continue
            origin = sources.of(node) if changed else node.name
            every = _OF_CERTAIN_OPS if origin in changed else chosen
            if _put_first(every, edit, node):
                done.append(origin or node.name)
        return edit.finish(), list(dict.fromkeys(done))

    def _retrace(self, rewrites: tuple[ProgramRewrite, ...]) -> _Retraced:
        """The program after rewrites of whole programs, one after the other."""
        if rewrites in self._retraced:
            return self._retraced[rewrites]
        before = self._retrace(rewrites[:-1])
        result = rewrites[-1].try_on(find_outside(before.program, self._backend, before.outside))
        retraced = before
        if result is not None:
            program, names = result
            original = self._attempt.program
            sources = Origins(original, nested=False)
            origins = {node.name: sources.of(node) for node in before.program.graph.nodes}
            retraced = _Retraced(
                program,
                _find_again(before.outside, original, program),
                (*before.done, *(origins[name] or name for name in names)),
            )
        self._retraced[rewrites] = retraced
        return retraced


_OF_CERTAIN_OPS = [rewrite for rewrite in REWRITES if rewrite.ops]


def _find_again(
    outside: Sequence[DelegatedOp],
    program: torch.export.ExportedProgram,
    rewritten: torch.export.ExportedProgram,
) -> list[DelegatedOp]:
    """The ops outside, each for every node that it became in a retraced program."""
    sources, names = Origins(program, nested=False), dict[str, list[str]]()
    for node in rewritten.graph.nodes:
        if node.op == "call_function":
            names.setdefault(sources.of(node), []).append(node.name)
    return [
        msgspec.structs.replace(op, origin=name)
        for op in outside
        for name in names.get(op.origin, ())
    ]


def _put_first(chosen: Sequence[Rewrite], edit: ProgramEdit, node: torch.fx.Node) -> bool:
    """Puts the first rewrite that applies in an op's place.

    A rewrite of any op may emit an op that others replace.
    """
    for rewrite in chosen:
        here = GraphEdit(node, edit)
        if not rewrite.fits(node) or not _put(rewrite, here):
            continue
        if not rewrite.ops:
            special = [other for other in chosen if other.ops]
            for inner in here.emitted:
                _put_first(special, edit, inner)
        return True
    return False


def _put(rewrite: Rewrite, edit: GraphEdit) -> bool:
    """Puts a rewrite in an op's place; False where it does not apply."""
    node, result = edit.node, rewrite.try_at(edit)
    if result is None:
        return False
    if result is node:  # its results were replaced
        return True
    if node.users and _has_tensor(node):
        edit.put(result)
    return True


def _has_tensor(node: torch.fx.Node) -> bool:
    return isinstance(node.meta.get("val"), torch.Tensor)


def _compare(made: Exported) -> Agreement:
    """Compares with eager at several sizes; says why where it cannot."""
    try:
        return check(made, SIZES)
    except Exception as error:  # noqa: BLE001 - kept in the agreement
        log_internal_error(error, "comparing a rewritten program with eager")
        return Agreement((), reason=f"the comparison itself failed, {format_with_type(error)}")

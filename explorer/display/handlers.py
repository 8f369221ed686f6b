"""The kernel's replies to the page's requests about a session, one method each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from explorer.page import messages as m
from explorer.session.entry import Entry
from explorer.session.internal_errors import OURS, find_defect
from explorer.session.main_thread import in_main_thread
from explorer.session.session import FixError, Session
from export_engine.missing_packages import MissingPackage
from export_engine.plain_errors import WrongArgument
from export_engine.record import ProgramDiff, TensorSlice, TextDiff
from widgets import Answer, Refusal

if TYPE_CHECKING:
    import torch

    from explorer.page.messages import TensorRequest
    from export_engine.cost import CostTable
    from export_engine.progress import Progress
    from export_engine.record import Record, TensorSlice


class MessageHandlers:
    """Handles `messages.ASKS` for one session. The handler of a message has its name."""

    def __init__(self, session: Session) -> None:
        """Make one.

        Args:
            session: whose attempts are asked about.
        """
        self._session = session
        self.progress: Callable[[int, int, str], None] | None = None
        """Called with an action's progress: done, total (0 if unknown), current item."""

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """One answer.

        Raises:
            Refusal: with a sentence; for a defect of Export Explorer, also a report.
        """
        try:
            return answer_message(self, m.ASKS, ask, request)
        except MissingPackage as missing:
            raise Refusal(str(missing)) from missing
        except (*OURS, RuntimeError) as error:
            defect = find_defect(error, f"answering `{ask}`")
            if defect is None:
                raise
            raise Refusal(str(defect), defect.report) from error

    def _record(self, asked: m.OfAttempt) -> bytes:
        return self._entry(asked.attempt).encoded

    def _source(self, asked: m.OfFile) -> m.Lines:
        from export_engine.source import SourceMissing, source_lines

        record = self._entry(asked.attempt).record
        _check("file", asked.file, len(record.files))
        try:
            return m.Lines(source_lines(record, asked.file))
        except SourceMissing as missing:
            raise Refusal(str(missing)) from missing

    def _code(self, asked: m.OfGraph) -> m.Code:
        record = self._entry(asked.attempt).record
        _check("graph", asked.graph, len(record.graphs))
        return print_code(record, asked.graph)

    def _cost(self, asked: m.OfAttempt) -> CostTable:
        from export_engine.cost import cost_of, table_of

        try:
            return table_of(cost_of(self._entry(asked.attempt).record))
        except WrongArgument as error:
            raise Refusal(str(error)) from error

    def _decomposable(self, _: m.OfAttempt) -> m.Ops:
        from export_engine.attempt import decomposable

        return m.Ops(decomposable())

    def _diff(self, asked: m.OfPair) -> ProgramDiff:
        from explorer.results.weight_differences import compare_entries

        other, entry = self._entry(asked.other, "other"), self._entry(asked.attempt)
        try:
            return compare_entries(other, entry)
        except ValueError as error:
            raise Refusal(str(error)) from error

    def _texts(self, asked: m.OfPair) -> list[TextDiff]:
        from export_engine.diff import text_differences

        other, entry = self._entry(asked.other, "other"), self._entry(asked.attempt)
        return text_differences(other.record, entry.record)

    def _others(self, asked: m.OfAttempt) -> m.OtherPrograms:
        from explorer.session.other_program import find_others

        return m.OtherPrograms(find_others(self._entry(asked.attempt)))

    def _beside(self, asked: m.OtherChoice) -> m.NewAttempt:
        from explorer.session.other_program import lend_choice
        from export_engine.archive import ArchiveError

        try:
            name, entry = lend_choice(asked.program)
        except (ArchiveError, TypeError, ValueError, OSError) as error:
            raise Refusal(str(error)) from error
        return m.NewAttempt(self._session.add_other(entry, asked.attempt, name))

    def _setups(self, _: m.OfAttempt) -> m.Setups:
        from explorer.results.runs import available

        return available()

    def _case(self, asked: m.ByName) -> m.CasePage:
        from export_engine.exportdb import NoSuchCase, case
        from export_engine.source import python_lines

        try:
            result = in_main_thread(lambda: case(asked.name))  # at first, it runs all cases' texts
        except NoSuchCase as error:
            raise Refusal(str(error)) from error
        return m.CasePage(python_lines(result.source), result)

    def _break(self, asked: m.ByName) -> m.BreakPage:
        from export_engine.exportdb import graph_break_pages

        page = next(
            (
                graph_break_page
                for graph_break_page in graph_break_pages()
                if graph_break_page.name == asked.name
            ),
            None,
        )
        if page is None:
            raise Refusal(
                f"This torch version has no page {asked.name} in its registry of graph breaks."
            )
        return m.BreakPage(page)

    def _explain(self, asked: m.ByName) -> m.CodeText:
        from export_engine.rules import NoSuchCode

        try:
            return code_text(asked.name)
        except NoSuchCode as error:
            raise Refusal(str(error)) from error

    def _apply(self, asked: m.FixChoice) -> m.NewAttempt:
        return m.NewAttempt(self._session.apply(asked.attempt, asked.fixes, self._report))

    def _writing(self, asked: m.FixChoice) -> m.Writing:
        from explorer.session.writing import writing

        try:
            return writing(self._session, asked.attempt, asked.fixes)
        except FixError as error:
            raise Refusal(str(error)) from error

    def _autofix(self, asked: m.OfAttempt) -> m.Autofixed:
        before = len(self._session.entries)
        report = self._session.autofix(asked.attempt, self._report)
        added = len(self._session.entries) > before
        last = len(self._session.entries) - 1 if added else asked.attempt
        return m.Autofixed(last, report.sentence)

    def _reproduce(self, asked: m.OfAttempt) -> m.ReproducedScript:
        from explorer.results.reproduction import reproduce
        from export_engine.source import python_lines

        reproduced = reproduce(self._session, asked.attempt, progress=self._report)
        return m.ReproducedScript(
            python_lines(reproduced.script),
            reproduced.sentence,
            reproduced.script,
            reproduced.issue,
        )

    def _verify(self, asked: m.SizeCount) -> m.Sentence:
        if not 1 <= asked.sizes <= 1000:
            raise Refusal("Choose between 1 and 1000 sizes to compare at.")
        verified = self._session.verify(asked.attempt, asked.sizes, self._report)
        return m.Sentence(verified.sentence)

    def _run(self, asked: m.RunRequest) -> m.Sentence:
        from explorer.results.runs import run
        from export_engine.run import Plan

        if not asked.backends:
            raise Refusal("Choose a device and at least one backend.")
        plan = Plan(devices=[asked.device], backends=asked.backends, sizes=asked.sizes or None)
        before = self._entry(asked.attempt).runs
        try:
            run(self._session, asked.attempt, plan, progress=self._report)
        except KeyboardInterrupt:
            if self._entry(asked.attempt).runs == before:
                raise
            return m.Sentence("Interrupted. Finished runs are kept.")
        return m.Sentence("")

    def _profile(self, asked: m.ProfileRequest) -> None:
        from explorer.results.runs import profile

        sizes = asked.sizes or None
        profile(self._session, asked.attempt, asked.device, sizes=sizes, progress=self._report)

    def _stages(self, asked: m.StagesRequest) -> None:
        from explorer.results.stages import compile_stages

        number, report = asked.attempt, self._report
        backend, device, options = asked.backend, asked.device, asked.options
        compile_stages(
            self._session, number, backend, device, options=options or None, progress=report
        )

    def _delegate(self, asked: m.DelegateRequest) -> None:
        from explorer.results.delegation import delegate

        number, backend, measure = asked.attempt, asked.backend, asked.measure
        delegate(self._session, number, backend, self._report, measure=measure)

    def _can_take(self, asked: m.OfAttempt) -> None:
        from explorer.results.delegation import make_table

        make_table(self._session, asked.attempt, "all")

    def _delegation_fixes(self, asked: m.DelegateRequest) -> None:
        from explorer.results.delegation import find_delegation

        find_delegation(self._session, asked.attempt, asked.backend).fixes(self._report)

    def _fix_delegation(self, asked: m.DelegationFixChoice) -> m.Autofixed:
        from explorer.results.delegation import find_delegation
        from explorer.text.delegation_text import fix_sentence

        delegation = find_delegation(self._session, asked.attempt, asked.backend)
        kinds, report = asked.kinds, self._report
        fix = delegation.apply_kinds(kinds, report) if kinds else delegation.autofix(report)
        if fix is None:
            return m.Autofixed(asked.attempt, "No lossless rewrite brings more ops in.")
        return m.Autofixed(self._session.current, fix_sentence(fix.data))

    def _watch(self, asked: m.ProfileRequest) -> None:
        from explorer.results.recorded_values import watch

        sizes = asked.sizes or None
        watch(self._session, asked.attempt, asked.device, sizes=sizes, progress=self._report)

    def _against(self, asked: m.ValuesAgainst) -> m.Sentence:
        from explorer.results.compared_runs import compare_values

        compare_values(self._session, asked.attempt, asked.other, progress=self._report)
        return m.Sentence("")

    def _tensor(self, asked: m.TensorRequest) -> TensorSlice:
        _check("graph", asked.graph, len(self._entry(asked.attempt).record.graphs))
        return tensor_slice(self._session, asked)

    def _decompose(self, asked: m.TableChoice) -> m.NewAttempt:
        return m.NewAttempt(self._session.decompose(asked.attempt, asked.table, self._report))

    def _contracts(self, asked: m.OfAttempt) -> m.ContractsCompared:
        from explorer.results.contract_differences import ContractDifferences

        other = self._session.convert(asked.attempt, self._report)
        contract_differences = ContractDifferences(self._entry(asked.attempt), self._entry(other))
        return m.ContractsCompared(
            other, contract_differences.exported, str(contract_differences).split("\n")
        )

    def _generate(self, asked: m.GenerateRequest) -> m.Sentence:
        try:
            return m.Sentence(self._session.generate(asked.backend, self._report))
        except KeyboardInterrupt:
            return m.Sentence("Interrupted. Finished generations are kept.")

    def _trust(self, asked: m.OfAttempt) -> None:
        self._session.trust(asked.attempt)

    def _use(self, asked: m.OfAttempt) -> None:
        self._session.use(asked.attempt)

    def _entry(self, number: int, key: str = "attempt") -> Entry:
        _check(key, number, len(self._session.entries))
        return self._session.entries[number]

    def _report(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress(progress.done, progress.total, progress.label or progress.what)

    def check(self, request: msgspec.Struct) -> None:
        """Raises Refusal if a request names an attempt that does not exist."""
        if isinstance(request, m.OfAttempt):
            self._entry(request.attempt)


def answer_message(
    answers: Any, known: Mapping[str, m.Message], ask: str, request: dict[str, Any]
) -> Answer:
    """The reply from an object with a method per message, as the widget sends it.

    Raises:
        Refusal: with a sentence: the request is unknown or malformed.
    """
    if ask not in known:
        raise Refusal(f"This kernel does not know the request {ask!r}. Reload the page.")
    message = known[ask]
    try:
        asked = msgspec.convert(request, message.request)
    except msgspec.ValidationError as error:
        raise Refusal(f"The request {ask!r} is malformed: {error}. Reload the page.") from error
    answers.check(asked)
    reply = getattr(answers, f"_{ask}")
    if not message.acts:
        value = reply(asked)
    else:
        try:
            value = in_main_thread(lambda: reply(asked))
        except FixError as error:
            raise Refusal(str(error)) from error
        except KeyboardInterrupt as interrupt:
            raise Refusal("Interrupted. Nothing has changed.") from interrupt
    return (None, [value]) if isinstance(value, bytes) else (msgspec.to_builtins(value), [])


def print_code(record: Any, graph: int, most: float = 1.0) -> m.Code:
    """A graph of a Record, printed and highlighted.

    Args:
        record: whose graph.
        graph: its number.
        most: CPU seconds for the highlighting, where the Record is of an archive.
    """
    from export_engine.source import alike_lines, print_graph

    text = print_graph(record, graph)
    seconds = most if record.sources_inside else math.inf  # its texts come from whoever made it
    return m.Code(alike_lines(text.lines, seconds), list(text.nodes))


def code_text(code: str) -> m.CodeText:
    """The page on a stable code. Raises NoSuchCode."""
    from export_engine.rules import page_on
    from export_engine.source import python_lines

    page = page_on(code)
    lines = python_lines(page.example)
    return m.CodeText(lines, page.code, page.title, page.means, page.cure, page.why)


def _check(key: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise Refusal(f"There is no {key} {value!r}. Run the cell again.")


def tensor_slice(session: Session, asked: TensorRequest) -> TensorSlice:
    """A part of what a node of an attempt's program gave, in the run that was watched or compared.

    Raises:
        FixError: nothing was run yet, the node gives no tensor, or has no partner.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.values import StepFailed, slice_tensor

    record = session.entries[asked.attempt].record
    if not 0 <= asked.node < len(record.graphs[asked.graph].name):
        raise FixError(f"There is no node {asked.node} in this graph. Run the cell again.")
    try:
        value = _fetch_tensor(session, asked)
    except (LookupError, StepFailed) as error:
        raise FixError(str(error)) from error
    axes = _axes(record, asked.graph, asked.node, value)
    return slice_tensor(value, axes, asked.rows, asked.columns, asked.index, asked.cell)


def _fetch_tensor(session: Session, asked: TensorRequest) -> torch.Tensor:
    entry = session.entries[asked.attempt]
    if asked.side != "one":
        if entry.compared is None:
            raise FixError("Compare with another run first.")
        one, other = entry.compared.tensors(asked.node, asked.graph)
        return other if asked.side == "other" else one.double() - other.double()
    if entry.watched is None:
        if entry.compared is None:
            raise FixError("Record a run first.")
        return entry.compared.tensors(asked.node, asked.graph)[0]
    exported = session.require_exported(asked.attempt, "run")
    return entry.watched.tensor(exported, asked.node, asked.graph)


def _axes(record: Record, graph: int, node: int, value: torch.Tensor) -> list[str]:
    """The names of a tensor's axes: its symbolic sizes, and else their numbers."""
    number = record.graphs[graph].type[node]
    sizes = record.types[number].shape if number >= 0 else []
    if len(sizes) != value.dim():
        return [f"axis {axis}" for axis in range(value.dim())]
    return [size if isinstance(size, str) else f"axis {axis}" for axis, size in enumerate(sizes)]

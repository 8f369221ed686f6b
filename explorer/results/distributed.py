"""Runs on the engines of an ipyparallel client: each run is a task of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from export_engine.defects import log_internal_error
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from export_engine.attempt import Exported
    from export_engine.progress import Progress
    from export_engine.record import Record, RunRow
    from export_engine.run import Plan

_LOOK = 0.2
"""Seconds between two polls of the engines."""


class _Task(NamedTuple):
    row: RunRow
    """The message if the run is lost."""
    answer: Any
    """An AsyncResult."""


def run_on(
    client: Any,
    exported: Exported,
    record: Record,
    plan: Plan,
    keep: Callable[[RunRow], None],
    progress: Callable[[Progress], None] | None,
) -> None:
    """Spreads the runs of a plan over the engines of a client.

    The program travels as a `.pt2`, so there is no eager model there: runs are compared with the
    program itself. An engine that dies loses only its current run.

    Raises:
        ValueError: there are no engines, or the plan names something that does not exist.
        KeyboardInterrupt: the user interrupted; runs that no engine has started are cancelled.
    """
    from export_engine.progress import Progress
    from export_engine.run import pack_program

    if not getattr(client, "ids", None):
        raise WrongArgument(
            "The client has no engines. on= needs an ipyparallel Client: "
            "ipyparallel.Cluster(n=2).start_and_connect_sync()."
        )
    parcel = pack_program(exported, record, plan.inputs, plan.sizes)
    tasks = _submit(client, parcel, plan)
    waiting = list(tasks)
    everything = plan.backends == "all"
    try:
        while waiting:
            if progress:
                done = len(tasks) - len(waiting)
                progress(Progress(done, len(tasks), f"{len(client.ids)} engines", "run"))
            waiting[0].answer.wait(_LOOK)
            for task in [sent for sent in waiting if sent.answer.ready()]:
                waiting.remove(task)
                row = _row(task)
                if not (everything and row.outcome == "unavailable"):
                    keep(row)
    except KeyboardInterrupt:
        for task in waiting:
            task.answer.abort()
        raise


def _submit(client: Any, parcel: Any, plan: Plan) -> list[_Task]:
    from export_engine.run import backends, choose_backends, full_name, run_packed, unavailable

    view = client.load_balanced_view()
    view.retries = 0  # a run that killed its engine would kill the next one
    tasks = []
    for number, (label, *_) in enumerate(parcel.calls):
        for device in dict.fromkeys(map(full_name, plan.devices)):
            every = plan.backends == "all"  # the engines know which backends they can run
            wanted = list(backends()) if every else plan.backends
            for backend in choose_backends(wanted, device, eager=False):
                if backend.name != "eager":  # the eager model is not sent
                    answer = view.apply_async(run_packed, parcel, number, device, backend.name)
                    tasks.append(_Task(unavailable(backend, device, label, ""), answer))
    return tasks


def _row(task: _Task) -> RunRow:
    """An engine's row, with its name; or a row that says why there is none."""
    import msgspec

    engine = getattr(task.answer, "engine_id", None)
    where = f"engine {engine}" if isinstance(engine, int) else "a lost engine"
    try:
        row: RunRow = task.answer.get()
        return msgspec.structs.replace(row, where=where)
    except Exception as error:  # noqa: BLE001 - any loss is one run's
        log_internal_error(error, "running on an engine")
        return msgspec.structs.replace(
            task.row,
            outcome="failed",
            sentence=_sentence(error),
            detail=str(error)[:4000],
            where=where,
        )


def _sentence(error: Exception) -> str:
    name = getattr(error, "ename", type(error).__name__)
    text = " ".join(str(getattr(error, "evalue", error)).split())[:200]
    if name in ("ModuleNotFoundError", "ImportError"):
        return f"That engine cannot load Export Explorer ({text}): also install it there."
    if name == "EngineError":
        return "The engine died during this run."
    return f"The engine could not run it: {text}"

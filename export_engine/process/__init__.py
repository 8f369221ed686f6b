"""The shared process state: one lock, reliable interrupts, generators and switches restored.

Whatever snapshots or replaces process state is a context manager made by `undone`. It takes the one
lock first, so two threads never restore over each other, and lets no interrupt in between a change
and its undo. `Deadline` ends a call of the user's code that never would. While an action goes on,
kernels that would stop a GPU for good look first. `run_forked` makes calls in a fork meanwhile.
A `ForkServer` starts processes that have imported everything.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.process.children import another_python as another_python
    from export_engine.process.deadline import ELSEWHERE as ELSEWHERE
    from export_engine.process.deadline import Deadline as Deadline
    from export_engine.process.deadline import EndsPython as EndsPython
    from export_engine.process.fork_server import ForkServer as ForkServer
    from export_engine.process.fork_server import serve_forks as serve_forks
    from export_engine.process.forks import Forked as Forked
    from export_engine.process.forks import can_fork as can_fork
    from export_engine.process.forks import ends_python as ends_python
    from export_engine.process.forks import heap_frozen as heap_frozen
    from export_engine.process.forks import run_forked as run_forked
    from export_engine.process.generators import seed as seed
    from export_engine.process.gpu_checks import gpu_unchecked as gpu_unchecked
    from export_engine.process.interrupts import clear_interrupt as clear_interrupt
    from export_engine.process.interrupts import raise_if_interrupted as raise_if_interrupted
    from export_engine.process.interrupts import whole as whole
    from export_engine.process.interrupts import whole_contexts as whole_contexts
    from export_engine.process.interrupts import whole_with as whole_with
    from export_engine.process.limits import LimitedRun as LimitedRun
    from export_engine.process.limits import Running as Running
    from export_engine.process.limits import run_limited as run_limited
    from export_engine.process.limits import start_process as start_process
    from export_engine.process.lock import sandbox as sandbox
    from export_engine.process.lock import undone as undone
else:
    __getattr__, __dir__ = lazy_names(__name__)

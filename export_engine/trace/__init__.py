"""The recording of a trace, as plain values: guards, new symbols, side effects.

`recording` is of torch.export, `compile_events` and `compilation` of torch.compile. The hooks that
write them are in `torch_internals`; this package only defines the values.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.trace.compilation import STAGE_ARTIFACTS as STAGE_ARTIFACTS
    from export_engine.trace.compilation import CompilationTrace as CompilationTrace
    from export_engine.trace.compilation import artifact_name as artifact_name
    from export_engine.trace.compile_events import Seen as Seen
    from export_engine.trace.compile_events import SeenBreak as SeenBreak
    from export_engine.trace.compile_events import SeenCall as SeenCall
    from export_engine.trace.compile_events import SeenGraph as SeenGraph
    from export_engine.trace.compile_events import SeenRecompile as SeenRecompile
    from export_engine.trace.recording import ActiveContext as ActiveContext
    from export_engine.trace.recording import AskedCondition as AskedCondition
    from export_engine.trace.recording import CaughtError as CaughtError
    from export_engine.trace.recording import Change as Change
    from export_engine.trace.recording import ContextEffect as ContextEffect
    from export_engine.trace.recording import Narrowing as Narrowing
    from export_engine.trace.recording import OutsideRead as OutsideRead
    from export_engine.trace.recording import Owner as Owner
    from export_engine.trace.recording import PartialGraph as PartialGraph
    from export_engine.trace.recording import Patch as Patch
    from export_engine.trace.recording import Raised as Raised
    from export_engine.trace.recording import RecordedGuard as RecordedGuard
    from export_engine.trace.recording import Recording as Recording
    from export_engine.trace.recording import Replacement as Replacement
    from export_engine.trace.recording import SymbolBirth as SymbolBirth
else:
    __getattr__, __dir__ = lazy_names(__name__)

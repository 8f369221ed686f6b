"""The stages of a compiled program: intermediate graphs, kernels, their code and their times.

The program is compiled with torch's provenance enabled, and joined with the Record.
A kernel of several lines counts for all of them together: its time is never split.
`delegate` has the ops that a delegate takes; `cost` has the cost of a program without a run.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.stages.compiling import COMPILERS as COMPILERS
    from export_engine.stages.compiling import compile_stages as compile_stages
    from export_engine.stages.difference import KernelChange as KernelChange
    from export_engine.stages.difference import StagesDiff as StagesDiff
    from export_engine.stages.difference import compare_stages as compare_stages
    from export_engine.stages.line_times import LineSet as LineSet
    from export_engine.stages.line_times import LineTime as LineTime
    from export_engine.stages.line_times import times_by_line as times_by_line
    from export_engine.stages.line_times import times_by_line_set as times_by_line_set
    from export_engine.stages.reading import holds_stages as holds_stages
    from export_engine.stages.reading import read_stages as read_stages
    from export_engine.stages.steps import StagesMissing as StagesMissing
else:
    __getattr__, __dir__ = lazy_names(__name__)

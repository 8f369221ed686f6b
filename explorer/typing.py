"""Types of results, for annotations: `def check(runs: explorer.typing.Runs) -> None`."""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from explorer.comparing.comparison import Comparison as Comparison
    from explorer.comparing.contracts import ContractComparison as ContractComparison
    from explorer.display.pane_view import View as View
    from explorer.exportdb.library import Library as Library
    from explorer.guiding import Guided as Guided
    from explorer.lessons import Lesson as Lesson
    from explorer.results.compared_runs import ComparedRuns as ComparedRuns
    from explorer.results.cost import Cost as Cost
    from explorer.results.delegation import DelegationResult as DelegationResult
    from explorer.results.delegation import OpTableResult as OpTableResult
    from explorer.results.environment_report import Doctor as Doctor
    from explorer.results.layers import LayerComparison as LayerComparison
    from explorer.results.matches import Matches as Matches
    from explorer.results.pte import PteFile as PteFile
    from explorer.results.quantization import Quantized as Quantized
    from explorer.results.recorded_values import WatchedRun as WatchedRun
    from explorer.results.reproduction import Reproduced as Reproduced
    from explorer.results.runs import OpCosts as OpCosts
    from explorer.results.runs import Runs as Runs
    from explorer.results.stages import StagesResult as StagesResult
    from explorer.sets.comparison import SetComparison as SetComparison
    from explorer.sets.generation import GenerationPrograms as GenerationPrograms
    from explorer.surveys import SurveyResult as SurveyResult
    from explorer.text.explaining import CodePage as CodePage
    from explorer.text.release_verdict import Release as Release
    from explorer.vs_compile import CompileComparison as CompileComparison
    from export_engine.progress import Progress as Progress
    from export_engine.record import Record as Record
    from export_engine.verify import Verified as Verified
else:
    __getattr__, __dir__ = lazy_names(__name__)

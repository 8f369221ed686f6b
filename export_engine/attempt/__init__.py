"""The values that rooms exchange: the Request, and the resulting Attempt, Exported or Failed.

Also what belongs to one: source edits, registrations, the Diagnosis and its Fixes, Findings, the
Agreement with eager, the decomposition. They are plain values: `capture` makes attempts, `diagnose`
and `fixes` explain them, `describe` puts them into Records.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.attempt.agreement import Agreement as Agreement
    from export_engine.attempt.agreement import Trial as Trial
    from export_engine.attempt.aliasing import find_written_aliases as find_written_aliases
    from export_engine.attempt.aliasing import share_memory as share_memory
    from export_engine.attempt.attempt import NO_CALL as NO_CALL
    from export_engine.attempt.attempt import NO_MODEL as NO_MODEL
    from export_engine.attempt.attempt import Attempt as Attempt
    from export_engine.attempt.attempt import Exported as Exported
    from export_engine.attempt.decomposition import Level as Level
    from export_engine.attempt.decomposition import Origin as Origin
    from export_engine.attempt.decomposition import Replaced as Replaced
    from export_engine.attempt.decomposition_table import DecompositionTable as DecompositionTable
    from export_engine.attempt.decomposition_table import TableError as TableError
    from export_engine.attempt.decomposition_table import decomposable as decomposable
    from export_engine.attempt.diagnosis import Diagnosis as Diagnosis
    from export_engine.attempt.diagnosis import Facts as Facts
    from export_engine.attempt.diagnosis import Link as Link
    from export_engine.attempt.diagnosis import Related as Related
    from export_engine.attempt.failed import Failed as Failed
    from export_engine.attempt.finding import Finding as Finding
    from export_engine.attempt.fix import Fix as Fix
    from export_engine.attempt.fix import NoFix as NoFix
    from export_engine.attempt.graph_program import GivenGraph as GivenGraph
    from export_engine.attempt.graph_program import GraphProgram as GraphProgram
    from export_engine.attempt.registrations import install_setups as install_setups
    from export_engine.attempt.registrations import list_standing_setups as list_standing_setups
    from export_engine.attempt.request import Option as Option
    from export_engine.attempt.request import Request as Request
    from export_engine.attempt.source_edits import Edit as Edit
    from export_engine.attempt.source_edits import EditError as EditError
    from export_engine.attempt.source_edits import apply_edits as apply_edits
    from export_engine.attempt.source_edits import combine_edits as combine_edits
    from export_engine.attempt.source_edits import functions_remembered as functions_remembered
    from export_engine.attempt.source_edits import line_before as line_before
    from export_engine.attempt.source_edits import text_in_effect as text_in_effect
    from export_engine.attempt.target import as_module as as_module
    from export_engine.attempt.target import name_of as name_of
    from export_engine.attempt.transformers_caches import CachesRegistered as CachesRegistered
    from export_engine.attempt.transformers_caches import cache_classes as cache_classes
    from export_engine.attempt.transformers_caches import import_saved_class as import_saved_class
    from export_engine.attempt.transformers_caches import is_cache_class as is_cache_class
    from export_engine.rules import Kind as Kind
    from export_engine.torch_internals import signature_of as signature_of
else:
    __getattr__, __dir__ = lazy_names(__name__)

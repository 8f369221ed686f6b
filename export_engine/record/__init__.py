"""The Record: everything a view shows of one attempt, as plain data in one schema; its wire format.

Also what a Record tells without torch: formulas over sizes, whether a program
takes given sizes, whether a Record from a file is valid, its JSON Schema and TypeScript types.
`describe` makes Records.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.record.comparisons import TURNED as TURNED
    from export_engine.record.comparisons import canonical as canonical
    from export_engine.record.comparisons import number_last as number_last
    from export_engine.record.compile_report import CodePlace as CodePlace
    from export_engine.record.compile_report import CompiledCall as CompiledCall
    from export_engine.record.compile_report import CompiledGraph as CompiledGraph
    from export_engine.record.compile_report import CompileReport as CompileReport
    from export_engine.record.compile_report import Gap as Gap
    from export_engine.record.compile_report import Recompile as Recompile
    from export_engine.record.compile_report import Step as Step
    from export_engine.record.contract import Bound as Bound
    from export_engine.record.contract import Event as Event
    from export_engine.record.contract import Formula as Formula
    from export_engine.record.contract import Guard as Guard
    from export_engine.record.contract import OutputSize as OutputSize
    from export_engine.record.contract import Place as Place
    from export_engine.record.contract import Probe as Probe
    from export_engine.record.contract import Rule as Rule
    from export_engine.record.contract import Size as Size
    from export_engine.record.contract import SizeInput as SizeInput
    from export_engine.record.contract import Symbol as Symbol
    from export_engine.record.contract import in_user_names as in_user_names
    from export_engine.record.contract import interval as interval
    from export_engine.record.decomposition import LevelRow as LevelRow
    from export_engine.record.decomposition import ReplacedOp as ReplacedOp
    from export_engine.record.exportdb import CaseCheck as CaseCheck
    from export_engine.record.exportdb import CaseInput as CaseInput
    from export_engine.record.exportdb import ExportCase as ExportCase
    from export_engine.record.exportdb import GraphBreakPage as GraphBreakPage
    from export_engine.record.exportdb import ModeOutcome as ModeOutcome
    from export_engine.record.failure import Failure as Failure
    from export_engine.record.failure import Link as Link
    from export_engine.record.failure import Related as Related
    from export_engine.record.formula import evaluate as evaluate
    from export_engine.record.formula import sizes_in as sizes_in
    from export_engine.record.formula_parser import NoFormula as NoFormula
    from export_engine.record.formula_parser import compile_formula as compile_formula
    from export_engine.record.generation_plan import CONSTANT_VALUES as CONSTANT_VALUES
    from export_engine.record.generation_plan import Constant as Constant
    from export_engine.record.generation_plan import DType as DType
    from export_engine.record.generation_plan import Extended as Extended
    from export_engine.record.generation_plan import GenerationPlan as GenerationPlan
    from export_engine.record.generation_plan import Given as Given
    from export_engine.record.generation_plan import Ones as Ones
    from export_engine.record.generation_plan import Passed as Passed
    from export_engine.record.generation_plan import PlannedCall as PlannedCall
    from export_engine.record.generation_plan import PlannedInput as PlannedInput
    from export_engine.record.generation_plan import Positions as Positions
    from export_engine.record.generation_plan import Source as Source
    from export_engine.record.generation_plan import Tokens as Tokens
    from export_engine.record.graph import HOUSEKEEPING as HOUSEKEEPING
    from export_engine.record.graph import OPS as OPS
    from export_engine.record.graph import Column as Column
    from export_engine.record.graph import Expression as Expression
    from export_engine.record.graph import Frames as Frames
    from export_engine.record.graph import Graph as Graph
    from export_engine.record.graph import Group as Group
    from export_engine.record.graph import NestedGraph as NestedGraph
    from export_engine.record.graph import Ragged as Ragged
    from export_engine.record.graph import Scope as Scope
    from export_engine.record.graph import SourceFile as SourceFile
    from export_engine.record.graph import Target as Target
    from export_engine.record.graph import ValueType as ValueType
    from export_engine.record.graph import count_ops as count_ops
    from export_engine.record.grouping import with_groups as with_groups
    from export_engine.record.json_schema import record_schema as record_schema
    from export_engine.record.leaf_paths import join_path as join_path
    from export_engine.record.leaf_paths import split_path as split_path
    from export_engine.record.leaf_paths import unquoted as unquoted
    from export_engine.record.op_schema import SchemaArgument as SchemaArgument
    from export_engine.record.op_schema import call_arguments as call_arguments
    from export_engine.record.op_schema import schema_arguments as schema_arguments
    from export_engine.record.op_schema import split_arguments as split_arguments
    from export_engine.record.overlays import Overlay as Overlay
    from export_engine.record.program_diff import Became as Became
    from export_engine.record.program_diff import Change as Change
    from export_engine.record.program_diff import Difference as Difference
    from export_engine.record.program_diff import GraphDiff as GraphDiff
    from export_engine.record.program_diff import Pair as Pair
    from export_engine.record.program_diff import ProgramDiff as ProgramDiff
    from export_engine.record.program_diff import TextDiff as TextDiff
    from export_engine.record.program_diff import Why as Why
    from export_engine.record.program_set import ComponentRow as ComponentRow
    from export_engine.record.program_set import Flow as Flow
    from export_engine.record.program_set import GenerationTrial as GenerationTrial
    from export_engine.record.program_set import ProgramSet as ProgramSet
    from export_engine.record.program_set import Seam as Seam
    from export_engine.record.program_set import SetFinding as SetFinding
    from export_engine.record.program_set import SharedSymbol as SharedSymbol
    from export_engine.record.program_set import SymbolMember as SymbolMember
    from export_engine.record.program_set import WeightRow as WeightRow
    from export_engine.record.quantization import FloatOp as FloatOp
    from export_engine.record.quantization import Quantization as Quantization
    from export_engine.record.quantization import QuantizedLayer as QuantizedLayer
    from export_engine.record.quantization import QuantizedTensor as QuantizedTensor
    from export_engine.record.record import Record as Record
    from export_engine.record.record import Timing as Timing
    from export_engine.record.record import codes_in as codes_in
    from export_engine.record.runs import Profile as Profile
    from export_engine.record.runs import RunError as RunError
    from export_engine.record.runs import RunRow as RunRow
    from export_engine.record.runs import RunTimes as RunTimes
    from export_engine.record.signature import InputEntry as InputEntry
    from export_engine.record.signature import OutputEntry as OutputEntry
    from export_engine.record.signature import Signature as Signature
    from export_engine.record.size_probe import ProbeResult as ProbeResult
    from export_engine.record.size_probe import holds as holds
    from export_engine.record.size_probe import probe_named as probe_named
    from export_engine.record.size_probe import probe_sizes as probe_sizes
    from export_engine.record.size_probe import sizes_named as sizes_named
    from export_engine.record.size_probe import sizes_of_symbols as sizes_of_symbols
    from export_engine.record.typescript import declarations as declarations
    from export_engine.record.typescript import record_types as record_types
    from export_engine.record.typescript import type_text as type_text
    from export_engine.record.validation import check_record as check_record
    from export_engine.record.values import BINS as BINS
    from export_engine.record.values import OpPairs as OpPairs
    from export_engine.record.values import OpPlace as OpPlace
    from export_engine.record.values import OpValues as OpValues
    from export_engine.record.values import TensorSlice as TensorSlice
    from export_engine.record.values import ValuePairs as ValuePairs
    from export_engine.record.values import Values as Values
    from export_engine.record.values import bits as bits
    from export_engine.record.values import floats as floats
    from export_engine.record.verdicts import Check as Check
    from export_engine.record.verdicts import FindingRow as FindingRow
    from export_engine.record.verdicts import FixCard as FixCard
    from export_engine.record.verdicts import GuaranteeRow as GuaranteeRow
    from export_engine.record.verdicts import ShapesForm as ShapesForm
    from export_engine.record.verdicts import TrialRow as TrialRow
    from export_engine.record.verdicts import Verification as Verification
    from export_engine.record.wire import encode as encode
    from export_engine.record.wire import from_json as from_json
    from export_engine.record.wire import to_json as to_json
else:
    __getattr__, __dir__ = lazy_names(__name__)

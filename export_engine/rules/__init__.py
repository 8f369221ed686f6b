"""Rules: each kind of failure, finding and guarantee, with its code, its page and its sentences.

The sentences are here, one module per family; the checks are in `diagnose`, `findings`, `programs`
and `verify`. A code is permanent: it appears in JSON, SARIF, bug reports and searches, and never
changes its meaning. `python -m export_engine.rules --sentences` prints every sentence with sample
facts. Imports no torch.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.rules.baked_findings import BakedArgument as BakedArgument
    from export_engine.rules.baked_findings import BakedValue as BakedValue
    from export_engine.rules.baked_findings import DeviceBaked as DeviceBaked
    from export_engine.rules.baked_findings import DtypeBaked as DtypeBaked
    from export_engine.rules.baked_findings import FrozenParameter as FrozenParameter
    from export_engine.rules.baked_findings import FrozenTensor as FrozenTensor
    from export_engine.rules.baked_findings import OutsideValue as OutsideValue
    from export_engine.rules.control_flow_failures import CondAliases as CondAliases
    from export_engine.rules.control_flow_failures import CondBranchesDiffer as CondBranchesDiffer
    from export_engine.rules.control_flow_failures import CondMutates as CondMutates
    from export_engine.rules.control_flow_failures import CondSideEffect as CondSideEffect
    from export_engine.rules.guarantees import GuaranteeChecks as GuaranteeChecks
    from export_engine.rules.guarantees import GuaranteeDecomposed as GuaranteeDecomposed
    from export_engine.rules.guarantees import GuaranteeFlat as GuaranteeFlat
    from export_engine.rules.guarantees import GuaranteeFunctional as GuaranteeFunctional
    from export_engine.rules.guarantees import GuaranteeLifted as GuaranteeLifted
    from export_engine.rules.guarantees import GuaranteeMapped as GuaranteeMapped
    from export_engine.rules.guarantees import GuaranteeOps as GuaranteeOps
    from export_engine.rules.guarantees import GuaranteeReExported as GuaranteeReExported
    from export_engine.rules.guarantees import GuaranteeRefuses as GuaranteeRefuses
    from export_engine.rules.guarantees import GuaranteeSaved as GuaranteeSaved
    from export_engine.rules.guarantees import GuaranteeSound as GuaranteeSound
    from export_engine.rules.guarantees import GuaranteeState as GuaranteeState
    from export_engine.rules.guarantees import GuaranteeUnflattened as GuaranteeUnflattened
    from export_engine.rules.input_findings import OverlappingInputs as OverlappingInputs
    from export_engine.rules.input_findings import SharedInput as SharedInput
    from export_engine.rules.input_findings import UnusedInput as UnusedInput
    from export_engine.rules.input_findings import WrittenInput as WrittenInput
    from export_engine.rules.kinds import CODES as CODES
    from export_engine.rules.kinds import SEVERITIES as SEVERITIES
    from export_engine.rules.kinds import Group as Group
    from export_engine.rules.kinds import Kind as Kind
    from export_engine.rules.kinds import Severity as Severity
    from export_engine.rules.kinds import code_of as code_of
    from export_engine.rules.kinds import kinds_of as kinds_of
    from export_engine.rules.op_findings import Predicate as Predicate
    from export_engine.rules.op_findings import Random as Random
    from export_engine.rules.op_findings import RuntimeCheck as RuntimeCheck
    from export_engine.rules.op_findings import Synchronises as Synchronises
    from export_engine.rules.operator_failures import DeviceMismatch as DeviceMismatch
    from export_engine.rules.operator_failures import NoFakeKernel as NoFakeKernel
    from export_engine.rules.operator_failures import OperatorFailed as OperatorFailed
    from export_engine.rules.pages import RULES as RULES
    from export_engine.rules.pages import NoSuchCode as NoSuchCode
    from export_engine.rules.pages import page_on as page_on
    from export_engine.rules.python_failures import DataWrite as DataWrite
    from export_engine.rules.python_failures import GraphBreak as GraphBreak
    from export_engine.rules.python_failures import ModuleChanged as ModuleChanged
    from export_engine.rules.python_failures import Numpy as Numpy
    from export_engine.rules.python_failures import OwnError as OwnError
    from export_engine.rules.python_failures import TensorLeak as TensorLeak
    from export_engine.rules.python_failures import Unknown as Unknown
    from export_engine.rules.pytree_failures import NotAModule as NotAModule
    from export_engine.rules.pytree_failures import UnknownInputType as UnknownInputType
    from export_engine.rules.pytree_failures import UnknownOutputType as UnknownOutputType
    from export_engine.rules.rule import CodePage as CodePage
    from export_engine.rules.rule import Rule as Rule
    from export_engine.rules.rule import Sentence as Sentence
    from export_engine.rules.set_caches import SetInPlace as SetInPlace
    from export_engine.rules.set_caches import SetLost as SetLost
    from export_engine.rules.set_caches import SetMissing as SetMissing
    from export_engine.rules.set_caches import SetOrder as SetOrder
    from export_engine.rules.set_caches import SetPosition as SetPosition
    from export_engine.rules.set_caches import SetShift as SetShift
    from export_engine.rules.set_caches import SetUnused as SetUnused
    from export_engine.rules.set_connections import SetArgument as SetArgument
    from export_engine.rules.set_connections import SetDtypes as SetDtypes
    from export_engine.rules.set_connections import SetLength as SetLength
    from export_engine.rules.set_connections import SetMutated as SetMutated
    from export_engine.rules.set_connections import SetQuantization as SetQuantization
    from export_engine.rules.set_connections import SetRanges as SetRanges
    from export_engine.rules.set_connections import SetRounded as SetRounded
    from export_engine.rules.set_connections import SetSizes as SetSizes
    from export_engine.rules.set_connections import SetState as SetState
    from export_engine.rules.set_weights import SetConstant as SetConstant
    from export_engine.rules.set_weights import SetCopies as SetCopies
    from export_engine.rules.set_weights import SetTied as SetTied
    from export_engine.rules.set_weights import SetWeights as SetWeights
    from export_engine.rules.size_failures import ExampleOutOfRange as ExampleOutOfRange
    from export_engine.rules.size_failures import ShapesMismatch as ShapesMismatch
    from export_engine.rules.size_failures import ShapesViolated as ShapesViolated
    from export_engine.rules.size_failures import UnbackedSize as UnbackedSize
    from export_engine.rules.size_failures import ZeroOne as ZeroOne
    from export_engine.rules.size_findings import FixedSize as FixedSize
    from export_engine.rules.size_findings import HiddenCondition as HiddenCondition
    from export_engine.rules.size_findings import UntracedBranch as UntracedBranch
    from export_engine.rules.size_findings import WrongSize as WrongSize
    from export_engine.rules.state_findings import AliasedBuffers as AliasedBuffers
    from export_engine.rules.state_findings import StateChanged as StateChanged
    from export_engine.rules.state_findings import TiedWeights as TiedWeights
    from export_engine.rules.state_findings import TrainingMode as TrainingMode
    from export_engine.rules.state_findings import WrittenConstant as WrittenConstant
    from export_engine.rules.tracing_findings import CaughtError as CaughtError
    from export_engine.rules.tracing_findings import Context as Context
    from export_engine.rules.tracing_findings import NameTaken as NameTaken
    from export_engine.rules.tracing_findings import TwinDiffers as TwinDiffers
    from export_engine.rules.value_failures import AssertOnData as AssertOnData
    from export_engine.rules.value_failures import BranchOnData as BranchOnData
    from export_engine.rules.value_failures import BranchOnUnbacked as BranchOnUnbacked
    from export_engine.rules.value_failures import LoopOnData as LoopOnData
    from export_engine.rules.value_failures import OutputFromData as OutputFromData
else:
    __getattr__, __dir__ = lazy_names(__name__)

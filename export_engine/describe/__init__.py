"""Attempt → Record: everything a view shows of an exported program or a failure.

Works on any ExportedProgram, including one from a file without stacks, scopes or values. It
runs nothing; the schema is in `record`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.describe.arguments import Position as Position
    from export_engine.describe.arguments import Words as Words
    from export_engine.describe.arguments import print_argument as print_argument
    from export_engine.describe.attempt_record import describe as describe
    from export_engine.describe.call_sizes import CallSizes as CallSizes
    from export_engine.describe.eager_check import check_sentence as check_sentence
    from export_engine.describe.eager_check import describe_check as describe_check
    from export_engine.describe.eager_check import trial_row as trial_row
    from export_engine.describe.file_names import FileNames as FileNames
    from export_engine.describe.findings import with_decided as with_decided
    from export_engine.describe.findings import with_findings as with_findings
    from export_engine.describe.graphs import Graphs as Graphs
    from export_engine.describe.live_signature import input_paths as input_paths
    from export_engine.describe.signature import TreeSpec as TreeSpec
    from export_engine.describe.signature import describe_signature as describe_signature
    from export_engine.describe.size_rules import describe_probe as describe_probe
    from export_engine.describe.source import AnySize as AnySize
    from export_engine.describe.source import Entry as Entry
    from export_engine.describe.source import Nested as Nested
    from export_engine.describe.source import Node as Node
    from export_engine.describe.source import NumberValue as NumberValue
    from export_engine.describe.source import ObjectValue as ObjectValue
    from export_engine.describe.source import Range as Range
    from export_engine.describe.source import TensorValue as TensorValue
    from export_engine.describe.source import Value as Value
    from export_engine.describe.symbol_facts import describe_symbols as describe_symbols
    from export_engine.describe.symbol_facts import facts_of_program as facts_of_program
    from export_engine.describe.symbol_facts import places_of_symbols as places_of_symbols
    from export_engine.describe.symbol_names import Leaf as Leaf
    from export_engine.describe.symbol_names import user_names as user_names
    from export_engine.describe.symbols import Symbols as Symbols
else:
    __getattr__, __dir__ = lazy_names(__name__)

"""Attempt → Record: everything a view shows of an exported program or a failure.

Works on any ExportedProgram, also one loaded from a file that lacks stacks, scopes or values. It
runs nothing; the schema is in `record`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.describe.attempt_record import describe as describe
    from export_engine.describe.eager_check import check_sentence as check_sentence
    from export_engine.describe.eager_check import trial_row as trial_row
    from export_engine.describe.file_names import FileNames as FileNames
    from export_engine.describe.findings import with_decided as with_decided
    from export_engine.describe.findings import with_findings as with_findings
    from export_engine.describe.input_rules import contract_rules as contract_rules
    from export_engine.describe.input_rules import follows as follows
    from export_engine.describe.range_ends import default_bounds as default_bounds
    from export_engine.describe.scopes import Scopes as Scopes
    from export_engine.describe.signature import input_paths as input_paths
    from export_engine.describe.signature_places import symbol_places as symbol_places
    from export_engine.describe.symbol_names import Leaf as Leaf
    from export_engine.describe.symbol_names import user_names as user_names
    from export_engine.describe.tables import Stacks as Stacks
    from export_engine.describe.tables import Strings as Strings
    from export_engine.describe.tables import Table as Table
    from export_engine.describe.tables import ragged as ragged
    from export_engine.describe.value_table import ValueTable as ValueTable
    from export_engine.describe.value_table import python_type as python_type
    from export_engine.describe.value_table import tensor_type as tensor_type
else:
    __getattr__, __dir__ = lazy_names(__name__)

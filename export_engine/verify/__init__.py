"""Whether a program is correct: compared with eager, and torch.export's guarantees.

`guarantees` lists the checks. Each of them runs something; `findings` has checks that read only the
program, `run` has speed and backends.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.verify.against_eager import check as check
    from export_engine.verify.asking_line import line_shown as line_shown
    from export_engine.verify.compare_outputs import Difference as Difference
    from export_engine.verify.compare_outputs import compare as compare
    from export_engine.verify.compare_outputs import compare_named as compare_named
    from export_engine.verify.contract_sampling import inside as inside
    from export_engine.verify.contract_soundness import try_sizes as try_sizes
    from export_engine.verify.first_divergence import UNKNOWN as UNKNOWN
    from export_engine.verify.first_divergence import Divergence as Divergence
    from export_engine.verify.first_divergence import bisect as bisect
    from export_engine.verify.first_divergence import find_unmatched as find_unmatched
    from export_engine.verify.first_divergence import first_difference as first_difference
    from export_engine.verify.first_divergence import makes_tensor as makes_tensor
    from export_engine.verify.fresh_inputs import fresh_request as fresh_request
    from export_engine.verify.guarantee import Guarantee as Guarantee
    from export_engine.verify.guarantee import Verified as Verified
    from export_engine.verify.guarantees import verify as verify
    from export_engine.verify.isolated_run import call as call
    from export_engine.verify.isolated_run import copy_leaf as copy_leaf
    from export_engine.verify.isolated_run import in_eager as in_eager
    from export_engine.verify.isolated_run import run as run
    from export_engine.verify.isolated_run import runs_in_eager as runs_in_eager
    from export_engine.verify.known_causes import find_known_cause as find_known_cause
    from export_engine.verify.numbers_in_code import find_code_numbers as find_code_numbers
    from export_engine.verify.output_types import find_mistyped as find_mistyped
    from export_engine.verify.program_under_test import Subject as Subject
    from export_engine.verify.program_under_test import examine as examine
    from export_engine.verify.refusals import is_condition as is_condition
    from export_engine.verify.refusals import refusal as refusal
    from export_engine.verify.round_trips import find_saving_problem as find_saving_problem
    from export_engine.verify.uninitialized import describe_unwritten as describe_unwritten
    from export_engine.verify.uninitialized import find_unwritten as find_unwritten
    from export_engine.verify.uninitialized import memory_filled_in_calls as memory_filled_in_calls
    from export_engine.verify.uninitialized import without_unwritten as without_unwritten
    from export_engine.verify.untraced_sizes import sizes_of as sizes_of
    from export_engine.verify.verification_record import with_verification as with_verification
else:
    __getattr__, __dir__ = lazy_names(__name__)

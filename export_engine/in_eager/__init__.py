"""What the model does in eager where a trace of it fails, is bounded, or would be of edited code.

The example, calls that a condition excludes, and inputs that take the other branch of an edit are
run. It says what eager takes and gives; `verify` compares a program, and `fixes` offers changes.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.in_eager.edited_models import RAISES as RAISES
    from export_engine.in_eager.edited_models import agrees as agrees
    from export_engine.in_eager.edited_models import agrees_at as agrees_at
    from export_engine.in_eager.edited_models import (
        takes_what_eager_takes as takes_what_eager_takes,
    )
    from export_engine.in_eager.excluded_calls import allows as allows
    from export_engine.in_eager.excluded_calls import allows_any as allows_any
    from export_engine.in_eager.excluded_calls import as_failure as as_failure
    from export_engine.in_eager.excluded_calls import as_traced as as_traced
    from export_engine.in_eager.excluded_calls import calls_without as calls_without
    from export_engine.in_eager.excluded_calls import confirm_conditions as confirm_conditions
    from export_engine.in_eager.excluded_calls import find_accepted_call as find_accepted_call
    from export_engine.in_eager.excluded_calls import find_accepted_size as find_accepted_size
    from export_engine.in_eager.excluded_calls import iter_excluded_calls as iter_excluded_calls
    from export_engine.in_eager.excluded_calls import resize as resize
    from export_engine.in_eager.failed_calls import beside_eager as beside_eager
else:
    __getattr__, __dir__ = lazy_names(__name__)

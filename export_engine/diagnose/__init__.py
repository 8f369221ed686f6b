"""Failed attempt → Diagnosis: one module per family of failures; `families` lists them.

It reads the error and the recording, and exports nothing. `fixes` has the remedies.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.diagnose.errors import message as message
    from export_engine.diagnose.explanations import graph_break_url as graph_break_url
    from export_engine.diagnose.explanations import kinds_explained_by as kinds_explained_by
    from export_engine.diagnose.facts import DataDependent as DataDependent
    from export_engine.diagnose.facts import ExampleOutside as ExampleOutside
    from export_engine.diagnose.facts import NoFakeKernel as NoFakeKernel
    from export_engine.diagnose.facts import PinnedElsewhere as PinnedElsewhere
    from export_engine.diagnose.facts import SizeLookedUp as SizeLookedUp
    from export_engine.diagnose.facts import SizesViolated as SizesViolated
    from export_engine.diagnose.facts import UnbackedSize as UnbackedSize
    from export_engine.diagnose.facts import ZeroOrOne as ZeroOrOne
    from export_engine.diagnose.failing_line import chain as chain
    from export_engine.diagnose.failing_line import failing_place as failing_place
    from export_engine.diagnose.families import diagnose as diagnose
    from export_engine.diagnose.hindering_contexts import name_contexts as name_contexts
    from export_engine.diagnose.size_reasons import FOR_OTHERS as FOR_OTHERS
    from export_engine.diagnose.size_reasons import is_unrolled as is_unrolled
    from export_engine.diagnose.sizes import one_name_two_sizes as one_name_two_sizes
    from export_engine.diagnose.torch_messages import (
        counts_gradients_wrong as counts_gradients_wrong,
    )
    from export_engine.diagnose.torch_messages import explanation as explanation
    from export_engine.diagnose.torch_messages import formats_a_tensor as formats_a_tensor
    from export_engine.diagnose.torch_messages import hints as hints
    from export_engine.diagnose.torch_messages import of_a_device as of_a_device
    from export_engine.diagnose.torch_messages import reads_in_vmap as reads_in_vmap
else:
    __getattr__, __dir__ = lazy_names(__name__)

"""Request → Attempt: runs torch.export, records it, and can be interrupted.

Its sandbox snapshots, silences and restores the user's state while their code runs; `verify` and
`run` also use it. `diagnose` explains failures.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.capture.container_writes import Refilled as Refilled
    from export_engine.capture.container_writes import (
        find_container_writes as find_container_writes,
    )
    from export_engine.capture.container_writes import input_leaves as input_leaves
    from export_engine.capture.joint import JointFailed as JointFailed
    from export_engine.capture.joint import capture_joint as capture_joint
    from export_engine.capture.sandbox.model_snapshot import in_eval_mode as in_eval_mode
    from export_engine.capture.sandbox.model_snapshot import model_kept as model_kept
    from export_engine.capture.sandbox.object_snapshot import contents as contents
    from export_engine.capture.sandbox.output import descriptors_quiet as descriptors_quiet
    from export_engine.capture.sandbox.output import quiet as quiet
    from export_engine.capture.tracing import as_exported as as_exported
    from export_engine.capture.tracing import capture as capture
    from export_engine.capture.tracing import contexts_entered as contexts_entered
    from export_engine.capture.tracing import values_of_call as values_of_call
    from export_engine.capture.without_weights import copy_without_weights as copy_without_weights
else:
    __getattr__, __dir__ = lazy_names(__name__)

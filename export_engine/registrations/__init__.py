"""What torch lacks for a type or an op of the user's, worked out from runs of the eager model.

How a class is flattened into tensors, and which shape and dtype an op's result has. Each is a Setup
that is installed for an export and taken back. When to offer one is for `fixes`.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.registrations.containers import find_registrations as find_registrations
    from export_engine.registrations.containers import (
        find_unregistered_values as find_unregistered_values,
    )
    from export_engine.registrations.fake_kernels import FakeKernel as FakeKernel
    from export_engine.registrations.fake_kernels import infer_kernel as infer_kernel
    from export_engine.registrations.pytree_containers import Registered as Registered
    from export_engine.registrations.pytree_containers import Unfit as Unfit
    from export_engine.registrations.pytree_containers import (
        register_for_a_while as register_for_a_while,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__)

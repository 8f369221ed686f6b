"""The dynamic shapes of a call: the Shapes value, its short language, and torch's own specs.

Importing this package costs no torch import; converting to and from torch's specs does.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.shapes.both_forms import Form as Form
    from export_engine.shapes.both_forms import FormName as FormName
    from export_engine.shapes.both_forms import form_of as form_of
    from export_engine.shapes.both_forms import forms as forms
    from export_engine.shapes.both_forms import other_form as other_form
    from export_engine.shapes.differences import AssumptionChange as AssumptionChange
    from export_engine.shapes.differences import BoundsChange as BoundsChange
    from export_engine.shapes.differences import Change as Change
    from export_engine.shapes.differences import DimChange as DimChange
    from export_engine.shapes.differences import FormChange as FormChange
    from export_engine.shapes.differences import changes as changes
    from export_engine.shapes.dims import Auto as Auto
    from export_engine.shapes.dims import Bounds as Bounds
    from export_engine.shapes.dims import Computed as Computed
    from export_engine.shapes.dims import Dynamic as Dynamic
    from export_engine.shapes.dims import Int as Int
    from export_engine.shapes.dims import Named as Named
    from export_engine.shapes.dims import Pinned as Pinned
    from export_engine.shapes.dims import Spec as Spec
    from export_engine.shapes.dims import Static as Static
    from export_engine.shapes.errors import ShapesError as ShapesError
    from export_engine.shapes.expressions import OPPOSITE as OPPOSITE
    from export_engine.shapes.expressions import Relation as Relation
    from export_engine.shapes.expressions import combine as combine
    from export_engine.shapes.expressions import name_size as name_size
    from export_engine.shapes.expressions import relation_text as relation_text
    from export_engine.shapes.leaves import Leaf as Leaf
    from export_engine.shapes.leaves import leaves_of as leaves_of
    from export_engine.shapes.misfits import Misfit as Misfit
    from export_engine.shapes.misfits import fit_shapes as fit_shapes
    from export_engine.shapes.misfits import format_entries as format_entries
    from export_engine.shapes.misfits import only_names_dims as only_names_dims
    from export_engine.shapes.names import LARGEST as LARGEST
    from export_engine.shapes.one_size import bounds_said as bounds_said
    from export_engine.shapes.one_size import holds_always as holds_always
    from export_engine.shapes.positions import from_the_front as from_the_front
    from export_engine.shapes.spec import Shapes as Shapes
    from export_engine.shapes.torch_sizes import read_relations as read_relations
    from export_engine.shapes.torch_specs import specs_by_input as specs_by_input
else:
    __getattr__, __dir__ = lazy_names(__name__)

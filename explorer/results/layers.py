"""Whether the layers of two programs consist of the same ops, as of a model and its small twin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.text.escape import harmless

if TYPE_CHECKING:
    from export_engine.findings import LayerDifference
    from export_engine.record import Record

_FEW = 5


class LayerComparison:
    """How the layers of a small twin differ from the whole model's. `print` it."""

    def __init__(self, whole: Record, twin: Record) -> None:
        """Make one.

        Args:
            whole: the Record of the whole program.
            twin: that of its small twin.
        """
        from export_engine.findings import LayerKinds, find_layer_differences

        self.titles = (whole.title, twin.title)
        ours, theirs = LayerKinds(whole), LayerKinds(twin)
        self.layers: tuple[int, int] = (ours.count, theirs.count)
        self.differences: tuple[LayerDifference, ...] = tuple(find_layer_differences(ours, theirs))

    @property
    def same(self) -> bool:
        """Whether each layer of the whole model has a layer of the twin with the same ops."""
        return not self.differences

    def __repr__(self) -> str:
        from export_engine.rules import Kind

        whole, twin = self.titles
        if self.same:
            text = (
                f"Each of the {self.layers[0]} layers of {whole} has the same ops as a layer of "
                f"{twin}."
            )
            return harmless(text)
        lines = [
            f"{Kind.TWIN_DIFFERS.code}: layers of {whole} differ from those of {twin}, so results "
            "for the twin say less about it:"
        ]
        for difference in self.differences[:_FEW]:
            place = difference.path or "outside of layers"
            lines.append(f"  {place}: only in the whole {difference.whole or 'nothing'}")
            lines.append(f"      only in the twin {difference.twin or 'nothing'}")
        return harmless("\n".join(lines))

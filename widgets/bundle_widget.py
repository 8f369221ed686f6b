"""The one widget that carries the front end to a page."""

from __future__ import annotations

import traitlets
from ipywidgets import Widget

from widgets.bundle import bundle, layout


class BundleWidget(Widget):  # type: ignore[misc]  # ipywidgets is untyped
    """Carries the bundle and the layout worker to the page: once per kernel, for all outputs.

    It has no view. An explorer widget names it, and the page finds it by that name even while the
    kernel is busy.
    """

    bundle = traitlets.Bytes(b"").tag(sync=True)
    layout = traitlets.Bytes(b"").tag(sync=True)


_shared: BundleWidget | None = None


def get_shared_bundle() -> BundleWidget:
    """The kernel's one BundleWidget; a new one where the last was closed.

    Raises:
        FrontEndMissing: if the front end was not built.
    """
    global _shared  # noqa: PLW0603 - one per kernel is the point
    if _shared is None or _shared.comm is None:
        _shared = BundleWidget(bundle=bundle(), layout=layout())
    return _shared

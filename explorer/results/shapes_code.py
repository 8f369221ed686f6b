"""The dynamic shapes of a call, as Python code to paste: `ex.shapes_code()`."""

from __future__ import annotations

from explorer.session.session import FixError
from export_engine.attempt import NO_CALL, Fix, Request
from export_engine.shapes import FormName, forms
from export_engine.torch_internals import missing_shapes_spec


def write_statements(request: Request | None, fix: Fix | None, form: FormName | None) -> str:
    """The statements that make the `dynamic_shapes` of a request, or of a fix of it.

    Args:
        request: whose; None for a file that was opened.
        fix: to be in it.
        form: `Dims` or `ShapesSpec`; None for the request's own.

    Raises:
        FixError: there are no dynamic shapes, or the form cannot express them.
    """
    if request is None:
        raise FixError(NO_CALL)
    changed = fix.change(request) if fix else request
    shapes = changed.shapes
    if shapes is None:
        raise FixError("This call requests no dynamic shapes.")
    entries = {
        written.name: written
        for written in forms(shapes, changed.target, changed.args, changed.kwargs)
    }
    result = entries.get(form) if form else next(iter(entries.values()))
    if result is None:
        raise FixError(missing_shapes_spec() or f"There is no form {form!r}: Dims or ShapesSpec.")
    if not result.python:
        raise FixError(result.reason)
    return result.python

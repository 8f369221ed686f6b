"""An export as a script with plain torch alone, which makes the same program again."""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterator

import torch

from export_engine.attempt import NO_CALL, Exported, Request, list_standing_setups
from export_engine.plain_errors import PlainError
from export_engine.reproduce.definitions import list_definitions
from export_engine.reproduce.names import is_written
from export_engine.reproduce.script import Call, call_of, imports_first

_CHECK = """
def compared(value):
    leaves = torch.utils._pytree.tree_leaves(value)
    return [each for each in leaves if isinstance(each, (torch.Tensor, bool, int, float))]


def run(called):
    torch.manual_seed(0)
    given, keywords = copy.deepcopy((args, kwargs))
    with torch.no_grad():
        return compared(called(*given, **keywords))


try:
    expected = run(model)
except Exception as error:
    print(f"Not compared: the model raises {type(error).__name__} on these random inputs.")
else:
    ours = run(program.module())
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4, equal_nan=True)
"""
_SAVE = """
if len(sys.argv) > 1:
    torch.export.save(program, sys.argv[1])
"""
_WEIGHTS = """
if len(sys.argv) > 2:
    model.load_state_dict(torch.load(sys.argv[2], weights_only=True))
"""
_OBLIVIOUS = "torch.fx.experimental._config.patch(backed_size_oblivious=True)"


class NoScript(PlainError, RuntimeError):
    """The export cannot be written as a script. The message says why, and can be shown."""


def write_export_script(exported: Exported) -> str:
    """The text of a script that exports the same call, and compares the program with the model.

    It has what the export needed: definitions with the rewritten source, registrations, fake
    kernels, shapes and options. Weights are random, unless the script is given a state dict.

    Args:
        exported: an attempt with its call.

    Raises:
        NoScript: a part of the call cannot be written as Python.
    """
    request = exported.request
    if request is None:
        raise NoScript(NO_CALL)
    contexts = _list_contexts(request)
    try:
        call = call_of(request)
        standing = list_standing_setups(call.names.classes)
        needed = [*(setup for setup in standing if setup not in request.setups), *request.setups]
        setups = [line for setup in needed for line in setup.statements(call.names.reference)]
    except ValueError as reason:
        raise NoScript(f"The call cannot be written as a script: {reason}.") from reason
    target = request.target
    weights = isinstance(target, torch.nn.Module) and bool(target.state_dict())
    named = [] if call.model == "model" else [f"model = {call.model}"]
    named += [f"args = {call.args}", f"kwargs = {call.kwargs}"]
    # a Dim may be called as an argument is, so what is bound for shapes comes last
    body = [*call.statements, *setups, *_patches(request), *named, *call.shapes]
    parts = [
        _head(exported, request, weights=weights),
        imports_first("\n".join(body)),
        *([_WEIGHTS.strip()] if weights else []),
        "\n".join([*_export(request, call, contexts), *_decompose(exported)]),
        _SAVE.strip(),
        # an op that is only declared has no kernel here to run
        *([] if "torch.library.define(" in "\n".join(body) else [_CHECK.strip()]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(exported: Exported, request: Request, *, weights: bool) -> str:
    message = (
        f"Exports {exported.title or request.title or 'a model'} with torch {torch.__version__}."
    )
    fixes = [f"Fix: {title}." for title in request.fixed_by]
    use = "Run it with a file name to save the program there"
    use += "; a state dict's file as a second argument sets the weights." if weights else "."
    lines = [textwrap.fill(text, 96) for text in (message, *fixes, use)]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}"""\n\nimport copy\nimport sys\n\nimport torch\nfrom torch import nn'


def _patches(request: Request) -> Iterator[str]:
    """Statements that give functions of libraries, which are imported, their rewritten code."""
    for edit in request.edits:
        modules = dict(sys.modules)
        files = ((name, getattr(module, "__file__", None)) for name, module in modules.items())
        home = next((name for name, file in files if file == edit.file), None)
        nodes = dict(list_definitions(edit.after))
        for function in edit.functions:
            owner = getattr(modules[home], function.partition(".")[0], None) if home else None
            if owner is None or is_written(owner):
                continue  # the script has its definition
            yield _patch(str(home), function, nodes[function])


def _patch(home: str, function: str, node: ast.stmt) -> str:
    *classes, name = function.split(".")
    node = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.decorator_list = []
    text = ast.unparse(node)
    for other in reversed(classes):  # for a `super()` in it
        text = f"class {other}:\n{textwrap.indent(text, '    ')}"
    literal = text.replace("\\", "\\\\").replace("'''", "\\'\\'\\'")
    written = f"'''\n{literal}\n'''"
    first, *others = [*classes, name]
    new = ".".join([f"rewritten[{first!r}]", *others])
    return (
        f"import {home}\nrewritten = {{}}\nexec({written}, vars({home}), rewritten)\n"
        f"{home}.{function}.__code__ = {new}.__code__"
    )


def _list_contexts(request: Request) -> list[str]:
    """The contexts that the call is exported in, as expressions.

    Raises:
        NoScript: one is a library's own.
    """
    texts = []
    for context in request.within:
        name = getattr(context, "__name__", "")
        if getattr(torch, name, None) is not context:
            raise NoScript("The call was exported within a library's contexts.")
        texts.append(f"torch.{name}()")
    if "backed_size_oblivious" in request.options:
        texts.append(_OBLIVIOUS)
    return texts


def _export(request: Request, call: Call, contexts: list[str]) -> list[str]:
    texts = ["model", "args", "kwargs"]
    texts += ["dynamic_shapes=dynamic_shapes"] if call.shapes else []
    texts += [f"strict={request.strict}"]
    deferred = "prefer_deferred_runtime_asserts_over_guards"
    texts += [f"{deferred}=True"] if deferred in request.options else []
    exports = f"program = torch.export.export({', '.join(texts)})"
    if not contexts:
        return [exports]
    needed = ["import torch.fx.experimental._config"] if _OBLIVIOUS in contexts else []
    return [*needed, f"with {', '.join(contexts)}:", f"    {exports}"]


def _decompose(exported: Exported) -> list[str]:
    if exported.level is None:
        return []
    if str(exported.level.table) != "core":
        raise NoScript(
            f"The decomposition table '{exported.level.table}' cannot be written as a script. "
            "Save the program before it is decomposed."
        )
    return ["program = program.run_decompositions()"]

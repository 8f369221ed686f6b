"""torch's own RNN, LSTM and GRU as a scan over their cell: export unrolls them over the length."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import torch

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source

_STEPS = {
    "LSTM": """
h, c = carry
gate = each + {linear}(h, w, bias)
i, f, g, o = gate.chunk(4, -1)
c = f.sigmoid() * c + i.sigmoid() * g.tanh()
h = o.sigmoid() * c.tanh()
return (h, c), h.clone()
""",
    "GRU": """
(h,) = carry
r, z, n = each.chunk(3, -1)
hr, hz, hn = {linear}(h, w, bias).chunk(3, -1)
z = (z + hz).sigmoid()
h = (1 - z) * (n + (r + hr).sigmoid() * hn).tanh() + z * h
return (h,), h.clone()
""",
    "RNN": """
h = each + {linear}(carry[0], w, bias)
h = h.{act}()
return (h,), h.clone()
""",
}
_LAYERS = """
    ways = 2 if rnn.bidirectional else 1
    zeros = x.new_zeros(len(rnn.all_weights), x.shape[1], rnn.hidden_size)
    starts = ({zeros}) if hx is None else {given}
    lasts = []
    for layer in range(rnn.num_layers):
        outs = []
        for way in range(ways):
            number = layer * ways + way
            weights = {weights}
            bias = weights[3] if rnn.bias else None

            def {cell}:
{step}

            inputs = {linear}(x, weights[0], weights[2] if rnn.bias else None)
            start = tuple(each[number].clone() for each in starts)
            last, out = scan(step, start, {scanned}, reverse=way == 1)
            lasts.append(last)
            outs.append(out)
        x = {torch}.cat(outs, -1)
    last = tuple({torch}.stack(each) for each in zip(*lasts))
"""
_OF_ONE_STORAGE = "[each.clone() for each in rnn.all_weights[number]]  # parts of one storage"
_WHOLE = """
def {name}(rnn, x, hx=None):
    # the same as {kind}, which torch.export unrolls over its length
    from torch._higher_order_ops.scan import scan

    x = x.transpose(0, 1) if rnn.batch_first else x
{layers}
    x = x.transpose(0, 1) if rnn.batch_first else x
    return x, {last}
"""


def as_scan_of_cells(
    text: str, line: int, modules: Mapping[str, torch.nn.RNNBase]
) -> tuple[Rewritten, str]:
    """The text with a function's calls of torch's own recurrent modules as scans.

    Args:
        text: of the file.
        line: of one of the calls.
        modules: by the last name of their path.

    Returns:
        The text, and the module's class.

    Raises:
        Unclear: there is no such call, or the module does what the scan does not.
    """
    source = Source(text, line)
    calls = {
        node: modules[node.func.attr]
        for node in ast.walk(source.function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in modules
    }
    if not any(node.lineno <= line <= (node.end_lineno or 0) for node in calls):
        raise Unclear("the line does not call a recurrent module of torch by its name")
    pieces: list[Piece] = []
    taken = source.names
    kinds: dict[str, str] = {}
    for call, module in calls.items():
        refuse(module)
        kind = kind_of(module)
        name = free_name(f"_{kind.lower()}", taken)
        if kind not in kinds:
            one = any(map(shares_storage, calls.values()))
            pieces.append(helper(source, cell_of(_WHOLE, name, kind, source.torch, shared=one)))
        kinds[kind] = name
        owner = source.of(call.func)
        pieces.append(Piece(source.start(call), source.end(call.func), name))
        given = call.args[0] if call.args else call.keywords[0]
        pieces.append(Piece(source.start(given), source.start(given), f"{owner}, "))
    return source.changed(pieces), " and ".join(each.partition("_")[0] for each in kinds)


def module_as_scan(text: str, line: int, module: torch.nn.RNNBase) -> tuple[Rewritten, str]:
    """The text with the `forward` of torch's own recurrent module as a scan.

    Args:
        text: of the file of torch that has it.
        line: of `forward`.
        module: what is exported, itself.

    Returns:
        The text, and the module's class.

    Raises:
        Unclear: the module does what the scan does not.
    """
    refuse(module)
    source = Source(text, line)
    kind = kind_of(module)
    name = free_name(f"_{kind.lower()}", source.names)
    given = ", ".join(each.arg for each in source.function.args.args)
    cell = cell_of(_WHOLE, name, kind, source.torch, shared=shares_storage(module))
    made = helper(source, f"{cell.strip()}\n\nreturn {name}({given})")
    body = Piece(made.start, source.end(source.function.body[-1]), made.text.rstrip())
    return source.changed([body]), kind.partition("_")[0]


def kind_of(module: torch.nn.RNNBase) -> str:
    """The class of a recurrent module, of an RNN with its activation."""
    return module.mode if isinstance(module, torch.nn.RNN) else type(module).__name__


def shares_storage(module: torch.nn.RNNBase) -> bool:
    """Whether weights of a module are parts of one storage, as cuDNN has them on a GPU."""
    weights = list(module.parameters())
    return len({each.untyped_storage().data_ptr() for each in weights}) < len(weights)


def helper(source: Source, text: str) -> Piece:
    """A function that another one uses, before its first statement.

    Raises:
        Unclear: the function has no statement.
    """
    first = _first_statement(source)
    at, indent = source.start(first), source.indent(first)
    deeper = "\n".join(f"{indent}{each}" if each else "" for each in text.split("\n"))
    return Piece(at, at, f"{deeper.strip()}\n\n{indent}")


def _first_statement(source: Source) -> ast.stmt:
    """The first statement behind a docstring."""
    body = source.function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    if len(body) == 1 and documented:
        raise Unclear("the function has no statement")
    return body[1 if documented else 0]


def refuse(module: torch.nn.RNNBase) -> None:
    """Raises Unclear for a module that is more than its cells."""
    if module.proj_size:
        raise Unclear("the module projects its state")
    if module.training and module.dropout and module.num_layers > 1:
        raise Unclear("the module is in training mode, and drops values between its layers")


def cell_of(
    template: str,
    name: str,
    kind: str,
    torch_name: str,
    cell: str = "step(carry, each, w=weights[1], bias=bias)",
    masked: str = "",
    scanned: str = "inputs",
    shared: bool = False,
) -> str:
    """The text of a function that runs the cell of a kind of module for each step.

    Args:
        template: with `{name}`, `{kind}`, `{layers}`, `{torch}` and `{last}`.
        name: of the function.
        kind: as of `kind_of`.
        torch_name: what torch is called there.
        cell: the function that is one step of the cell, with what it takes.
        masked: what makes the step of the scan of it, if it is another one.
        scanned: what the scan goes through.
        shared: whether the module's weights are parts of one storage, which a scan refuses.
    """
    lstm = kind == "LSTM"
    linear = f"{torch_name}.nn.functional.linear"
    act = kind.removeprefix("RNN_").lower()
    step = _STEPS[kind.partition("_")[0]].format(linear=linear, act=act).strip()
    step = "\n".join(f"{' ' * 16}{each}" for each in step.splitlines())
    layers = _LAYERS.format(
        cell=cell,
        zeros="zeros, zeros" if lstm else "zeros,",
        given="hx" if lstm else "(hx,)",
        step=step + masked.replace("{torch}", torch_name).rstrip(),
        linear=linear,
        scanned=scanned,
        weights=_OF_ONE_STORAGE if shared else "rnn.all_weights[number]",
        torch=torch_name,
    )
    return template.format(
        name=name,
        kind=f"torch.nn.{kind.partition('_')[0]}",
        layers=layers.strip("\n"),
        torch=torch_name,
        last="last" if lstm else "last[0]",
    ).strip()

"""torch's own RNN, LSTM and GRU as a scan over their cell: export unrolls them over the length.

`pack_padded_sequence` drops elements after the end of a row, so a row's state is unchanged from
there on. The scan runs for all rows, and a mask keeps the state: the results are the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import torch

from export_engine.attempt import Failed, Fix, Kind, NoFix, text_in_effect
from export_engine.fixes.code.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    free_name,
    last_name,
    spans,
)
from export_engine.fixes.code.try_edit import find_fixing_places, make_edit, try_and_offer
from export_engine.fixes.try_fixes import read_failure

_KINDS = (Kind.LOOP_ON_DATA, Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE)
_COSTS = "The program rejects length 0 and runs only on backends that support scan."
_NOT_REJECTED = "It does not reject lengths that pack_padded_sequence rejects."
_UNROLLED = (
    "{name} is torch's own {kind}, which torch.export unrolls over its length, so the length is "
    "fixed. It is not rewritten as a scan: {why}."
)
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
_PACK, _PAD = "pack_padded_sequence", "pad_packed_sequence"
_PACKED = """
def _packed(x, lengths, batch_first=False, enforce_sorted=True):
    # the padded rows, time first, and their lengths
    x = x.transpose(0, 1) if batch_first else x
    return x, {torch}.as_tensor(lengths, dtype={torch}.int64, device="cpu")
"""
_PADDED = """
def _padded(packed, batch_first=False, padding_value=0.0, total_length=None):
    x, lengths = packed
    longest = lengths.max().item() if total_length is None else total_length
    alive = {torch}.arange(x.shape[0], device=x.device)[:, None] < lengths.to(x.device)
    x = x.masked_fill(~alive.unsqueeze(-1), padding_value)
    more = {torch}.sym_max(longest - x.shape[0], 0) if total_length is not None else 0
    x = {torch}.nn.functional.pad(x, (0, 0, 0, 0, 0, more), value=padding_value)[:longest]
    return x.transpose(0, 1) if batch_first else x, lengths
"""
_PACKS = (
    (_PACK, ("input", "lengths", "batch_first", "enforce_sorted"), "_packed", _PACKED),
    (_PAD, ("sequence", "batch_first", "padding_value", "total_length"), "_padded", _PADDED),
)
"""Functions of torch, their parameters, what is called in their place, and its text."""
_RNN = """
def {name}(rnn, packed, hx=None):
    # {kind} of packed rows; a row keeps its state after its end
    from torch._higher_order_ops.scan import scan

    x, lengths = packed
    alive = {torch}.arange(x.shape[0], device=x.device)[:, None] < lengths.to(x.device)
    alive = alive.unsqueeze(-1)
{layers}
    return (x, lengths), {last}
"""
_CELL = "cell(carry, each, w, bias)"
_MASKED = """

            def step(carry, each, w=weights[1], bias=bias):
                each, goes_on = each
                new, _ = cell(carry, each, w, bias)
                kept = [{torch}.where(goes_on, n, old) for n, old in zip(new, carry)]
                return tuple(kept), kept[0].clone()
"""


def suggest_recurrent_scan(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The scan for a recurrent module of torch that fixes a length, or why there is none."""
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind not in _KINDS:
        return
    own = _find_modules(request.target)
    whole = _of_torch_alone(request.target)
    for place in find_fixing_places(attempt) if own else ():
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            rewritten, what, costs = _rewrite(text, line, own, whole)
        except CannotRewrite as reason:
            name = "" if whole else _find_called_module(text, line, own)
            if whole or name:
                message, kind = (
                    f"`{name}`" if name else "The model",
                    type(whole or own[name]).__name__,
                )
                yield NoFix(_UNROLLED.format(name=message, kind=kind, why=reason))
            continue
        what = what if whole else f"{what} on line {place.line}"
        fix = try_and_offer(
            attempt,
            make_edit(place.file, text, rewritten),
            f"Rewrite the {what} as a {'masked ' if costs else ''}scan",
            why="scan keeps one step as a subgraph and runs it for each element, so the length "
            "stays dynamic.",
            gives_up=f"{_COSTS}{costs}",
        )
        if fix is not None:
            yield fix
            return


def _rewrite(
    text: str, line: int, own: Mapping[str, torch.nn.RNNBase], whole: torch.nn.RNNBase | None
) -> tuple[Rewritten, str, str]:
    """The text with recurrent modules as scans, what they are called, and what more it costs."""
    source = Source(text, line)
    if whole is not None:
        return *_rewrite_whole(source, whole), ""
    calls = [node for node in ast.walk(source.function) if isinstance(node, ast.Call)]
    is_packed = any(last_name(call.func) == _PACK for call in calls)
    rewritten, kinds = _rewrite_calls(source, line, own, calls, is_packed=is_packed)
    if is_packed:
        return rewritten, f"{kinds} of packed rows", f" {_NOT_REJECTED}"
    return rewritten, kinds, ""


def _find_modules(target: object) -> dict[str, torch.nn.RNNBase]:
    """torch's own recurrent modules of a model, by the last name of their path."""
    modules = getattr(target, "named_modules", dict)
    return {path.rpartition(".")[2]: m for path, m in modules() if isinstance(m, torch.nn.RNNBase)}


def _of_torch_alone(target: object) -> torch.nn.RNNBase | None:
    """The exported module, if it is a recurrent one of torch itself: no line calls it then."""
    if not isinstance(target, torch.nn.RNNBase):
        return None
    return target if type(target).forward.__module__ == torch.nn.RNNBase.__module__ else None


def _find_called_module(text: str, line: int, modules: Mapping[str, object]) -> str:
    """The name of one of some modules that a line calls; empty if it calls none."""
    for node in ast.walk(Source(text, line).function):
        match node:
            case ast.Call(ast.Attribute(attr=name)) if name in modules and spans(node.func, line):
                return name
    return ""


def _rewrite_calls(
    source: Source,
    line: int,
    modules: Mapping[str, torch.nn.RNNBase],
    calls: list[ast.Call],
    *,
    is_packed: bool,
) -> tuple[Rewritten, str]:
    """The text with a function's calls of torch's own recurrent modules as scans; their classes."""
    runs = [
        call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in modules
    ]
    if is_packed and not runs:
        raise CannotRewrite(
            "the rows are not packed in the function that runs the recurrent module"
        )
    if not is_packed and not any(spans(run, line) for run in runs):
        raise CannotRewrite("the line does not call a recurrent module of torch by its name")
    if is_packed and {"_packed", "_padded"} & source.names:
        raise CannotRewrite("the function already uses a name that the rewrite needs")
    pieces, helpers = list[Piece](), dict[str, str]()
    for called, keywords, ours, helper in _PACKS if is_packed else ():
        for call in (call for call in calls if last_name(call.func) == called):
            _refuse_keywords(call, keywords)
            pieces.append(source.put(call.func, ours))
            helpers[ours] = helper.replace("{torch}", source.torch).strip()
    texts: list[str] = []
    for run in runs:
        assert isinstance(run.func, ast.Attribute)
        module = modules[run.func.attr]
        _refuse(module)
        if is_packed and (not run.args or isinstance(run.args[0], ast.Starred)):
            raise CannotRewrite("the recurrent module is called with keyword arguments")
        kind = _kind_of(module)
        name = free_name(f"_{kind.lower()}", source.names)
        one = any(map(_shares_storage, modules.values()))
        helpers[kind] = _write_cell(name, kind, source.torch, is_packed=is_packed, shared=one)
        texts.append(kind.partition("_")[0])
        first = run.args[0] if run.args else run.keywords[0]
        start = source.start(first)
        pieces += [source.put(run.func, name), Piece(start, start, f"{source.of(run.func)}, ")]
    pieces.append(_put_first(source, "\n\n".join(helpers.values())))
    return source.replace(pieces), " and ".join(dict.fromkeys(texts))


def _rewrite_whole(source: Source, module: torch.nn.RNNBase) -> tuple[Rewritten, str]:
    """The text with the `forward` of torch's own recurrent module as a scan; its class."""
    _refuse(module)
    kind = _kind_of(module)
    name = free_name(f"_{kind.lower()}", source.names)
    arguments = ", ".join(argument.arg for argument in source.function.args.args)
    cell = _write_cell(name, kind, source.torch, shared=_shares_storage(module))
    piece = _put_first(source, f"{cell}\n\nreturn {name}({arguments})")
    body = Piece(piece.start, source.end(source.function.body[-1]), piece.text.rstrip())
    return source.replace([body]), kind.partition("_")[0]


def _kind_of(module: torch.nn.RNNBase) -> str:
    """The class of a recurrent module, of an RNN with its activation."""
    return module.mode if isinstance(module, torch.nn.RNN) else type(module).__name__


def _shares_storage(module: torch.nn.RNNBase) -> bool:
    """Whether weights of a module are parts of one storage, as cuDNN has them on a GPU."""
    weights = list(module.parameters())
    return len({weight.untyped_storage().data_ptr() for weight in weights}) < len(weights)


def _put_first(source: Source, text: str) -> Piece:
    """Functions that another one uses, before its first statement."""
    body = source.function.body[ast.get_docstring(source.function) is not None :]
    if not body:
        raise CannotRewrite("the function has no statement")
    at, indent = source.start(body[0]), source.indent(body[0])
    deeper = "\n".join(f"{indent}{part}" if part else "" for part in text.split("\n"))
    return Piece(at, at, f"{deeper.strip()}\n\n{indent}")


def _refuse(module: torch.nn.RNNBase) -> None:
    """Raises CannotRewrite for a module that is more than its cells."""
    if module.proj_size:
        raise CannotRewrite("the module uses proj_size")
    if module.training and module.dropout and module.num_layers > 1:
        raise CannotRewrite("the module applies dropout between its layers in training mode")


def _write_cell(
    name: str, kind: str, torch_name: str, *, is_packed: bool = False, shared: bool = False
) -> str:
    """The text of a function that runs the cell of a kind of module for each step.

    Args:
        name: of the function.
        kind: as of `_kind_of`.
        torch_name: what torch is called there.
        is_packed: whether its rows are of different lengths, so that a mask keeps their states.
        shared: whether the module's weights are parts of one storage, which a scan refuses.
    """
    lstm = kind == "LSTM"
    linear = f"{torch_name}.nn.functional.linear"
    act = kind.removeprefix("RNN_").lower()
    step = _STEPS[kind.partition("_")[0]].format(linear=linear, act=act).strip()
    step = "\n".join(f"{' ' * 16}{line}" for line in step.splitlines())
    layers = _LAYERS.format(
        cell=_CELL if is_packed else "step(carry, each, w=weights[1], bias=bias)",
        zeros="zeros, zeros" if lstm else "zeros,",
        given="hx" if lstm else "(hx,)",
        step=step + (_MASKED.replace("{torch}", torch_name).rstrip() if is_packed else ""),
        linear=linear,
        scanned="(inputs, alive)" if is_packed else "inputs",
        weights=_OF_ONE_STORAGE if shared else "rnn.all_weights[number]",
        torch=torch_name,
    )
    return (
        (_RNN if is_packed else _WHOLE)
        .format(
            name=name,
            kind=f"torch.nn.{kind.partition('_')[0]}",
            layers=layers.strip("\n"),
            torch=torch_name,
            last="last" if lstm else "last[0]",
        )
        .strip()
    )


def _refuse_keywords(call: ast.Call, known: tuple[str, ...]) -> None:
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg not in known for keyword in call.keywords
    ):
        raise CannotRewrite("the call that packs the rows is not supported")
    if call.keywords and not call.args:
        raise CannotRewrite("the rows are passed by keyword")

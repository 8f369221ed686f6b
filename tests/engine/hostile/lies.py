"""Programs that keep to the schema and lie, in names, numbers, keys and references; huge ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from .programs import changed, copied, dumped, nodes, put, renamed, replaced

KEYS = ("__proto__", "constructor", "hasOwnProperty", "toString", "__class__", "then", "valueOf")
"""Names that mean something to JavaScript's objects, or to Python's."""
SIGNS = (
    "\u202eevil\u202c",
    "\u2066x\u2069",
    "x\u200b",
    "pаypal",  # noqa: RUF001 - the second letter is Cyrillic
    "\ufdfa" * 200,
    "e" + "\u0301" * 500,
    "\U000e0041",
    "\ufeffx",
    "x\x00y",
    "\x85",
    "\u2028alert(1)",
    "</script><script>alert(1)</script>",
    "]]>",
    "javascript:alert(1)",
    "${alert(1)}",
    "{0}{1}{{",
    "%s%n",
)
"""Texts that lie about what they are, or that end what they stand in."""
DECIMALS = ("1e999", "-1e999", "1E400", "-0", "0.1e-400", "1" + "0" * 400, "-" + "9" * 4301, "01")
"""Numbers that JSON has, and that Python may not."""


def lying_programs(program: Any) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """What makes changed copies of a program, as JSON, each with what is wrong with it."""
    for what, document in _lies(program):
        yield what, partial(dumped, document)
    for what, text in _lying_texts(program):
        yield what, text.encode


def _lying_texts(program: Any) -> Iterator[tuple[str, str]]:
    plain = json.dumps(program)
    for number in DECIMALS:
        for field in ("dtype", "as_int", "min_val", "kind"):
            at = plain.index(f'"{field}": ') + len(field) + 4
            end = min(plain.index(sign, at) for sign in ",}" if sign in plain[at:])
            yield f"{field} {number[:8]}", plain[:at] + number + plain[end:]
    for key in ('"nodes": ', '"tensor_values": ', '"arg": ', '"graph": ', '"target": '):
        for twice in ("[]", "{}", "null", '"x"'):
            yield f"{key} twice, {twice}", plain.replace(key, f"{key}{twice}, {key}", 1)
            yield f"{key} twice {twice}", plain.replace(key, f"{key}{twice}, {key}")
    for half in ("\\ud800", "\\udfff\\ud800", "\\udcff"):
        for name in ("mul", "x", "lin.weight"):
            yield f"half a character {half} {name}", plain.replace(f'"{name}"', f'"{half}"')


def _lies(program: Any) -> Iterator[tuple[str, Any]]:
    graph = program["graph_module"]["graph"]
    names = {
        "node": graph["nodes"][1]["name"],
        "input": graph["inputs"][-1]["as_tensor"]["name"],
        "output": graph["outputs"][0]["as_tensor"]["name"],
        "weight": "lin.weight",
        "graph": "true_graph_0",
    }
    for what, old in names.items():
        for text in (*KEYS, *SIGNS):
            yield f"{what} {text[:12]!r}", renamed(program, old, text)
    for text in KEYS:
        yield f"symbol {text}", replaced(program, "s77", text)
        yield f"module {text}", changed(program, lambda it, t=text: _modules(it, t))
    meta = ("graph_module", "graph", "tensor_values", "x")
    for value in (-1, -(2**63), 2**63 - 1, 0):
        for field in ("sizes", "strides"):
            sizes = [{"as_int": value}] * 2
            yield (
                f"{field} of {value}",
                changed(program, lambda it, f=field, s=sizes: put(it, (*meta, f), s)),
            )
    for hint in (0, -1, 2**63 - 1):
        yield f"all sizes {hint}", changed(program, lambda it, h=hint: _all_hints(it, h))
    yield from _circles(program)
    yield from _formulas(program)


def _modules(program: Any, text: str) -> None:
    for node in nodes(program):
        node["metadata"]["nn_module_stack"] = f"{text},{text},{text};a,{text}.{text},{text}"


def _all_hints(program: Any, value: int) -> None:
    for meta in program["graph_module"]["graph"]["tensor_values"].values():
        for size in meta["sizes"]:
            if "as_expr" in size:
                size["as_expr"]["hint"] = {"as_int": value}


def _circles(program: Any) -> Iterator[tuple[str, Any]]:
    """Graphs that run themselves, nodes that read themselves or what comes later."""

    def cond(it: Any) -> Any:
        return next(node for node in nodes(it) if node["target"].endswith(".cond"))

    def same(it: Any) -> None:
        call = cond(it)
        call["inputs"][2]["arg"] = copied(call["inputs"][1]["arg"])

    def itself(it: Any) -> None:
        call = cond(it)
        inner = call["inputs"][1]["arg"]["as_graph"]
        again = {"name": "", "arg": {"as_graph": {**inner, "graph": copied(inner["graph"])}}}
        inner["graph"]["nodes"].append({**copied(call), "inputs": [again]})

    def outputs(it: Any) -> None:
        call = cond(it)
        call["inputs"][0]["arg"] = copied(call["outputs"][0])

    def inside(it: Any) -> None:
        graph = cond(it)["inputs"][1]["arg"]["as_graph"]["graph"]
        graph["outputs"] = [{"as_tensor": {"name": "x"}}] * 50

    def wide(it: Any) -> None:
        call = cond(it)
        call["inputs"] += [call["inputs"][1]] * 3_000

    def slow(it: Any) -> None:
        call = cond(it)
        graph = call["inputs"][1]["arg"]["as_graph"]["graph"]
        text = {"as_strings": ["'%" + "0" * 190] * 40}
        graph["nodes"][0]["inputs"].append({"name": "s", "arg": text, "kind": 2})
        call["inputs"] += [call["inputs"][1]] * 1_000

    for change in (same, itself, outputs, inside, wide, slow):
        yield f"circle: {change.__name__}", changed(program, change)


def _formulas(program: Any) -> Iterator[tuple[str, Any]]:
    """Guards that take long to work out for many sizes."""
    size = "L['x'].size()[0]"
    for what, guard in {
        "product": " * ".join([size] * 4_000) + " > 0",
        "powers": " * ".join([f"{size}**60"] * 800) + " > 0",
        "roots": f"(0 - {size}) ** 0.5 < 3",
        "chain": " < ".join([size] * 3_000),
        "division": f"1 // ({size} - {size}) == 0",
        "infinite": f"math.floor(1e308 * 10 * {size}) > 0",
        "remainder": f"{size} % (0.0 * {size}) == 1",
    }.items():
        yield f"guard, {what}", {**program, "guards_code": [guard]}
        yield f"guards, {what}", {**program, "guards_code": [guard] * 1_000}
    many = [f"{size} != {number}" for number in range(19_000)]
    yield "guards, each another", {**program, "guards_code": many}


def huge_programs(program: Any) -> Iterator[tuple[str, Any]]:
    """Programs that hold together, and have far more of something than models have."""
    relu = next(node for node in nodes(program) if node["target"].endswith("aten.mul.Tensor"))
    meta = program["graph_module"]["graph"]["tensor_values"]["x"]

    def chain(it: Any, count: int, described: Any) -> None:
        graph = it["graph_module"]["graph"]
        before = graph["outputs"][0]["as_tensor"]["name"]
        for number in range(count):
            name = f"huge_{number}"
            node = copied(relu)
            node["name"] = name
            node["inputs"][0]["arg"] = {"as_tensor": {"name": before}}
            node["outputs"] = [{"as_tensor": {"name": name}}]
            described(node, number)
            graph["nodes"].append(node)
            graph["tensor_values"][name] = meta
            before = name

    def module(node: Any, number: int) -> None:
        path = ".".join(f"m{digit}" for digit in f"{number:05}")
        node["metadata"]["nn_module_stack"] = f"k{number},{path},torch.nn.modules.linear.Linear"

    def stack(node: Any, number: int) -> None:
        frames = [
            f'  File "/home/you/model_{each}.py", line {number + each}, in forward\n    x = f(x)'
            for each in range(20)
        ]
        node["metadata"]["stack_trace"] = "\n".join(frames)

    def plain(node: Any, number: int) -> None:
        node["metadata"] = {}

    yield "huge: 10,000 nodes", changed(program, lambda it: chain(it, 10_000, plain))
    yield "huge: 5,000 modules", changed(program, lambda it: chain(it, 5_000, module))
    yield "huge: 3,000 stacks", changed(program, lambda it: chain(it, 3_000, stack))

    def sizes(it: Any, count: int) -> None:
        for number in range(count):
            hint = {"as_int": 3}
            text = f"Symbol('s{number + 100}', positive=True, integer=True)"
            it["range_constraints"][f"s{number + 100}"] = {"min_val": 2, "max_val": number + 9}
            table = it["graph_module"]["graph"]["tensor_values"]
            key = f"size_{number}"
            table[key] = {**meta, "sizes": [{"as_expr": {"expr_str": text, "hint": hint}}]}
            inputs = it["graph_module"]["graph"]["inputs"]
            inputs.append({"as_tensor": {"name": key}})
            spec = {"user_input": {"arg": {"as_tensor": {"name": key}}}}
            it["graph_module"]["signature"]["input_specs"].append(spec)

    yield "huge: 5,000 sizes and inputs", changed(program, lambda it: sizes(it, 5_000))

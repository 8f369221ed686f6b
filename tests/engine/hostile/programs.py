"""Hostile programs: `models/model.json` and the lists of weights, changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from . import texts

Change = Callable[[Any], object]
"""Changes a document in place."""
Late = Callable[[], Any]
"""Makes a document: most of what could be made is left out of a run."""
Path = tuple[str | int, ...]

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**62,
    2**63,
    -(2**63),
    10**30,
    1.5,
    1e308,
    "",
    "\x1b[31m" + texts.MARKUP,
    texts.CODE[0],
    "/etc/passwd",
    [],
    {},
    [[]],
    {"as_tensor": {"name": "x"}},
    {"as_expr": {"expr_str": "9**9**9", "hint": {"as_int": 2**62}}},
    [1, 2, 3],
    ["a"] * 1000,
)
"""What may stand where something else should."""


def paths(document: Any, path: Path = ()) -> Iterator[Path]:
    """Every value of a document, containers before what is in them."""
    if path:
        yield path
    inside = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in inside:
        yield from paths(value, (*path, key))


TABLES = ("_values", "config", "range_constraints", "opset_version")
"""Whose keys are names."""


def fields(document: Any) -> dict[tuple[str, ...], Path]:
    """A path for each kind of field: entries of lists, and of tables of names, count once."""
    found: dict[tuple[str, ...], Path] = {}
    for path in paths(document):
        kind = tuple(
            "*" if isinstance(key, int) or str(before).endswith(TABLES) else key
            for before, key in zip(("", *path), path, strict=False)
        )
        found.setdefault(kind, path)
    return found


def put(document: Any, path: Path, value: Any) -> None:
    """Sets one value."""
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def mutated(document: Any, seed: int, each: int) -> Iterator[tuple[str, Late]]:
    """The document with one field changed: every field, several times, by a seed."""
    numbers = random.Random(seed)
    for kind, path in fields(document).items():
        for value in numbers.sample(VALUES, each):
            what = f"{'.'.join(kind)[-70:]} = {str(value)[:20]!r}"
            yield what, changed(document, _set(path, value))
        if numbers.random() < 0.3:
            yield f"without {'.'.join(kind)[-70:]}", changed(document, _without(path))


def _without(path: Path) -> Change:
    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return change


def renamed(document: Any, old: str, new: str) -> Late:
    """The document with a name changed wherever it stands alone, keys included."""
    return partial(_renamed, document, old, new)


def _renamed(document: Any, old: str, new: str) -> Any:
    if isinstance(document, dict):
        return {
            new if key == old else key: _renamed(value, old, new) for key, value in document.items()
        }
    if isinstance(document, list):
        return [_renamed(value, old, new) for value in document]
    return new if document == old else document


def replaced(document: Any, old: str, new: str) -> Late:
    """The document with a piece of text changed in all its texts, keys included."""
    return partial(_replaced, document, old, new)


def _replaced(document: Any, old: str, new: str) -> Any:
    if isinstance(document, dict):
        return {
            key.replace(old, new): _replaced(value, old, new) for key, value in document.items()
        }
    if isinstance(document, list):
        return [_replaced(value, old, new) for value in document]
    return document.replace(old, new) if isinstance(document, str) else document


def nodes(document: Any) -> list[Any]:
    """The nodes of the main graph."""
    found: list[Any] = document["graph_module"]["graph"]["nodes"]
    return found


def sizes(document: Any) -> Iterator[Any]:
    """Every symbolic size: `{"expr_str": ..., "hint": ...}`."""
    for path in paths(document):
        if path[-1] == "as_expr":
            value = document
            for key in path:
                value = value[key]
            if isinstance(value, dict):
                yield value


def hostile_programs(program: Any) -> Iterator[tuple[str, Any]]:
    """Changed copies of a program, some of them `Late`, each with what is wrong with it."""
    graph = program["graph_module"]["graph"]
    kinds = {
        "input": graph["inputs"][-1]["as_tensor"]["name"],
        "output": graph["outputs"][0]["as_tensor"]["name"],
        "parameter": graph["inputs"][0]["as_tensor"]["name"],
        "node": graph["nodes"][1]["name"],
        "target": graph["nodes"][1]["target"],
        "operator": next(n["target"] for n in graph["nodes"] if n["target"].startswith("_op")),
        "module": "lin",
        "graph": "true_graph_0",
    }
    for what, old in kinds.items():
        for number, text in enumerate(texts.NAMES):
            yield f"{what} renamed {number}", renamed(program, old, text)
    for number, text in enumerate(texts.NAMES):
        yield f"symbol renamed {number}", replaced(program, "s77", text)
        yield f"held tensor renamed {number}", replaced(program, "lin.weight", text)
        yield f"argument renamed {number}", replaced(program, "self", text)
    for number, text in enumerate(texts.SIZES):
        yield f"size {number}", changed(program, _all_sizes(text))
    for number, text in enumerate(texts.GUARDS):
        yield f"guard {number}", {**program, "guards_code": [text]}
    yield "guards without end", {**program, "guards_code": ["L['x'].size()[0] >= 2"] * 200_000}
    for number, text in enumerate(texts.STACKS):
        yield f"stack {number}", changed(program, _metadata("stack_trace", text))
    for number, text in enumerate(texts.MODULE_STACKS):
        yield f"module stack {number}", changed(program, _metadata("nn_module_stack", text))
    for number, text in enumerate(texts.SPECS):
        yield f"tree {number}", changed(program, _specs(text))
    yield from _odd(program)


def copied(document: Any) -> Any:
    """A copy of what JSON holds, in a fraction of the time of `copy.deepcopy`."""
    return json.loads(json.dumps(document))


def changed(program: Any, change: Change) -> Late:
    """A changed copy."""

    def make() -> Any:
        made = copied(program)
        change(made)
        return made

    return make


def _all_sizes(text: str) -> Change:
    def change(program: Any) -> None:
        for size in sizes(program):
            size["expr_str"] = text

    return change


def _metadata(field: str, text: str) -> Change:
    def change(program: Any) -> None:
        for node in nodes(program):
            node["metadata"][field] = text

    return change


def _specs(text: str) -> Change:
    def change(program: Any) -> None:
        call = program["graph_module"]["module_call_graph"][0]["signature"]
        call["in_spec"] = call["out_spec"] = text

    return change


def _odd(program: Any) -> Iterator[tuple[str, Any]]:
    """Values of other kinds, and things that are too large or go round in circles."""
    graph = ("graph_module", "graph")
    meta = (*graph, "tensor_values", "x")
    for value in (-1, 0, 99, 10**6, 2**63, "float32", "libc.so.6", None, [7], 7.5, True):
        for field in ("dtype", "layout"):
            yield f"{field} {value}", changed(program, _set((*meta, field), value))
        kind = (*graph, "nodes", 1, "inputs", 0, "kind")
        yield f"kind {value}", changed(program, _set(kind, value))
    for number, text in enumerate(texts.NAMES):
        yield f"device {number}", changed(program, _set((*meta, "device", "type"), text))
        custom = {"as_custom_obj": {"name": text, "class_fqn": text}}
        yield f"custom class {number}", changed(program, _add_input(custom))
        text_input = {"as_string": text}
        yield f"text argument {number}", changed(program, _argument(text_input))
    for value in (2**62, 10**18, -(2**40), 2**63 - 1):
        huge = [{"as_int": value}] * 8
        yield f"sizes of {value}", changed(program, _set((*meta, "sizes"), huge))
        hint = {"as_int": value}
        yield f"example of {value}", changed(program, _hints(hint))
        limits = {"min_val": -value, "max_val": value}
        yield f"range of {value}", changed(program, _set(("range_constraints", "s77"), limits))
    ones = [{"as_int": 1}]
    yield "many dims", changed(program, _set((*meta, "sizes"), ones * 100_000))
    yield (
        "many symbols",
        changed(program, _set(("range_constraints",), {f"s{n}": {} for n in range(150_000)})),
    )
    yield "many outputs", changed(program, _set((*graph, "outputs"), program_outputs(300_000)))
    yield "twice the same node", changed(program, lambda it: nodes(it).append(nodes(it)[1]))
    yield "nodes backwards", changed(program, lambda it: nodes(it).reverse())
    yield "no nodes", changed(program, lambda it: nodes(it).clear())
    yield "many nodes", changed(program, lambda it: nodes(it).extend(nodes(it)[1:2] * 20_000))
    yield "deep graphs", changed(program, _nest_graphs(25))
    yield "deeper graphs", changed(program, _nest_graphs(60))
    yield "a list of lists", changed(program, _argument(nested_list(100)))
    yield "ints without end", changed(program, _argument({"as_ints": [1] * 300_000}))
    texts_without_end = {"as_strings": [texts.MARKUP] * 50_000}
    yield "texts without end", changed(program, _argument(texts_without_end))
    for unknown in ("as_code", "as_pickle", texts.CODE[0], texts.MARKUP, "\x1b[31m"):
        yield f"union {unknown[:12]!r}", changed(program, _argument({unknown: {"a": [1]}}))
    yield "two of a union", changed(program, _argument({"as_int": 1, "as_none": True}))
    for field in ("operator", "as_operator"):
        yield field, changed(program, _argument({field: "os.system"}))
    for version in ((8, 99), (99, 0), (-1, 0), (8, 2**62)):
        said = {"major": version[0], "minor": version[1]}
        yield f"schema {version}", {**program, "schema_version": said}
    for number, text in enumerate(texts.NAMES):
        yield f"torch version {number}", {**program, "torch_version": text}
        yield f"unknown field {number}", {**program, text or "f": text}


def program_outputs(count: int) -> list[Any]:
    """So many outputs."""
    return [{"as_tensor": {"name": "mul"}}] * count


def nested_list(depth: int) -> Any:
    """A list argument inside of list arguments."""
    found: Any = {"as_int": 1}
    for _ in range(depth):
        found = {"as_nested_tensors": [found]}
    return found


def _set(path: Path, value: Any) -> Change:
    return lambda program: put(program, path, value)


def _add_input(union: Any) -> Change:
    def change(program: Any) -> None:
        program["graph_module"]["graph"]["inputs"].append(union)
        specs = program["graph_module"]["signature"]["input_specs"]
        specs.append({"user_input": {"arg": union}})
        specs.append({"custom_obj": {"arg": union["as_custom_obj"], "custom_obj_name": "o"}})

    return change


def _argument(union: Any) -> Change:
    def change(program: Any) -> None:
        nodes(program)[1]["inputs"].append({"name": "more", "arg": union, "kind": 2})

    return change


def _hints(hint: Any) -> Change:
    def change(program: Any) -> None:
        for size in sizes(program):
            size["hint"] = hint

    return change


def _nest_graphs(depth: int) -> Change:
    def change(program: Any) -> None:
        call = next(n for n in nodes(program) if n["target"].endswith(".cond"))
        inner = call["inputs"][1]["arg"]["as_graph"]["graph"]
        for number in range(depth):
            one = copied(inner)
            one["nodes"] = [copied({**call, "inputs": list(call["inputs"][2:])})]
            one["nodes"][0]["inputs"].append(
                {"name": "", "arg": {"as_graph": {"name": f"g{number}", "graph": inner}}, "kind": 1}
            )
            inner = one
        call["inputs"][1]["arg"]["as_graph"]["graph"] = inner

    return change


def hostile_weights(config: Any) -> Iterator[tuple[str, Any]]:
    """Changed copies of the list of weights."""
    entry = config["config"]["lin.weight"]
    for number, text in enumerate(texts.NAMES):
        yield f"weight at {number}", {"config": {"lin.weight": {**entry, "path_name": text}}}
        yield f"weight called {number}", {"config": {text: entry}}
    for kind in ("weight_0", "tensor_0", "custom_obj_0", "opaque_obj_0"):
        pickled = {"path_name": kind, "is_param": True, "use_pickle": True, "tensor_meta": None}
        yield f"{kind} pickled", {"config": {"lin.weight": pickled}}
    yield from mutated(config, 5, 2)
    yield "weights without end", {"config": {f"w{n}": entry for n in range(20_000)}}


def dumped(document: Any) -> bytes:
    """A document, made now where it is `Late`, as torch writes it."""
    return json.dumps(document() if callable(document) else document).encode()

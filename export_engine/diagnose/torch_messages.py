"""Everything that is parsed from torch's messages, where torch keeps it nowhere else.

Also makes messages readable: sizes under the user's names, fake tensors as tensors.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_LONGEST = 300

NUMPY_REFUSED = (".numpy() is not supported", "Can't call numpy()")
ITEM_IN_VMAP = "vmap over calling .item()"
LEAKED = "fake tensor in the exported program constant"
WRAPPED = "Expected FakeTensor, got <class 'torch.Tensor'>"
"""Up to torch 2.12, of a tensor that `torch.func` wrapped."""
TRANSFORMED = "view functorch tensor"
"""The message on a constant that a transform of `torch.func` left in the program."""
COUNTED = re.compile(r"builtin operator `range` with argument types \[[^\]]*'Tensor'")
"""In strict mode, of a loop over `range(lengths.max())`."""
COUNTED_LATER = "DelayGraphBreakVariable() does not implement python_type()"
"""The same from torch 2.15 on, which also raises it for other uses of the number."""
NO_MEMORY = ("data is not allocated yet", "access data pointer of", "doesn't have storage")
NOT_SWAPPED = "_apply(): Couldn't swap"
COPIED = "elem.device.type must be 'meta'"
_TENSOR_FORMATTED = re.compile(
    r"unsupported format string passed to \w*(?:Tensor|Parameter|Buffer)\.__format__"
)
FORMATTED = ("SymInt.__format__", "SymFloat.__format__", "SymBool.__format__")

_FAKE = re.compile(
    r"FakeTensor\(\.\.\.,(?: device='[^']*',)? size=(\([^)]*\))(?:, [^()]*(?:\([^()]*\))?)?\)"
)
_NO_KERNEL = re.compile(
    r"Could not run '(?P<op>[\w:.]+)' with arguments from the '(?P<device>\w+)' backend\..*"
)
_LOST = re.compile(
    r"(?P<said>(?:CUDA|HIP) error: .*?)"
    r" (?:Search for|(?:CUDA|HIP) kernel errors|For debugging|Compile with) .*"
)
_NO_ROOM = re.compile(r"(?P<said>(?:CUDA|HIP) out of memory\. Tried to allocate [\d.]+ \w+)\. .*")
_PARAMETER = re.compile(r"Parameter\((a tensor of shape \([^)]*\))\)")
_CLASS = re.compile(r"<class '(?:\w+\.)*(\w+)'>")
_SOURCE = re.compile(r"L\['(\w+)'\]([\w.\[\]']*?)\.size\(\)\[(\d+)\]")
_SIZES = re.compile(r"torch\.Size\((\[[^\]]*\])\)")
_SYMBOL = re.compile(r"\b(?:s|u|zf|zuf)\d+\b")
_RAISED = re.compile(r"raised exception (?P<cls>\w+)\((?P<said>.*)\)", re.DOTALL)
_CONSTANT = re.compile(r"ConstantVariable\(\w+: (?P<said>.*)\)", re.DOTALL)
_LISTED = re.compile(r"\[(?:ConstantVariable\(\w+: (?P<said>.*)\))?\]", re.DOTALL)
_LOOKED_UP = re.compile(
    r"Dict key lookup failed for ConstantVariable\(\w+: (?P<said>.*?)\)\. Debug", re.DOTALL
)
_NO_ITEMS = re.compile(
    r"call_method ConstantVariable\((?P<cls>NoneType|int|float|bool|complex): .*?\) __getitem__"
    r"|mp_subscript_impl not defined for ConstantVariable"
)
_OBSERVED = re.compile(r"Observed(?P<cls>\w+?)(?:Error)?Error")
_LEAKED_NAME = re.compile(r"\blifted_tensor_\d+\b")
_DIFFER = re.compile(r"differ in '(?P<what>\w+): (?P<left>.*?) vs (?P<right>.*?)'", re.DOTALL)
_DEVICES = re.compile(
    r"Unhandled FakeTensor Device Propagation for \S+, found two different devices "
    r"(?P<one>[\w:]+), (?P<other>[\w:]+)"
)
_MADE = re.compile(r"^\s+(\w+) = \w", re.MULTILINE)


def plain(text: str, names: Mapping[str, str]) -> str:
    """The first paragraph of a message, in the user's terms.

    Args:
        text: torch's words.
        names: torch's name of a symbol to the user's.
    """
    first = " ".join(text.strip().split("\n\n", maxsplit=1)[0].split())
    first = _FAKE.sub(r"a tensor of shape \1", first)
    first = of_a_device(first)
    first = _PARAMETER.sub(r"a parameter, \1", first)
    first = _CLASS.sub(r"`\1`", first)
    first = _SOURCE.sub(r"\1\2.shape[\3]", first)
    first = _SIZES.sub(r"\1", first).replace("FakeTensor", "Tensor").replace("L['self'].", "self.")
    first = _with_names(first, names)
    first = first.rstrip(".")
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1] + "…"


def of_a_device(text: str) -> str:
    """A message of one line without what torch adds on a device: advice on building, or bytes."""
    text = _NO_KERNEL.sub(r"`\g<op>` has no kernel for \g<device>", text)
    text = _LOST.sub(r"\g<said>; nothing runs on the GPU until Python starts again", text)
    return _NO_ROOM.sub(r"\g<said>", text)


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Symbols under the user's names; those of an operator's own trace as letters."""
    letters = iter("mnpqrtvw")
    entries: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        if found[0] in names:
            return names[found[0]]
        return entries.setdefault(found[0], next(letters, "k"))

    return _SYMBOL.sub(name, text)


def explanation(message: str) -> str:
    """The explanation in a graph break's message; empty where it has none."""
    _, text, rest = message.partition("\n  Explanation: ")
    ends = [rest.find(mark) for mark in ("\n  Hint: ", "\n  Developer debug context:", "\n\n")]
    end = min((number for number in ends if number >= 0), default=len(rest))
    return " ".join(rest[:end].split()) if text else ""


def hints(message: str) -> list[str]:
    """The hints in a graph break's message."""
    body = message.partition("\n  Developer debug context:")[0]
    return [" ".join(part.split()) for part in body.split("\n  Hint: ")[1:]]


def read_observed_exception(cls: str, message: str, again: str = "") -> tuple[str, str]:
    """An exception of the model that Dynamo saw: the name of its class, and what it said.

    Args:
        cls: the name of Dynamo's own class for it: `ObservedKeyError`.
        message: `raised exception ValueError('no')`, or `ConstantVariable(str: 'no')`.
        again: the message of the graph break that it ended in. Up to torch 2.11 only that has
            what the exception said: `raised exception ValueError([ConstantVariable(str: 'no')])`.
    """
    raised = _RAISED.match(message)
    if raised is not None and raised["cls"] == "ExceptionVariable":
        raised = _RAISED.search(again.partition("Developer debug context: ")[2].partition("\n")[0])
    if raised is not None:
        listed = _LISTED.fullmatch(raised["said"])
        result = listed["said"] if listed else raised["said"]
        return raised["cls"], _read_message(raised["cls"], result)
    name = _OBSERVED.fullmatch(cls)
    kind = name["cls"] if name else "an exception"
    if name and not kind.endswith(("Error", "Exception", "Iteration", "Exit")):
        kind += "Error"
    result = _CONSTANT.fullmatch(message) or _LOOKED_UP.match(message)
    if result is None:
        return kind, ""
    return kind, _read_message(kind, result["said"])


def not_subscriptable(message: str) -> str:
    """Python's message on `None[0]`, a graph break up to torch 2.12; empty for others."""
    match = _NO_ITEMS.search(message)
    if match is None:
        return ""
    return f"{repr(match['cls']) if match['cls'] else 'the'} object is not subscriptable"


def _read_message(kind: str, text: str) -> str:
    """An exception's text, from its argument as code: Python prints the key of a KeyError so."""
    return text.strip().removesuffix(",") if kind == "KeyError" else _strip_quotes(text)


def _strip_quotes(text: str) -> str:
    text = text.strip().removesuffix(",")
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def find_leaked_names(message: str) -> set[str]:
    """The constants that torch found to be fake tensors: `lifted_tensor_1`."""
    return set(_LEAKED_NAME.findall(message))


def difference(message: str) -> tuple[str, str, str] | None:
    """How a loop body's carried value changes: what differs, and both values."""
    match = _DIFFER.search(message)
    return (match["what"], match["left"], match["right"]) if match else None


def find_mixed_devices(message: str) -> tuple[str, str] | None:
    """The devices of tensors that an op mixes; None where a message is about something else."""
    match = _DEVICES.search(message)
    return (match["one"], match["other"]) if match else None


def reads_in_vmap(text: str) -> bool:
    """Whether an error is that a tensor's value is read inside of vmap."""
    return ITEM_IN_VMAP in text


def formats_a_tensor(message: str) -> bool:
    """Whether text was to be made of a fake tensor, with a format."""
    return _TENSOR_FORMATTED.search(message) is not None


_SAVED_NUMBER = "'SymInt' object has no attribute 'unsqueeze'"


def counts_gradients_wrong(message: str) -> bool:
    """Whether torch's scan failed on what has no gradient, beside what has one.

    That is an output, or a data-dependent number that the backward pass would need.
    """
    return "outs_to_grad length" in message or _SAVED_NUMBER in message


def deciding_node(message: str) -> str:
    """The name of the node that a branch in strict mode depends on; empty where it is not told."""
    _, _, computed = message.partition("computed as follows:")
    items = _MADE.findall(computed.partition("\n  Hint:")[0])
    return items[-1] if items else ""

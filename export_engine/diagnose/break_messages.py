"""Graph breaks of strict mode in plain words: torch's names for them are of Dynamo's own code."""

from __future__ import annotations

import re

_SAID = (
    (r"marked as skipped|^Skip (calling|inlining)", "strict mode does not trace into it"),
    (
        r"args/kwargs to proxy",
        "it passes a torch op a value that is neither a tensor nor a plain number",
    ),
    (
        r"unbacked SymInt",
        "it uses a data-dependent number read outside the traced code",
    ),
    (r"RNN, GRU, or LSTM", "recurrent layers are not supported"),
    (r"BUILD_CLASS|__build_class__", "a class cannot be defined inside the model"),
    (r"deepcopy", "`copy.deepcopy` is not supported"),
    (r"returned non-Tensor", "its result is not a tensor that strict mode can trace"),
    (r"generator", "this use of a generator is not supported"),
    (r"context manager|contextlib|__enter__|escaped", "this context manager is not supported"),
    (r"(?i)script|wrap_jit", "scripted code has no Python left to trace"),
    (r"(?i)sparse", "sparse tensors are not supported"),
    (r"(?i)nested_?tensor", "nested tensors are not supported"),
    (r"Dynamic slicing", "a list cannot be sliced by a tensor"),
    (r"Indexing (list|torch\.Size)", "a list cannot be indexed by a tensor of several elements"),
    (r"requires_grad_\b", "it changes `requires_grad` of a tensor"),
    (r"nn\.Parameter", "a parameter cannot be created while tracing"),
    (
        r"(?i)autograd|backward|functorch|_grad\b|grad_fn|vjp|jvp",
        "this use of autograd is not supported",
    ),
    (r"(?i)\bhooks?\b", "a hook cannot be added while tracing"),
    (r"(?i)random|torch\.Generator", "this use of a random generator is not supported"),
    (r"(?i)numpy|ndarray", "this use of NumPy is not supported"),
    (r"(?i)logg(ing|er)", "logging is not supported here"),
    (r"functools", "this use of functools is not supported"),
    (r"itertools", "this use of itertools is not supported"),
    (r"\binspect\b", "the inspect module is not supported"),
    (r"(?i)\bhash", "the hash of this object is not known while tracing"),
    (r"(?i)\brepr\b|str\(\)|str_impl", "this object cannot be converted to a string while tracing"),
    (r"\bid\(|call_id|identity", "the identity of this object is not known while tracing"),
    (
        r"(?i)isinstance|issubclass|python_type",
        "the class of this value is not known while tracing",
    ),
    (r"(?i)richcompare|comparison|compare", "these values cannot be compared while tracing"),
    (r"(?i)attr|__dict__|\bmro\b", "this attribute of the object is not supported"),
    (r"(?i)\bimport", "a module cannot be imported there"),
    (r"(?i)exception", "this use of an exception is not supported"),
    (r"(?i)reconstruct", "a value created here cannot leave the traced code"),
    (r"(?i)iter|next\(\)|unpack", "this loop or unpacking is not supported"),
    (r"(?i)method", "this method is not supported for these arguments"),
    (r"(?i)builtin|function", "this function is not supported for these arguments"),
    (r"(?i)subscript|getitem|setitem|slice", "this indexing is not supported"),
)
"""Patterns of the names of graph breaks, the first that matches says what does not work."""
_INTERNAL = re.compile(
    r"marked as skipped|as_proxy|VariableTracker|\b\w+Variable\b|\bvt\b|\bHOPs?\b|sourceless|"
    r"bytecode|\b[A-Z]+_[A-Z_]+\b|\b(?:tp|nb|sq|mp)_\w+|\w+_impl\b|C slot|[Dd]ynamo developers|"
    r"(?i:prox(?:y|ies)|weakref|resume|real value|RestartAnalysis|SourceType|OpaqueObject)|"
    r"(?i:subgraph|_ImperativeEngine|extra stack|No matches|freevars|_dynamo|mutation tracking)|"
    r"side[- ]effect replay|\bfx\.?[Gg]raph\b|\{\w|inlin|cell\b|__\w+__|<class"
)
_CLASS_BODY = "builtins.__build_class__"
"""Up to torch 2.12, a class in a model breaks the graph as any function that is skipped."""
_UNSUPPORTED = "strict mode does not support it"


def plain_break(kind: str, message: str = "") -> str:
    """The cause of a graph break, as a clause; torch's own words only if they are plain.

    Args:
        kind: torch's name of it.
        message: the whole of what torch says, where it is known.
    """
    if _CLASS_BODY in message:
        kind = _CLASS_BODY
    for pattern, text in _SAID:
        if re.search(pattern, kind):
            return text
    return _UNSUPPORTED if _INTERNAL.search(kind) else _lowercase_first(kind)


def is_plain(text: str) -> bool:
    """Whether an explanation of torch's says nothing of Dynamo's own code."""
    return not _INTERNAL.search(text)


def _lowercase_first(text: str) -> str:
    """A heading as a clause; acronyms and names of code keep their case."""
    first = text.partition(" ")[0]
    return text[:1].lower() + text[1:] if first.isalpha() and not first.isupper() else text

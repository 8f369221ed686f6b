"""A rule replaces a call by what computes the same; `apply_rules` tries those of a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from string import Template
from typing import NamedTuple

Texts = Mapping[str, str]
"""The text of what each parameter of a call is given."""


class Rule(NamedTuple):
    """The replacement of a call."""

    pattern: str
    """The function with its parameters, and what those are that may be left out:
    `cov(input, correction=1)`. A default may name other parameters. `f(*values)` takes any number
    of them, `f([*values])` a list that is written out."""
    template: str | Callable[[Texts, str], str | None]
    """The text that replaces the call, with `$input` for what a parameter is given and `$torch`
    for what torch is called; or what makes it of the texts, None where it cannot."""
    why: str = ""
    when: Mapping[str, str] = {}
    """A regular expression that the text of a parameter has to match."""
    as_written: tuple[str, ...] = ()
    """Parameters whose text the replacement repeats unchanged."""
    of_sizes: bool = False
    """Whether it takes sizes, which cost nothing to compute again, and `dtype` and `device` for
    `torch.arange`: `$options` is both, `$device` and `$to_dtype` one."""

    @property
    def name(self) -> str:
        """The last name of the function."""
        return self.pattern.partition("(")[0]


class _Parameters(NamedTuple):
    names: tuple[str, ...]
    defaults: Mapping[str, str]
    rest: str
    """All arguments, or the elements of the list that is the only one."""
    is_list: bool


@lru_cache(maxsize=512)
def _parameters(pattern: str) -> _Parameters:
    call = ast.parse(pattern, mode="eval").body
    assert isinstance(call, ast.Call)
    match call.args:
        case [ast.Starred(ast.Name(rest))]:
            return _Parameters((), {}, rest, False)
        case [ast.List([ast.Starred(ast.Name(rest))])]:
            return _Parameters((), {}, rest, True)
    defaults = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg}
    return _Parameters((*map(ast.unparse, call.args), *defaults), defaults, "", False)


def apply_rules(
    rules: Sequence[Rule],
    call: ast.Call,
    torch: str,
    of: Callable[[ast.expr], str],
    taken: Collection[str] = (),
) -> tuple[str, Rule] | None:
    """The replacement of a call, and its rule; None if no rule fits."""
    for rule in rules:
        values = _bind(rule, call)
        if values is None:
            continue
        text = _fill(rule, values, call, torch, of, taken)
        if text is not None:
            return text, rule
    return None


def _bind(rule: Rule, call: ast.Call) -> dict[str, ast.expr] | None:
    """The argument for each parameter; None if unclear, or if there are further arguments."""
    wanted, values = _parameters(rule.pattern), call.args
    if wanted.rest:
        if wanted.is_list:
            match values, call.keywords:
                case ([ast.List(listed) | ast.Tuple(listed)], []) | (
                    [],
                    [ast.keyword(value=ast.List(listed) | ast.Tuple(listed))],
                ):
                    values = listed
                case _:
                    return None
        elif call.keywords:
            return None
        if len(values) < 2 or any(isinstance(expression, ast.Starred) for expression in values):
            return None
        return {f"{wanted.rest}{at}": expression for at, expression in enumerate(values)}
    if len(values) > len(wanted.names) or any(isinstance(e, ast.Starred) for e in values):
        return None
    bound = dict(zip(wanted.names, values, strict=False))
    for keyword in call.keywords:
        if keyword.arg in wanted.names:
            bound[keyword.arg] = keyword.value
        elif not rule.of_sizes or keyword.arg not in ("dtype", "device"):
            return None
    required = set(wanted.names) - wanted.defaults.keys()
    return bound if required <= bound.keys() else None


def _fill(
    rule: Rule,
    values: Mapping[str, ast.expr],
    call: ast.Call,
    torch: str,
    of: Callable[[ast.expr], str],
    taken: Collection[str],
) -> str | None:
    texts: dict[str, str] = {}
    bound: dict[str, str] = {}
    for name, value in values.items():
        texts[name] = of(value) if callable(rule.template) else _operand(value, of)
        again = rule.of_sizes or name in rule.as_written or can_be_repeated(value)
        if not again and not _occurs_once(rule, name, values):
            bound[f"_{name}"], texts[name] = of(value), f"_{name}"
    if bound.keys() & set(taken):
        return None
    for name, default in _parameters(rule.pattern).defaults.items():
        if name not in texts:
            texts[name] = re.sub(r"\w+", lambda word: texts.get(word[0], word[0]), default)
    if not all(re.fullmatch(text, texts[name]) for name, text in rule.when.items()):
        return None
    if callable(rule.template):
        text = rule.template(texts, torch)
    else:
        more = _options(call, torch, of) if rule.of_sizes else {}
        text = Template(rule.template).substitute(texts, torch=torch, **more)
    if text is None or not bound:
        return text
    return f"(lambda {', '.join(bound)}: {text})({', '.join(bound.values())})"


def _options(call: ast.Call, torch: str, of: Callable[[ast.expr], str]) -> dict[str, str]:
    entries = {k.arg: of(k.value) for k in call.keywords if k.arg in ("dtype", "device")}
    device = f", device={entries['device']}" if "device" in entries else ""
    dtype = entries.get("dtype", f"{torch}.get_default_dtype()")
    return {
        "options": f", dtype={dtype}{device}",
        "device": device,
        "to_dtype": f".to({dtype})" if "dtype" in entries else "",
    }


def _occurs_once(rule: Rule, name: str, values: Collection[str]) -> bool:
    """Whether a template has a parameter once, outside of what is computed several times."""
    if callable(rule.template) or " for " in rule.template:
        return False
    by_default = [
        text
        for text, default in _parameters(rule.pattern).defaults.items()
        if text not in values and re.search(rf"\b{name}\b", default)
    ]
    uses = "|".join([name, *by_default])
    return len(re.findall(rf"\$(?:{uses})\b", rule.template)) == 1


def _operand(node: ast.expr, of: Callable[[ast.expr], str]) -> str:
    """The text of an expression, in brackets where an operator beside it could take it apart."""
    whole = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.Tuple, ast.List)
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    text = of(node)
    if isinstance(node, ast.Tuple) and not text.startswith("("):
        return f"({text})"
    return text if isinstance(node, whole) or negative else f"({text})"


def can_be_repeated(node: ast.expr) -> bool:
    """Whether an expression costs nothing, and is the same each time."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.UnaryOp(ast.USub(), inner) | ast.Attribute(inner):
            return can_be_repeated(inner)
        case ast.Subscript(inner, at):
            return can_be_repeated(inner) and can_be_repeated(at)
        case ast.Slice(lower, upper, None):
            return all(can_be_repeated(e) for e in (lower, upper) if e is not None)
        case ast.Call(ast.Attribute(inner, "size"), values, []):
            return all(map(can_be_repeated, (inner, *values)))
        case ast.List(elements) | ast.Tuple(elements):
            return all(map(can_be_repeated, elements))
    return False

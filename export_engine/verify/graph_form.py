"""The form of a program: flat, functional, lifted, and mapped to its source."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from export_engine import rules
from export_engine.findings import Op, ops_of
from export_engine.record import OPS
from export_engine.torch_internals import HigherOrderOperator, OpOverload, writes_to_arguments
from export_engine.verify.guarantee import Guarantee, verdict_of
from export_engine.verify.program_under_test import Subject

_FEW = 5
_FRESH = "TRAINING"
"""torch's name of the dialect before decomposition."""


def check_flat(subject: Subject) -> Guarantee:
    """No calls of modules or methods, in nested graphs either."""
    calls = [
        node
        for graph in _graphs(subject.program.graph_module)
        for node in graph.nodes
        if node.op in ("call_module", "call_method")
    ]
    count = sum(1 for _ in ops_of(subject.program))
    told = _all(count, "call is an op", "calls are ops")
    sentence = rules.GuaranteeFlat.HOLDS(calls=told)
    if calls:
        sentence = rules.GuaranteeFlat.BROKEN(count=len(calls))
    return Guarantee(
        rule=rules.GuaranteeFlat,
        verdict=verdict_of(calls),
        sentence=sentence,
        evidence=tuple(
            rules.GuaranteeFlat.CALLS(node=node.name, target=node.target) for node in calls[:_FEW]
        ),
        node=calls[0].name if calls else "",
    )


def check_functional(subject: Subject) -> Guarantee:
    """No op whose schema says that it writes to an argument.

    A fresh program may mutate in place; a decomposed one must be functional.
    """
    ops = list(ops_of(subject.program))
    inner = [op for op in ops if _writes(op)]
    fresh = subject.program.dialect == _FRESH
    writing = [] if fresh else inner
    unknown = [op for op in ops if not _is_op(op)]
    bad = [*writing, *unknown]
    rule, count = rules.GuaranteeFunctional, f"{len(ops):,}"
    sentence = rules.GuaranteeFunctional.HOLDS(count=count)
    if inner and fresh:
        decomposed = subject.decomposed.program
        if decomposed is None:
            reason = subject.undecomposed_because
            sentence = rules.GuaranteeFunctional.UNDECOMPOSED(
                bad=len(inner), count=count, reason=reason
            )
            return Guarantee(rule=rule, verdict="not checked", sentence=sentence)
        after = list(ops_of(decomposed))
        sentence = rules.GuaranteeFunctional.DECOMPOSED(count=f"{len(after):,}")
        bad += [op for op in after if _writes(op)]
    if bad:
        sentence = rules.GuaranteeFunctional.BROKEN(bad=len(bad), count=count)
    return Guarantee(
        rule=rule,
        verdict=verdict_of(bad),
        sentence=sentence,
        evidence=(
            *(
                rules.GuaranteeFunctional.WRITES(node=op.node.name, op=op.name)
                for op in writing[:_FEW]
            ),
            *(
                rules.GuaranteeFunctional.NO_OP(node=op.node.name, op=op.name)
                for op in unknown[:_FEW]
            ),
            *(
                rules.GuaranteeFunctional.WRITES_YET(node=op.node.name, op=op.name)
                for op in inner[:_FEW]
            ),
            *_mutations(subject),
        ),
        node=bad[0].node.name if bad else "",
    )


def check_lifted(subject: Subject) -> Guarantee:
    """Every placeholder is an input of the signature, and no tensor is an attribute."""
    program = subject.program
    problems = list(_find_unlifted(program))
    inputs = [spec.arg.name for spec in program.graph_signature.input_specs]
    placeholders = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    if inputs != placeholders:
        odd = set(inputs) ^ set(placeholders)
        where = ", ".join(sorted(odd)) or "their order"
        problems.append(("", rules.GuaranteeLifted.INPUTS(where=where)))
    problems += _unheld(program)
    problems += _outputs(program)
    held = sum(spec.target is not None for spec in program.graph_signature.input_specs)
    what = "parameter, buffer or constant is an input"
    several = "parameters, buffers and constants are inputs"
    sentence = rules.GuaranteeLifted.HOLDS(held=_all(held, what, several))
    if problems:
        sentence = rules.GuaranteeLifted.BROKEN()
    return Guarantee(
        rule=rules.GuaranteeLifted,
        verdict=verdict_of(problems),
        sentence=sentence,
        evidence=tuple(text for _, text in problems[:_FEW]),
        node=problems[0][0] if problems else "",
    )


def check_mapped(subject: Subject) -> Guarantee:
    """Lines and scopes of the ops that compute something."""
    graph = subject.record.graphs[0]
    call = OPS.index("call_function")
    calls = [node for node in range(len(graph.name)) if graph.op[node] == call]
    nodes = [node for node in calls if not graph.housekeeping[node]]
    if not nodes:
        sentence = rules.GuaranteeMapped.NO_OP()
        return Guarantee(rule=rules.GuaranteeMapped, verdict="not applicable", sentence=sentence)
    theirs = [node for node in nodes if graph.stack[node] < 0 and _of_torch(subject, node)]
    lineless = [node for node in nodes if graph.stack[node] < 0 and node not in set(theirs)]
    scopeless = [node for node in nodes if graph.scope[node] < 0]
    bad = sorted({*lineless, *scopeless})
    share = 1 - len(bad) / len(nodes)
    text = _all(len(nodes), "op has a line and a module", "ops have a line and a module")
    sentence = rules.GuaranteeMapped.HOLDS(ops=text)
    if theirs:
        what = f"{len(theirs):,} of {len(nodes):,} ops" if len(nodes) > 1 else "the one op"
        sentence = rules.GuaranteeMapped.OF_TORCH(ops=what)
    if bad:
        sentence = rules.GuaranteeMapped.BROKEN(share=share, count=f"{len(nodes):,}")
    sizes = len(calls) - len(nodes)
    if sizes:
        several = f"{sizes:,} more calls only check or compute sizes"
        one = "1 more call only checks or computes sizes"
        sentence += rules.GuaranteeMapped.SIZES(calls=one if sizes == 1 else several)
    names = [subject.record.strings[graph.name[node]] for node in bad]
    return Guarantee(
        rule=rules.GuaranteeMapped,
        verdict=verdict_of(bad),
        sentence=sentence,
        evidence=tuple(
            rules.GuaranteeMapped.LACKS(node=name, what="line" if node in lineless else "module")
            for node, name in list(zip(bad, names, strict=True))[:_FEW]
        ),
        node=names[0] if names else "",
    )


def _of_torch(subject: Subject, node: int) -> bool:
    """Whether no code but torch's own led to an op: then there is no line of the user's."""
    first = number = subject.record.graphs[0].scope[node]
    while number >= 0:
        scope = subject.record.scopes[number]
        if scope.cls.partition(".")[0] not in ("torch", "functools", "builtins"):
            return False
        number = scope.parent
    return first >= 0


def _all(count: int, one: str, several: str) -> str:
    """`The one op is ...`, `All 12 ops are ...`; none at all is also fine."""
    return f"The one {one}" if count == 1 else f"All {count:,} {several}"


def _graphs(module: torch.nn.Module) -> Iterator[torch.fx.Graph]:
    for submodule in module.modules():
        if isinstance(submodule, torch.fx.GraphModule):
            yield submodule.graph


def _writes(op: Op) -> bool:
    target = op.node.target
    return isinstance(target, OpOverload) and writes_to_arguments(target)


def _is_op(op: Op) -> bool:
    """An operator of torch's, a higher-order one, or arithmetic on sizes: Python's, `sym_max`."""
    target = op.node.target
    if isinstance(target, OpOverload | HigherOrderOperator):
        return True
    module = str(getattr(target, "__module__", ""))
    on_sizes = module == "torch" and str(getattr(target, "__name__", "")).startswith("sym_")
    return (
        on_sizes or module == "_operator" or module.startswith("torch.") or is_python_function(op)
    )


def is_python_function(op: Op) -> bool:
    """Whether it is a function of numbers that only some versions of torch write into a file."""
    target = op.node.target
    module = str(getattr(target, "__module__", ""))
    name = str(getattr(target, "__name__", ""))
    return module in ("math", "builtins") or (module == "torch" and name.startswith("_sym_"))


def _mutations(subject: Subject) -> Iterator[str]:
    for spec in subject.program.graph_signature.output_specs:
        if "MUTATION" in spec.kind.name:
            yield rules.GuaranteeFunctional.OUTPUT(target=spec.target, output=spec.arg.name)


def _find_unlifted(program: torch.export.ExportedProgram) -> Iterator[tuple[str, str]]:
    for node in program.graph.nodes:
        if node.op == "get_attr":
            value = getattr(program.graph_module, str(node.target), None)
            if not isinstance(value, torch.fx.GraphModule):
                yield (
                    node.name,
                    rules.GuaranteeLifted.ATTRIBUTE(node=node.name, target=node.target),
                )


def _unheld(program: torch.export.ExportedProgram) -> Iterator[tuple[str, str]]:
    """Inputs whose tensor the program does not hold."""
    held = {*program.state_dict, *program.constants}
    for spec in program.graph_signature.input_specs:
        if spec.target is not None and spec.target not in held:
            name = spec.arg.name
            yield name, rules.GuaranteeLifted.NOT_HELD(input=name, target=spec.target)


def _outputs(program: torch.export.ExportedProgram) -> Iterator[tuple[str, str]]:
    output = next(node for node in program.graph.nodes if node.op == "output")
    names = [node.name for node in output.all_input_nodes]
    named = [getattr(spec.arg, "name", "") for spec in program.graph_signature.output_specs]
    for name in dict.fromkeys(names):
        if name not in named:
            yield name, rules.GuaranteeLifted.OUTPUT(output=name)
    count = len(output.args[0])
    if count != len(named):
        yield "", rules.GuaranteeLifted.OUTPUTS(count=count, named=len(named))

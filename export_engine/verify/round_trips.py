"""Round trips: saving, unflattening, exporting again, decomposing."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import NamedTuple

import torch

from export_engine import rules
from export_engine.attempt import Exported, Failed, signature_of
from export_engine.capture import capture
from export_engine.defects import log_internal_error, passing_over
from export_engine.error_text import error_text, format_with_type
from export_engine.findings import ops_of
from export_engine.listing import join_names
from export_engine.record import join_path, sizes_tried, split_path
from export_engine.shapes import Auto, Shapes, Static, leaves_of
from export_engine.source import raise_if_users
from export_engine.torch_internals import (
    callable_module,
    copy_program,
    int_bound,
    operators_listed_once,
    put_weights_on_meta,
    pytree,
    symbols_in,
    texts_read_once,
)
from export_engine.verify.contract_sampling import format_sizes, inside, name_sizes
from export_engine.verify.graph_form import is_python_function
from export_engine.verify.guarantee import (
    Guarantee,
    describe_strides,
    verdict_of,
    without_weights,
)
from export_engine.verify.program_under_test import Subject
from export_engine.verify.same_program import find_difference

_SIZES = 3
"""At how many sizes beside the example's a program that was exported again is run."""
_DECOMPOSED_LOOSE = 16.0
"""A decomposition may sum in another order; the allowed multiple of torch.testing's tolerances."""


def check_saved(subject: Subject) -> Guarantee:
    """Compares graph, signature, ranges and results."""
    saved, problem = _save_and_load(subject.program)
    if saved is None:
        return _conclude(rules.GuaranteeSaved, "", [problem])
    loaded, module, size = saved
    problems = []
    difference = find_difference(subject.exported, loaded, subject.record)
    if difference is not None:
        problems.append(difference.text)
    ranges = _ranges(subject.program), _ranges(loaded)
    problems += [
        rules.GuaranteeSaved.RANGE(symbol=name, after=ranges[1].get(name), before=bounds)
        for name, bounds in ranges[0].items()
        if ranges[1].get(name) != bounds
    ]
    keys = _list_lost_keys(subject.program)
    if keys:
        problems.append(rules.GuaranteeSaved.KEYS(keys=join_names(keys)))
    node = difference.node if difference else ""
    if subject.without_values:
        sentence = rules.GuaranteeSaved.NOT_COMPARED(bytes=size, reason=subject.without_values)
        return _conclude(rules.GuaranteeSaved, sentence, problems, node)
    strides = ""
    if not problems:
        problems, strides = _compare_runs(subject, module)
    sentence = rules.GuaranteeSaved.HOLDS(bytes=size, strides=strides)
    return _conclude(rules.GuaranteeSaved, sentence, problems, node)


def _list_lost_keys(program: torch.export.ExportedProgram) -> list[str]:
    """Keys of dicts in a call that a file has as lists, so that nobody can make the dict."""
    call = program.call_spec
    specs = [spec for spec in (call.in_spec, call.out_spec) if spec is not None]
    keys = [str(key) for spec in specs for key in pytree.list_tuple_keys(spec)]
    return list(dict.fromkeys(keys))


class _Saved(NamedTuple):
    """A program that was saved and loaded again."""

    program: torch.export.ExportedProgram
    module: torch.nn.Module
    bytes: int
    """Of its file."""


def _save_and_load(program: torch.export.ExportedProgram) -> tuple[_Saved | None, str]:
    """The program that is loaded again; None with the reason where torch cannot do so."""
    file = io.BytesIO()
    step = "save it"
    try:
        torch.export.save(program, file)
        step = "load what it saved"
        size = file.getbuffer().nbytes
        file.seek(0)
        with texts_read_once():
            loaded = torch.export.load(file)
        return _Saved(loaded, loaded.module(), size), ""
    except Exception as error:  # noqa: BLE001 - torch cannot do what it claims
        log_internal_error(error, "checking a round trip of the program")
        raise_if_users(error)
        return None, rules.GuaranteeSaved.FAILS(step=step, error=error_text(error))


def find_saving_problem(program: torch.export.ExportedProgram) -> str:
    """Why torch cannot save a program or load it again; empty if it can.

    Only of programs that compute numbers of sizes by Python's functions: a file has not all. The
    file holds no weights.
    """
    if not any(is_python_function(op) for op in ops_of(program)):
        return ""
    return _save_and_load(put_weights_on_meta(program))[1]


def check_unflattened(subject: Subject) -> Guarantee:
    """Runs the module tree."""
    try:
        module = torch.export.unflatten(copy_program(subject.program))
    except Exception as error:  # noqa: BLE001 - torch cannot do what it claims
        log_internal_error(error, "checking a round trip of the program")
        raise_if_users(error)
        problem = rules.GuaranteeUnflattened.FAILS(error=error_text(error))
        return _conclude(rules.GuaranteeUnflattened, "", [problem])
    count = sum(1 for _ in module.modules())
    modules = f"{count:,} {'module' if count == 1 else 'modules'}"
    if subject.without_values:
        text = rules.GuaranteeUnflattened.NOT_COMPARED(
            modules=modules, reason=subject.without_values
        )
        return without_weights(rules.GuaranteeUnflattened, text)
    problems, strides = _compare_runs(subject, module)
    sentence = rules.GuaranteeUnflattened.HOLDS(modules=modules, strides=strides)
    return _conclude(rules.GuaranteeUnflattened, sentence, problems)


def check_re_exported(subject: Subject) -> Guarantee:
    """Exports the program's module with the same shapes, and compares the graphs.

    Torch may write a size by another op than before: graphs of the same inputs that differ are run.
    A large program is first reduced to its distinct ops. If those differ, the whole is exported.
    """
    once = _re_export_distinct(subject, subject.distinct) if subject.distinct else None
    if once is not None:
        return once
    again = _capture_again(subject, subject.module)
    if isinstance(again, Failed):
        raise_if_users(again.error)
        problem = rules.GuaranteeReExported.FAILS(error=error_text(again.error))
        return _conclude(rules.GuaranteeReExported, "", [problem])
    difference = find_difference(subject.exported, again.program, subject.record, renamed=True)
    count = _count_calls(subject.program)
    sentence = rules.GuaranteeReExported.HOLDS(ops=f"{count:,} {'op' if count == 1 else 'ops'}")
    if difference is None:
        return _conclude(rules.GuaranteeReExported, sentence, [])
    inputs = {node.name for node in subject.program.graph.nodes if node.op == "placeholder"}
    problems = [difference.text]
    fixed = _find_fixed_size(subject.program, again.program)
    if fixed:
        problems, difference = [fixed[1]], difference._replace(node=fixed[0])
    elif difference.node not in inputs:  # an op that only the other has is of no node here
        if subject.without_values:
            text = rules.GuaranteeReExported.NOT_COMPARED(
                difference=difference.text, reason=subject.without_values
            )
            return without_weights(rules.GuaranteeReExported, text)
        tried, apart = _apart_at_sizes(subject, again.program.module())
        if apart or tried:
            problems = [apart, difference.text] if apart else []
        sentence = rules.GuaranteeReExported.AGREES(
            sizes=sizes_tried(tried), difference=difference.text
        )
    return _conclude(rules.GuaranteeReExported, sentence, problems, difference.node)


def _re_export_distinct(
    subject: Subject, distinct: torch.export.ExportedProgram
) -> Guarantee | None:
    """Exports a program of the distinct ops again; None if that gives other ops."""
    with passing_over("exporting each distinct op again"):
        again = _capture_again(subject, callable_module(distinct))
        before = replace(subject.exported, program=distinct, agreement=None, kept=None)
        if isinstance(again, Exported) and not find_difference(before, again.program, renamed=True):
            sentence = rules.GuaranteeReExported.HOLDS(ops=_describe_distinct(subject, distinct))
            held = _conclude(rules.GuaranteeReExported, sentence, [])
            return replace(held, evidence=(rules.GuaranteeReExported.HOW(),))
    return None


def _capture_again(subject: Subject, module: torch.nn.Module) -> Exported | Failed:
    """An export of a module of the program with its shapes.

    Where the shapes do not fit it, as with a file, sizes that vary are left to torch.
    """
    request = subject.request.with_changes(target=module, strict=False, edits=(), eval_mode=False)
    is_known = subject.exported.request is not None
    automatic = request.with_changes(shapes=_for_module(subject, _automatic(subject)))
    asked = request
    if subject.request.shapes is not None:
        asked = request.with_changes(shapes=_for_module(subject, subject.request.shapes))
    again = capture(asked if is_known else automatic)
    if isinstance(again, Failed) and is_known:
        again = capture(automatic)
    assert isinstance(again, Exported | Failed)
    return again


def _find_fixed_size(
    program: torch.export.ExportedProgram, again: torch.export.ExportedProgram
) -> tuple[str, str] | None:
    """The first input of which a dynamic size is now fixed, and a sentence on it."""
    ours, theirs = _find_inputs(program), _find_inputs(again)
    for one, other in zip(ours, theirs, strict=False):
        sizes = zip(one.meta["val"].shape, other.meta["val"].shape, strict=False)
        for dim, (before, after) in enumerate(sizes):
            # torch leaves a SymInt that is a number where it specialized a size
            if str(after).isdigit() and not str(before).isdigit():
                text = rules.GuaranteeReExported.FIXED(input=one.name, dim=dim, size=after)
                return one.name, text
    return None


def _find_inputs(program: torch.export.ExportedProgram) -> list[torch.fx.Node]:
    """The nodes of the tensors that a call gives."""
    names = set(program.graph_signature.user_inputs)
    return [
        node
        for node in program.graph.nodes
        if node.op == "placeholder"
        and node.name in names
        and isinstance(node.meta.get("val"), torch.Tensor)
    ]


def _apart_at_sizes(subject: Subject, other: torch.nn.Module) -> tuple[list[dict[str, int]], str]:
    """At which sizes that the program takes another form of it agrees, and where it does not."""
    agreed: list[dict[str, int]] = []
    for seed, sizes in enumerate(inside(subject, _SIZES)):
        request, shown = subject.at(sizes, seed), format_sizes(subject, sizes)
        try:
            ours = subject.run(subject.module, request, seed)
        except Exception as error:  # noqa: BLE001 - the sizes may be ruled out by a value
            log_internal_error(error, "calling at sizes of the contract")
            continue
        try:
            difference = subject.compare(subject.run(other, request, seed), ours)
        except Exception as error:  # noqa: BLE001 - so may the other form
            log_internal_error(error, "calling at sizes of the contract")
            reason = subject.refusal(error)
            return agreed, rules.GuaranteeReExported.REJECTED_AT(sizes=shown, reason=reason)
        if not difference.same:
            detail = difference.detail
            return agreed, rules.GuaranteeReExported.WRONG_AT(sizes=shown, detail=detail)
        agreed.append(name_sizes(subject, sizes))
    return agreed, ""


def check_decomposed(subject: Subject) -> Guarantee:
    """Runs the program that torch's default decompositions give.

    A large program is first reduced to its distinct ops. If those fail, the whole is checked.
    """
    once = _check_distinct(subject, subject.distinct) if subject.distinct else None
    if once is not None:
        return once
    program, ops, _ = subject.decomposed
    if program is None:
        problem = rules.GuaranteeDecomposed.FAILS(error=subject.undecomposed_because)
        return _conclude(rules.GuaranteeDecomposed, "", [problem])
    kept = rules.GuaranteeDecomposed.KEPT(ops=", ".join(ops)) if ops else ""
    before, after = _count_calls(subject.program), _count_calls(program)
    if subject.without_values:
        text = rules.GuaranteeDecomposed.NOT_COMPARED(
            before=f"{before:,} ops", after=after, kept=kept, reason=subject.without_values
        )
        return without_weights(rules.GuaranteeDecomposed, text)
    problems, strides = _compare_runs(subject, program.module(), _DECOMPOSED_LOOSE)
    sentence = rules.GuaranteeDecomposed.HOLDS(
        before=f"{before:,} ops", after=after, strides=strides, kept=kept
    )
    return _conclude(rules.GuaranteeDecomposed, sentence, problems)


def _check_distinct(subject: Subject, distinct: torch.export.ExportedProgram) -> Guarantee | None:
    """Decomposes and runs a program of the distinct ops; None if that proves nothing.

    Then the two differ, or an output is NaN: an op may fail on values that the program never
    computes.
    """
    with passing_over("decomposing each distinct op"):
        with operators_listed_once():
            decomposed = distinct.run_decompositions()
        before, after = _describe_distinct(subject, distinct), _count_calls(decomposed)
        if subject.without_values:
            text = rules.GuaranteeDecomposed.NOT_COMPARED(
                before=before, after=after, kept="", reason=subject.without_values
            )
            return without_weights(rules.GuaranteeDecomposed, f"{text[:1].upper()}{text[1:]}")
        ours = subject.run(callable_module(distinct), subject.request)
        theirs = subject.run(decomposed.module(), subject.request)
        difference = subject.compare(theirs, ours, _DECOMPOSED_LOOSE)
        if difference.same and not any(tensor.isnan().any() for tensor in ours.result):
            sentence = rules.GuaranteeDecomposed.HOLDS(
                before=before, after=after, strides="", kept=""
            )
            held = _conclude(rules.GuaranteeDecomposed, sentence, [])
            return replace(held, evidence=(rules.GuaranteeDecomposed.HOW(),))
    return None


def _describe_distinct(subject: Subject, distinct: torch.export.ExportedProgram) -> str:
    return rules.GuaranteeDecomposed.DISTINCT(
        count=_count_calls(distinct), every=_count_calls(subject.program)
    )


def _count_calls(program: torch.export.ExportedProgram) -> int:
    return sum(node.op == "call_function" for node in program.graph.nodes)


def _compare_runs(
    subject: Subject, other: torch.nn.Module, loose: float = 1.0
) -> tuple[list[str], str]:
    """How another form of the program differs on the example; and a sentence on strides that do.

    Both empty where nothing differs.
    """
    ours = subject.run(subject.module, subject.request)
    try:
        theirs = subject.run(other, subject.request)
    except Exception as error:  # noqa: BLE001 - the program runs, and this form of it does not
        log_internal_error(error, "running another form of the program")
        raise_if_users(error)
        return [f"It raises {format_with_type(error)}"], ""
    difference = subject.compare(theirs, ours, loose)
    if not difference.same:
        return [difference.detail], ""
    return [], describe_strides(difference.strides)


def _conclude(
    rule: type[rules.Rule], sentence: str, problems: list[str], node: str = ""
) -> Guarantee:
    return Guarantee(
        rule=rule,
        verdict=verdict_of(problems),
        sentence=problems[0] if problems else sentence,
        evidence=tuple(problems),
        node=node,
    )


def _ranges(program: torch.export.ExportedProgram) -> dict[str, tuple[int | None, int | None]]:
    """Per symbol its bounds; an end that says nothing is written in more than one way.

    In strict mode a program also lists symbols of Dynamo's, which nothing in it has.
    """
    used = symbols_in(program)
    return {
        str(key): (int_bound(bounds.lower), int_bound(bounds.upper))
        for key, bounds in program.range_constraints.items()
        if str(key) in used
    }


def _for_module(subject: Subject, shapes: Shapes | None) -> Shapes | None:
    """Shapes of a call of the model as those of the same call of the program's module.

    Each names its inputs in its own way: what `*args` takes is `args.0` for the model, and `args_0`
    for torch's module. Below an argument, paths are the same.
    """
    if shapes is None or subject.eager is None:
        return shapes
    request = subject.request
    numbers = iter(range(len(request.args) + len(request.kwargs)))
    args = tuple(next(numbers) for _ in request.args)
    kwargs = {name: next(numbers) for name in request.kwargs}
    ours, theirs = (
        {leaf.value: split_path(leaf.path) or () for leaf in leaves_of(signature, args, kwargs)}
        for signature in (signature_of(request.target), signature_of(subject.module))
    )

    def rename(path: str) -> str:
        parts = split_path(path) or ()
        for number, start in ours.items():
            if parts[: len(start)] == start:
                return join_path([*theirs[number], *parts[len(start) :]])
        return path

    return replace(shapes, leaves={rename(path): dims for path, dims in shapes.leaves.items()})


def _automatic(subject: Subject) -> Shapes | None:
    """Every size that varies left to torch."""
    leaves: dict[str, list[Auto | Static]] = {}
    for size in subject.record.probe.inputs:
        path = subject.record.signature.inputs[size.entry].path
        spec = Static() if isinstance(size.size, int) else Auto()
        leaves.setdefault(path, []).append(spec)
    varying = {
        path: tuple(specs)
        for path, specs in leaves.items()
        if any(isinstance(spec, Auto) for spec in specs)
    }
    return Shapes(varying) if varying else None

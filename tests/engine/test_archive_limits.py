"""Archives beyond the limits: refused in a sentence, in no time, with nothing run or computed."""

from __future__ import annotations

import io
import stat
import struct
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from export_engine.archive import ArchiveError, limits, read
from export_engine.archive.json_text import check
from export_engine.archive.operators import target_of
from export_engine.archive.tree import leaf_keys
from export_engine.sizes import (
    Expression,
    UnreadableError,
    compile_formula,
    evaluate_formula,
    evaluate_size,
    find_line,
    number,
    parse_size,
    print_size,
)

PROGRAM = (
    b'{"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": []}, "signature": '
    b'{"input_specs": [], "output_specs": []}, "module_call_graph": []}, "schema_version": '
    b'{"major": 8, "minor": 20}, "torch_version": "2.13.0"}'
)
NAME = "it/models/model.json"


def packed(path: Path, members: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "it.pt2"


def test_the_smallest_program_is_read(file: Path) -> None:
    found = read(packed(file, {NAME: PROGRAM}))
    assert (found.models, found.record.torch_version) == (("model",), "2.13.0")
    assert found.record.verdict == "loaded, 0 ops"


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/passwd", "it/../../out", "..\\out", "C:\\out", "it/a/../../../b"]
)
def test_a_member_outside_of_the_archive(file: Path, name: str) -> None:
    with pytest.raises(ArchiveError, match="would unpack outside of the archive"):
        read(packed(file, {NAME: PROGRAM, name: b"x"}))


def test_two_members_of_one_name(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(NAME, PROGRAM)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(NAME, PROGRAM)
    with pytest.raises(ArchiveError, match=r"it has two members called 'models/model\.json'"):
        read(file)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_a_device(file: Path, kind: int) -> None:
    info = zipfile.ZipInfo("it/models/link.json")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(NAME, PROGRAM)
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(ArchiveError, match="is a link or a device"):
        read(file)


def flagged(file: Path, offset: int, value: int) -> Path:
    """The file with one number of its list of members changed."""
    data = bytearray(file.read_bytes())
    at = data.find(b"PK\x01\x02")
    struct.pack_into("<H", data, at + offset, value)
    file.write_bytes(data)
    return file


def test_encrypted_or_packed_in_another_way(file: Path) -> None:
    packed(file, {NAME: PROGRAM})
    with pytest.raises(ArchiveError, match="is encrypted"):
        read(flagged(file, 8, 1))
    packed(file, {NAME: PROGRAM}, zipfile.ZIP_LZMA)
    with pytest.raises(ArchiveError, match="compressed in a way that torch does not use"):
        read(file)


def test_members_that_overlap(file: Path) -> None:
    packed(file, {NAME: PROGRAM, "it/extra/a": b"a" * 500})
    data = bytearray(file.read_bytes())
    second = data.rfind(b"PK\x01\x02")
    struct.pack_into("<L", data, second + 42, 10)  # where the member begins
    file.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"overlap|damaged"):
        read(file)


@pytest.mark.slow
def test_a_member_that_unpacks_to_far_more(file: Path) -> None:
    zeros = {NAME: b" " * (64 << 20) + PROGRAM}
    with pytest.raises(ArchiveError, match="unpacks from"):
        read(packed(file, zeros, zipfile.ZIP_DEFLATED))


def test_a_list_of_members_that_lies_about_sizes(file: Path) -> None:
    """A deflated megabyte that is said to be ten bytes: what is read ends where it is said to."""
    packed(file, {NAME: b" " * (1 << 20) + PROGRAM}, zipfile.ZIP_DEFLATED)
    data = bytearray(file.read_bytes())
    at = data.find(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 24, 10)
    file.write_bytes(data)
    with pytest.raises(ArchiveError, match="damaged"):
        read(file)


def test_a_list_of_members_of_gigabytes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DIRECTORY_BYTES", 1000)
    with pytest.raises(ArchiveError, match=r"list of its members has more than 1,000 bytes"):
        read(packed(file, {NAME: PROGRAM, **{f"it/extra/{n}": b"" for n in range(50)}}))
    monkeypatch.undo()
    monkeypatch.setattr(limits, "MEMBERS", 10)
    with pytest.raises(ArchiveError, match="51 members; at most 10 are read"):
        read(file)


def test_what_is_no_archive_of_a_program_says_what_it_is(file: Path) -> None:
    for members, message in (
        ({"it/data.pkl": b"x"}, "written by torch.save"),
        ({"it/constants.pkl": b"x"}, "a TorchScript file"),
        ({"it/data/aotinductor/fast/fast.so": b"x"}, r"only code compiled by AOTInductor \(fast\)"),
        ({"readme.txt": b"x"}, r"Write one with torch\.export\.save"),
    ):
        with pytest.raises(ArchiveError, match=message):
            read(packed(file, members))
    file.write_bytes(b"")
    with pytest.raises(ArchiveError, match="is empty"):
        read(file)
    with pytest.raises(ArchiveError, match="is a folder"):
        read(file.parent)
    with pytest.raises(ArchiveError, match="does not exist"):
        read(file.with_name("missing.pt2"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "levels deep"),
        (b"[" * 100_000, "brackets do not match"),
        (b'{"a": [}', "brackets do not match"),
        (b"[1" + b",1" * 7_000_000 + b"]", "values"),
        (b'"' + b"[" * 1000 + b'"', ""),
        (b'{"a": "\\\\", "b": "\\"[[["}', ""),
    ],
)
@pytest.mark.slow
def test_json_is_counted_before_it_is_decoded(text: bytes, message: str) -> None:
    if message:
        with pytest.raises(ArchiveError, match=message):
            check(text, "it")
    else:
        check(text, "it")


@pytest.mark.parametrize(
    "data",
    [
        PROGRAM.replace(b"8, ", b"NaN, "),
        PROGRAM.replace(b"8, ", b"9" * 30 + b", "),
        PROGRAM.replace(b"8, ", b"9" * 10_000 + b", "),
        PROGRAM.replace(b'"2.13.0"', b'"\xff\xfe"'),
        PROGRAM.replace(b'"2.13.0"', b'"\\ud800"'),
        PROGRAM.replace(b'"nodes": []', b'"nodes": 7'),
        PROGRAM[:-1],
    ],
)
def test_json_that_is_none_of_torch(file: Path, data: bytes) -> None:
    with pytest.raises(ArchiveError, match=r"it\.pt2.*(not what torch writes|damaged)"):
        read(packed(file, {NAME: data}))


def test_a_key_that_is_there_twice_counts_once(file: Path) -> None:
    data = PROGRAM.replace(b'"torch_version": ', b'"torch_version": "1.0", "torch_version": ')
    assert read(packed(file, {NAME: data})).record.torch_version == "2.13.0"


S0 = Expression("symbol", name="s0")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Symbol('s0', positive=True, integer=True)", "rows"),
        ("Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))", "2*rows + 1"),
        ("Add(Symbol('s0'), Integer(-1))", "rows - 1"),
        ("FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))", "(rows + 1) // 2"),
        ("Pow(Symbol('s0'), Integer(2))", "rows*rows"),
        ("Max(Integer(1), Symbol('s0'))", "max(1, rows)"),
        ("Equality(Symbol('s0'), Integer(4))", "rows == 4"),
        ("Float('0.5', precision=53)", "0.5"),
        ("2*s0 + 1", "2*rows + 1"),
        ("s0//2", "rows // 2"),
        ("Mod(s0, 8)", "rows % 8"),
        ("(s0 <= 4) & Ne(s0, 0)", "rows <= 4 and rows != 0"),
        ("IntTrueDiv(Symbol('s0'), Integer(2))", "rows / 2"),
    ],
)
def test_a_size_is_read_and_printed(text: str, shown: str) -> None:
    assert print_size(parse_size(text), {"s0": "rows"}) == shown


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "().__class__",
        "lambda: 1",
        "factorial(10000000)",
        "9**9**9",
        "((((9**64)**64)**64)**64)**64",
        "Pow(Integer(9), Pow(Integer(9), Integer(9)))",
        "Pow(Symbol('s0'), Integer(1000))",
        "Symbol('s0 + 1')",
        "Integer(s0)",
        "1 << 100",
        "(" * 5000,
        "Add(" * 3000,
        "-" * 3000 + "1",
        "s0 +" * 2000 + "1",
        "9" * 40,
        "",
    ],
)
def test_what_is_no_size_is_not_read(text: str) -> None:
    started = time.process_time()
    try:
        found = parse_size(text)
    except UnreadableError:
        pass
    else:  # a power of a power is a text, and never a number
        assert evaluate_size(found, {}) is None
    try:
        formula = compile_formula(text, lambda name: None)
    except UnreadableError:
        pass
    else:
        with pytest.raises(OverflowError):
            evaluate_formula(formula, [])
    assert time.process_time() - started < 1


def test_powers_of_powers_are_neither_computed_nor_written_out() -> None:
    nested = S0
    for _ in range(20):
        nested = Expression("Pow", (nested, number(64)))
    assert evaluate_size(nested, {"s0": 3}) is None
    assert len(print_size(nested, {})) < 10_000


def test_a_line_of_a_symbol() -> None:
    assert find_line(parse_size("2*s0 + 1")) == ("s0", 2, 1)
    assert find_line(parse_size("3*(s0 + 2)")) == ("s0", 3, 6)
    assert find_line(parse_size("s0*s0")) is None
    assert find_line(parse_size("s0//2")) is None
    assert find_line(parse_size("s0 + s1")) is None
    assert find_line(parse_size("0 - s0")) is None


def test_an_operator_is_known_by_its_name_alone() -> None:
    known = target_of("torch.ops.aten.add_.Tensor")
    assert (known.name, known.label, known.mutates) == ("aten.add_.Tensor", "add_", ["self"])
    assert target_of("torch.ops.mine.twice.default").schema == ""
    assert target_of("_operator.mul").name == "operator.mul"
    assert target_of("torch.ops.os.system('true')").name == repr("torch.ops.os.system('true')")
    assert target_of("torch.ops.aten.linear.default").core is False


def test_keys_of_a_tree_that_cannot_be_read() -> None:
    assert leaf_keys('[1, {"type": null, "context": null, "children_spec": []}]') == [[]]
    deep: Any = '{"type": null, "context": null, "children_spec": []}'
    for _ in range(limits.TREE_DEPTH + 2):
        deep = f'{{"type": "builtins.list", "context": "null", "children_spec": [{deep}]}}'
    assert leaf_keys(f"[1, {deep}]") is None
    assert leaf_keys("[1, 2") is None
    assert leaf_keys("") is None


def test_reading_compiles_and_opens_nothing(file: Path) -> None:
    packed(file, {NAME: PROGRAM})
    read(file)
    seen: list[str] = []
    watched = {"compile", "exec", "import", "subprocess.Popen", "os.system", "ctypes.dlopen"}
    on = [True]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if on and event in watched:
            seen.append(event)
        elif on and event == "open" and str(args[0]) != str(file):
            seen.append(f"open {args[0]}")

    sys.addaudithook(hook)
    try:
        read(file)
    finally:
        on.clear()
    assert seen == []


def test_a_stream_of_nothing_is_no_archive(file: Path) -> None:
    file.write_bytes(io.BytesIO(b"\0" * 100_000).read())
    with pytest.raises(ArchiveError, match=r"is not a \.pt2 archive"):
        read(file)

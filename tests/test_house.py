"""What holds for the house as a whole: who imports whom, when torch is loaded, what is built."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import symtable
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

import hatch_build
from export_engine import lazy_names
from tests import public_surface
from tests.syntax import nodes_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("explorer", "export_engine", "kernel_ext", "widgets")
PRIVATE_NAMES_LIVE_IN = ROOT / "export_engine" / "torch_internals"

SOURCES = [
    path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if "frontend" not in path.parts and PRIVATE_NAMES_LIVE_IN not in path.parents
]

ROOMS = sorted(each.parent.name for each in (ROOT / "export_engine").glob("*/__init__.py"))


def test_imports_follow_the_arrows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_no_import_leads_back_to_where_it_starts() -> None:
    """Imports in functions, for types and of a module by its name in a string count, too."""
    graph = grimp.build_graph(*PACKAGES)
    imported = {
        name: graph.find_modules_directly_imported_by(name) | named_in(name, graph.modules)
        for name in graph.modules
    }

    TopologicalSorter(imported).prepare()  # a CycleError names the circle
    packages: defaultdict[str, set[str]] = defaultdict(set)
    for name, others in imported.items():
        packages[part_of(name)] |= {part_of(each) for each in others} - {part_of(name)}
    TopologicalSorter({**packages, **dict.fromkeys(PACKAGES, ())}).prepare()


def named_in(module: str, modules: set[str]) -> set[str]:
    """The modules of ours below a package that a module names in a string."""
    place = ROOT.joinpath(*module.split("."))
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    strings = {node.value for node in syntax_of(file) if isinstance(node, ast.Constant)}
    return {text for text in strings & modules if "." in text} - {module}


def part_of(module: str) -> str:
    """The file or the folder of a package that a module is, or is in."""
    return ".".join(module.split(".")[:2])


def test_a_room_of_the_engine_is_entered_by_its_face() -> None:
    graph = grimp.build_graph(*PACKAGES)
    past = [
        f"{name} imports {other}"
        for name in graph.modules
        for other in graph.find_modules_directly_imported_by(name)
        if other.startswith("export_engine.") and other != part_of(other)
        if part_of(name) != part_of(other)
    ]

    assert not past


def test_faces_cost_no_torch() -> None:
    assert ROOMS
    assert "torch" not in loaded_by("\n".join(f"import export_engine.{room}" for room in ROOMS))


@pytest.mark.parametrize("room", ROOMS)
def test_no_name_of_a_face_is_also_a_module(room: str) -> None:
    """After an import of the module, the package's attribute would be the module."""
    modules = {each.stem for each in (ROOT / "export_engine" / room).iterdir()}

    assert not modules & {*lazy_names._homes(f"export_engine.{room}")}


def test_what_a_test_imports_of_ours_is_there() -> None:
    """In tests: mypy reads the packages alone, and a module that moved is seen when a test runs."""
    missing = [
        f"{path.relative_to(ROOT)} {node.module}.{each.name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in imports_of_ours(path.read_text(encoding="utf-8"))
        for each in node.names
        if not is_there(str(node.module), each.name)
    ]

    assert not missing


_IMPORTS = re.compile(rf"^ *(from (?:{'|'.join(PACKAGES)})\b\S* import (?:\([^)]*\)|.*))", re.M)


def imports_of_ours(code: str) -> Iterator[ast.ImportFrom]:
    """What a test imports by `from`, also in code that it runs; to parse all of it takes long."""
    for said in _IMPORTS.findall(code):
        (node,) = ast.parse(said).body
        assert isinstance(node, ast.ImportFrom)
        yield node


def test_an_import_of_ours_is_noticed() -> None:
    code = "def f():\n    from explorer.page import (  # why\n        a,\n        b as c,\n    )\n"
    assert [each.name for node in imports_of_ours(code) for each in node.names] == ["a", "b"]
    assert [node.module for node in imports_of_ours(code)] == ["explorer.page"]


@cache
def is_there(module: str, name: str) -> bool:
    """Whether a module binds a name at its top, or has a submodule of that name."""
    place = ROOT.joinpath(*module.split("."))
    if (place / f"{name}.py").is_file() or (place / name).is_dir():
        return True
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return file.is_file() and name in bound_in(file)


@cache
def bound_in(file: Path) -> set[str]:
    """The names that a module binds at its top, imports among them."""
    table = symtable.symtable(file.read_text(encoding="utf-8"), str(file), "exec")
    return {
        each.get_name()
        for each in table.get_symbols()
        if each.is_assigned() or each.is_imported() or each.is_namespace()
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_costs_no_torch(package: str) -> None:
    assert "torch" not in loaded_by(f"import {package}")


def test_loading_the_extension_costs_no_torch() -> None:
    code = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_line_magic("load_ext", "kernel_ext")"""

    assert "torch" not in loaded_by(code)


def test_importing_explorer_costs_no_ipython() -> None:
    assert "IPython" not in loaded_by("import explorer")


def test_importing_explorer_loads_nothing_before_it_is_used() -> None:
    loaded = loaded_by("import explorer")
    ours = {name for name in loaded if name.startswith(("explorer.", "export_engine"))}
    assert ours == {"export_engine", "export_engine.lazy_names"}
    assert "explorer.lessons" in loaded_by("import explorer; explorer.lesson")


def test_every_public_name_of_explorer_is_there() -> None:
    import explorer

    assert all(hasattr(explorer, name) for name in explorer.__all__)
    assert len(explorer.__all__) < 20
    parts = {"errors", "exportdb", "typing"}
    assert {*explorer.__all__} | parts == _imported_for_types(explorer.__file__)
    assert {*explorer.__all__} <= {*dir(explorer)}
    for part in (explorer.errors, explorer.typing):
        assert all(hasattr(part, name) for name in part.__all__)


def test_a_page_lists_the_whole_public_surface() -> None:
    assert public_surface.PAGE.read_text(encoding="utf-8") == public_surface.write_page(), (
        "what is public has changed; if that is meant: python -m tests.public_surface --write"
    )


def test_members_are_few_and_old_names_stand_in_one_file() -> None:
    import explorer

    members = [name for name in vars(explorer.Exploration) if not name.startswith("_")]
    assert len(members) <= 29
    assert not {*members} & {*vars(explorer.old_names.OldNames)}


def _imported_for_types(file: str) -> set[str]:
    """The names that a type checker sees of a module with `if TYPE_CHECKING:`."""
    return {
        name.asname or name.name
        for block in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If)
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_the_package_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_private_torch_names_live_in_one_module() -> None:
    """One test of all sources: what is hidden in one may be given a name in another."""
    ours: set[str] = set()
    asked: list[tuple[str, str]] = []
    found: list[str] = []
    for path in SOURCES:
        nodes, file = syntax_of(path), str(path.relative_to(ROOT))
        ours |= hidden_names(nodes)
        asked += ((f"{file}:{line}", name) for line, name in hidden_attributes(nodes))
        found += (f"{file}:{line} {name}" for line, name in torch_names(nodes) if private(name))
    found += (f"{where} .{name}" for where, name in asked if name not in ours)

    assert not found


def test_no_private_torch_name_is_imported_but_by_its_capability() -> None:
    """An import of one that a torch has renamed ends the export in a traceback."""
    made_by_hand = "operator_table.py"  # it makes a file of ours, by a command
    found = [
        f"{path.name}:{line} {name}"
        for path in sorted(PRIVATE_NAMES_LIVE_IN.rglob("*.py"))
        if path.name != made_by_hand
        for line, name in torch_names(
            [each for each in syntax_of(path) if isinstance(each, ast.Import | ast.ImportFrom)]
        )
        if private(name)
    ]

    assert not found


def test_a_private_name_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(
        "import torch, torch._dynamo as d\n"
        "from torch._export import x\n"
        "from torch.export import _trace, export\n"
        "from torch import nn as layers\n"
        "def f(y):\n"
        "    torch._C.thing()\n"
        "    layers.modules._functions\n"
        "    import_module('torch._library.utils'), print('torch._check is public')\n"
        "    y._version, getattr(y, '_schema'), hasattr(y, '__len__'), y._replace()\n"
        "    return torch.export.export(y), torch.__version__\n"
    )

    nodes = syntax_of(path)
    found = {name for _, name in torch_names(nodes) if private(name)}

    assert found == {
        "torch._dynamo",
        "torch._export.x",
        "torch.export._trace",
        "torch._C.thing",
        "torch.nn.modules._functions",
        "torch._library.utils",
    }
    asked = {name for _, name in hidden_attributes(nodes)}
    assert asked >= {"_version", "_schema", "_C"}
    assert "_replace" not in asked
    assert hidden_names(syntax_of(Path(__file__))) >= {"_named_files"}


def test_both_lists_of_sources_agree() -> None:
    script = "import { sourceList } from './sources.mjs'; console.log(sourceList(process.cwd()))"

    listed = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        cwd=hatch_build.FRONTEND,
        env=hatch_build.environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert listed.rstrip("\n") + "\n" == hatch_build.source_list()


@pytest.mark.parametrize("folder", ["widgets/frontend", "ide/vscode"])
def test_a_lock_file_names_no_server(folder: str) -> None:
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]

    assert packages
    assert not [name for name, package in packages.items() if "resolved" in package]


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has after running `code`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('modules:', *sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("modules:")[2].split())


def syntax_of(path: Path) -> list[ast.AST]:
    """Every node of a module's syntax."""
    return nodes_of(path.read_text(encoding="utf-8"))


def torch_names(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every dotted name of torch that a module uses, with its line."""
    bound: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
                bound[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Call) and dotted(node.func)[-1] in LOADING:
            for said in ast.walk(node):
                if isinstance(said, ast.Constant) and isinstance(said.value, str):
                    yield node.lineno, said.value
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    inner = {id(node.value) for node in attributes}
    for node in attributes:
        if id(node) not in inner:
            first, *rest = dotted(node)
            if first in bound:
                yield node.lineno, ".".join([bound[first], *rest])


def dotted(node: ast.expr) -> list[str]:
    """`a.b.c` as its parts; what is not a name at its start is an empty part."""
    if isinstance(node, ast.Attribute):
        return [*dotted(node.value), node.attr]
    return [node.id] if isinstance(node, ast.Name) else [""]


def hidden_attributes(nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every attribute with one leading underscore, asked for in any way, with its line."""
    for node in nodes:
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ASKING:
            said = node.args[1]
            name = str(said.value) if isinstance(said, ast.Constant) else ""
        hidden = name.startswith("_") and not name.startswith("__")
        if hidden and name not in NOT_OF_TORCH:
            yield getattr(node, "lineno", 0), name


LOADING = ("import_module", "__import__", "find_spec")
ASKING = ("getattr", "hasattr", "setattr", "delattr")
NOT_OF_TORCH = {"_filename_map", "_getframe", "_replace", "_repr_html_", "_repr_mimebundle_"}
"""Of Python's and IPython's own, and what a notebook asks an object for."""


def hidden_names(nodes: list[ast.AST]) -> set[str]:
    """The names with a leading underscore that a module gives."""
    names = set()
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
    return {name for name in names if name.startswith("_")}


def private(name: str) -> bool:
    """Whether a dotted name is torch's and has a part that starts with one underscore."""
    package, *parts = name.split(".")
    return package == "torch" and any(
        part.startswith("_") and not part.startswith("__") for part in parts
    )


EVERY_SOURCE = [*SOURCES, *sorted(PRIVATE_NAMES_LIVE_IN.rglob("*.py"))]
LOGS = {"log_internal_error", "exception", "debug", "OwnDefect"}
HANDS_ON = {"set_exception"}
"""What gives an exception to whoever waits for it."""


def test_a_broad_except_logs_what_it_passes_over() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in EVERY_SOURCE
        for line in silent_excepts(path.read_text(encoding="utf-8"))
    ]

    assert not found


def test_a_silent_except_is_noticed() -> None:
    code = (
        "try:\n    f()\nexcept Exception:\n    pass\n"
        "try:\n    f()\nexcept (ValueError, BaseException) as error:\n    g(error)\n"
        "try:\n    f()\nexcept:\n    x = 1\n"
        "try:\n    f()\nexcept Exception as error:\n    log_internal_error(error, 'it')\n"
        "try:\n    f()\nexcept Exception as error:\n    raise Other from error\n"
        "try:\n    f()\nexcept ValueError:\n    pass\n"
        "with suppress(Exception):\n    f()\n"
    )

    assert list(silent_excepts(code)) == [3, 7, 11, 25]


def silent_excepts(code: str) -> Iterator[int]:
    """The lines at which any exception at all is let pass, and none is logged or raised again."""
    if "except" not in code and "suppress" not in code:
        return
    for node in nodes_of(code):
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type):
            inside = [each for statement in node.body for each in ast.walk(statement)]
            called = {dotted(each.func)[-1] for each in inside if isinstance(each, ast.Call)}
            if not called & (LOGS | HANDS_ON) and not any(isinstance(e, ast.Raise) for e in inside):
                yield node.lineno
        elif isinstance(node, ast.Call) and dotted(node.func)[-1] == "suppress":
            yield from [node.lineno] if any(map(is_broad, node.args)) else []


def is_broad(kind: ast.expr | None) -> bool:
    """Whether it is any exception."""
    names = {each.id for each in ast.walk(kind) if isinstance(each, ast.Name)} if kind else set()
    return kind is None or bool(names & {"Exception", "BaseException"})


MADE = {"tests/browser/screenshots"}
"""Paths that are there only after something has run."""


def _named_files(text: str) -> set[str]:
    """The paths that a page names, in backticks or as links."""
    found = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", text))
    links = {each for each in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in each}
    return found | links


PAGES = ["README.md", "CONTRIBUTING.md", "notebooks/TEACHING.md"]
PAGES += [
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if not path.relative_to(ROOT / "docs").parts[0].startswith("_")  # made by `make docs`
]


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_are_there(page: str) -> None:
    path = ROOT / page
    named = {
        each
        for each in _named_files(path.read_text(encoding="utf-8"))
        if not {"_made", "_build"} & set(Path(each).parts)
    }
    missing = [
        each
        for each in named - MADE
        if not (ROOT / each).exists() and not (path.parent / each).exists()
    ]
    assert named or page.startswith("docs/")
    assert not missing


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("FAMILIES", "export_engine/diagnose/families.py"),
        ("PROVIDERS", "export_engine/fixes/providers.py"),
        ("PROVIDERS", "export_engine/findings/providers.py"),
        ("LAST_RESORTS", "export_engine/fixes/providers.py"),
        ("class Kind", "export_engine/rules/kinds.py"),
        ("class Check", "export_engine/verify/guarantees.py"),
        ("BUILT_IN", "export_engine/run/backend_registry.py"),
        ("export_explorer.backends", "export_engine/run/backend_registry.py"),
        ("type Facts", "widgets/frontend/src/view_state.ts"),
        ("COURSE", "explorer/lessons/course/__init__.py"),
    ],
)
def test_what_contributing_says_to_edit_is_there(name: str, file: str) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert name.rsplit(maxsplit=1)[-1] in page
    assert name in (ROOT / file).read_text(encoding="utf-8")


def test_where_things_are_is_where_contributing_says() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| `([^`]+)` \| `([^`]+)` \|$", page, re.MULTILINE)
    missing = [
        f"{wanted}: no {word} in {file}"
        for wanted, file, word in rows
        if not (ROOT / file).is_file() or word not in (ROOT / file).read_text(encoding="utf-8")
    ]

    assert len(rows) >= 20
    assert not missing


def test_the_docs_have_every_option_of_the_magic() -> None:
    from kernel_ext.command import OPTIONS

    text = (ROOT / "docs" / "reference" / "magic.md").read_text(encoding="utf-8")
    rows = {
        option
        for line in text.splitlines()
        if line.startswith("| `-")
        for option in re.findall(r"`(--?[\w-]+)", line.split("|")[1])
    }
    assert rows == set(OPTIONS)


CHANGES_NOTHING_SHARED = {
    ("archive/copying.py", "private_copy"),
    ("archive/zip_members.py", "read_members"),
    ("archive/strict_decoding.py", "noting_unknown"),
    ("defects.py", "passing_over"),
    ("process/generators.py", "generators_kept"),
    ("run/failure_text.py", "memory_told"),
    ("defects.py", "user_code"),
    ("process/switches.py", "switches_kept"),
    ("process/lock.py", "Undone"),
    ("process/gpu_checks.py", "gpu_checked"),
    ("process/gpu_checks.py", "gpu_unchecked"),
    ("process/deadline.py", "Alarm"),
    ("run/builtin_backends/trial_load.py", "try_load_first"),
    ("torch_internals/capability.py", "tolerate"),
    ("fixes/rewrite/lower.py", "inside"),
    ("fixes/rewrite/loops.py", "_taking_rows"),
    ("fixes/rewrite/loops.py", "_asking_first"),
}
"""Context managers of the engine that are not made by `undone`: files, threads and exceptions of
their own, and what `undone` itself is made of."""


def own_contexts(code: str) -> list[str]:
    """Names of what is a context manager by other means than `undone`."""
    found: list[str] = []
    if "contextmanager" not in code and "__enter__" not in code:
        return found
    for node in nodes_of(code):
        if isinstance(node, ast.ClassDef):
            names = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            if "__enter__" in names:
                found.append(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = [ast.unparse(each) for each in node.decorator_list]
            if any("contextmanager" in each for each in said):
                found.append(node.name)
    return found


def test_what_is_put_back_later_is_made_by_undone() -> None:
    """So it takes the one lock first, and no interrupt comes between a change and its undoing."""
    engine = ROOT / "export_engine"
    found = {
        (path.relative_to(engine).as_posix(), name)
        for path in engine.rglob("*.py")
        for name in own_contexts(path.read_text(encoding="utf-8"))
    }
    assert found <= CHANGES_NOTHING_SHARED, found - CHANGES_NOTHING_SHARED
    assert found >= CHANGES_NOTHING_SHARED, CHANGES_NOTHING_SHARED - found


def test_a_context_manager_of_its_own_is_noticed() -> None:
    text = "@contextmanager\ndef a(): yield\n@contextlib.contextmanager\ndef b(): yield\n"
    text += "@undone\ndef c(): yield\nclass D:\n  def __enter__(self): pass\n"
    assert sorted(own_contexts(text)) == ["D", "a", "b"]


_FACTORIES = {
    *("arange", "as_tensor", "empty", "eye", "full", "linspace", "ones", "rand", "randint"),
    *("randn", "randperm", "tensor", "zeros"),
}
"""What makes a tensor on the default device, which may be a GPU, unless told where."""
_MAKES = re.compile(rf"\btorch\.(?:{'|'.join(_FACTORIES)})\(")


def made_anywhere(code: str) -> list[int]:
    """Lines that make a tensor without saying on which device."""
    if not _MAKES.search(code):
        return []
    return [
        node.lineno
        for node in nodes_of(code)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _FACTORIES
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "torch"
        and not any(each.arg in ("device", None) for each in node.keywords)
    ]


def test_a_tensor_of_ours_is_where_we_say_whatever_the_default_device_is() -> None:
    rooms = ("export_engine", "explorer", "kernel_ext")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    found = {
        str(path.relative_to(ROOT)): lines
        for path in files
        if "lessons" not in path.parts  # a lesson's tensors are a learner's
        and (lines := made_anywhere(path.read_text(encoding="utf-8")))
    }
    assert not found


def test_a_tensor_on_the_default_device_is_noticed() -> None:
    assert made_anywhere("a = torch.zeros(2)\nb = torch.ones(2, device=x.device)\n") == [1]


_PARTICIPLE = re.compile(r"[a-z]+(ed|en|wn|ound|ade|aid|ept|ost|old)(_.*)?")
_VAGUE = {"each", "found", "given", "known", "made", "said"}
MOST_PARTICIPLES = 96
"""So many functions are named by what looks like a participle; lower it with each that goes."""
MOST_VAGUE = 95
"""So many names say nothing of what they stand for; lower it, too."""


def vague_names(nodes: list[ast.AST]) -> tuple[list[str], list[str]]:
    """The functions of a module named by a participle, and the vague names that it binds."""
    functions = [
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _PARTICIPLE.fullmatch(node.name.strip("_"))
    ]
    bound = [
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in _VAGUE
    ]
    return functions, bound


def test_functions_are_named_by_verbs_and_names_by_nouns() -> None:
    """A function does something, and a name says what it stands for; the counts may only fall."""
    rooms = ("explorer", "export_engine", "kernel_ext", "widgets")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    counts = [vague_names(syntax_of(path)) for path in files if "node_modules" not in path.parts]

    assert sum(len(functions) for functions, _ in counts) <= MOST_PARTICIPLES
    assert sum(len(names) for _, names in counts) <= MOST_VAGUE


def test_a_participle_and_a_vague_name_are_noticed() -> None:
    code = "def found(x): pass\ndef find(x): pass\ndef _made_of(): pass\n"
    code += "said = [each for each in x]\n"
    assert vague_names(nodes_of(code)) == (["found", "_made_of"], ["said", "each"])

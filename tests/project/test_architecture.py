"""Imports point one way along the walk of ARCHITECTURE.md, lazy ones included."""

import ast
import inspect
import pkgutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import pyrovice

PACKAGE = Path(pyrovice.__file__).parent
WALK = (
    "errors", "storage", "data", "model", "guides", "results", "inference", "criticism", "sweeps",
    "plot", "report", "cli",
)  # fmt: skip
# A fit is asked for its page, and for the number of its dimensions, where a user looks for them.
DECLARED = {("results/fit.py", "report"), ("results/fit.py", "criticism")}
# The door to all rooms, and the one that `python -m pyrovice` takes.
OUTSIDE = ("__init__.py", "__main__.py")
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def room_of(path):
    return path.split("/")[0].removesuffix(".py")


def imported_rooms(source):
    """Rooms that a file imports from, at its top, inside functions or for types only."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are banned"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "pyrovice":
                # `import pyrovice` itself is everything, so it is the end of the walk.
                yield parts[1] if len(parts) > 1 and parts[1] in WALK else "cli"


def test_every_entry_is_a_room():
    entries = {path.name for path in PACKAGE.iterdir()} - {"__pycache__"}
    assert {name.removesuffix(".py") for name in entries} == {
        *WALK,
        "__init__",
        "__main__",
        "py.typed",
    }


@pytest.mark.parametrize("path", [path for path in FILES if path not in OUTSIDE])
def test_imports_point_back_along_the_walk(path):
    here = WALK.index(room_of(path))
    upward = {
        room
        for room in imported_rooms((PACKAGE / path).read_text(encoding="utf-8"))
        if WALK.index(room) > here and (path, room) not in DECLARED
    }
    assert not upward, f"{path} imports from {sorted(upward)}, which come after it"


@pytest.mark.parametrize(
    ("source", "rooms"),
    [
        ("from pyrovice.results.fit import Fit", {"results"}),
        ("def f():\n    from pyrovice import sweeps", {"sweeps"}),
        ("if TYPE_CHECKING:\n    import pyrovice.plot.style", {"plot"}),
        ("import pyrovice as pv", {"cli"}),
        ("from pyrovice import fit", {"cli"}),
        ("import pandas", set()),
    ],
)
def test_the_test_sees_every_kind_of_import(source, rooms):
    assert set(imported_rooms(source)) == rooms


def packages():
    found = pkgutil.walk_packages(pyrovice.__path__, "pyrovice.")
    return [pyrovice] + [import_module(each.name) for each in found if each.ispkg]


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_no_name_shadows_a_module(package):
    modules = {each.name for each in pkgutil.iter_modules(package.__path__)}
    shadowing = {
        name
        for name in modules & vars(package).keys()
        if not isinstance(getattr(package, name), ModuleType)
    }
    assert not shadowing


# One class each, with a documented method for everything that a user may ask it.
LONG = ("data/triplets.py", "results/fit.py")


@pytest.mark.parametrize("path", FILES)
def test_rooms_are_small(path):
    most = 600 if path in LONG else 400
    assert len((PACKAGE / path).read_text(encoding="utf-8").splitlines()) <= most
    assert Path(path).name not in ("utils.py", "helpers.py", "misc.py")


def functions(path):
    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", [p for p in FILES if room_of(p) not in ("cli",)])
def test_private_functions_take_few_parameters(path):
    """Public ones may offer many settings, each with its default."""
    for function in functions(path):
        if function.name.startswith("_") and function.name != "__init__":
            arguments = function.args
            count = len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs)
            assert count <= 8, f"{function.name} takes {count} parameters"


@pytest.mark.parametrize("path", FILES)
def test_functions_are_short(path):
    for function in functions(path):
        body = function.body[1:] if ast.get_docstring(function) else function.body
        lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
        assert lines <= 60, f"{function.name} has {lines} lines"


@pytest.mark.parametrize("name", sorted(set(pyrovice.__all__)))
def test_public_names_have_docstrings_and_help(name):
    value = getattr(pyrovice, name)
    if not isinstance(value, str):
        assert inspect.getdoc(value)

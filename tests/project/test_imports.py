"""Names are imported when they are used: nothing is paid for that is not needed."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pyrovice
from pyrovice.results.saved_fits import to_bytes

pytestmark = pytest.mark.anywhere

SOURCE = ast.parse(Path(pyrovice.__file__).read_text(encoding="utf-8"))


def for_type_checkers():
    """What a type checker sees: every name and the module it is imported from."""
    block = next(
        node for node in SOURCE.body if isinstance(node, ast.If) and node.test.id == "TYPE_CHECKING"
    )
    for node in block.body:
        for alias in node.names:
            yield alias.name, node.module


def test_type_checkers_see_what_is_there():
    seen = dict(for_type_checkers())
    assert {*seen, "__version__"} == set(pyrovice.__all__)
    for name, home in seen.items():
        value = getattr(import_module(home), name, None) or import_module(f"{home}.{name}")
        assert getattr(pyrovice, name) is value, name
    assert dict(seen) == {
        **{name: home for home, names in pyrovice.HOMES.items() for name in names},
        **{name: home.rsplit(".", 1)[0] for name, home in pyrovice.MODULES.items()},
    }


def test_the_package_looks_as_if_everything_were_imported():
    assert set(pyrovice.__all__) <= set(dir(pyrovice))
    assert pyrovice.model.model.Model is pyrovice.Model
    with pytest.raises(AttributeError, match="module 'pyrovice' has no attribute 'fitt'"):
        pyrovice.fitt  # noqa: B018
    everything = {}
    exec("from pyrovice import *", everything)
    assert set(pyrovice.__all__) <= set(everything)


def imported_by(code):
    """The packages that are imported after some code, in a new process."""
    found = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": ""},
    )
    return set(found.stdout.split())


HEAVY = {"torch", "pyro", "pandas", "numpy", "matplotlib", "scipy", "arviz", "xarray", "joblib"}


@pytest.mark.parametrize(
    ("code", "not_needed"),
    [
        ("import pyrovice; dir(pyrovice); pyrovice.__version__; pyrovice.PyroviceError", HEAVY),
        (
            "from pyrovice.cli import app\nfor word in ('--version', '--help'):\n"
            "    sys.argv = ['pyrovice', word]\n"
            "    try: app()\n    except SystemExit: pass",
            HEAVY,
        ),
        ("from pyrovice import Triplets", {"torch", "pyro", "matplotlib", "scipy", "arviz"}),
        (
            "from pyrovice import fit, load, Fit, SpikeSlab",
            {"matplotlib", "scipy.stats", "arviz", "xarray", "pandas.plotting._matplotlib"},
        ),
    ],
    ids=["the package", "help", "data", "fit"],
)
def test_what_is_not_needed_is_not_imported(code, not_needed):
    assert not imported_by(code) & not_needed


def test_a_file_is_read_whatever_was_imported_before(small_fit, tmp_path):
    """Its settings and stopping rule are classes that loading itself does not import."""
    path = tmp_path / "saved.fit"
    path.write_bytes(to_bytes(small_fit))
    code = f"from pyrovice.results.saved_fits import load\nprint(load({str(path)!r}).training)"
    assert "pyrovice.inference.stopping" in imported_by(code)

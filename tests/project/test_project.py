"""What the package, the workflow and the pages for contributors say agrees with what is there."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from project.test_architecture import WALK

import pyrovice

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, HATCH = PYPROJECT["project"], PYPROJECT["tool"]["hatch"]
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def pythons():
    """The versions of Python that the classifiers name."""
    found = [re.fullmatch(r".* :: (3\.\d+)", line) for line in PROJECT["classifiers"]]
    return [match[1] for match in found if match]


def paths(page):
    """What stands in backticks and looks like a file or a folder."""
    quoted = re.findall(r"`([\w./-]+)`", text(page))
    return sorted({word for word in quoted if re.search(r"/|\.(py|md|txt|toml|cff|ya?ml)$", word)})


def test_the_version_has_one_source():
    source = HATCH["version"]["path"]
    assert source == "pyrovice/storage/version.py"
    assert "version" in PROJECT["dynamic"]
    assert "version" not in PROJECT
    assert f'__version__ = "{pyrovice.__version__}"' in text(source).splitlines()
    assigned = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "pyrovice").rglob("*.py")
        if re.search(r"^__version__ = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert assigned == [source]


def test_what_repeats_the_version_has_the_same():
    assert yaml.safe_load(text("CITATION.cff"))["version"] == pyrovice.__version__
    newest = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)
    assert newest[1] == pyrovice.__version__


def test_the_wheel_says_that_the_package_has_types():
    (package,) = HATCH["build"]["targets"]["wheel"]["packages"]
    assert (ROOT / package / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_workflow_tests_the_pythons_of_the_classifiers():
    jobs = yaml.safe_load(text(".github/workflows/tests.yml"))["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == pythons()
    assert PROJECT["requires-python"] == f">={pythons()[0]}"


def test_commands_of_the_workflow_and_the_pages_are_targets_of_make():
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.MULTILINE))
    asked = {
        target
        for path in (".github/workflows/tests.yml", *PAGES)
        for target in re.findall(r"(?:run: |`|^)make ([\w-]+)", text(path), re.MULTILINE)
    }
    assert {"lint", "test", "test-slow"} <= asked <= targets


def test_every_form_is_valid_yaml():
    forms = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]
    assert len(forms) >= 5
    for form in forms:
        assert isinstance(yaml.safe_load(form.read_text(encoding="utf-8")), dict)


@pytest.mark.parametrize("page", PAGES)
def test_paths_in_the_pages_exist(page):
    assert len(paths(page)) > 10
    assert [path for path in paths(page) if not (ROOT / path).exists()] == []


def test_tests_that_the_makefile_names_exist():
    named = re.findall(r"tests/[\w/]+\.py", text("Makefile"))
    assert named
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_the_architecture_shows_the_walk():
    walk = re.search(r"^errors -> .*$", text("ARCHITECTURE.md"), re.MULTILINE)
    assert tuple(walk[0].split(" -> ")) == WALK
    rooms = re.findall(r"^\| `pyrovice/(\w+)(?:\.py|/)` \|", text("ARCHITECTURE.md"), re.MULTILINE)
    assert tuple(rooms) == WALK


def test_the_sdist_names_what_exists():
    named = HATCH["build"]["targets"]["sdist"]["include"]
    assert [path for path in named if not (ROOT / path).exists()] == []
    # What the tests read beside the package itself.
    read = {".github", "Makefile", "benchmarks", "conftest.py", "docs", "notebooks", "tests"}
    assert read | set(PAGES) <= set(named)


def test_every_file_of_tests_has_a_name_of_its_own():
    """Two of the same name in two folders cannot be collected together."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))

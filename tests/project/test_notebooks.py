"""Notebooks run from top to bottom, and what is stored is what they say."""

import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
SOURCES = sorted(FOLDER.glob("*.py"))


class ThisPython(AsyncKernelManager):
    """Kernels of the Python that runs the tests, whatever "python3" is elsewhere."""

    @property
    def kernel_spec(self):
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, language="python", display_name="Python 3")


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def complaints(notebook):
    """Errors and everything on stderr, warnings included."""
    return [
        output.get("text") or f"{output.ename}: {output.evalue}"
        for cell in code(notebook)
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def test_there_are_notebooks_and_each_has_both_files():
    assert SOURCES
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == [path.stem for path in SOURCES]


def executed():
    """The first notebook always, the others, a minute each, by make test-slow."""
    marks = [[]] + [[pytest.mark.slow]] * (len(SOURCES) - 1)
    return [
        pytest.param(path, id=path.stem, marks=mark)
        for path, mark in zip(SOURCES, marks, strict=True)
    ]


@pytest.mark.parametrize("path", executed())
def test_runs_without_errors_or_warnings(path, tmp_path):
    notebook = jupytext.read(path)
    NotebookClient(
        notebook,
        kernel_manager_class=ThisPython,
        timeout=600,
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    assert complaints(notebook) == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_stored_notebook_is_its_source_executed(path):
    source = jupytext.read(path)
    stored = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
    nbformat.validate(stored)
    assert [(cell.cell_type, cell.source) for cell in stored.cells] == [
        (cell.cell_type, cell.source) for cell in source.cells
    ]
    assert [cell.execution_count for cell in code(stored)] == [
        number for number, _ in enumerate(code(stored), start=1)
    ]
    assert complaints(stored) == []
    for notebook in (source, stored):
        assert notebook.metadata.kernelspec.name == "python3"
        assert notebook.metadata.jupytext.formats == "ipynb,py:percent"

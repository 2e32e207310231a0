# Set-up happens by itself: every command makes the environment it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
# Two workers with one thread each do more on two cores than one with two.
TEST = OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

.PHONY: demo test test-slow test-elsewhere test-arviz1 lint bench docs

demo: $(READY)
	$(BIN)/pyrovice demo --output demo

test: $(READY) lint
	$(TEST)

# Ray, 80 MB to download, and Sphinx are for two of the slow tests only.
test-slow: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[ray,docs]'
	$(TEST) -m slow

# As an ordinary user, and with the clone in a closed folder.
test-elsewhere: $(READY)
	bash .ci/elsewhere

# ArviZ 1.x needs Python 3.12 and lives in an environment of its own.
PYTHON_FOR_ARVIZ1 ?= python3.12
VENV_ARVIZ1 ?= .venv-arviz1

test-arviz1: $(VENV_ARVIZ1)/.ready
	OMP_NUM_THREADS=1 $(VENV_ARVIZ1)/bin/pytest tests/results/test_arviz_groups.py \
		tests/criticism/test_model_comparison.py tests/inference/test_nuts.py

$(VENV_ARVIZ1)/.ready: pyproject.toml constraints.txt
	$(PYTHON_FOR_ARVIZ1) -m venv $(VENV_ARVIZ1)
	$(VENV_ARVIZ1)/bin/python -m pip install --quiet --disable-pip-version-check \
		$$(grep '^torch==' constraints.txt) $$(grep '^pyro-ppl==' constraints.txt)
	$(VENV_ARVIZ1)/bin/python -m pip install --quiet --disable-pip-version-check \
		'arviz>=1.0' h5netcdf h5py pytest hypothesis -e .
	touch $@

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Pages, stored notebooks and docstrings as a site: docs/_build/html/index.html
docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

bench: $(READY)
	$(BIN)/python -m benchmarks $(NAME)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# Set-up happens by itself: every command makes the environment it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
# Two workers with one thread each do more on two cores than one with two.
TEST = OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

.PHONY: demo test test-slow lint bench

demo: $(READY)
	$(BIN)/pyrovice demo --output demo

test: $(READY) lint
	$(TEST)

test-slow: $(READY)
	$(TEST) -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m benchmarks $(NAME)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# Needs Python 3.11+ and make, nothing else: every target first builds the environment it uses.
# Another Python: make test PY=python3.13 VENV=.venv-3.13

PY ?= python3
VENV ?= .venv
WORKERS ?= 2
COVERAGE ?= --cov --cov-report=term-missing:skip-covered
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help demo test flags lint types bench docs clean

help:
	@echo "make demo   fit a predator-prey model with a solver written in plain Python"
	@echo "make test   run the tests (make test ARGS='-k while' for some of them)"
	@echo "make flags  run tests under JAX's flags, one after the other: JAX_ENABLE_X64=1, ..."
	@echo "make lint   ruff"
	@echo "make types  pyright"
	@echo "make bench  run benchmarks/"
	@echo "make docs   build the site of docs/ into site/; a broken link is an error"
	@echo "make clean  remove what these made"

demo: $(VENV)/.demo
	@$(BIN)/autograph-jax demo $(ARGS)

# The coverage table comes before pytest's closing line, which is the last one printed.
test: $(VENV)/.test
	@$(BIN)/python -m pytest -n $(WORKERS) $(COVERAGE) $(ARGS)

# What JAX's flags may change: rules, checkpoints, constants, types. Those that change what is staged, or stop at a NaN that is
# meant, run the programs of tests/runtime/core.py only (tests/runtime/test_flags.py).
FLAGS ?= JAX_CUSTOM_VJP3=1 JAX_REMAT3=1 JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS=1 JAX_ENABLE_X64=1 JAX_CHECK_TRACER_LEAKS=1
FLAG_TESTS ?= tests/behaviour/test_choices.py tests/behaviour/test_returns.py tests/examples

flags: $(VENV)/.test
	@set -e; for flag in $(FLAGS); do echo "$$flag"; env $$flag $(BIN)/python -m pytest -n $(WORKERS) $(FLAG_TESTS) $(ARGS); done

lint: $(VENV)/.lint
	@$(BIN)/ruff check .

types: $(VENV)/.lint $(VENV)/.test
	@$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(VENV)/.bench
	@set -e; for file in benchmarks/*.py; do echo "$$file"; $(BIN)/python "$$file" $(ARGS); done

docs: $(VENV)/.docs
	@$(BIN)/python -m tests.behaviour.supported
	@$(BIN)/python -m tests.mistakes_page
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

clean:
	rm -rf .venv .venv-3.* build dist site .coverage .coverage.* htmlcov .hypothesis .pytest_cache .ruff_cache
	find autograph_jax tests examples benchmarks -name __pycache__ -type d -exec rm -rf {} + 2>/dev/null || true

# One stamp per extra: $(VENV)/.test stands for `pip install -e .[test]`. Touched pyproject.toml: installed again.
$(VENV)/.demo: EXTRA :=
$(VENV)/.test: EXTRA := [test]
$(VENV)/.lint: EXTRA := [lint]
$(VENV)/.bench: EXTRA := [bench]
$(VENV)/.docs: EXTRA := [docs,test]

$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "Installing autograph-jax$(EXTRA) into $(VENV); the first time takes about a minute."
	@$(PIP) install --quiet --editable ".$(EXTRA)"
	@touch $@

$(BIN)/python:
	@$(PY) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("autograph-jax needs Python 3.11 or newer, this is %s. Choose one: make PY=python3.13 ..." % sys.version.split()[0])'
	@$(PY) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

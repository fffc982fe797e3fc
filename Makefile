# Everything a developer or CI does. Needs Rust, and Python 3.11 or newer with pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEROUTE := $(BIN)/deroute
PIP := $(BIN)/pip --quiet --disable-pip-version-check
# Files, because cargo fmt does not see the modules that the catalogue declares.
SOURCES := $(shell find crates -name '*.rs')
RUST := Cargo.toml Cargo.lock $(SOURCES) $(shell find crates -name Cargo.toml)

# pip finds maturin there.
export PATH := $(abspath $(BIN)):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help demo build test check lint lint-rust lint-python test-rust test-python test-walkthrough test-openflow test-openflow-large test-tables-large test-goal-large test-slurm dist docs bench bench-python stopping sources interruptions generate generated lock clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/built ## Run the demo experiment and draw its figures (under 5 minutes)
	$(DEROUTE) run experiments/demo.toml
	$(DEROUTE) show runs/demo
	@echo "The figure: runs/demo/latency.png"

build: $(VENV)/built ## Build the engine and install the lab into .venv

test: test-rust test-python test-walkthrough test-openflow ## Run every test

check: lint test ## What CI runs: lints, types, generated files, every test

lint: lint-rust lint-python

lint-rust:
	rustfmt --check --edition 2024 $(SOURCES)
	cargo clippy --workspace --all-targets --locked -- -D warnings

lint-python: $(VENV)/developed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(MAKE) generated

# Not the bindings, whose tests are in Python, nor the example, which `make test-walkthrough` builds. Unit tests are
# quick: to optimise what they test would take longer.
test-rust:
	cargo test --config profile.dev.package.deroute.opt-level=0 --package deroute --locked --quiet --lib
	cargo test --package deroute --locked --quiet --test '*'
	cargo test --package deroute --locked --quiet --doc

test-python: $(VENV)/developed
	$(BIN)/pytest --numprocesses auto --dist worksteal

test-walkthrough: # What CONTRIBUTING says, done.
	$(PYTHON) tools/walkthrough.py

test-openflow: $(VENV)/built ## Follow exported tables through a real Open vSwitch, if there is one
	$(BIN)/python tools/openflow.py

test-openflow-large: $(VENV)/built # The same for 876 switches, and with real frames.
	$(BIN)/python tools/openflow_large.py
	$(BIN)/python tools/openflow_frames.py

dist: $(VENV)/developed ## Build the packages into dist, install the wheel elsewhere and draw a figure with it
	rm -rf dist
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/maturin sdist --out dist
	$(BIN)/python tools/cross.py
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/packages.py

docs: $(VENV)/developed ## Build the documentation site into build/docs; warnings and dead links are errors
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	$(DEROUTE) reproduce --status --report build/docs/claims.html > build/claims.txt
	$(BIN)/python tools/links.py build/docs

test-slurm: $(VENV)/developed ## Run jobs under a Slurm of this machine, if there is one (90 seconds; needs root)
	$(BIN)/python tools/slurm_cluster.py

interruptions: $(VENV)/built ## Kill a run 100 times, terminate it 30 times: nothing is lost (minutes)
	$(BIN)/python tools/interruptions.py

test-tables-large: $(VENV)/built # A network of 300,024 hosts that routes by tables, within a gigabyte.
	$(BIN)/python tools/tables_large.py

test-goal-large: $(VENV)/built # A GOAL file of 10 million operations of 4,096 ranks, within two gigabytes.
	$(BIN)/python tools/goal_large.py

bench: ## Measure the speed of the engine
	cargo bench --locked --package deroute

bench-python: $(VENV)/developed ## Measure what a hop costs with a routing in Python, over the native one
	$(BIN)/python -P tools/python_routing.py

stopping: $(VENV)/built ## Measure bias, coverage and labels of runs that end when enough is known (an hour or two)
	$(BIN)/python tools/stopping.py
	$(BIN)/python tools/knees.py

sources: $(VENV)/built ## Measure what other sources of hot spots do to table 2 of the fat-tree paper (half an hour)
	$(BIN)/python tools/sources.py

generate: $(VENV)/built ## Write the files that are generated from the code
	$(BIN)/python tools/generate.py

generated: $(VENV)/built
	$(BIN)/python tools/generate.py --check

lock: $(VENV)/developed ## Pin the versions of all Python packages anew
	$(BIN)/pip freeze --exclude-editable > constraints.txt

clean: ## Remove everything that was built
	rm -rf $(VENV) build dist target python/deroute/_engine*.so

$(VENV)/bin/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv $(VENV)

# Editable: changes of Python files need no build. A stamp has the time at which its recipe began, so that
# what changed meanwhile is built again.
$(VENV)/built: $(VENV)/bin/pip pyproject.toml constraints.txt $(RUST)
	@touch $@.began
	$(PIP) install --constraint constraints.txt maturin
	$(PIP) install --constraint constraints.txt --no-build-isolation --editable .
	@mv $@.began $@

$(VENV)/developed: $(VENV)/built
	@touch $@.began
	$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@mv $@.began $@

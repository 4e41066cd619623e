# Everything a newcomer needs; the work is done by scripts/setup.py (see docs/setup.md).
# PYTHON=... chooses the interpreter for the virtual environment, e.g. `make PYTHON=python3.12 test`.

SETUP = @sh scripts/setup.sh
PY = .venv/bin/python
PARALLEL = --numprocesses=auto --maxprocesses=4 --dist=worksteal

.PHONY: help setup core dev run demo test check bench torture

help:
	@echo 'make demo      design and prove two circuits on the command line'
	@echo 'make run       start the program'
	@echo 'make test      run the fast tests         make torture   run the long campaigns'
	@echo 'make check     ruff, mypy, import-linter  make bench     measure against peers'
	@echo 'make setup     set up everything now (the others do it when it is needed)'

setup: dev

# What the command line needs; a fraction of the whole, so that a first look is quick.
core:
	$(SETUP) core

# Everything: the window's libraries, tests and checks too.
dev:
	$(SETUP) dev

run: core
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ]; then echo 'The window is not built yet; this is the demo on the command line.'; \
	else echo 'No display: running the demo on the command line.'; fi
	@$(PY) main.py demo

demo: core
	@$(PY) main.py demo

test: dev
	@$(PY) -m pytest $(PARALLEL)

torture: dev
	@$(PY) -m pytest $(PARALLEL) -m torture --timeout=7200

check: dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -c 'import sys; from importlinter.cli import lint_imports_command as lint; sys.exit(lint())'

bench: dev
	@$(PY) -m tests.benchmarks.harness

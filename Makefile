# Everything a newcomer needs; the work is done by scripts/setup.py (see docs/setup.md).
# PYTHON=... chooses the interpreter for the virtual environment, e.g. `make PYTHON=python3.12 test`.

SETUP = @sh scripts/setup.sh
PY = .venv/bin/python
EXAMPLE = build/sallen-key-filter
# Forks of one process that has collected the tests; elsewhere than on Linux libraries do not bear being forked.
PARALLEL = $(if $(filter Linux,$(shell uname -s)),--forks=auto,--numprocesses=auto --maxprocesses=6 --dist=worksteal)
# Compiled modules are kept whatever the user's environment says: a thousand processes start in a test run.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help setup core dev langchain run screenshots demo test quick check bench torture

help:
	@echo 'make demo      design and prove two circuits on the command line'
	@echo 'make run       open the window (PROJECT=folder; an example otherwise)'
	@echo 'make screenshots   take pictures of the window'
	@echo 'make test      run the test suite         make torture   run the long campaigns'
	@echo 'make quick     run the unit tests         make bench     measure against peers'
	@echo 'make check     ruff, mypy, import-linter, vulture, the glossary'
	@echo 'make langchain  add LangChain models and exact token counts (optional)'
	@echo 'make setup     set up everything now (the others do it when it is needed)'

setup: dev

# What the command line needs; a fraction of the whole, so that a first look is quick.
core:
	$(SETUP) core

# Everything: the window's libraries, tests and checks too.
dev:
	$(SETUP) dev

# Optional, beside whatever is set up: any LangChain chat model as a provider, exact token counts.
langchain:
	$(SETUP) langchain

# Opens PROJECT=folder, or a copy of the bundled example; without a display the demo, which says so.
run: core
	@if $(PY) -m presentation.cli.display; then \
	    sh scripts/setup.sh window || exit; \
	    if [ -z "$(PROJECT)" ] && [ ! -d $(EXAMPLE) ]; then \
	        mkdir -p $(dir $(EXAMPLE)) && cp -R resources/examples/$(notdir $(EXAMPLE)) $(EXAMPLE); fi; \
	    $(PY) main.py "$(or $(PROJECT),$(EXAMPLE))"; \
	else echo 'This is the demo on the command line.'; $(PY) main.py demo; fi

# Pictures of the window, taken on a virtual screen, in build/screenshots.
screenshots: dev
	@$(PY) -m scripts.screenshots

demo: core
	@$(PY) main.py demo

test: dev
	@$(PY) -m pytest $(PARALLEL)

# The unit tests: no simulator, no window; for every save.
quick: dev
	@$(PY) -m pytest $(PARALLEL) -q tests/unit

torture: dev
	@$(PY) -m pytest $(PARALLEL) -v -m torture --timeout=7200 --durations=30

check: dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -c 'import sys; from importlinter.cli import lint_imports_command as lint; sys.exit(lint())'
	@$(PY) -m vulture
	@$(PY) -m scripts.check_language

bench: dev
	@$(PY) -m tests.benchmarks.harness

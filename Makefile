# The ways to run, test and check Procession. `make` prints them.
# Needed beforehand: make and Python 3.11 or newer with venv. Everything else is installed from the lock into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A test waits about half of its time, for a database or a browser: more processes than cores keep the cores at work.
JOBS ?= $(shell expr $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 2)
ARGS ?=
CHAOS_INSTANCES ?= 50000
HELD_MINUTES ?= 10
HELD_OUT ?=
LARGE_INSTANCES ?= 100000
ORACLE_STEPS ?= 10000
OVERLOAD_SECONDS ?= 5
OVERLOAD_OUT ?=
COST_JOBS ?= 4000
CORPORA ?= ../shared/corpora
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.docs-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate

# Where it is set, each of the hundreds of processes that the tests start compiles this program anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo ui test chaos overload held large oracle pooled drawings check format bench docs corpora lock changelog install clean

help:  ## print this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */\1\t/' | \
		while IFS="$$(printf '\t')" read -r name purpose; do printf '  make %-10s %s\n' "$$name" "$$purpose"; done

demo: $(INSTALLED)  ## run an order process from start to end, on SQLite
	$(BIN)/python examples/order/demo.py $(ARGS)

ui: $(INSTALLED)  ## build the web page into the package (ARGS=--force to build it anew)
	$(BIN)/python ui/build.py $(ARGS)

test: $(INSTALLED)  ## run every test, those on PostgreSQL included (ARGS="-k word", JOBS=4)
	$(BIN)/python ui/build.py --offline-ok
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

chaos: $(INSTALLED)  ## kill processes and databases for minutes, and compare the books (CHAOS_INSTANCES=50000)
	CHAOS_INSTANCES=$(CHAOS_INSTANCES) CHAOS_RESTART_INSTANCES=10000 CHAOS_RESTARTS=8 CHAOS_SILENCES=10 \
		CHAOS_SILENCE_INSTANCES=10000 $(BIN)/python -m pytest tests/chaos -m kill -s $(ARGS)

overload: $(INSTALLED)  ## three times as many starts as a server takes, and what HTTP costs (OVERLOAD_SECONDS=5, COST_JOBS=4000)
	OVERLOAD_SECONDS=$(OVERLOAD_SECONDS) OVERLOAD_OUT=$(OVERLOAD_OUT) COST_JOBS=$(COST_JOBS) $(BIN)/python -m pytest tests/api/load -m overload -s $(ARGS)

held: $(INSTALLED)  ## claim jobs beside a transaction that stays open for ten minutes (HELD_MINUTES=10, HELD_OUT=file)
	HELD_MINUTES=$(HELD_MINUTES) HELD_OUT=$(HELD_OUT) $(BIN)/python -m pytest tests/store/postgres/test_held.py -s $(ARGS)

large: $(INSTALLED)  ## ask every page of a database with 100,000 instances, and say how long it took (LARGE_INSTANCES=100000)
	LARGE_INSTANCES=$(LARGE_INSTANCES) $(BIN)/python -m pytest tests/large -m large -s $(ARGS)

oracle: $(INSTALLED)  ## ask SQLite, PostgreSQL and MariaDB what memory is asked, and compare every row (ORACLE_STEPS=10000)
	ORACLE_STEPS=$(ORACLE_STEPS) $(BIN)/python -m pytest tests/store/test_differential.py \
		tests/store/test_queue_differential.py -s $(ARGS)

pooled: $(INSTALLED)  ## tell the stories of applications behind PgBouncer in transaction mode, with the store's suite there
	STORIES_POOLED=1 $(BIN)/python -m pytest tests/app tests/store/pooler $(ARGS)

drawings: $(INSTALLED)  ## show every model of the collections that deploys in the web page's modeler (CORPORA=folder)
	DRAWINGS_ALL=1 PROCESSION_CORPORA="$(CORPORA)" $(BIN)/python -m pytest tests/ui/test_drawings.py $(ARGS)

check: $(INSTALLED)  ## lint, format, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python ui/build.py --check --offline-ok

format: $(INSTALLED)  ## format the code and repair what the linter can repair
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: $(INSTALLED)  ## measure (ARGS="process --instances 10000")
	$(BIN)/procession bench $(ARGS)

docs: $(DOCS_INSTALLED)  ## build the documentation into site/; a dead link is an error
	$(BIN)/zensical build --strict

corpora: $(INSTALLED)  ## judge the model collections (CORPORA=folder, ARGS=-v for the failures)
	PROCESSION_CORPORA="$(CORPORA)" $(BIN)/python -m tests.corpora $(ARGS)

lock: $(INSTALLED)  ## resolve the dependencies again (ARGS=--upgrade for newer versions)
	$(COMPILE) $(ARGS) --extra dev pyproject.toml -o requirements-dev.lock
	$(COMPILE) $(ARGS) --extra docs -c requirements-dev.lock pyproject.toml -o requirements-docs.lock

changelog: $(INSTALLED)  ## show what the news fragments will say
	$(BIN)/towncrier build --draft

install: $(INSTALLED)  ## make .venv as the lock says

clean:  ## remove everything that can be made again
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache .hypothesis site dist build

# The stamp is written last, so that an interrupted installation is taken up again.
$(INSTALLED): requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "Installing what the lock names into $(VENV): a minute or two"
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DOCS_INSTALLED): requirements-docs.lock $(INSTALLED)
	$(PIP) install --require-hashes -r requirements-docs.lock
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Expected Python 3.11 or newer, found $$($(PYTHON) --version 2>&1); set PYTHON=<another one>" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) has no venv; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

# Needs Python 3.11 or newer, git and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# more than two cores need, because a third of the tests' time is waiting for disks, leases and processes
JOBS ?= 5

.PHONY: serve demo test test-long check quick format clean help

serve: $(VENV)/serve.stamp  ## install what is missing and run everything on the embedded server
	@$(BIN)/matchpost serve

demo: $(VENV)/serve.stamp  ## fill a server with people and matches in ./matchpost-demo, and run it
	@if [ -d matchpost-demo ]; then $(BIN)/matchpost serve --data matchpost-demo; \
	else $(BIN)/matchpost demo --data matchpost-demo; fi

test: check  ## install what is missing and run all checks

check: $(VENV)/check.stamp  ## the developers' loop: ruff, mypy, import-linter, the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not long"

test-long: $(VENV)/check.stamp  ## the tests that `make test` leaves out, because each takes long
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m long

quick: $(VENV)/check.stamp  ## the tests that take no seconds
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not slow and not long"

format: $(VENV)/check.stamp  ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove the virtual environment
	rm -rf $(VENV)

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/serve.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable .
	@touch $@

$(VENV)/check.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[dev]'
	@touch $@

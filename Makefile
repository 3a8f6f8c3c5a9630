# Needs Python 3.11 or newer, git and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# more than two cores need, because a third of the tests' time is waiting for disks, leases and processes
JOBS ?= 5
# pytest compiles each module of tests once; meanwhile mypy runs, or all processes would do it at the same time
COMPILED := test -e $(VENV)/compiled

.PHONY: serve demo test test-long check quick trials bench bench-all format lock sbom deployment clean help

serve: $(VENV)/serve.stamp  ## install what is missing and run everything on the embedded server
	@$(BIN)/matchpost serve

demo: $(VENV)/serve.stamp  ## fill a server with people and matches in ./matchpost-demo, and run it
	@if [ -d matchpost-demo ]; then $(BIN)/matchpost serve --data matchpost-demo; \
	else $(BIN)/matchpost demo --data matchpost-demo; fi

test: check  ## install what is missing and run all checks

check: $(VENV)/check.stamp  ## the developers' loop: ruff, mypy, import-linter, the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(COMPILED) || $(BIN)/pytest --collect-only --quiet > /dev/null & $(BIN)/mypy && wait
	@touch $(VENV)/compiled
	$(BIN)/lint-imports
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not long"

test-long: $(VENV)/check.stamp  ## the tests that `make test` leaves out, because each takes long
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m long

# where rules and guarantees are tested, not what front ends and processes make of them
QUICK := $(wildcard tests/test_*.py) tests/domain tests/games tests/engine tests/app tests/contract tests/infra tests/log tests/words

quick: $(VENV)/check.stamp  ## in a minute: the tests of rules, use cases and stores that take no seconds each
	$(BIN)/pytest -n $(JOBS) --dist worksteal -m "not slow and not long" $(QUICK)

# how many inputs and changes each program makes
TRIES ?= 1000

trials: $(VENV)/check.stamp  ## what chance may find: faults under load, made-up input, tampering; an hour, more with TRIES=100000
	$(BIN)/python trials/faults/run.py --sample
	set -e; for kind in notations commands mails logs documents forged; do \
	    $(BIN)/python trials/fuzz/$$kind.py $(TRIES); done
	$(BIN)/python trials/tamper/run.py $(TRIES)

bench: $(VENV)/bench.stamp  ## measure, such as `make bench NAME=pipeline ARGS=--json`; without NAME, list what there is
	@$(BIN)/python -m bench $(or $(NAME),--help) $(ARGS)

bench-all: $(VENV)/bench.stamp  ## every benchmark, one after the other, into the table of trials/benchmarks.md; half an hour
	$(BIN)/python -m bench.all --into trials/benchmarks.md

format: $(VENV)/check.stamp  ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# litestar asks for these, and no process of a server imports them
UNUSED := faker polyfactory rich-click

lock: constraints.txt pyproject.toml  ## write requirements.lock again, with the hashes of all files; takes some minutes
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
	printf 'async-timeout\n' | $(VENV)/lock/bin/pip-compile --quiet --generate-hashes --extra cloud --strip-extras \
	    --no-header --no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
	    $(UNUSED:%=--unsafe-package %) --constraint constraints.txt --output-file $(VENV)/lock/compiled pyproject.toml -
	@(echo "# The packages of a server, with the hashes of all their files; see CONTRIBUTING.md. Made by \`make lock\`."; \
	  sed -e '/^# WARNING/,$$d' -e 's/^\(async-timeout==[^ ]*\)/\1 ; python_full_version < "3.11.3"/' \
	    $(VENV)/lock/compiled | sed -e '/^$$/d') > requirements.lock

sbom: $(VENV)/serve.stamp  ## write dist/matchpost.cdx.json, the list of what a server is made of
	@mkdir -p dist
	@$(BIN)/python tools/sbom.py > dist/matchpost.cdx.json

deployment: $(VENV)/serve.stamp  ## write the files for Compose, Kubernetes and systemd again
	@$(BIN)/python tools/deployment/deployment.py

clean:  ## remove the virtual environment
	rm -rf $(VENV)

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/serve.stamp: pyproject.toml requirements.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
	    --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(BIN)/python -m compileall -q -j 0 domain infra services workers  # as pip does with what it installs
	@touch $@

$(VENV)/bench.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(VENV)/check.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[dev]'
	@touch $@

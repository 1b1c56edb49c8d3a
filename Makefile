# Two commands: `make run` starts everything, `make test` runs every test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_FLAGS := --disable-pip-version-check --quiet --require-hashes

.PHONY: run test check lint types migrations unit services fast lock clean

run: $(VENV)/.run
	@$(BIN)/python manage.py up

test: $(VENV)/.dev
	@$(BIN)/python -m tests.support.needs
	@$(MAKE) --no-print-directory check unit services

check: lint types migrations

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy .

migrations: $(VENV)/.dev
	ASSAY_DATA_DIR=$$(mktemp -d) $(BIN)/python manage.py makemigrations --check --dry-run

# First what starts no server, then the product itself, workers and a browser.
unit: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not broker and not services and not browser"
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "broker or services or browser"

# The same code on PostgreSQL and Redis.
services: $(VENV)/.dev
	$(BIN)/python -m tests.support.with_services pytest -q -n 2 --dist loadfile -m "not broker and not services and not browser" tests/datasets tests/blobs tests/wizard tests/portal tests/workspace

fast: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not broker and not services and not browser"

$(VENV)/.run: requirements.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the packages (once)"
	@$(BIN)/python -m pip install $(PIP_FLAGS) -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the packages for tests (once)"
	@$(BIN)/python -m pip install $(PIP_FLAGS) -r requirements-dev.txt
	@touch $@ $(VENV)/.run

# Pin the dependencies anew, with hashes and without index addresses (needs uv).
lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

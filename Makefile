# didim: `make demo` and `make test` set up everything they need in .venv and run.
# Another interpreter: make test PYTHON=python3.12. More workers: make test WORKERS=8.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin

# pytest rewrites the assertions of every test file; bytecode that is kept halves each collection.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-fast test-long test-numba coverage check warm docs build bench pictures machines \
	equations clean

help:
	@echo "make demo      identify a virtual robot with IDIM and DIDIM"
	@echo "make test      all checks, and the tests that every change must pass"
	@echo "make test-fast the tests that are not marked slow"
	@echo "make test-long the tests that make test leaves out: many seeds, long records"
	@echo "make coverage  all tests, and which lines they reach: a summary, and build/coverage"
	@echo "make test-numba NUMBA=0.59.1  tests of compiled code with another version of Numba"
	@echo "make check     ruff, mypy and the import contract"
	@echo "make docs      the documentation, as HTML in build/docs"
	@echo "make build     the source distribution and the wheel, in dist"
	@echo "make bench     the benchmarks, beside peers"
	@echo "make pictures  draw the pictures of README and docs again"
	@echo "make machines  run the measured examples again and write their pages (needs DIDIM_DATA)"
	@echo "make equations write the equation index again, from the docstrings"
	@echo "make clean     remove .venv and caches"

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "didim needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | head -1)." >&2; \
		echo "Name another one, for example: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "'$(PYTHON)' has no venv module. Install it (on Debian and Ubuntu: apt install python3-venv) and try again." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plot]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	@$(BIN)/didim demo

check: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

warm: $(VENV)/.installed-test
	@$(BIN)/python -c 'from didim.jit.compiled import warm; print(f"kernels ready: {sum(warm().values()):.1f} s")'

test: check warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not long"

test-fast: warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow and not long"

test-long: warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m long

# The tests that depend on Numba most, in a virtual environment for each version, with the newest
# NumPy and SciPy that fit it. The test against Pinocchio is left out: no Pinocchio with rotor
# inertias can be installed beside the oldest (docs/decisions/39-numba-range.md).
NUMBA_VENV = $(VENV)-numba-$(NUMBA)

test-numba: | $(VENV)/.made
	@test -n "$(NUMBA)" || { echo "Name a version: make test-numba NUMBA=0.59.1" >&2; exit 1; }
	$(PYTHON) -m venv $(NUMBA_VENV)
	$(NUMBA_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		'numba==$(NUMBA)' pytest pytest-xdist hypothesis --editable .
	$(NUMBA_VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal \
		--deselect tests/simulation/test_accuracy.py::test_smooth_friction \
		tests/jit tests/expressions tests/identities tests/simulation

# Compiled kernels run outside the interpreter: pyproject.toml leaves them out of the figure.
coverage: warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --cov --cov-report=term --cov-report=html
	@echo "Open build/coverage/index.html"

build: $(VENV)/.installed-test
	$(BIN)/python -m build

docs: $(VENV)/.installed-test
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "Open build/docs/index.html"

$(VENV)-bench/.installed: pyproject.toml | $(VENV)/.made
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	-$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check figaroh
	@touch $@

bench: $(VENV)-bench/.installed
	$(VENV)-bench/bin/python -m benchmarks

pictures: $(VENV)/.installed-test
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/effect_pictures.py

machines: $(VENV)/.installed-test
	$(BIN)/python docs/machines.py

equations: $(VENV)/.installed-test
	$(BIN)/python docs/equations.py

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-numba-* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

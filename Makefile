# Two commands matter: `make app` and `make test`. Each first sets up .venv, once; a changed pyproject.toml or
# requirements file sets it up again.

VENV := .venv
PY := $(VENV)/bin/python
WORKERS ?= 4
COVERAGE ?= -p tests.reach
PROCESSES ?= $(shell expr $$(nproc) + 1)
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

# Small matrices: threads that wait for each other only take the cores from the other workers.
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup app serve site test test-long lint types fuzz benchmark interop lowest soak verify pictures map stub wheel clean distclean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: $(VENV)/.dev-ready  ## everything that the other targets need

app: $(VENV)/.app-ready  ## start the app (ARGS="--server.port 8600" are handed to Streamlit)
	@$(PY) serve.py $(ARGS)

serve: $(VENV)/.app-ready  ## start several processes of the app behind nginx (PROCESSES=4 ARGS="--server.port 8080")
	@$(PY) serve.py --processes $(PROCESSES) $(ARGS)

site: $(VENV)/.app-ready  ## build the static site into build/site (ARGS="--spec report.md -o report.html" makes a report)
	@$(PY) -m dpcore site $(or $(ARGS),-o build/site)

# mypy works beside pytest, on one core; what it finds is shown at the end, and if it finds nothing pytest has the last word.
# Tests are compiled once for all workers and for the next time, whatever is the rule for other programs.
# The lines and branches that the tests reach are printed before pytest's closing line (tests/reach.py); `make test COVERAGE=`
# leaves them out, which saves some 6 to 10 % of the time.
test: export PYTHONDONTWRITEBYTECODE :=
test: lint  ## ruff, mypy and all tests but the long ones, with their coverage (ARGS="-k kov" are handed to pytest)
	@$(PY) -m mypy > $(VENV)/mypy.log 2>&1 & types=$$!; \
	$(PY) -m pytest $(COVERAGE) -n $(WORKERS) --dist worksteal -m "not long" $(ARGS); tests=$$?; \
	wait $$types || { cat $(VENV)/mypy.log; exit 1; }; \
	exit $$tests

test-long: export PYTHONDONTWRITEBYTECODE :=
test-long: $(VENV)/.dev-ready  ## the long tests: numeric sweeps, and walks through every page, preset and listing
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal -m long $(ARGS)

lint: $(VENV)/.dev-ready  ## ruff: rules and format
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(VENV)/.dev-ready  ## mypy, strict
	@$(PY) -m mypy

fuzz: $(VENV)/.dev-ready  ## a million strange inputs (ARGS="links --count 500 --seed 2" asks for some; ARGS=--help)
	@$(PY) -m tests.fuzz $(ARGS)

benchmark: $(VENV)/.dev-ready  ## time the import, then dpcore against its peers (long; they get an environment of their own)
	@$(PY) tests/benchmarks/import_time.py
	@$(PY) tests/benchmarks/utility.py
	@$(PY) tests/benchmarks/pages.py
	@$(PY) -m tests.benchmarks.live
	@$(PY) -m tests.benchmarks.changes
	@$(PY) -m tests.benchmarks.cliffs
	@$(PY) -m tests.benchmarks.training_grid
	@$(PY) -m tests.benchmarks.sweeps
	@$(PY) -m tests.benchmarks.load
	@$(PY) tests/benchmarks/run.py

interop: $(VENV)/.dev-ready  ## train a small model with Opacus, run the programs that plans write for OpenDP (in an environment of their own)
	@test -d build/interop || (python3 -m venv build/interop && build/interop/bin/pip install -q -r tests/interop/requirements.txt)
	@build/interop/bin/python tests/interop/run.py
	@DPCORE_OPENDP_PYTHON=build/interop/bin/python $(PY) -m pytest -n 0 tests/interop $(ARGS)

verify: $(VENV)/.dev-ready  ## certificates of the benchmark, the presets and random questions, proved again (ARGS="--count 5000 --random-only")
	@$(PY) -m tests.certificates.sweep $(ARGS)

lowest: $(VENV)/.dev-ready  ## a smoke suite with the lowest supported versions of numpy, pandas, scipy and altair (in an environment of their own)
	@test -d build/lowest || (python3 -m venv build/lowest && build/lowest/bin/pip install -q --disable-pip-version-check -r tests/lowest.txt -e ".[app,report,sweep]")
	@build/lowest/bin/python -m pytest -q -m "not long and not browser" $(or $(ARGS),tests/sweeps tests/charts tests/ledger tests/composition tests/planner tests/app/test_home.py tests/app/test_map.py tests/test_frames.py tests/test_language.py tests/test_risk.py tests/test_calibration.py tests/test_csv_files.py)

soak: $(VENV)/.dev-ready  ## memory of the app while five visitors change numbers, and after they left (ARGS="40 --minutes 0" for less)
	@$(PY) -m tests.benchmarks.soak $(ARGS)

pictures: $(VENV)/.dev-ready  ## draw the pictures of the README again: a region, the app by day and by night, a held slider
	@$(PY) data/pictures/make_region.py
	@$(PY) -m tests.pictures

map: $(VENV)/.dev-ready  ## draw the map of the house in CONTRIBUTING.md again
	@$(PY) -m tests.house

stub: $(VENV)/.dev-ready  ## write the signatures for type checkers and editors again (after a new or changed mechanism)
	@$(PY) -m tests.stub

wheel: $(VENV)/.dev-ready  ## build the wheel and the source archive into dist/
	@$(PY) -m hatchling build --directory dist

clean:  ## remove what was built and cached
	@rm -rf build dist screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find dpcore tests pages data -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean  ## remove the environment as well
	@rm -rf $(VENV)

# Any Python from 3.11 serves. Debian ships Python without ensurepip, and then a half-made .venv would stay behind:
# so the candidates are asked before anything is made.
$(PY):
	@for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	  if $$candidate -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$($$candidate --version)."; exec $$candidate -m venv $(VENV); \
	  fi; \
	done; \
	echo "Python 3.11 or later with its venv module is needed (on Debian and Ubuntu: apt-get install python3-venv)." >&2; \
	exit 1

$(VENV)/.app-ready: pyproject.toml requirements.txt | $(PY)
	@echo "Installing what the app needs; this happens once."
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.dev-ready: pyproject.toml requirements.txt requirements-dev.txt | $(PY)
	@echo "Installing what the checks need; this happens once."
	@$(PIP) -r requirements-dev.txt
	@touch $@ $(VENV)/.app-ready

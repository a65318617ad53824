# Needs git, make and a Python from 3.11 to 3.14; everything else is set up in .venv.
# Plain rules only: this also runs under GNU make 3.81, which macOS ships.

PORT ?= 8501
ADDRESS ?= 127.0.0.1
PYTHON ?=
PYTEST_ARGS ?=
WORKERS ?= 2
BENCH_ARGS ?=

PYTHONS := $(if $(PYTHON),$(PYTHON),python3.11 python3.12 python3.13 python3.14 python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check

.PHONY: help run dev test bench fmt clean browser

help:
	@echo "make run    install what is needed (once) and open the app at http://localhost:$(PORT)"
	@echo "            PORT=9000 changes the port; ADDRESS=0.0.0.0 lets others on the network in"
	@echo "make dev    the same, with files watched and full tracebacks"
	@echo "make test   format, lint and all tests, those in a real browser included"
	@echo "            PYTEST_ARGS='tests/core -x' chooses and steers"
	@echo "make bench  measure speed and memory; writes build/bench.json"
	@echo "make fmt    format and tidy the code"
	@echo "make clean  remove .venv, build and caches"
	@echo "            PYTHON=/path/to/python3.12 chooses the Python for .venv"

# ---- set-up ---------------------------------------------------------------------------------

# The first Python that is recent enough and can make an environment. If none is, one sentence says why.
$(BIN)/python:
	@seen=; bare=; \
	for p in $(PYTHONS); do \
	  v=`$$p -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null` || continue; \
	  seen="$$seen $$p ($$v)"; \
	  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || continue; \
	  $$p -c 'import ensurepip, venv' 2>/dev/null || { bare="$$bare $$p"; continue; }; \
	  echo "Making .venv with $$p ($$v)"; \
	  exec $$p -m venv --clear .venv; \
	done; \
	if [ -n "$$bare" ]; then \
	  echo "Python is here ($${bare# }) but cannot make environments: install its venv module (Debian, Ubuntu: apt install python3-venv) and try again." >&2; \
	else \
	  found=$${seen:- none}; \
	  echo "Glassformer needs a Python from 3.11 to 3.14; found:$$found. Install one, or name it with PYTHON=/path/to/python3." >&2; \
	fi; \
	exit 1

# The stamps make a second run start at once; a changed list of requirements installs again.
.venv/.ready: requirements.txt | $(BIN)/python
	@echo "Installing what the app needs (the first time takes some minutes)"
	@$(PIP) -r requirements.txt || { echo "The packages of requirements.txt could not be installed; pip's own message above says why." >&2; exit 1; }
	@touch $@

.venv/.ready-tests: tests/requirements.txt .venv/.ready
	@$(PIP) --quiet -r tests/requirements.txt || { echo "The packages of tests/requirements.txt could not be installed; pip's own message above says why." >&2; exit 1; }
	@touch $@

browser: .venv/.ready-tests
	@$(BIN)/python tests/find_browser.py

# ---- use ------------------------------------------------------------------------------------

run: .venv/.ready
	@echo "Glassformer: http://localhost:$(PORT)   (Ctrl-C stops it)"
	@exec $(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS) \
	  --logger.hideWelcomeMessage true

dev: .venv/.ready
	@exec $(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.address $(ADDRESS) \
	  --server.fileWatcherType auto --server.runOnSave true --client.showErrorDetails full \
	  --client.toolbarMode developer

# Tests without a browser share the cores (79 s became 48 s on two); those with one run by themselves afterwards, since
# they wait for a page and a busy machine makes that wait uncertain. 5 is pytest's "nothing chosen".
test: browser
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -m "not browser" -n $(WORKERS) $(PYTEST_ARGS) || [ $$? -eq 5 ]
	$(BIN)/python -m pytest -m browser $(PYTEST_ARGS) || [ $$? -eq 5 ]

bench: browser
	@$(BIN)/python -m bench $(BENCH_ARGS)

fmt: .venv/.ready-tests
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

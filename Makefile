# Two commands set everything up on a machine with Python 3.11, make and a package registry:
#   make try    asks the embedded model a question (no key, no server)
#   make test   runs what CI runs

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= auto

.PHONY: compiled test try lint types contracts unit bench sweep clean

try: compiled
	@sh scripts/try $(BIN)

$(BIN)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev,local]'
	touch $@

# An editable install compiles nothing, and some environments keep Python from doing it at first use.
compiled: $(BIN)/.ready
	$(BIN)/python -m compileall -q src

test: lint types contracts unit

lint: $(BIN)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(BIN)/.ready
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin
	$(BIN)/mypy --platform win32 -p jp.terminal -p jp.interrupt

contracts: $(BIN)/.ready
	$(BIN)/lint-imports

unit: compiled
	sh scripts/unit $(BIN) $(JOBS)

bench: compiled
	$(BIN)/python -m benchmarks

# Signals at every point of a run: 1,820 runs, 25 minutes on two cores. A sample of it is in the suite.
sweep: compiled
	JP_TEST_ALL_DELAYS=1 $(BIN)/python -m pytest -q -n $(JOBS) tests/terminal/test_press_timing.py tests/terminal/test_menus.py \
		tests/terminal/test_plugin_moments.py tests/terminal/test_prompt_menu.py tests/terminal/test_reply.py
	$(BIN)/python -m tests.sweep

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache

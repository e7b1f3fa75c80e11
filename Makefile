# Everything the repository does, from a bare clone: each target prepares what it needs and repeats nothing.
#   make demo    check examples/ and confirm it       make test   all tests: the extension's, then pytest
#   make lint    ruff, basedpyright, biome, tsc       make docs   what is generated: rule pages, schemas, README, counts
#   make fuzz MINUTES=n  property tests with fresh seeds for n minutes (default: 10); prints counter-examples
#   make graph-breaks    measure again which constructs the installed torch refuses to compile
#   make guards    measure again what the installed torch compiles anew when a value changes
#   make cudagraphs   measure again what the installed torch captures in CUDA graphs, without a GPU as far as that goes
#   make knowledge PYTHON=p ARGS=a  takes in the torch of an interpreter: what differs, and which findings change
#   make unbacked SEED=n  data-dependent sizes: composes and compiles bodies, prints where nonstrict says otherwise
#   make golden  every finding of suites, corpus and examples again: tests/golden, to be read before a commit
#   make bench   growth of the time of a check, planted hazards   make dist   wheel and source archive
#   make bench-cuda  verdicts on a CUDA GPU: right, how fast, with what memory
#   make bench-peers  speed and memory beside ruff, ty, pyrefly, basedpyright, TorchFix: docs/speed.md
#   make comparison  other tools beside nonstrict on the same programs: docs/comparison.md; RULES=f for semgrep
#   make package    the VS Code extension with the server in it: dist/nonstrict-VERSION.vsix
#   make site    the documentation as a site: dist/site; make site-serve shows it at http://127.0.0.1:8000
#   make playground  the engine in the browser: site/playground/out
#   make pictures   those of the extension's page, taken in a real workbench
#   make release    wheel, source archive and extension in dist/, all checked; ARGS=--rehearsal before the changelog is

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
PYTEST_ARGS ?= -n 2 --dist worksteal
BENCH_ARGS ?=
# How long `make fuzz` draws, in minutes.
MINUTES ?= 10

export PIP_ROOT_USER_ACTION := ignore

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test fuzz lint format docs site site-serve graph-breaks guards knowledge unbacked golden bench
.PHONY: cudagraphs bench-cuda bench-peers comparison dist client package playground pictures release clean

help:
	@sed -n '2,18s/^#   //p' Makefile

demo: $(VENV)/.torch
	@echo '$$ nonstrict check --confirm examples'
	@$(BIN)/nonstrict check --confirm --isolated --no-cache --exit-zero examples

test: package playground $(VENV)/jupyter/.stamp
	@sh scripts/system_packages.sh editors
	@sh scripts/system_packages.sh browser
	@sh scripts/system_packages.sh shells
	@sh scripts/workbench.sh .workbench
	@npm test --silent
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

fuzz: $(VENV)/.developer
	@$(BIN)/python scripts/fuzz.py --minutes $(MINUTES)

lint: $(VENV)/.developer node_modules/.stamp
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/basedpyright
	@npm run lint --silent

format: $(VENV)/.developer node_modules/.stamp
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .
	@npm run format --silent

docs: $(VENV)/.developer
	@$(BIN)/python scripts/generate_rule_docs.py
	@$(BIN)/python scripts/generate_schemas.py
	@$(BIN)/python scripts/update_readme.py
	@$(BIN)/python scripts/count_releases.py

# Downloads nothing once the packages are installed. Warnings are errors (and with --quiet there would be none).
site: playground
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --config-file site/mkdocs.yml

site-serve: site
	@$(BIN)/python -m http.server --bind 127.0.0.1 --directory dist/site 8000

graph-breaks: $(VENV)/.developer
	@$(BIN)/python scripts/generate_graph_breaks.py
	@$(BIN)/python scripts/generate_graph_breaks.py --pieces

guards: $(VENV)/.developer
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/generate_guards.py

cudagraphs: $(VENV)/.developer
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/generate_cuda_graphs.py

knowledge: $(VENV)/.developer
	@$(BIN)/python scripts/take_in.py --python $(if $(filter file,$(origin PYTHON)),$(BIN)/python,$(PYTHON)) $(ARGS)

unbacked: $(VENV)/.developer
	@OMP_NUM_THREADS=1 $(BIN)/python scripts/measure_unbacked.py --seed $(or $(SEED),0)

golden: $(VENV)/.developer
	@$(BIN)/python scripts/golden.py

bench: $(VENV)/.developer
	@$(BIN)/python bench/report.py $(BENCH_ARGS)

# On a machine with a GPU; says so where there is none.
bench-cuda: $(VENV)/.developer
	@$(BIN)/python bench/cuda.py --write $(BENCH_ARGS)

bench-peers: $(VENV)/peers/.stamp
	@$(BIN)/python -m bench.peers run $(BENCH_ARGS)

comparison: $(VENV)/comparison/.stamp
	@$(BIN)/python -m bench.comparison run $(if $(RULES),--rules $(RULES))

dist: $(VENV)/.developer
	@rm -rf dist
	@$(BIN)/python -m hatchling build

client: node_modules/.stamp
	@npm run build --workspace client-vscode --silent

# Downloads nothing once the npm workspace is installed and the server's libraries are in $(VENV)/wheels.
package: $(VENV)/.developer node_modules/.stamp
	@$(BIN)/python scripts/bundle_server.py $(VENV)/wheels
	@npm run package --workspace client-vscode --silent

# Downloads nothing once the npm workspace is installed and the wheels are in $(VENV)/wheels.
playground: $(VENV)/.developer node_modules/.stamp
	@$(BIN)/python scripts/bundle_playground.py $(VENV)/wheels
	@npm run build --workspace site/playground --silent

# The pictures of the extension's page, as the tests of the workbench take them.
pictures: package
	@sh scripts/system_packages.sh browser
	@sh scripts/workbench.sh .workbench
	@WORKBENCH_PICTURES=client-vscode/pictures $(BIN)/python -m pytest tests/workbench -m pictures

# Publishes nothing. What lies in dist/ afterwards is what `make package` and the script have made.
release: $(VENV)/.developer
	@rm -rf dist
	@$(MAKE) --no-print-directory package
	@$(BIN)/python scripts/release.py $(ARGS)

clean:
	@rm -rf $(VENV) .workbench node_modules client-vscode/node_modules client-vscode/out client-vscode/bundled/libs dist
	@rm -rf site/playground/out site/playground/bundled site/playground/node_modules
	@rm -rf .pytest_cache .ruff_cache .hypothesis .nonstrict_cache

# The interpreter alone; then the tool with torch, which experiments need; then what tests need besides.
$(VENV)/bin/python:
	@PYTHON=$(PYTHON) sh scripts/system_packages.sh python
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.torch: pyproject.toml | $(VENV)/bin/python
	@PYTHON=$(PYTHON) sh scripts/system_packages.sh compiler
	@echo 'Installing nonstrict and torch into $(VENV) ...' >&2
	@$(PIP) -e '.[demo]'
	@touch $@

$(VENV)/.developer: pyproject.toml | $(VENV)/bin/python
	@PYTHON=$(PYTHON) sh scripts/system_packages.sh compiler
	@echo 'Installing nonstrict, torch and the tools of its tests into $(VENV) ...' >&2
	@$(PIP) -e '.[dev]'
	@touch $(VENV)/.torch $@

$(VENV)/comparison/.stamp: bench/comparison/requirements.txt $(VENV)/.developer
	@echo 'Installing the other tools into $(VENV)/comparison ...' >&2
	@$(PYTHON) -m venv $(VENV)/comparison
	@$(VENV)/comparison/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

$(VENV)/jupyter/.stamp: tests/editors/jupyter.txt $(VENV)/.developer
	@echo 'Installing JupyterLab into $(VENV)/jupyter ...' >&2
	@$(PYTHON) -m venv $(VENV)/jupyter
	@$(VENV)/jupyter/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

$(VENV)/peers/.stamp: bench/peers/requirements.txt $(VENV)/.developer
	@echo 'Installing the tools beside which nonstrict is measured into $(VENV)/peers ...' >&2
	@$(PYTHON) -m venv $(VENV)/peers
	@$(VENV)/peers/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

node_modules/.stamp: package.json client-vscode/package.json site/playground/package.json .npmrc
	@sh scripts/system_packages.sh node
	@echo 'Installing the npm workspace ...' >&2
	@npm install --loglevel=error --no-audit --no-fund >/dev/null
	@touch $@

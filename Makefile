# The README's two commands are `make demo` and `make test`; everything they need is set up by scripts/setup.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo quick test core lab full lint bench evidence soak pictures publish-check clean

demo: ## install, fetch the embedded model, make one red test green, live
	@scripts/setup "$(PYTHON)" "$(VENV)" local bubblewrap
	@scripts/demo "$(BIN)"

quick: ## two minutes: format, lint, types, layers, and tests that need no process
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@scripts/quick "$(BIN)"

test: ## eight minutes: quick, and a story with real parts for each promise
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@scripts/test "$(BIN)"

core: ## one minute: greenloop without its plugins fixes, verifies and serves an editor
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@scripts/core "$(BIN)"

lab: ## one minute: the tests of the laboratory (lab/)
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@scripts/lab "$(BIN)"

full: ## forty minutes: test, lab, and everything else this machine can run
	@scripts/setup "$(PYTHON)" "$(VENV)" full bubblewrap
	@scripts/full "$(BIN)"

lint: ## format, lint, types, layers
	@scripts/setup "$(PYTHON)" "$(VENV)" dev
	@scripts/lint "$(BIN)"

bench: ## the figures of README and docs; see lab/benchmarks/
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@$(BIN)/python lab/benchmarks/startup.py
	@$(BIN)/python lab/benchmarks/targets.py
	@$(BIN)/python lab/benchmarks/lsp.py
	@$(BIN)/python lab/benchmarks/lsp.py --memory
	@$(BIN)/python lab/benchmarks/sandbox.py
	@$(BIN)/python lab/benchmarks/save.py
	@if [ -d vscode-client/node_modules ]; then $(BIN)/python lab/benchmarks/activation.py; fi
	@$(BIN)/python lab/benchmarks/cancel.py
	@$(BIN)/python lab/benchmarks/agent_overhead.py

PLAN ?= lab/benchmarks/plans/embedded.toml
evidence: ## known results with the model at hand, many hours, resumable: make evidence MBPP=mbpp.jsonl [PLAN=lab/benchmarks/plans/gpu.toml]
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@$(BIN)/python lab/benchmarks/evidence.py "$(PLAN)" --mbpp "$(MBPP)"

soak: ## what takes long (an hour): real projects, many runs and cancels; lab/docs/soak.md has the last result
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@scripts/soak "$(BIN)"

pictures: ## to be looked at: terminals (docs/media), VS Code (vscode-client/media), the site's front page and the README (pictures/)
	@scripts/setup "$(PYTHON)" "$(VENV)" dev bubblewrap
	@$(BIN)/python scripts/pictures.py
	@$(BIN)/python scripts/page_pictures.py pictures
	@cd vscode-client && npm ci --silent && PYTHON="$(abspath $(BIN))/python" npm run pictures

publish-check: ## what is missing before a release, and the validators of every package file
	@packaging/check "$(PYTHON)"; code=$$?; "$(PYTHON)" packaging/publish.py && exit $$code

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

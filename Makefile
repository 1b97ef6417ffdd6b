# gpuscope. Every target sets up what it needs first, and is quick the second time.
#
#   make run      profile the bundled training example, recommend a GPU for it, open the window
#   make test     all checks: style, types, layers, tests
#   make test-fleet  the tests with a real Prometheus and a real sshd, which it fetches
#   make fuzz     10 000 damaged files for everything that reads what somebody else wrote: logs, sessions, prices ...
#   make bench    what gpuscope itself costs, side by side with a bare baseline
#   make bench-day  a day of eight GPUs recorded in made-up time: ten minutes
#   make accuracy fit the time model's constants again and write docs/accuracy-time.md: predicted against published
#   make package  the one-folder app dist/gpuscope/gpuscope
#   make clean    remove what the targets above made, the virtual environment included
#
# PYTHON=/path/to/python3.12 make ...   uses that Python (3.11 or later) for .venv
# WRITE=1 make accuracy                 keeps the constants that it finds
# INTERPRETER=/path/to/python make run  profiles the example with that interpreter (it needs torch)

SHELL := /bin/bash
SETUP := installers/linux/setup.sh
VENV_PYTHON := .venv/bin/python
APP := dist/gpuscope/gpuscope

.PHONY: run test test-fleet fuzz bench accuracy package clean

run:
	@$(SETUP) run
	@installers/linux/run_example.sh "$(INTERPRETER)"

test:
	@$(SETUP) test
	@installers/linux/check.sh

test-fleet:
	@$(SETUP) test
	@installers/linux/fetch_prometheus.sh
	@installers/linux/fetch_sshd.sh
	$(VENV_PYTHON) -m pytest tests/integration/test_prometheus.py tests/integration/test_ssh.py

fuzz:
	@$(SETUP) test
	$(VENV_PYTHON) -m tests.fuzz

bench:
	@$(SETUP) test
	$(VENV_PYTHON) -m tests.bench
	$(VENV_PYTHON) -m tests.bench.keeping 0.3

bench-day:
	@$(SETUP) test
	$(VENV_PYTHON) -m tests.bench.keeping 24

accuracy:
	@$(SETUP) test
	$(VENV_PYTHON) -m tests.accuracy $(if $(WRITE),--write)

package:
	@$(SETUP) package
	@$(MAKE) --no-print-directory $(APP)
	@installers/linux/app_size.sh dist/gpuscope

# The set-up comes first and may make .venv, so this is a make of its own; it is built again only after a change.
$(APP): $(shell find gpuscope resources build.spec pyproject.toml LICENSE NOTICE.md -type f -not -name '*.pyc')
	$(VENV_PYTHON) -m PyInstaller --noconfirm --log-level ERROR build.spec
	@touch $@

clean:
	rm -rf .venv build dist out .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find gpuscope tests resources -name __pycache__ -type d -prune -exec rm -rf {} +

# These commands need nothing but Python 3.11+ and make: `make demo`, `make test` and `make test-slow`.
# Everything is installed into .venv, inside the project.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow lint docs dist check bench results study stages screenshots trust lowest client clean

demo: .venv/installed
	$(BIN)/lookalike demo --out demo

# Files of tests run side by side; more than a few at once only wait for each other's browsers and processes, and
# several threads each for each other (tests of threads ask for theirs). One that ends its process has failed;
# after a few of them there is no point in going on. Hundreds of processes are started, so what Python compiles is kept.
PYTEST = PYTHONDONTWRITEBYTECODE= LOOKALIKE_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --max-worker-restart 2

# Everything once, in minutes.
test: .venv/developed
	$(PYTEST) -m 'not slow'

# The rest: browsers, Ray, kills, decoders, fuzz, the harness of trust, the pages of benchmarks.
test-slow: .venv/developed
	$(PYTEST) -m slow

lint: .venv/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation as a site, in build/site; a link that leads nowhere fails.
docs: .venv/developed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# A wheel and an archive of the sources, in dist/.
dist: .venv/developed
	$(BIN)/python -m build

check: lint docs test test-slow

bench: .venv/developed
	$(BIN)/python -m benchmarks

# DATA: folder of the .npz files of real faces. YTF: folder of the YouTube Faces Database. WORK: where its
# galleries are kept, so that an interrupted run goes on.
results: .venv/developed
	$(BIN)/python -m benchmarks.real_faces $(if $(DATA),--data '$(DATA)') $(if $(YTF),--youtube-faces '$(YTF)') \
	  $(if $(WORK),--work '$(WORK)')

# What each option of the learnt re-ranker does; DATA as above.
study: .venv/developed
	$(BIN)/python -m benchmarks.study_learnt $(if $(DATA),--data '$(DATA)')

# When to trust which re-ranker; DATA as above. WORK: where each gallery that is measured is kept, so that an
# interrupted run goes on. ONLY: configurations, shapes, families or worlds; the rest stays as it was measured.
stages: .venv/developed
	$(BIN)/python -m benchmarks.study_stages $(if $(DATA),--data '$(DATA)') $(if $(WORK),--work '$(WORK)') \
	  $(if $(ONLY),--only '$(ONLY)')

# Pictures of the page in docs/images, of drawn people; needs Chromium.
screenshots: .venv/developed
	$(BIN)/python -m benchmarks.screenshots

# The tests of trust at release size, about 40 minutes of two cores; what is done is kept in docs/lab/trust.json, and it goes
# on from there.
trust: .venv/developed
	$(BIN)/python -m trust

# The lowest version of everything that pyproject.toml allows, in a Python of its own: it fits together, and finds people.
lowest: .venv/developed
	$(BIN)/python -m benchmarks.lowest $(PYTHON)

# A client that is generated from docs/openapi.json, in a Python of its own, tried against a server; needs the network.
client: .venv/developed
	$(BIN)/python -m benchmarks.client

clean:
	rm -rf .venv demo bench-results build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "lookalike needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[video,report]'
	@touch $@

.venv/developed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # which knows dependency groups
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	@touch $@ .venv/installed

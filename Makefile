# Two commands matter: `make demo` and `make test`. Each makes what it needs first, once.

.DEFAULT_GOAL := help
.PHONY: help setup jar demo test campaign lint types wheel docs clean

BIN := .venv/bin
JAR := src/emberscope/recorder/emberscope-recorder.jar
NODE := tests/web/node_modules/.installed
UPLOT := web/vendor/uplot/INTEGRITY
IN_VENV = JAVA_HOME="$$(tools/jdk.sh)" && export JAVA_HOME && PATH="$(CURDIR)/$(BIN):$$PATH"

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(JAR) $(UPLOT) ## record a real Spark application, print why it is slow, write demo/report.html
	@$(IN_VENV) examples/flights/demo.sh

test: lint $(NODE) $(JAR) $(UPLOT) ## every check: style, types, layers, then all tests
	@tools/browser.sh
ifdef PYTEST
	@$(IN_VENV) python -m pytest $(PYTEST)
else
	@$(IN_VENV) python -m pytest -m "not (spark or alone or campaign)" -n 2 --dist loadfile
	@$(IN_VENV) python -m pytest -m "(spark or alone) and not campaign"
endif

campaign: $(JAR) ## the tests that take long: the recorder in real Spark, by every engine
	@$(IN_VENV) python -m pytest -m campaign $(PYTEST)

lint: .venv/installed ## style, types and layers of the Python code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

types: $(NODE) ## types of the page modules, by tsc
	npm run --silent --prefix tests/web types

setup: .venv/installed $(UPLOT) ## the virtual environment with everything that the other targets need

jar: $(JAR) ## the recorder's jar, by javac against pyspark's own jars

wheel: $(JAR) ## dist/*.whl, with the jar and the page modules in it
	rm -rf dist build
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

docs: .venv/installed ## the generated pages of docs/
	$(BIN)/python docs/generate.py
	$(BIN)/python -m emberscope.rules.page docs/rules

clean: ## remove all that these targets made
	rm -rf .venv .cache demo dist build web/vendor $(dir $(NODE)) $(JAR) src/emberscope/kernel/_native.*.so

.venv/installed: pyproject.toml hatch_build.py $(wildcard src/emberscope/kernel/native/*.[ch])
	python="$$(tools/python.sh)" && "$$python" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(UPLOT): | .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .

$(JAR): $(shell find jvm -type f) src/emberscope/__init__.py | .venv/installed
	$(IN_VENV) jvm/build.sh

$(NODE): tests/web/package-lock.json
	@command -v npm >/dev/null || tools/debian.sh "Node with npm" nodejs npm
	npm ci --silent --no-audit --no-fund --prefix tests/web
	@touch $@

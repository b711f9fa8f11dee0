# Everything happens in .venv; `make` targets do all set-up on a machine with Python >= 3.11, Rust and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.built
SOURCES := Cargo.toml Cargo.lock pyproject.toml papers/pyproject.toml $(shell find crates -name '*.rs' -o -name 'Cargo.toml')

# LOCKED=1: the versions and digests of LOCK, in place of the newest that pyproject.toml allows.
LOCKED ?=
LOCK := .ci/requirements-test.txt

# As many tests at a time as there are processors.
TEST_JOBS ?= $(shell nproc)
# The tests of a file run in one process, one after another: they share what they measure.
PYTEST := $(BIN)/python -m pytest -q -n $(TEST_JOBS) --dist loadfile -o faulthandler_timeout=300
# K/N: of the slow lane only part K of N.
PART ?=

# `make help` prints what stands behind ## here, below the names of groups behind ##@.
.PHONY: help all build optimised demo clean test test-rust test-python test-papers test-metamorphic test-kernel test-kernel-debian test-kernel-kasan \
    wheels test-reproducible lint audit hooks turn freeze gold container man docs reproduction readme types checked verdicts explore test-explore performance instructions bench fuzz fuzz-rust fuzz-commands lock dist sbom test-dist image test-image test-image-debian release
.DEFAULT_GOAL := build

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Every day

all: build

$(BIN)/python:
	@$(PYTHON) .ci/progress "1/3 .venv" $(PYTHON) -m venv $(VENV)

build: $(STAMP) ## .venv with the native module and both packages in editable form

$(STAMP): $(SOURCES) | $(BIN)/python
	@# Written over, the module would change under the processes that have it mapped, and crash them: they keep the old file.
	@rm -f python/mayfly/_native.*.so
	$(if $(LOCKED),$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(LOCK))
	@$(PYTHON) .ci/progress "2/3 native module, both packages and what they need: some minutes the first time" \
	    $(BIN)/python -m pip install --verbose --disable-pip-version-check --editable '.[test]' --editable ./papers
	@$(PYTHON) .ci/progress "3/3 byte code" $(BIN)/python -m compileall -q python papers/src
	@rm -f $(OPTIMISED)
	@touch $@
	@echo "built: source $(BIN)/activate, then mayfly"

# The editable module is compiled without link-time optimisation (profile `editable` in Cargo.toml); this one is for measuring speed.
OPTIMISED := $(VENV)/.optimised

optimised: $(OPTIMISED) ## the native module as wheels have it, in place of the one that make build compiles quickly

$(OPTIMISED): $(STAMP)
	@rm -f python/mayfly/_native.*.so
	@$(PYTHON) .ci/progress "native module with link-time optimisation: some minutes" \
	    $(BIN)/python -m pip install --verbose --disable-pip-version-check --no-deps --force-reinstall \
	    --config-settings=build-args="--profile release" --editable .
	@touch $@

demo: build ## compare on the wired scenario, whatif on the office capture, its answer last: mayfly-demo/
	$(BIN)/mayfly compare wired --out mayfly-demo/compare
	$(BIN)/mayfly whatif captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24 --out mayfly-demo/whatif
	@$(BIN)/python -c "import json; print('\n' + json.load(open('mayfly-demo/whatif/summary.json'))['recommendation']['sentence'])"

test: test-rust test-python ## the fast lane: what every commit passes

test-rust: ## unit tests and conformance suite of the crates
	cargo test --workspace --exclude mayfly-py --quiet

test-python: build ## pytest and the doctests, without the marks slow, papers, kernel, browser
	$(PYTEST) -m "not slow and not papers and not kernel and not browser"

# The Python of the project, wherever it stands.
LINTED := conftest.py .ci python papers tests captures benchmarks

lint: build ## rustfmt, clippy, WebAssembly, ruff, mypy, import-linter: warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@# Whose pointers have 32 bits, where Rust for it is installed.
	[ ! -e "$$(rustc --print target-libdir --target wasm32-unknown-unknown)" ] || \
	    RUSTFLAGS="-D warnings" cargo check --quiet --target wasm32-unknown-unknown -p mayfly-web
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Needs cargo-deny. The advisories are fetched; `DENY_FLAGS=--offline` takes those that were fetched before.
DENY_FLAGS ?=

audit: ## licences, sources, versions and advisories of the crates, by cargo deny
	cargo deny $(DENY_FLAGS) check --hide-inclusion-graph
	cargo deny $(DENY_FLAGS) --config deny.toml --manifest-path fuzz/Cargo.toml check --hide-inclusion-graph

hooks: build ## what make lint and a turn of CI ask for, before every commit and push
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pre-commit
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

turn: ## the next eighth of the slow lane in CI: once for everything that is pushed together (.ci/part)
	echo $$(($$(cat .ci/turn) + 1)) >.ci/turn

# The checkout is the machine's own, .venv and target are the container's.
CONTAINER ?= $(shell command -v podman || echo docker)
RUN ?= make test

container: ## make test in a container that has all it needs (RUN=COMMAND: that)
	$(CONTAINER) build --tag mayfly-dev --target dev --file Containerfile .
	$(CONTAINER) run --rm --init --volume "$(CURDIR)":/mayfly --volume mayfly-venv:/mayfly/.venv \
	    --volume mayfly-target:/mayfly/target mayfly-dev $(RUN)

##@ Slow tests

test-papers: build ## the slow lane, or a part of it: PART=1/8
	$(PYTEST) -m "slow or papers" $(if $(PART),--part $(PART))

# Random links from FIRST_LINK on: 300 of them, another number draws others.
FIRST_LINK ?= 0

test-metamorphic: build ## relations between runs and between captures, closed forms; FIRST_LINK=1000: of other links
	MAYFLY_FIRST_LINK=$(FIRST_LINK) $(PYTEST) tests/metamorphic

# The kernel is built once, from Debian's source, and kept there by version and configuration.
KERNEL_CACHE ?= $(HOME)/.cache/mayfly
KERNEL_TESTS ?= tests/kernel
# A guest has one processor: as many at a time as there are here.
KERNEL_JOBS ?= $(shell nproc)

test-kernel: build ## experiments in a real Linux kernel
	MAYFLY_KERNEL_CACHE=$(KERNEL_CACHE) $(BIN)/python -m pytest -q -n $(KERNEL_JOBS) -m kernel $(KERNEL_TESTS)

# Debian's kernels are unpacked there, some 600 MB each, and emulated.
test-kernel-debian: build ## the same on Debian's own kernels, in qemu
	MAYFLY_KERNEL_CACHE=$(KERNEL_CACHE) $(BIN)/python -m pytest -q -m kernel tests/kernel_debian

# The same checks of our queue disciplines in a kernel that finds errors of memory and locking: slow.
test-kernel-kasan: build ## the queue disciplines in a kernel that finds errors of memory and locking
	MAYFLY_KERNEL_CACHE=$(KERNEL_CACHE) MAYFLY_KERNEL_FRAGMENT=config.kasan $(BIN)/python -m pytest -q -m kernel tests/kernel/test_qdiscs.py

# Before a refactoring and after it; then python tests/freeze compare BEFORE AFTER. FREEZE_FLAGS: --parts, --jobs, --python-path.
FREEZE ?= freeze.json

freeze: build ## digests of all that Mayfly produces, into FREEZE: 17 minutes of CPU
	nice $(BIN)/python tests/freeze --out $(FREEZE) $(FREEZE_FLAGS)

gold: build ## tests/data/gold again, from what the code gives now: for results that are meant to move
	MAYFLY_GOLD=write nice $(BIN)/python -m pytest -q -p no:xdist tests/gold

##@ To publish

# A wheel for every Linux with glibc >= 2.17 and every Python >= 3.11 on each of WHEELS, and a source archive, into DIST. A
# processor whose standard library is not installed (rustup target add NAME) is left out, and the end says so.
DIST ?= dist
WHEELS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
# Folders of distributions of Python alone, published beside mayfly with its version.
PURE := papers

# So that the same commit may give the same wheel in any folder: times are those of the commit, folders are mapped.
EPOCH = $(shell git log -1 --format=%ct)
REMAPPED = --remap-path-prefix=$(CURDIR)=/mayfly --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo

# PGO=1: the compiler gets a profile of the simulator first, which takes some minutes more and needs llvm-profdata (.ci/pgo). The
# wheel is then no longer the same byte by byte wherever it is built.
PGO ?=
PROFILE := $(abspath $(or $(CARGO_TARGET_DIR),target))/pgo.profdata

dist: build wheels ## wheels for every Linux (WHEELS: x86_64, aarch64) and a source archive, into dist
	set -e; for folder in $(PURE); do $(BIN)/python -m build --outdir $(DIST) $$folder; done

# Without the papers. It takes what is in BIN, which need not be of this folder.
wheels: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.13,<2' ziglang build wheel
	git describe --always '--exclude=*' --dirty=+ >python/mayfly/commit.txt
	$(if $(PGO),RUSTFLAGS= .ci/pgo "$(PROFILE)" "$(firstword $(WHEELS))")
	export PATH="$(abspath $(BIN)):$$PATH" SOURCE_DATE_EPOCH="$(EPOCH)" \
	    RUSTFLAGS="$(REMAPPED)$(if $(PGO), -Cprofile-use=$(PROFILE))"; status=0; left=; \
	maturin sdist --out $(DIST) || status=$$?; \
	for target in $(WHEELS); do \
	    if [ -d "$$(rustc --print sysroot)/lib/rustlib/$$target" ]; then \
	        maturin build --release --zig --target $$target --compatibility manylinux2014 --out $(DIST) || status=$$?; \
	    else left="$$left $$target"; fi; \
	done; \
	rm -f python/mayfly/commit.txt; \
	[ -z "$$left" ] || echo "no wheel for$$left: rustup target add$$left"; exit $$status
	SOURCE_DATE_EPOCH="$(EPOCH)" .ci/man-pages $(BIN)/python $(DIST)

# Of what is committed: ten minutes on two processors.
test-reproducible: build ## two clones in different folders, time zones and modes give the same wheel, byte by byte
	tests/reproducible.sh $(BIN) $(firstword $(WHEELS))

# What is in the wheel of this machine: crates as maturin wrote them, Python as an installation has it (CycloneDX).
sbom: dist ## bills of materials of crates and Python packages, beside the wheels in dist
	$(BIN)/python .ci/release.py --sbom --dist "$(DIST)"

# For every Python from 3.11 on, on Linux.
lock: | $(BIN)/python ## .ci/requirements-test.txt anew: versions and digests of the tests' environment (LOCKED=1 builds with it)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m uv pip compile pyproject.toml --extra test --universal --python-version 3.11 --generate-hashes \
	    --no-header --quiet --upgrade --output-file $(LOCK)

# In an environment of its own, far from the checkout.
test-dist: dist ## all of them installed into empty environments: pip, pipx, uv
	tests/dist.sh $(DIST)

# The wheel of this machine in an image for users; a capture is mounted where it is run. BASE: another base than Containerfile's.
IMAGE ?= mayfly
BASE ?=
# Further options of its build, such as --volume.
BUILD_FLAGS ?=

image: dist ## a container image with the command mayfly (IMAGE=NAME, BASE=IMAGE)
	$(CONTAINER) build --tag $(IMAGE) --target run --build-arg WHEELS=$(DIST) $(if $(BASE),--build-arg BASE=$(BASE)) \
	    $(BUILD_FLAGS) --file Containerfile .

test-image: image ## the image, run on the office capture
	tests/image.sh "$(CONTAINER)" $(IMAGE)

# As root, without an engine that runs as a service, without namespaces, and without a registry of images. What this machine
# trusts, its index of packages may need.
CERTIFICATES := /etc/ssl/certs/ca-certificates.crt
test-image-debian: export BUILDAH_ISOLATION := chroot
test-image-debian: ## the same by buildah on a base of Debian packages: needs no engine and no registry of images
	.ci/base-image localhost/mayfly-base
	$(MAKE) test-image CONTAINER=buildah BASE=localhost/mayfly-base \
	    BUILD_FLAGS="--volume $(CERTIFICATES):$(CERTIFICATES):ro"

# The tree is clean; the version is set, CHANGELOG.md closed; wheels, source archives and bills of materials; commit and tag.
release: | $(BIN)/python ## VERSION=x.y.z: version, changelog, wheels, bills of materials, tag; DRY_RUN=1 shows them
	$(BIN)/python .ci/release.py $(if $(DRY_RUN),--dry-run) --dist "$(DIST)" $(addprefix --pure=,$(PURE)) "$(VERSION)"

# From the declarations that --help reads.
MAN ?= man

man: build ## a man page of every command, into man
	$(BIN)/python -m mayfly.cli.man $(MAN)

docs: build ## the site, into docs/_build/html: warnings are errors
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

# Every claim of the papers as declared, 42 minutes on two quiet cores: the report below docs, its pages, the table of the README.
reproduction: build ## every claim of the papers as declared, into docs: 42 minutes
	$(BIN)/python -m mayfly_papers all --publish docs

verdicts: ## the score of the papers anew, from the rows of the last full run: seconds
	$(BIN)/python -m mayfly_papers --judge docs

readme: build ## the table of disciplines in the README, from the registry: seconds
	$(BIN)/python docs/_ext/readme_table.py

types: build ## the types of summary.json in Python and TypeScript, after a change of crate summary: seconds
	$(BIN)/python docs/_ext/summary_types.py

checked: build ## the jobs of the ready scenarios, after a change of one or of their fields: seconds
	$(BIN)/python -m mayfly.comparison.checked

attacks: build ## the sources of the ready scenarios gaming-*, from the registry of attacks: seconds
	$(BIN)/python -m mayfly.scenario.attacks

# The page of `mayfly explore`: the engine as WebAssembly, the workloads as documents, the front end.
explore: build ## the page of mayfly explore, into python/mayfly/explore/page: needs node, and Rust for WebAssembly
	@$(PYTHON) .ci/progress "1/3 engine as WebAssembly" .ci/wasm explore/src/wasm
	@$(PYTHON) .ci/progress "2/3 npm ci" npm ci --prefix explore --no-audit --no-fund
	@$(PYTHON) .ci/progress "3/3 page" npm run build --prefix explore
	$(BIN)/python -m mayfly.explore.documents python/mayfly/explore/page

test-explore: explore ## the page in headless Chromium and Firefox, reports in Chromium
	npm run lint --prefix explore
	npm run typecheck --prefix explore
	npm test --prefix explore
	npm run test:browser --prefix explore
	$(PYTEST) -m "browser and not slow and not papers"

##@ Speed and robustness

# Ethernet captures to make a million packets of.
CAPTURES ?= captures/office.pcap.gz

bench: optimised ## speed, beside other simulators where they are installed
	cargo build --release --quiet -p mayfly-netsim --example flow_list
	cargo build --release --quiet -p mayfly-qdisc -p mayfly-estimator --examples
	cargo build --release --quiet -p mayfly-capture --example connections
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/queues.py
	$(BIN)/python benchmarks/estimator.py
	$(BIN)/python benchmarks/permanent.py
	$(BIN)/python benchmarks/wlan.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python benchmarks/jobs.py
	$(BIN)/python benchmarks/captures.py $(CAPTURES)

# PEERS is a Python environment with ns3 and nfstream.
PEERS ?=

# ONLY: one part, such as captures or commands. RUNS: of each program.
ONLY ?=
RUNS ?= 3

performance: optimised ## the tables of docs/performance.md: half an hour (PEERS=ENVIRONMENT, ONLY=PART)
	cargo build --release --quiet -p mayfly-netsim --example flow_list
	cargo build --release --quiet -p mayfly-qdisc --examples
	cargo build --release --quiet -p mayfly-capture --example connections
	$(if $(filter commands,$(ONLY)),,$(BIN)/python benchmarks/performance.py $(if $(PEERS),--peers $(PEERS)) $(if $(ONLY),--only $(ONLY)) \
	    --runs $(RUNS) --write docs/performance.md)
	$(if $(filter-out commands,$(ONLY)),,$(BIN)/python benchmarks/commands.py --write docs/performance.md)

instructions: ## instructions per hop of the simulator, by valgrind, at most 3 % above those last written down (half a minute)
	cargo build --release --quiet -p mayfly-netsim --example flow_list
	$(PYTHON) benchmarks/instructions.py

# FUZZ_S seconds of each kind and each target, from FUZZ_SEED on. What commands do wrong is kept in tests/fuzz/corpus.
FUZZ_S ?= 60
FUZZ_SEED ?= 1
FUZZ_TARGETS := capture packets tcp qdisc run

fuzz: fuzz-commands fuzz-rust ## whole commands under limits, then readers of captures, disciplines and runs under cargo-fuzz

fuzz-commands: build ## whole commands on generated captures, scenarios, lists, stores, logs (FUZZ_S, FUZZ_SEED)
	$(BIN)/python tests/fuzz --cases 100000000 --seconds $(FUZZ_S) --seed $(FUZZ_SEED)

# Needs a nightly toolchain and cargo-fuzz. A minimised corpus is in fuzz/seeds, an archive per target, and is unpacked below
# fuzz/corpus; what is found is kept there too.
fuzz-rust: ## cargo-fuzz: capture, packets, tcp, qdisc, run
	for target in $(FUZZ_TARGETS); do \
	    mkdir -p fuzz/corpus/$$target; \
	    [ ! -e fuzz/seeds/$$target.tar.gz ] || tar xzf fuzz/seeds/$$target.tar.gz -C fuzz/corpus || exit 1; \
	    cargo +nightly fuzz run --fuzz-dir fuzz $$target fuzz/corpus/$$target -- \
	        -max_total_time=$(FUZZ_S) -rss_limit_mb=4096 -len_control=0 -max_len=4096 || exit 1; \
	done

clean: ## no .venv, target and built docs any more
	rm -rf $(VENV) target docs/_build

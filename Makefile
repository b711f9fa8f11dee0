# Everything happens in .venv; `make` targets do all set-up on a machine with Python >= 3.11, Rust and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.built
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name 'Cargo.toml')

.PHONY: reproduction fuzz dist test-dist performance all build demo test test-rust test-python test-papers test-kernel test-kernel-kasan test-kernel-debian lint docs bench clean

all: build

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

build: $(STAMP)

$(STAMP): $(SOURCES) | $(BIN)/python
	# Written over, the module would change under the processes that have it mapped, and crash them: they keep the old file.
	rm -f python/mayfly/_native.*.so
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(BIN)/python -m compileall -q python
	touch $@

demo: build
	$(BIN)/mayfly whatif captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24 --out mayfly-demo/whatif
	$(BIN)/mayfly compare wired --out mayfly-demo/compare

test: test-rust test-python

test-rust:
	cargo test --workspace --exclude mayfly-py --quiet

test-python: build
	$(BIN)/python -m pytest -q -m "not slow and not papers and not kernel"

test-papers: build
	$(BIN)/python -m pytest -q -m "slow or papers"

# The kernel is built once, from Debian's source, and kept there by version and configuration.
KERNEL_CACHE ?= $(HOME)/.cache/mayfly
KERNEL_TESTS ?= tests/kernel
# A guest has one processor: as many at a time as there are here.
KERNEL_JOBS ?= $(shell nproc)

test-kernel: build
	MAYFLY_KERNEL_CACHE=$(KERNEL_CACHE) $(BIN)/python -m pytest -q -n $(KERNEL_JOBS) -m kernel $(KERNEL_TESTS)

# Debian's kernels are unpacked there, some 600 MB each, and emulated.
test-kernel-debian: build
	MAYFLY_KERNEL_CACHE=$(KERNEL_CACHE) $(BIN)/python -m pytest -q -m kernel tests/kernel_debian

# The same checks of our queue disciplines in a kernel that finds errors of memory and locking: slow.
test-kernel-kasan: build
	MAYFLY_KERNEL_CACHE=$(KERNEL_CACHE) MAYFLY_KERNEL_FRAGMENT=config.kasan $(BIN)/python -m pytest -q -m kernel tests/kernel/test_qdiscs.py

lint: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check python tests captures benchmarks
	$(BIN)/ruff format --check python tests captures benchmarks

# A wheel for every Linux with glibc >= 2.17 and every Python >= 3.11, and a source archive, into DIST.
DIST ?= dist

dist: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' ziglang
	git describe --always '--exclude=*' --dirty=+ >python/mayfly/commit.txt
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m maturin build --release --sdist --zig --compatibility manylinux2014 --out $(DIST); \
	status=$$?; rm -f python/mayfly/commit.txt; exit $$status

# In an environment of its own, far from the checkout.
test-dist: dist
	tests/dist.sh $(DIST)

docs: build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

# Every claim of the papers as declared, an hour or so: the report below docs, its pages, the table of the README.
reproduction: build
	$(BIN)/python -m mayfly.papers all --publish docs

# Ethernet captures to make a million packets of.
CAPTURES ?= captures/office.pcap.gz

bench: build
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

# Ten minutes of CPU time where all peers are there; PEERS is a Python environment with ns3 and nfstream.
PEERS ?=

performance: build
	cargo build --release --quiet -p mayfly-netsim --example flow_list
	cargo build --release --quiet -p mayfly-qdisc --examples
	cargo build --release --quiet -p mayfly-capture --example connections
	$(BIN)/python benchmarks/performance.py $(if $(PEERS),--peers $(PEERS)) --write docs/performance.md

# Needs a nightly toolchain and cargo-fuzz. FUZZ_S seconds of each target; what it finds is kept in fuzz/corpus.
FUZZ_S ?= 60

fuzz:
	for target in capture tcp; do \
	    mkdir -p fuzz/corpus/$$target; \
	    cargo +nightly fuzz run --fuzz-dir fuzz $$target -- -max_total_time=$(FUZZ_S) -rss_limit_mb=4096 || exit 1; \
	done

clean:
	rm -rf $(VENV) target docs/_build

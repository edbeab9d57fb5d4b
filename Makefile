# The doorway: thin over Meson and ninja.  `make help` lists what there is.
# Variables: PREFIX, DESTDIR (install), FUZZ_SECONDS and FUZZ (fuzz), FILES (lint, format),
# DEMO_ARGS (demo), TEST_ARGS (check: passed to meson test).

.SUFFIXES:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

FUZZ_SECONDS = 60
FUZZ =
FILES =
TEST_ARGS =
CLANG = clang-14
CLANG_FORMAT = clang-format-14
CLANG_TIDY = clang-tidy-14
SOURCES = find $$(ls -d src tests fuzz bench 2>/dev/null) -name '*.[ch]' ! -path '*/corpus/*' ! -path 'tests/data/*'

# Prompts of 128 tokens, 32 tokens out, from the embedded mock server.
DEMO_ARGS = --num-prompts 500 --max-concurrency 50 --dataset-name random \
	--random-input-len 128 --random-output-len 32 --prompt-token-ids

all: build

help:
	@echo "make            build/vllm-bench (optimised, LTO); installs what is missing first"
	@echo "make demo       a short benchmark of the embedded mock server"
	@echo "make check      all tests, layers, style, headers; ends with: N passed, N failed"
	@echo "make check-all  the same, and again under the address, undefined and thread sanitizers"
	@echo "make bench      the benches of bench/"
	@echo "make fuzz       every fuzz target for FUZZ_SECONDS (60); FUZZ='sse http1' for some"
	@echo "make install    PREFIX=/usr/local DESTDIR="
	@echo "make deb        a Debian package in build-deb/; make check-reproducible builds it twice"
	@echo "make format     clang-format over FILES (all);  make check-format only looks"
	@echo "make lint       clang-tidy over FILES (all of src)"
	@echo "make clean      removes the build folders"

# The program alone: needs nothing that only tests need.
build:
	@tools/install-deps build
	@[ -f build/build.ninja ] || meson setup build -Dtests=false
	@ninja -C build vllm-bench

demo: build
	build/vllm-bench serve --mock $(DEMO_ARGS)

# Tests have a folder of their own without LTO, which would be paid again for every test program.
build-tests:
	@[ -f build-check/build.ninja ] || \
		meson setup build-check -Dtests=true -Db_lto=false -Ddebug=true
	@ninja -C build-check -k 0

check:
	@tools/install-deps test
	@tools/run_checks.py --before '$(MAKE) build' --before '$(MAKE) build-tests' --static \
		--release build/vllm-bench --tests build-check -- $(TEST_ARGS)

check-all:
	@.ci/run check asan tsan

check-layers:
	@tools/check_layers.py

check-style:
	@tools/check_style.py

check-format:
	@tools/install-deps ci
	@$(CLANG_FORMAT) --dry-run --Werror $${FILES:-$$($(SOURCES))}

bench: build
	@if [ -x bench/run ]; then bench/run; else echo "no benches yet: bench/run is missing"; exit 1; fi

fuzz:
	@tools/install-deps ci
	@[ -f build-fuzz/build.ninja ] || CC=$(CLANG) meson setup build-fuzz -Dtests=false \
		-Dfuzzers=true -Db_sanitize=address,undefined -Db_lundef=false -Db_lto=false \
		-Dbuildtype=debugoptimized
	@ninja -C build-fuzz fuzz-targets
	@tools/run_fuzz.py --seconds $(FUZZ_SECONDS) build-fuzz $(FUZZ)

install: build
	@[ -z "$(PREFIX)" ] || meson configure build -Dprefix="$(PREFIX)"
	@ninja -C build
	@DESTDIR="$(DESTDIR)" meson install -C build --no-rebuild

deb:
	@tools/install-deps deb
	@[ -f build-deb/build.ninja ] || meson setup build-deb -Dprefix=/usr -Dtests=false
	@ninja -C build-deb
	@packaging/make_deb.py build-deb

check-reproducible:
	@tools/install-deps deb
	@packaging/check_reproducible

format:
	@tools/install-deps ci
	@$(CLANG_FORMAT) -i $${FILES:-$$($(SOURCES))}

lint:
	@tools/install-deps ci
	@[ -f build-lint/build.ninja ] || CC=$(CLANG) meson setup build-lint -Db_lto=false \
		-Dbuildtype=debugoptimized
	@printf '%s\n' $${FILES:-$$(find src -name '*.c')} | \
		xargs -P $$(nproc) -n 4 $(CLANG_TIDY) -p build-lint --quiet

clean:
	rm -rf build build-check build-deb build-fuzz build-lint build-ci-*

.PHONY: all help build demo build-tests check check-all check-layers check-style check-format \
	bench fuzz install deb check-reproducible format lint clean

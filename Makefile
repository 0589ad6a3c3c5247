# Two commands are enough on a fresh Debian 12 machine with g++, cmake, python3 and make: `make demo` and `make test`.
JOBS ?= $(shell nproc)
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
.PHONY: help setup build install demo test matrix format lint bench clean

help:
	@echo "make demo    train a small GPT, written in C++ for one device, on eight virtual devices; write a sample"
	@echo "make test    build and run all tests"
	@echo "make build   build everything; the command is build/release/bin/alpa"
	@echo "make install PREFIX=DIR   build the library and the command alone, and install them with a CMake package"
	@echo "make matrix  every model x mesh x method x plug-in, every strategy of every operation, the solver on 20,000 problems (over two hours)"
	@echo "make bench   benchmarks, written to build/bench/*.json"
	@echo "make format  format the sources;  make lint  check format, layers, sizes, clang-tidy"

setup:
	@tools/setup.sh

build: setup
	@cmake --preset release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

install: setup
	@cmake --preset release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target alpa alpa_api
	@cmake --install build/release --prefix "$(PREFIX)" > build/install.log || { cat build/install.log; exit 1; }
	@echo "installed in $(PREFIX)"

demo: setup
	@cmake --preset release > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target example_gpt
	@build/release/bin/example_gpt

test: build
	@ctest --preset release

matrix: build
	@ALPA_FULL_MATRIX=1 build/release/bin/models_test
	@ALPA_FULL_MATRIX=1 build/release/bin/micro_batches_test --gtest_brief=1
	@ALPA_FULL_MATRIX=1 build/release/bin/ops_test --gtest_brief=1
	@ALPA_FULL_MATRIX=1 build/release/bin/survey_test --gtest_brief=1
	@ALPA_FULL_MATRIX=1 build/release/bin/solver_test --gtest_brief=1

bench: build
	@benchmarks/run.sh

format: setup
	@tools/checks/format.sh --fix

lint: setup
	@tools/checks/format.sh
	@python3 tools/checks/check_layers.py
	@python3 tools/checks/check_sizes.py
	@tools/checks/tidy.sh

clean:
	rm -rf build

# SPDX-License-Identifier: Apache-2.0
#
# The front door. The build itself is CMake's (CMakeLists.txt); the Debian packages that a target
# needs are named in tools/setup. Everything that is made lies under build/.

PREFIX ?= /usr/local
DESTDIR ?=

BUILD  := build
CMAKE  := cmake
CTEST  := ctest -j 2 --preset
FORMAT := clang-format-14
TIDY   := clang-tidy-14
C_CODE  = $(shell find src include examples tests bench -name '*.[ch]')

# The Python environments of the tests: made anew when their requirements change.
VENV         := $(BUILD)/venv
VENV_CLIENTS := $(BUILD)/venv-clients
VENVS_LIVE   := $(patsubst tests/live/requirements-%.txt,$(BUILD)/venv-%,\
                           $(wildcard tests/live/requirements-*.txt))
VENVS_MADE   := $(addsuffix /made,$(VENV_CLIENTS) $(VENVS_LIVE))
VENVS_MISSING = $(foreach made,$(VENVS_MADE),$(if $(wildcard $(made:made=ready)),,$(made)))
# Tests in four processes, for two processors: some wait. A file's tests stay together, and the
# files in their order. This order, and the names of those that passed: tests/conftest.py.
PYTEST_JOBS  := -n 4 --dist loadfile --no-loadscope-reorder
# For few long tests, which share nothing.
PYTEST_SHARED := -n 2 --dist worksteal
PASSED       := $(BUILD)/passed
# Says how long a part took, where .ci/run asks for that.
STEP         := tools/step
PIP          := -m pip install --quiet --disable-pip-version-check --no-input

# The arm64 packages that the AArch64 build links against, beside libc.
ARM64          := $(BUILD)/arm64
ARM64_PACKAGES := libcmocka0 libcmocka-dev libzstd1 libzstd-dev zlib1g zlib1g-dev libsqlite3-0 \
                  libsqlite3-dev

VALGRIND := valgrind -q --fair-sched=yes --error-exitcode=9 --leak-check=full \
            --show-leak-kinds=definite --errors-for-leak-kinds=definite

# The interfaces of libvarve.so and libvarve-reader.so as abidw tells them, under the first two
# numbers of the version. Those of the compatibility libraries are the vendor's, and have no
# version.
ABI_VERSION = $(shell sed -n 's/^.define VARVE_VERSION_M[AI][JN]OR //p' \
                          include/varve/varve.h | paste -sd.)

.DEFAULT_GOAL := all
.PHONY: all tests help demo demo-mlir check check-clients unit pytest pytest-clients sanitize \
        thread valgrind cross environments abi fuzz bench mutants soak install format format-check \
        tidy clean distclean wheel deb uninstall

all: ## build what a user needs: build/varve, build/libvarve.so, build/examples/train (the default)
	@tools/setup --verify build
	@$(CMAKE) --preset default >/dev/null
	@$(STEP) 'default: build' $(CMAKE) --build --preset default

tests: all ## build the programs of the tests and the bench, too
	@$(STEP) 'default: build of the tests' $(CMAKE) --build --preset tests

help: ## this list
	@echo 'make TARGET'
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 18

demo: ## install what is needed, build, record examples/train, print its report
	@tools/setup demo
	@$(MAKE) --no-print-directory all
	@mkdir -p $(BUILD)/demo
	$(BUILD)/varve record -o $(BUILD)/demo/train.varve -- $(BUILD)/examples/train
	$(BUILD)/varve report $(BUILD)/demo/train.varve

demo-mlir: ## install PyTorch, torch-mlir and IREE; make a ResNet-18, find a faster program of it
	@tools/setup build
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory $(BUILD)/demo/mlir/resnet18.mlir || { \
		echo 'demo-mlir: needs torch, torch-mlir and IREE from PyPI: see the lines above' >&2; \
		exit 1; }
	$(BUILD)/varve tune $(BUILD)/demo/mlir/resnet18.mlir --iree $(BUILD)/venv-mlir/bin \
		--input @$(BUILD)/demo/mlir/image.npy --work $(BUILD)/demo/mlir/tune --tiles 2 --turns 5

$(BUILD)/demo/mlir/resnet18.mlir: examples/mlir/resnet18.py
	@$(MAKE) --no-print-directory $(BUILD)/venv-mlir/ready
	@rm -rf $(@D) && mkdir -p $(@D)
	$(BUILD)/venv-mlir/bin/python $< $(@D)

check: ## install what the tests need, run every test
	@tools/setup check
	@$(MAKE) --no-print-directory --keep-going unit sanitize thread pytest

# AFTER=check: on a tree where `make check` has just passed, what passed there is not run again.
check-clients: ## the tests again, with the large real programs beside us; valgrind; AArch64
	@tools/setup clients
	@$(MAKE) --no-print-directory --keep-going $(if $(AFTER),,unit) valgrind cross pytest-clients

unit: tests ## unit tests and fuzz corpora
	@$(STEP) 'default: units' $(CTEST) default

pytest: tests $(VENV)/ready ## all other tests
	$(STEP) pytest $(VENV)/bin/python -m pytest $(PYTEST_JOBS) \
		--keep-passed $(abspath $(PASSED)) tests

pytest-clients: tests $(VENV_CLIENTS)/ready $(addsuffix /ready,$(VENVS_LIVE))
	VARVE_CLIENTS=1 $(STEP) 'pytest with the clients' $(VENV_CLIENTS)/bin/python -m pytest \
		$(PYTEST_JOBS) $(if $(AFTER),--but-passed $(abspath $(PASSED))) tests

# Most of it is waiting for PyPI. No test uses one of them before pytest-clients says `ready`.
environments: $(VENVS_MISSING) ## what check-clients needs of PyPI; can run beside check

# Python comes last: PyPI may be out of reach, and the units do not need it.
sanitize: ## units, corpora, damaged traces, control calls, tests/compat: address, undefined
	@$(CMAKE) --preset sanitize >/dev/null
	@$(STEP) 'sanitize: build' $(CMAKE) --build --preset sanitize
	@$(STEP) 'sanitize: units' $(CTEST) sanitize
	@$(MAKE) --no-print-directory $(VENV)/ready
	VARVE_BUILD=$(BUILD)/sanitize $(STEP) 'sanitize: pytest' $(VENV)/bin/python -m pytest \
		$(PYTEST_SHARED) tests/faults/test_damaged_traces.py tests/control/test_matrix.py \
		tests/compat

# The sanitizer's own runtime does not live with a file size limit. It takes the recorder's lock for
# held in a forked child, which has made this lock anew, and so sees other locks in a wrong order:
# tests that fork within a library's locks run without this one check.
OF_FORKS_UNDER_TSAN := a_forked_child_and_its_parent or as_without
NOT_UNDER_TSAN := not file_size_limit and not train and not aarch64 and \
                  not ($(OF_FORKS_UNDER_TSAN))

thread: ## what has threads, recordings, control calls under ThreadSanitizer
	@$(CMAKE) --preset thread >/dev/null
	@$(STEP) 'thread: build' $(CMAKE) --build --preset thread
	@$(STEP) 'thread: units' $(CTEST) thread
	@$(MAKE) --no-print-directory $(VENV)/ready
	TSAN_OPTIONS=halt_on_error=1 VARVE_BUILD=$(BUILD)/thread \
		$(STEP) 'thread: pytest' $(VENV)/bin/python -m pytest $(PYTEST_JOBS) \
		tests/oracle tests/control/test_matrix.py tests/control/test_told.py \
		tests/collect/test_nccl.py -k "$(NOT_UNDER_TSAN)"
	TSAN_OPTIONS=halt_on_error=1:detect_deadlocks=0 VARVE_BUILD=$(BUILD)/thread \
		$(STEP) 'thread: forks' $(VENV)/bin/python -m pytest $(PYTEST_JOBS) \
		tests/collect/test_nccl.py -k "$(OF_FORKS_UNDER_TSAN)"

valgrind: tests ## the recorder's units, and a recording, under valgrind
	@tools/setup valgrind
	@find tests/unit/record -name 'test_*.c' | sort | sed 's#\(.*\)[.]c$$#$(BUILD)/\1#' | \
		VARVE_SLOW=1 $(STEP) 'valgrind: units' xargs -n 1 -P 2 $(VALGRIND)
	@rm -rf $(BUILD)/valgrind.varve && mkdir $(BUILD)/valgrind.varve
	VARVE_OUTPUT=$(abspath $(BUILD)/valgrind.varve) \
		$(VALGRIND) $(BUILD)/tests/programs/every_record 0 2000 >/dev/null
	@$(BUILD)/varve info $(BUILD)/valgrind.varve | grep -q '^  lost  *0$$'

cross: ## build for AArch64, run units and corpora there by qemu-aarch64
	@tools/setup cross
	@$(MAKE) --no-print-directory $(ARM64)/ready
	@rm -f $(BUILD)/cross/ready
	@$(CMAKE) --preset cross >/dev/null
	@$(STEP) 'cross: build' $(CMAKE) --build --preset cross
	@touch $(BUILD)/cross/ready
	@$(STEP) 'cross: units' $(CTEST) cross

# $(call write_abi,FILE,LIBRARY,HEADERS)
define write_abi
@abidw --suppressions abi/private.suppr --headers-dir $(3) --drop-private-types \
	--drop-undefined-syms --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
	--no-parameter-names --type-id-style hash --out-file $(BUILD)/abi.xml $(BUILD)/$(2)
@sed "s#path='\($(CURDIR)\|[.][.]\)/#path='#" $(BUILD)/abi.xml >$(1)
endef

abi: all ## write the interfaces of the libraries anew, into abi/
	@tools/setup abi
	@mkdir -p abi
	$(call write_abi,abi/$(ABI_VERSION).xml,libvarve.so,include)
	$(call write_abi,abi/reader-$(ABI_VERSION).xml,libvarve-reader.so,include)
	$(call write_abi,abi/profapi.xml,compat/libprofapi.so,include/compat)
	$(call write_abi,abi/msprofiler.xml,compat/libmsprofiler.so,include/compat)

fuzz: ## install clang, build the fuzz targets: build/{fuzz,fuzz-edges}/tests/fuzz/*_libfuzzer
	@tools/setup fuzz
	@for preset in fuzz fuzz-edges; do \
		$(CMAKE) --preset $$preset >/dev/null && $(CMAKE) --build --preset $$preset || exit 1; done

soak: tests sanitize ## twenty times as much of the tests that kill, fill disks, crowd, damage
	VARVE_SOAK=1 $(VENV)/bin/python -m pytest $(PYTEST_SHARED) tests/soak
	VARVE_SOAK=1 VARVE_BUILD=$(BUILD)/sanitize $(VENV)/bin/python -m pytest $(PYTEST_SHARED) \
		tests/faults/test_damaged_traces.py

mutants: $(VENV)/ready ## small faults in a copy of src/: which does no test see? MUTANTS='--help'
	nice -n 19 $(VENV)/bin/python tools/mutants $(MUTANTS)

bench: all ## measure what Varve costs
	@$(CMAKE) --build --preset bench
	@rm -rf $(BUILD)/bench.varve
	@for program in $(BUILD)/bench/*; do \
		[ -d "$$program" ] || [ ! -x "$$program" ] || "$$program" || exit 1; done
	@[ ! -e $(BUILD)/venv-torch/ready ] || $(BUILD)/venv-torch/bin/python bench/torch_overhead.py
	@[ ! -e $(BUILD)/venv-mlir/ready ] || $(BUILD)/venv-mlir/bin/python bench/mlir_engines.py

install: all ## install into $(DESTDIR)$(PREFIX); PREFIX=/usr/local unless given
	@DESTDIR='$(DESTDIR)' $(CMAKE) --install $(BUILD) --prefix '$(PREFIX)'
	@[ -n '$(DESTDIR)' ] || ! [ -w /etc/ld.so.cache ] || ldconfig

uninstall: ## remove what `make install` with the same PREFIX and DESTDIR last wrote
	@[ -e $(BUILD)/install_manifest.txt ] || { \
		echo 'make uninstall: $(BUILD)/install_manifest.txt is not there: install first'; exit 2; }
	@while read -r file || [ -n "$$file" ]; do case $$file in \
		'$(PREFIX)'/*) rm -f "$(DESTDIR)$$file" ;; \
		*) echo "make uninstall: $$file is not below PREFIX=$(PREFIX)"; exit 2 ;; esac; \
		done <$(BUILD)/install_manifest.txt

# What the wheel brings of others, it brings with their licences. auditwheel names the oldest libc
# that its libraries run on, and puts zstd and isa-l beside them.
wheel: ## a wheel for pip in any Python from 3.9 on: build/wheel/*.whl
	@tools/setup wheel
	@$(MAKE) --no-print-directory $(BUILD)/venv-wheel/ready
	@rm -rf $(BUILD)/wheel $(BUILD)/release/wheel && mkdir -p $(BUILD)/release/wheel
	@$(CMAKE) --preset release -DVARVE_EXAMPLES=OFF >/dev/null
	@$(CMAKE) --build --preset release --target varve varve_library varve-mlir-library pages
	@VARVE_BUILD=$(BUILD)/release python3 python/build_wheel.py $(BUILD)/release/wheel \
		$(wildcard $(addsuffix /copyright,$(addprefix /usr/share/doc/,libzstd1 libisal2)))
	@PATH="$(abspath $(BUILD)/venv-wheel/bin):$$PATH" $(BUILD)/venv-wheel/bin/auditwheel repair \
		--strip --wheel-dir $(BUILD)/wheel $(BUILD)/release/wheel/*.whl
	@echo "wheel: try it in each Python of this machine: VARVE_WHEEL=$$(echo $(BUILD)/wheel/*.whl)" \
		"VARVE_CLIENTS=1 $(VENV)/bin/python -m pytest tests/install/test_wheel.py"

# In a copy of the tree: dpkg-buildpackage writes beside its folder.
deb: ## Debian packages, checked by lintian: build/deb/*.deb
	@tools/setup deb
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb/varve
	@tar --exclude='./$(BUILD)*' --exclude=./.git --exclude='*.varve' --exclude=__pycache__ -cf - . \
		| tar -C $(BUILD)/deb/varve -xf -
	@cd $(BUILD)/deb/varve && dpkg-buildpackage --build=binary --no-sign >../build.log 2>&1 || { \
		tail -30 ../build.log; exit 1; }
	lintian --fail-on error,warning $(BUILD)/deb/*.changes
	@echo "deb: try them in a fresh Debian:  tools/try_debs $(BUILD)/deb"; ls $(BUILD)/deb/*.deb

format: ## let clang-format rewrite the files named in FILES=…
	@[ -n '$(FILES)' ] || { \
		echo "make format: say which: make format FILES='src/base/error.c'"; exit 2; }
	@$(FORMAT) -i $(FILES)

format-check: ## say where clang-format would differ; advice, no test
	@$(FORMAT) --dry-run $(C_CODE) 2>&1 | grep -c 'warning:' || true

tidy: all ## clang-tidy over src and examples
	@$(TIDY) -p $(BUILD) --quiet $(filter src/%.c examples/%.c,$(C_CODE))

clean: ## remove what was built, keep the Python environments
	@[ ! -d $(BUILD) ] || find $(BUILD) -mindepth 1 -maxdepth 1 ! -name 'venv*' -exec rm -rf {} +

distclean: ## remove build/ whole
	@rm -rf $(BUILD)

$(VENV)/ready: tests/requirements.txt
	@rm -rf $(VENV) && python3 -m venv $(VENV)
	@$(VENV)/bin/python $(PIP) -r tests/requirements.txt
	@touch $@

$(BUILD)/venv-wheel/ready: python/requirements-wheel.txt
	@rm -rf $(@D) && python3 -m venv $(@D)
	@$(@D)/bin/python $(PIP) -r $<
	@touch $@

# Two stamps for each: `make environments` runs beside tests that go by `ready`.
.SECONDARY: $(VENVS_MADE)
$(BUILD)/venv-%/ready: $(BUILD)/venv-%/made
	@touch $@

$(VENV_CLIENTS)/made: $(addprefix tests/requirements,.txt -clients.txt -clients-alone.txt)
	@rm -rf $(@D) && python3 -m venv $(@D)
	@$(STEP) $(@D) sh -c '$(@D)/bin/python $(PIP) -r tests/requirements.txt \
		-r tests/requirements-clients.txt && \
		$(@D)/bin/python $(PIP) --no-deps -r tests/requirements-clients-alone.txt'
	@touch $@

# Those that write the formats that we read, each alone: their dependencies contradict each other.
$(filter $(BUILD)/venv-torch%,$(VENVS_MADE)): AFTERWARDS = tests/live/stand_in.py
$(filter $(BUILD)/venv-torch%,$(VENVS_MADE)): tests/live/stand_in.py
$(BUILD)/venv-mlir/made: AFTERWARDS = tests/live/beside_torch.py
$(BUILD)/venv-mlir/made: tests/live/beside_torch.py $(BUILD)/venv-torch/made
$(BUILD)/venv-%/made: tests/live/requirements-%.txt
	@rm -rf $(@D) && python3 -m venv $(@D)
	@$(STEP) $(@D) $(@D)/bin/python $(PIP) --no-deps --no-compile -r $<
	@for program in $(AFTERWARDS); do $(@D)/bin/python $$program || exit 1; done
	@touch $@

$(ARM64)/ready: tools/unpack_arm64 Makefile
	@rm -rf $(ARM64)
	@tools/unpack_arm64 $(ARM64) $(ARM64_PACKAGES)
	@touch $@

#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test. The last line is
# `N passed, N failed[, N skipped]`, GoogleTest's and lit's tests together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source utils/setup.sh

install_packages
build release
fetch_model
build sanitizers
build thread-sanitizer RuntimeTests

# Under AddressSanitizer and UndefinedBehaviorSanitizer: our own code, where it
# meets input from outside. Under ThreadSanitizer: the carried runtime.
step "testing"
build/release/venv/bin/python3 utils/run_tests.py \
  build/release/test build/release/test/unit \
  build/sanitizers/test/unit build/sanitizers/test/Driver build/sanitizers/test/Model \
  build/thread-sanitizer/test/unit

# The GoogleTest programs of the build directory, each test of them counted.
import os

import lit.formats

config.name = "Hexad-Unit"
if config.hexad_sanitize:
    config.name += "-" + config.hexad_sanitize
config.suffixes = []
config.test_source_root = os.path.join(config.hexad_obj_root, "test", "unit")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
for name in ("HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

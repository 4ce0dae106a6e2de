import os
import subprocess
import tempfile

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import FindTool, ToolSubst

config.name = f"Hexad-{config.hexad_sanitize}" if config.hexad_sanitize else "Hexad"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".yaml", ".c"]
config.excludes = ["Inputs", "golden", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.hexad_obj_root, "test")

tools_dir = os.path.join(config.hexad_obj_root, "bin")
# A virtual environment with what tests in Python need; check.sh makes it.
venv_python = os.path.join(config.hexad_obj_root, "venv", "bin", "python3")
python = venv_python if os.path.exists(venv_python) else config.python_executable
minilm_dir = os.environ.get(
    "HEXAD_MINILM_DIR", os.path.join(config.hexad_obj_root, "models", "minilm")
)

# Hexad's own tools, from the build directory only.
hexad_tools = [
    "hexad-compile",
    "hexad-lsp-server",
    "hexad-opt",
    "hexad-reference",
    "hexad-run",
    # Not the `hexad` of `hexad-opt`, of a path or of a file name.
    ToolSubst("hexad", FindTool("hexad"), pre=r"(?<![\w./-])", post=r"(?![\w./=-])"),
]
if config.hexad_benchmarks:
    hexad_tools += ["block-bench", "generate-bench", "kernel-bench", "model-bench"]
llvm_tools = [
    "llc",
    "llvm-mc",
    "llvm-nm",
    "llvm-objdump",
    "llvm-readelf",
    "llvm-readobj",
    "mlir-opt",
    "mlir-translate",
    "opt",
    "split-file",
]

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", tools_dir, append_path=True)
llvm_config.with_system_environment(
    ["HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"]
)
# A variable without $ does not outlive its CHECK-LABEL block.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input-filter=all"
config.substitutions += [
    ("%cc", config.host_cc),
    ("%cxx", config.host_cxx),
    ("%cmake", config.host_cmake),
    ("%golden", os.path.join(config.test_source_root, "golden")),
    ("%hexad_src", config.hexad_src_root),
    ("%hexad_obj", config.hexad_obj_root),
    ("%minilm", minilm_dir),
    ("%python", python),
]
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(hexad_tools, [tools_dir])
llvm_config.add_tool_substitutions(llvm_tools, [config.llvm_tools_dir])


def host_cpu_flags():
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("flags"):
                    return set(line.split(":", 1)[1].split())
    except OSError:
        pass
    return set()


def runs(command):
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def links_with_sanitizer(name):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "main.c")
        with open(source, "w") as file:
            file.write("int main(void) { return 0; }")
        return runs([config.host_cc, f"-fsanitize={name}", source, "-o", source + ".out"])


cpu_flags = host_cpu_flags()
if {"avx2", "fma", "bmi2", "f16c", "movbe"} <= cpu_flags:
    config.available_features.add("host-avx2")
if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= cpu_flags:
    config.available_features.add("host-avx512")
if runs([config.host_cc, "--version"]):
    config.available_features.add("cc")
if all(links_with_sanitizer(name) for name in ("address", "thread")):
    config.available_features.add("cc-sanitizers")
if runs([python, "-c", "import numpy, safetensors"]):
    config.available_features.add("python-safetensors")
if runs([python, "-c", "import PIL"]):
    config.available_features.add("python-pillow")
if os.path.exists(os.path.join(minilm_dir, "model.safetensors")):
    config.available_features.add("minilm")
if config.hexad_benchmarks:
    config.available_features.add("benchmarks")
if config.hexad_sanitize:
    config.available_features.add("sanitized")

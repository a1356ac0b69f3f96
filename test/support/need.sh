# Sourced by test/run, examples/run and bench/run, never run alone.
# need WHAT...: sees to it that tools and libraries are here. On Debian 12 and Ubuntu 24.04 what is missing is installed
# with apt, as root or through sudo; elsewhere it is named and the script ends with exit code 1.

# Debian's package, and how to tell that it is here: a command, COMMAND>=VERSION, a header behind <, or as said below.
need_table="
g++                g++>=12
cmake              cmake>=3.25
ninja-build        ninja
ccache             ccache
git                git
pkg-config         pkg-config
python3            python3
python3-numpy      python:numpy
clang-16           clang++-16
libclang-rt-16-dev asan:clang++-16
clang-format-16    clang-format-16
valgrind           valgrind
doctest-dev        <doctest/doctest.h
libbenchmark-dev   <benchmark/benchmark.h
libcli11-dev       <CLI/CLI.hpp
nlohmann-json3-dev <nlohmann/json.hpp
liblz4-dev         <lz4.h
libzstd-dev        <zstd.h
libblosc-dev       <blosc.h
libhtscodecs-dev   <htscodecs/rANS_static4x16.h
libsimde-dev       <simde/x86/avx512.h
"

need_is_here() {
  case "$1" in
    "<"*)
      if command -v g++ >/dev/null; then
        printf '#include %s>\n' "$1" | g++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null
      else
        [ -e "/usr/include/${1#<}" ]
      fi
      ;;
    *">="*) printf '%s\n' "${1#*>=}" "$("${1%>=*}" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+' | head -n 1)" | sort -VC ;;
    python:*) /usr/bin/env python3 -c "import ${1#python:}" 2>/dev/null || /usr/bin/python3 -c "import ${1#python:}" 2>/dev/null ;;
    asan:*) echo 'int main() {}' | "${1#asan:}" -fsanitize=address,undefined -x c++ -o /dev/null - 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# Prints which of the packages named are missing.
need_missing() {
  local package probe wanted=" $* "
  while read -r package probe; do
    if [ -n "$package" ] && [[ $wanted == *" $package "* ]] && ! need_is_here "$probe"; then
      printf '%s\n' "$package"
    fi
  done <<<"$need_table"
}

need() {
  local missing system=unknown as_root=()
  mapfile -t missing < <(need_missing "$@")
  if [ "${#missing[@]}" -gt 0 ]; then
    if [ -r /etc/os-release ]; then
      system=$(. /etc/os-release && printf '%s %s' "${ID:-}" "${VERSION_ID:-}")
    fi
    case "$system" in
      "debian 12" | "ubuntu 24.04")
        if [ "$(id -u)" -ne 0 ]; then
          if ! command -v sudo >/dev/null; then
            echo "missing: ${missing[*]}; install them as root: apt-get install ${missing[*]}" >&2
            exit 1
          fi
          as_root=(sudo)
        fi
        echo "installing ${missing[*]}"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
        mapfile -t missing < <(need_missing "$@")
        ;;
    esac
    if [ "${#missing[@]}" -gt 0 ]; then
      echo "missing (by the names of Debian's packages): ${missing[*]}" >&2
      echo "this script installs them on Debian 12 and Ubuntu 24.04; this is $system" >&2
      exit 1
    fi
  fi
}

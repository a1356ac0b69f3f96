"""The compilers a check can use and how it calls them."""

import shutil
from pathlib import Path

import tree

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast",
            "-Wnon-virtual-dtor", "-Werror"]
CUDA_WARNINGS = ["-Xcompiler=-Wall,-Wextra,-Wshadow,-Werror", "-Werror=all-warnings"]


def host() -> list:
    """g++ and clang++, those that are here."""
    return [found for name in ("g++", "clang++-16") if (found := shutil.which(name))]


def nvcc() -> str:
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin") or ""


def command(compiler: str, root: Path) -> list:
    if Path(compiler).name == "nvcc":
        return [compiler, "-std=c++20", "-arch=compute_80", *CUDA_WARNINGS, "-I", root / "include"]
    return [compiler, "-std=c++20", *WARNINGS, "-I", root / "include"]


def missing_dependencies(compiler: str, root: Path, names: list) -> dict:
    """Of the headers named: which include a foreign header that this machine lacks, and its name."""
    lacking, known = {}, {}
    for header in names:
        for other in sorted(tree.all_includes(root, header)):
            if "/" not in other and not other.endswith(".h") or other.startswith("sora2/"):
                continue  # the standard library's, or ours
            if other not in known:
                probe = f"#if !__has_include(<{other}>)\n#error\n#endif\n"
                known[other] = tree.run([compiler, "-x", "c++", "-E", "-"], input=probe).returncode == 0
            if not known[other]:
                lacking[header] = other
    return lacking

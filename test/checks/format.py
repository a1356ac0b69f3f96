"""All C++ and CUDA sources look as clang-format 16 with .clang-format writes them. To mend: format.py --fix.

    format.py [--fix] [ROOT]
"""

import shutil
import sys
from pathlib import Path

import tree


def check(root: Path, fix: bool = False) -> list:
    files = tree.tracked(root, "*.hpp", "*.cpp", "*.cuh", "*.cu", "*.inl")
    if not files:
        return [f"no sources under {root}"]
    options = ["-i"] if fix else ["--dry-run", "-Werror"]
    done = tree.run(["clang-format-16", "--style=file", *options, *files])
    if done.returncode == 0:
        return []
    return [line.replace(f"{root}/", "") for line in done.stdout.splitlines() if ": error:" in line] or [done.stdout]


if __name__ == "__main__":
    if not shutil.which("clang-format-16"):
        print("skipped: clang-format-16 is not installed")
        sys.exit(77)
    arguments = [argument for argument in sys.argv[1:] if argument != "--fix"]
    root = Path(arguments[0]).resolve() if arguments else tree.repository()
    tree.finish(check(root, "--fix" in sys.argv), "format")

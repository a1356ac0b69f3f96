"""What the checks of the tree share: finding files, reading includes, running compilers, reporting."""

import os
import re
import subprocess
import sys
from pathlib import Path

HEADER_SUFFIXES = (".hpp", ".cuh", ".inl")


def repository() -> Path:
    return Path(__file__).resolve().parents[2]


def tracked(root: Path, *patterns: str) -> list:
    """Files under version control that match; all files of the tree where there is no repository."""
    try:
        shown = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
            capture_output=True, text=True, check=True).stdout
        files = [root / name for name in shown.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        files = [path for pattern in patterns for path in root.rglob(pattern) if "build" not in path.parts]
    return sorted({path for path in files if path.is_file()})


def headers(root: Path, *suffixes: str) -> list:
    """Headers of the library as paths that follow `#include <`, such as sora2/core/view.hpp."""
    base = root / "include"
    return sorted(str(path.relative_to(base)) for path in base.rglob("*")
                  if path.suffix in (suffixes or HEADER_SUFFIXES))


def is_public(header: str) -> bool:
    return "/detail/" not in header and not header.endswith(".inl")


def without_comments(text: str) -> str:
    """The same text, same line numbers, comments blanked."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'

    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return re.sub(pattern, blank, text, flags=re.S)


def includes(path: Path) -> list:
    """(line number, name, '<' or '"') of each include."""
    text = without_comments(path.read_text())
    found = re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', text, flags=re.M)
    return [(text.count("\n", 0, m.start()) + 1, m.group(2), m.group(1)) for m in found]


def all_includes(root: Path, header: str) -> set:
    """Everything a header of ours includes, directly or through others of ours."""
    seen, todo = set(), [header]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        path = root / "include" / name
        if path.is_file():
            todo += [other for _, other, _ in includes(path)]
    return seen - {header}


def run(command: list, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", **options)


def finish(faults: list, summary: str) -> None:
    """Prints each fault and ends the program."""
    for fault in faults:
        print(fault)
    print(f"{summary}: {'ok' if not faults else f'{len(faults)} faults'}")
    sys.exit(1 if faults else 0)


def jobs() -> int:
    return int(os.environ.get("CTEST_PARALLEL_LEVEL") or 1)

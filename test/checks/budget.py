"""A header alone compiles fast: core and simt in 1 s, others in 1.5 s of processor time, each the best of five.

    budget.py [ROOT]

The limits are meant for a machine that compiles REFERENCE in REFERENCE_SECONDS; a slower or busier one gets more.
"""

import os
import sys
import tempfile
from pathlib import Path

import compilers
import tree

FOLDERS_OF_ONE_SECOND = ("core", "simt")
TRIES = 5
REFERENCE = "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
REFERENCE_SECONDS = 0.5


def seconds(command: list) -> float:
    """Processor time of the compiler and its children, so that a busy machine does not count."""
    before = os.times()
    done = tree.run(command)
    after = os.times()
    if done.returncode != 0:
        raise RuntimeError(done.stdout)
    return after.children_user + after.children_system - before.children_user - before.children_system


def check(root: Path, limit_core: float = 1.0, limit: float = 1.5) -> list:
    compiler = compilers.host()[0]
    names = [name for name in tree.headers(root, ".hpp") if tree.is_public(name)]
    lacking = compilers.missing_dependencies(compiler, root, names)
    faults = []
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "alone.cpp"
        command = [*compilers.command(compiler, root), "-O2", "-c", source, "-o", "/dev/null"]
        source.write_text(REFERENCE)
        reference = min(seconds(command) for _ in range(TRIES))
        slower = max(1.0, reference / REFERENCE_SECONDS)
        print(f"{reference:5.2f} s of {REFERENCE_SECONDS} for the reference: limits times {slower:.2f}")
        for name in names:
            if name in lacking:
                continue
            source.write_text(f"#include <{name}>\n")
            allowed = slower * (limit_core if name.split("/")[1] in FOLDERS_OF_ONE_SECOND else limit)
            best = float("inf")
            try:
                for _ in range(TRIES):
                    best = min(best, seconds(command))
                    if best <= allowed:
                        break
            except RuntimeError as error:
                faults.append(f"{name} does not compile:\n{error}")
                continue
            print(f"{best:5.2f} s of {allowed:.2f}  {name}")
            if best > allowed:
                faults.append(f"{name} takes {best:.2f} s to compile; {allowed:.2f} s are allowed")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else tree.repository()
    tree.finish(check(root), "compile time of headers")

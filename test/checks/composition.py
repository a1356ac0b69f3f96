"""A composed decode takes at most 1.02 times the instructions of the same steps written by hand in one function.

    composition.py [ROOT]       counted by valgrind; composition.cpp holds the three forms
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

import compilers
import tree

LIMIT = 1.02
FEW, MANY = 10, 60


def instructions(program: Path, form: str, count: int, work: Path) -> tuple:
    """Instructions of a whole run, and what it printed."""
    done = tree.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={work}/out", program, form, count])
    collected = re.search(r"Collected : (\d+)", done.stdout)
    page = re.search(r"^[0-9a-f]{16}$", done.stdout, flags=re.M)
    if done.returncode != 0 or not collected or not page:
        print(done.stdout)
        sys.exit(1)
    return int(collected.group(1)), page.group(0)


def check(root: Path) -> list:
    faults = []
    for compiler in compilers.host():
        name = Path(compiler).name
        with tempfile.TemporaryDirectory() as work:
            program = Path(work) / "composition"
            built = tree.run([compiler, "-std=c++20", "-O2", "-DNDEBUG", "-I", root / "include", "-I", root / "test",
                              root / "test/checks/composition.cpp", "-o", program])
            if built.returncode != 0:
                return faults + [f"{name}:\n{built.stdout}"]
            cost, pages = {}, set()
            for form in ("hand", "chain", "tiers"):
                few, _ = instructions(program, form, FEW, Path(work))
                many, page = instructions(program, form, MANY, Path(work))
                cost[form] = (many - few) / (MANY - FEW)
                pages.add(page)
            for form in ("chain", "tiers"):
                ratio = cost[form] / cost["hand"]
                print(f"{name}: {form} {cost[form]:.0f} instructions a page, by hand {cost['hand']:.0f}: {ratio:.4f}")
                if ratio > LIMIT:
                    faults.append(f"{name}: {form} costs {ratio:.3f} of the steps by hand; {LIMIT} is allowed")
            if len(pages) != 1:
                faults.append(f"{name}: the three forms decode different pages")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else tree.repository()
    if not shutil.which("valgrind") or not compilers.host():
        print("skipped: it needs valgrind and a compiler")
        sys.exit(77)
    tree.finish(check(root), "composition costs nothing")

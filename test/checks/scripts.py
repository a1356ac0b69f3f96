"""Every shell script parses, every Python script compiles, and what is run by name may be run.

    scripts.py [ROOT]
"""

import os
import sys
from pathlib import Path

import tree


def check(root: Path) -> list:
    faults = []
    for path in tree.tracked(root, "*"):
        with path.open("rb") as file:
            first = file.readline(100)
        name = path.relative_to(root)
        if path.suffix == ".py" or (first.startswith(b"#!") and b"python" in first):
            try:
                compile(path.read_text(), str(name), "exec")
            except SyntaxError as error:
                faults.append(f"{name}:{error.lineno}: {error.msg}")
        elif path.suffix == ".sh" or (first.startswith(b"#!") and b"bash" in first):
            done = tree.run(["bash", "-n", path])
            if done.returncode != 0 or done.stdout:
                faults.append(f"{name}: {done.stdout.strip()}")
            if first.startswith(b"#!") and "set -euo pipefail" not in path.read_text():
                faults.append(f"{name}: no `set -euo pipefail`")
        if first.startswith(b"#!") and not os.access(path, os.X_OK):
            faults.append(f"{name}: begins with #! but is not executable")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else tree.repository()
    tree.finish(check(root), "scripts")

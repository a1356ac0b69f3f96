"""Sources that must not compile, and for the right reason.

The first line of test/fail/NAME.cpp is `// expect: TEXT`, or `// expect: TEXT | OTHER TEXT` where compilers differ. The
compiler must refuse the source and say one of the texts, and must accept it with -DSORA2_FIXED.

    fail.py SOURCE [ROOT]
"""

import sys
from pathlib import Path

import compilers
import tree


def check(source: Path, root: Path) -> list:
    first = source.read_text().splitlines()[0]
    if not first.startswith("// expect: "):
        return [f"{source.name}: its first line is not `// expect: TEXT`"]
    expected = [text.strip() for text in first.removeprefix("// expect: ").split("|")]
    faults = []
    for compiler in compilers.host():
        name = Path(compiler).name
        command = [*compilers.command(compiler, root), "-fsyntax-only", source]
        refused = tree.run(command)
        if refused.returncode == 0:
            faults.append(f"{name} accepts {source.name}")
        elif not any(text in refused.stdout for text in expected):
            faults.append(f"{name} refuses {source.name} for another reason:\n{refused.stdout}")
        fixed = tree.run([*command, "-DSORA2_FIXED"])
        if fixed.returncode != 0:
            faults.append(f"{name} refuses {source.name} with SORA2_FIXED too:\n{fixed.stdout}")
    return faults


if __name__ == "__main__":
    source = Path(sys.argv[1]).resolve()
    root = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else tree.repository()
    tree.finish(check(source, root), f"{source.name} with {', '.join(Path(name).name for name in compilers.host())}")

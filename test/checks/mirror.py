"""include/sora2/X/y.hpp is tested by test/X/y_test.cpp (or .cu) in the suite "X/y", and each test and bench belongs to a header.

    mirror.py [ROOT]
"""

import sys
from pathlib import Path

import tree

# Headers without behaviour of their own.
NEEDS_NO_TEST = {"sora2/core/version.hpp"}


def check(root: Path) -> list:
    faults = []
    for header in filter(tree.is_public, tree.headers(root)):
        if header in NEEDS_NO_TEST:
            continue
        name = header.removeprefix("sora2/").rsplit(".", 1)[0]
        tests = [path for suffix in ("cpp", "cu") if (path := root / f"test/{name}_test.{suffix}").is_file()]
        if not tests:
            faults.append(f"{header} has no test/{name}_test.cpp")
        for test in tests:
            if f'TEST_SUITE("{name}")' not in test.read_text():
                faults.append(f'{test.relative_to(root)} has no TEST_SUITE("{name}")')
    layers = {header.split("/")[1] for header in tree.headers(root)}
    for kind in ("test", "bench"):
        for path in sorted((root / kind).glob(f"*/*_{kind}.*")):
            folder, name = path.parent.name, path.stem.removesuffix(f"_{kind}")
            known = any((root / f"include/sora2/{folder}/{name}{suffix}").is_file() for suffix in (".hpp", ".cuh"))
            if folder in layers and not known:
                faults.append(f"{path.relative_to(root)} belongs to no header include/sora2/{folder}/{name}.hpp")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else tree.repository()
    tree.finish(check(root), "mirror of tests")

"""Each folder of include/sora2 may include only the folders below it, and public headers stay quiet and light.

    layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

import tree

MAY_INCLUDE = {
    "core": {"core"},
    "simt": {"simt", "core"},
    "memory": {"memory", "core"},
    "route": {"route", "core"},
    "codec": {"codec", "core", "simt"},
    "cache": {"cache", "core", "simt", "memory", "codec", "route"},
    "store": {"store", "core", "simt", "memory", "codec"},
    "kv": {"kv", "core", "simt", "memory", "codec", "route", "cache"},
    "mesh": {"mesh", "core", "simt", "memory", "codec", "route", "cache"},
    "device": {"device", "core", "simt", "memory", "codec", "route", "cache", "store", "kv", "mesh"},
}

# Slow to compile, or they tempt a header to print.
NOWHERE = {"iostream", "istream", "ostream", "sstream", "ranges", "functional", "regex"}

# Foreign headers and the only folders that may see them.
ONLY_IN = [
    (r".*intrin\.h$", {"simt"}),
    (r"(cub|thrust)/", {"device"}),
    (r"zstd\.h$", {"codec", "store"}),
    (r"lz4.*\.h$", {"codec", "store"}),
    (r"nlohmann/", set()),
]

# Public headers print nothing and read no environment.
QUIET = r"\b(printf|fprintf|puts|fputs|perror|cout|cerr|clog|getenv|secure_getenv)\b"


def check(root: Path) -> list:
    faults = []
    for header in tree.headers(root):
        path = root / "include" / header
        folder = header.split("/")[1]
        if folder not in MAY_INCLUDE:
            faults.append(f"{header}: no layer is named {folder}; the table is in test/checks/layers.py")
            continue
        for line, name, bracket in tree.includes(path):
            where = f"{header}:{line}"
            if name.startswith("sora2/"):
                other = name.split("/")[1]
                if other not in MAY_INCLUDE[folder]:
                    faults.append(f"{where}: {folder} may not include {other} (<{name}>)")
                if not (root / "include" / name).is_file():
                    faults.append(f"{where}: there is no <{name}>")
                if "/detail/" in name and other != folder:
                    faults.append(f"{where}: <{name}> is private to {other}")
                if header.endswith(".hpp") and name.endswith(".cuh"):
                    faults.append(f"{where}: a .hpp compiles without CUDA and may not include <{name}>")
            elif bracket == '"':
                faults.append(f'{where}: write <sora2/...> instead of "{name}"')
            if name in NOWHERE:
                faults.append(f"{where}: no header of the library includes <{name}>")
            for pattern, allowed in ONLY_IN:
                if re.match(pattern, name) and folder not in allowed:
                    faults.append(f"{where}: only {' and '.join(sorted(allowed)) or 'tests'} may include <{name}>")
        for number, line in enumerate(tree.without_comments(path.read_text()).splitlines(), 1):
            if found := re.search(QUIET, line):
                faults.append(f"{header}:{number}: headers print nothing and read no environment ({found.group(0)})")
    return faults


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else tree.repository()
    tree.finish(check(root), f"layers of {len(tree.headers(root))} headers")

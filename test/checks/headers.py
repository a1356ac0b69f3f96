"""Each header works alone and twice, all of them together in two linked units, and beside the macros of hostile.h.

    headers.py [--cuda] [ROOT]      --cuda: the same through nvcc, where .cuh headers take part
"""

import sys
import tempfile
from pathlib import Path

import compilers
import tree


def check(root: Path, compiler: str, work: Path) -> list:
    cuda = Path(compiler).name == "nvcc"
    suffix = "cu" if cuda else "cpp"
    command = compilers.command(compiler, root)
    names = [name for name in tree.headers(root, ".hpp", *([".cuh"] if cuda else []))]
    for name, why in compilers.missing_dependencies(compiler, root, names).items():
        print(f"skipped: {name} needs <{why}>")
        names.remove(name)
    faults = []

    def compiles(what: str, text: str, *options) -> Path:
        source = work / f"{len(list(work.iterdir()))}.{suffix}"
        source.write_text(text)
        done = tree.run([*command, *options, source])
        if done.returncode != 0:
            faults.append(f"{Path(compiler).name}: {what}:\n{done.stdout}")
        return source

    # Alone and twice. With nvcc only what g++ cannot compile: a compile takes seconds there.
    for name in names:
        if cuda and name.endswith(".hpp"):
            continue
        compiles(f"{name} alone and twice", f"#include <{name}>\n#include <{name}>\n",
                 *(["-c", "-o", "/dev/null"] if cuda else ["-fsyntax-only"]))

    # All together, in both orders, linked: a function that is not inline is defined twice here.
    lines = [f"#include <{name}>\n" for name in names]
    objects = []
    for unit, order in (("first", lines), ("second", lines[::-1])):
        end = f"int {unit}();\nint {unit}() {{ return 0; }}\n" + ("int main() { return 0; }\n" if unit == "first" else "")
        target = work / f"{unit}.o"
        compiles(f"all headers in the {unit} of two units", "".join(order) + end, "-c", "-o", target)
        objects.append(target)
    if not faults:
        done = tree.run([compiler, *objects, "-o", work / "linked"])
        if done.returncode != 0:
            faults.append(f"{Path(compiler).name}: two units linked:\n{done.stdout}")

    hostile = (Path(__file__).parent / "hostile.h").read_text()
    compiles("all headers after the macros of hostile.h", hostile + "".join(lines),
             *(["-c", "-o", "/dev/null"] if cuda else ["-fsyntax-only"]))
    return faults


if __name__ == "__main__":
    cuda = "--cuda" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--cuda"]
    root = Path(arguments[0]).resolve() if arguments else tree.repository()
    found = [compilers.nvcc()] if cuda else compilers.host()
    if not any(found):
        print("skipped: no compiler")
        sys.exit(77)
    faults = []
    for compiler in found:
        with tempfile.TemporaryDirectory() as work:
            faults += check(root, compiler, Path(work))
    tree.finish(faults, f"{len(tree.headers(root))} headers with {', '.join(Path(name).name for name in found)}")

"""The checks themselves: each finds the faults planted in a small tree, and nothing in the tree without them."""

import shutil
import tempfile
from pathlib import Path

import budget
import compilers
import fail
import format as formatting
import headers
import layers
import mirror
import scripts
import tree

GOOD = {
    "include/sora2/core/a.hpp": "#pragma once\nnamespace sora2 {\ninline int a() { return 1; }\n}  // namespace sora2\n",
    "include/sora2/codec/b.hpp": "#pragma once\n#include <sora2/core/a.hpp>\n",
    "test/core/a_test.cpp": 'TEST_SUITE("core/a") {}\n',
    "test/codec/b_test.cpp": 'TEST_SUITE("codec/b") {}\n',
    "test/fail/wrong.cpp": "// expect: something else\n#ifdef SORA2_FIXED\nint a;\n#else\nbool a = nullptr + 1;\n#endif\n",
    "run.sh": "set -e\n",
}

# (what is wrong, the file that makes it so, its text, the check that must say so, what it must say)
PLANTED = [
    ("upward include", "include/sora2/core/c.hpp", "#include <sora2/codec/b.hpp>\n", layers.check, "core may not include codec"),
    ("include of nothing", "include/sora2/core/c.hpp", "#include <sora2/core/none.hpp>\n", layers.check, "there is no"),
    ("private of another", "include/sora2/codec/c.hpp", "#include <sora2/core/detail/x.hpp>\n", layers.check, "private to core"),
    ("stream header", "include/sora2/core/c.hpp", "#include <iostream>\n", layers.check, "no header of the library"),
    ("intrinsics in a codec", "include/sora2/codec/c.hpp", "#include <immintrin.h>\n", layers.check, "only simt may include"),
    ("unknown folder", "include/sora2/misc/c.hpp", "", layers.check, "no layer is named misc"),
    ("printing", "include/sora2/core/c.hpp", 'inline void f() { printf("x"); }\n', layers.check, "print nothing"),
    ("no test", "include/sora2/core/c.hpp", "", mirror.check, "has no test/core/c_test.cpp"),
    ("suite of another name", "test/core/a_test.cpp", 'TEST_SUITE("core/b") {}\n', mirror.check, 'no TEST_SUITE("core/a")'),
    ("bench of nothing", "bench/core/z_bench.cpp", "", mirror.check, "belongs to no header"),
    ("a space too many", "test/core/a_test.cpp", "int  a;\n", formatting.check, "clang-format"),
    ("script cut off", "run.sh", "if true; then\n", scripts.check, "run.sh"),
    ("Python cut off", "run.py", "def f(:\n", scripts.check, "run.py"),
]

PLANTED_HEADERS = [
    ("not self-contained", "inline std::size_t f() { return 0; }\n", "alone and twice"),
    ("no include guard", "struct s {};\n", "alone and twice"),
    ("a function that is not inline", "#pragma once\nint f();\nint f() { return 1; }\n", "two units linked"),
    ("a name that is a macro elsewhere", "#pragma once\ninline int f(int small) { return small; }\n", "hostile.h"),
    ("a warning", "#pragma once\ninline int f(unsigned x) { return x; }\n", "alone and twice"),
]


def write(root: Path, files: dict) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main() -> list:
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        root, work = Path(folder) / "tree", Path(folder) / "work"
        compiler = compilers.host()[0]

        def expect(what: str, said: list, text: str) -> None:
            if not any(text in fault for fault in said):
                faults.append(f"{what} was not found; the check said {said}")

        def expect_nothing(what: str, said: list) -> None:
            if said:
                faults.append(f"a good tree was refused by {what}: {said}")

        def fresh() -> None:
            shutil.rmtree(root, ignore_errors=True)
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            write(root, GOOD)
            shutil.copy(tree.repository() / ".clang-format", root)

        fresh()
        formatted = shutil.which("clang-format-16") is not None
        if formatted:
            formatting.check(root, fix=True)
        for check in (layers.check, mirror.check, scripts.check, *([formatting.check] if formatted else [])):
            expect_nothing(check.__module__, check(root))
        expect_nothing("headers", headers.check(root, compiler, work))
        expect_nothing("budget", budget.check(root))
        expect("a header over budget", budget.check(root, 0.0, 0.0), "are allowed")
        source = root / "test/fail/wrong.cpp"
        expect("a refusal for another reason", fail.check(source, root), "for another reason")

        for what, name, text, check, said in PLANTED:
            if check is formatting.check and not formatted:
                continue
            fresh()
            write(root, {name: text})
            expect(what, check(root), said)
        for what, text, said in PLANTED_HEADERS:
            fresh()
            write(root, {"include/sora2/core/c.hpp": text})
            expect(what, headers.check(root, compiler, work), said)
        for what, text, said in (("a source that compiles", "// expect: x\nint a;\n", "accepts"),
                                 ("a source that is never right", "// expect: x\nint a = x;\n", "SORA2_FIXED too"),
                                 ("a source that says nothing", "int a;\n", "its first line")):
            write(root, {"test/fail/wrong.cpp": text})
            expect(what, fail.check(source, root), said)
    return faults


if __name__ == "__main__":
    tree.finish(main(), f"{len(PLANTED) + len(PLANTED_HEADERS) + 5} planted faults")

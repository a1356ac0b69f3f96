"""A user gets the library in any of four ways, and each way builds and runs test/package/app.cpp: installed and found,
by FetchContent, as a folder of the user's tree, and by a plain -I. What cannot be had is refused in clear words.

    package.py COMPONENT...      the components that this machine can offer
    package.py cuda              the same ways, for a user with kernels
"""

import os
import sys
import tempfile
from pathlib import Path

import compilers
import tree

faults = []


def step(what: str, command: list, expect: str = "", fails: bool = False) -> bool:
    environment = {name: value for name, value in os.environ.items() if name not in ("CMAKE_PREFIX_PATH", "sora2_DIR")}
    done = tree.run(command, env=environment)
    said = " ".join(done.stdout.split())  # CMake breaks its lines anywhere
    if (done.returncode != 0) != fails or expect not in said:
        faults.append(f"{what}: exit code {done.returncode}"
                      + (f", expected to read `{expect}`" if expect else "") + f"\n{done.stdout}")
        return False
    print(f"{what}: as it should")
    return True


def configure(source: Path, build: Path, *options: str) -> list:
    return ["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", *options]


def build_and_run(what: str, source: Path, build: Path, *options: str, expect: str = "works") -> None:
    if step(f"{what}, configured", configure(source, build, *options)):
        if step(f"{what}, built", ["cmake", "--build", build]):
            step(f"{what}, run", [build / "app"], expect=expect)


def main(components: list) -> None:
    root = tree.repository()
    consumers = root / "test" / "package"
    asked = [f"-DCOMPONENTS={';'.join(components)}"]
    if "cuda" in components:
        asked += [f"-DCMAKE_CUDA_COMPILER={compilers.nvcc()}", "-DCMAKE_CUDA_ARCHITECTURES=80-virtual"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        prefix = work / "prefix"

        if step("install, configured", configure(root, work / "install", "-DSORA2_TESTS=OFF", "-DSORA2_BENCH=OFF",
                                                 "-DSORA2_EXAMPLES=OFF", "-DSORA2_CUDA=OFF")):
            step("install", ["cmake", "--install", work / "install", "--prefix", prefix])
        installed = {str(path.relative_to(prefix / "include")) for path in (prefix / "include").rglob("*")
                     if path.is_file()}
        if installed != set(tree.headers(root)):
            faults.append(f"installed headers differ: {sorted(installed ^ set(tree.headers(root)))}")

        found = f"-DCMAKE_PREFIX_PATH={prefix}"
        checkout = f"-DSORA2_CHECKOUT={root}"
        build_and_run("find_package", consumers / "find_package", work / "found", found, *asked)
        build_and_run("fetch_content", consumers / "fetch_content", work / "fetched", checkout, *asked)
        build_and_run("add_subdirectory", consumers / "add_subdirectory", work / "added", checkout, *asked)
        if "cuda" in components:
            return
        build_and_run("the project of the README", consumers / "shortest", work / "shortest", checkout,
                      expect="bits a value")
        for compiler in compilers.host():
            app = work / Path(compiler).name
            plain = [consumers / "app.cpp", consumers / "second_unit.cpp", "-o", app]
            if step(f"plain -I, {app.name}", [*compilers.command(compiler, root), *plain]):
                step(f"plain -I, {app.name}, run", [app], expect="works")

        unknown = "-DCOMPONENTS=paper"
        said = "sora2 component paper: there is no such component"
        step("find_package refuses an unknown component", configure(
            consumers / "find_package", work / "paper", found, unknown), expect=said, fails=True)
        step("fetch_content refuses an unknown component", configure(
            consumers / "fetch_content", work / "paper2", checkout, unknown), expect=said, fails=True)
        if "safetensors" in components:
            step("find_package wants no library for safetensors", configure(
                consumers / "find_package", work / "alone", found, "-DCOMPONENTS=safetensors",
                "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON"))
        if "lz4" in components:
            step("find_package says what a component lacks", configure(
                consumers / "find_package", work / "lacking", found, "-DCOMPONENTS=lz4",
                "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON"), expect="Debian: liblz4-dev pkg-config", fails=True)

        version = work / "version"
        version.mkdir()
        for wanted, fits in (("0.1", True), ("0.2", False), ("1.0", False)):
            (version / "CMakeLists.txt").write_text(
                f"cmake_minimum_required(VERSION 3.25)\nproject(v LANGUAGES CXX)\nfind_package(sora2 {wanted} REQUIRED)\n")
            step(f"version {wanted} {'fits' if fits else 'is refused'}",
                 configure(version, work / f"version-{wanted}", found), fails=not fits)


if __name__ == "__main__":
    if "cuda" in sys.argv and not compilers.nvcc():
        print("skipped: no nvcc")
        sys.exit(77)
    main(sys.argv[1:])
    tree.finish(faults, "package")

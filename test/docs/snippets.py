#!/usr/bin/env python3
"""Holds the documentation to what is built: code in it is an excerpt of a compiled file, commands in it are run.

    snippets.py --root CHECKOUT [--bin FOLDER_WITH_PROGRAMS]

Every fenced block of README.md and docs/**/*.md with a language that a person would type or compile carries a comment on the
line before it:

    <!-- file: examples/host_only.cpp -->   a cpp, cuda or cmake block: a contiguous part of that file (indentation aside)
    <!-- run -->                            a sh block: every line is run in an empty folder, with --bin first in PATH
    <!-- not run: REASON -->                a block that a test cannot run as it stands; the reason says what covers it

Blocks without language (output, layouts) are not checked.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

CODE = {"cpp", "cuda", "cmake"}
SHELL = {"sh", "bash", "console"}


def blocks(text):
    """Yields (line number, language, comment before, body)."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        opening = re.match(r"^\s*```(\w*)\s*$", lines[i])
        if not opening:
            i += 1
            continue
        body = []
        start = i
        i += 1
        while i < len(lines) and not re.match(r"^\s*```\s*$", lines[i]):
            body.append(lines[i])
            i += 1
        comment = re.match(r"^\s*<!--\s*(.*?)\s*-->\s*$", lines[start - 1]) if start else None
        yield start + 1, opening.group(1), comment.group(1) if comment else "", textwrap.dedent("\n".join(body)).strip("\n")
        i += 1


def is_excerpt(body, source):
    wanted = body.split("\n")
    have = source.split("\n")
    for first in range(len(have) - len(wanted) + 1):
        part = textwrap.dedent("\n".join(have[first:first + len(wanted)]))
        if [l.rstrip() for l in part.split("\n")] == [l.rstrip() for l in wanted]:
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path)
    options = parser.parse_args()
    problems, excerpts, commands, skipped = [], 0, 0, 0
    pages = [options.root / "README.md", *sorted((options.root / "docs").rglob("*.md"))]
    for page in pages:
        if not page.exists():
            problems.append(f"{page.relative_to(options.root)}: missing")
            continue
        name = page.relative_to(options.root)
        for line, language, comment, body in blocks(page.read_text()):
            where = f"{name}:{line}"
            if language not in CODE | SHELL or comment.startswith("not run: "):
                continue
            if language in CODE:
                if not comment.startswith("file: "):
                    problems.append(f"{where}: a {language} block needs '<!-- file: PATH -->' before it")
                    continue
                source = options.root / comment[len("file: "):]
                if not source.exists():
                    problems.append(f"{where}: {source.relative_to(options.root)} does not exist")
                elif not is_excerpt(body, source.read_text()):
                    problems.append(f"{where}: the block is not a part of {source.relative_to(options.root)}")
                else:
                    excerpts += 1
            elif comment != "run":
                problems.append(f"{where}: a {language} block needs '<!-- run -->' or '<!-- not run: REASON -->' before it")
            elif options.bin is None:
                skipped += 1
            else:
                environment = dict(os.environ, PATH=f"{options.bin.resolve()}:{os.environ['PATH']}")
                with tempfile.TemporaryDirectory() as folder:
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=folder, env=environment,
                                          capture_output=True, text=True, timeout=300)
                if done.returncode != 0:
                    problems.append(f"{where}: exit {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
                commands += 1
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{excerpts} excerpts equal their files, {commands} command blocks ran, {skipped} not run (no programs given), "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

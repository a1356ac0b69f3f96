"""bench/compare merges results, takes the fastest repetition, and gives the ratio of two files; bad files are refused."""

import json
import tempfile
from pathlib import Path

import tree


def result(times: dict, unit: str = "ns") -> str:
    benchmarks = [{"name": name, "run_name": name, "run_type": "iteration", "cpu_time": time, "time_unit": unit}
                  for name, repetitions in times.items() for time in repetitions]
    benchmarks += [{"name": name + "_mean", "run_name": name, "run_type": "aggregate", "cpu_time": 1e-9,
                    "time_unit": unit} for name in times]
    return json.dumps({"context": {"num_cpus": 1}, "benchmarks": benchmarks})


def main() -> list:
    faults = []
    compare = tree.repository() / "bench" / "compare"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "a1.json").write_text(result({"lz4/decode": [30.0, 20.0, 25.0]}))
        (work / "a2.json").write_text(result({"gone": [1.0]}))
        (work / "b.json").write_text(result({"lz4/decode": [0.011, 0.010], "new": [1.0]}, "us"))
        (work / "bad.json").write_text('{"benchmarks": 3}')
        (work / "cut.json").write_text('{"benchm')

        def expect(what: str, code: int, texts: list, *arguments) -> None:
            done = tree.run([compare, *arguments], cwd=work)
            if done.returncode != code or not all(text in " ".join(done.stdout.split()) for text in texts):
                faults.append(f"{what}: exit code {done.returncode} instead of {code}, or not {texts} in\n{done.stdout}")

        expect("merge", 0, [], "--merge", "a.json", "a1.json", "a2.json")
        expect("ratio", 0, ["lz4/decode 20 ns 10 ns 2.000", "geometric mean of 1 2.000", "only in a.json: gone",
                            "only in b.json: new"], "a.json", "b.json")
        expect("nothing in common", 2, ["no benchmark in common"], "a2.json", "b.json")
        expect("a file of another kind", 2, ["bad.json: not a result"], "a.json", "bad.json")
        expect("a cut file", 2, ["cut.json:"], "cut.json", "a.json")
        expect("no file", 2, ["none.json:"], "a.json", "none.json")
        expect("one argument", 2, ["bench/compare A B"], "a.json")
    return faults


if __name__ == "__main__":
    tree.finish(main(), "bench/compare")

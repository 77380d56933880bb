"""The matrix in which the CMake package is tested: matrix.py list | check REPOSITORY | write REPOSITORY [TIMES] | summary TIMES

A cell is a release of CMake × generator × way in × compiler × where CUDA is enabled, and runs tests/cmake/matrix/cell. The cells are
chosen so that every pair of values of two axes that can go together stands in some cell. A run is a case of tests/cmake
with another CMake, generator and nvcc than the suite's own.

  list     what tests/cmake/CMakeLists.txt adds as tests, a line each
  check    fails where docs/measured/cmake.md has other tables than this
  write    puts them there; with TIMES, the folder matrix.seconds of a build, also what the last run took
  summary  prints the count and the time of the last run, and fails where a test did not pass
"""
import itertools
import pathlib
import re
import sys

AXES = {
    "cmake": ["3.20", "3.25", "3.31", "4.4"],  # of tests/support/fetch
    "generator": ["Ninja", "Unix Makefiles", "Ninja Multi-Config"],
    "way": ["installed", "add_subdirectory", "fetch_git", "fetch_source_dir", "inject"],
    "compiler": ["nvcc-13.0", "nvcc-13.5", "nvcc-11.8", "clang-11.8"],
    "order": ["select-first", "cuda-first"],
}
NAMES = {
    "installed": "installed package",
    "add_subdirectory": "`add_subdirectory`",
    "fetch_git": "FetchContent, git",
    "fetch_source_dir": "FetchContent, `SOURCE_DIR`",
    "inject": "`CMAKE_PROJECT_TOP_LEVEL_INCLUDES`",
    "nvcc-13.0": "nvcc 13.0",
    "nvcc-13.5": "nvcc 13.5",
    "nvcc-11.8": "nvcc 11.8",
    "clang-11.8": "clang, CUDA 11.8",
    "select-first": "after the choice",
    "cuda-first": "by `project()`",
}
# The suite itself runs each case with the machine's CMake, which is 3.25 on Debian 12, Ninja, and nvcc 13.0.
# nvcc 13.0 here as well: the texts that the cases compare are those of its release, for drivers of its time.
RUNS = [
    ("3.20", "Unix Makefiles", "nvcc-13.0"),
    ("3.31", "Ninja Multi-Config", "nvcc-13.0"),
    ("4.4", "Ninja", "nvcc-13.0"),
]
# Cases that take a minute or are about the configure step: without Ninja Multi-Config and CMake 3.31, which the cells pair with all else.
OLDEST_AND_NEWEST = [run for run in RUNS if run[0] != "3.31"]
CONFIGURED = ("compile_check/flags", "example/presets", "select_architectures/early_targets", "select_architectures/origins",
              "select_architectures/other_nvcc", "select_architectures/packager", "select_architectures/raw_flags", "select_architectures/reconfigure")
# Cases that have other runs: why, and which.
OTHER_RUNS = {
    "example/docker": ("builds all of archguard, by a script that chooses the generator", []),
    "package/hostile": ("compiles all of archguard; the newest CMake, for time", [RUNS[-1]]),
    "package/inject": ("`CMAKE_PROJECT_TOP_LEVEL_INCLUDES` came with CMake 3.24",
                       [("3.31", "Ninja Multi-Config", "nvcc-13.0"), ("4.4", "Unix Makefiles", "nvcc-13.0")]),
    "select_architectures/clang": ("has a compiler of its own; the oldest and the newest CMake, for time", [(c, g, "clang-11.8") for c, g, _ in OLDEST_AND_NEWEST]),
    **{case: ("mostly about the configure step; the oldest and the newest CMake, for time", OLDEST_AND_NEWEST) for case in CONFIGURED},
}


def possible(values):
    """Can these values of some axes go together?"""
    return not ("inject" in values and ("3.20" in values or "select-first" in values))


def choose_cells():
    """Greedy: each next cell holds the most pairs that no cell before it held. The first wins among equals."""
    axes = list(AXES.values())
    all_cells = [cell for cell in itertools.product(*axes) if possible(cell)]
    missing = {pair for a, b in itertools.combinations(axes, 2) for pair in itertools.product(a, b) if possible(pair)}
    cells = []
    while missing:
        best = max(all_cells, key=lambda cell: len(missing.intersection(itertools.combinations(cell, 2))))
        missing.difference_update(itertools.combinations(best, 2))
        cells.append(best)
    return sorted(cells, key=lambda cell: [axis.index(value) for axis, value in zip(axes, cell)])


def cases():
    folder = pathlib.Path(__file__).resolve().parent.parent
    return sorted(str(path.parent.relative_to(folder)) for path in folder.glob("*/*/test.cmake") if path.parts[-3] != "matrix")


def case_runs():
    return [(case,) + run for case in cases() for run in OTHER_RUNS.get(case, (None, RUNS))[1]]


def test_name(what):
    return "cmake.matrix." + ".".join(what).replace("/", ".").replace(" ", "-")


def all_tests():
    tests = [(test_name(cell), "matrix/cell", cell[0], cell[1], cell[3], cell[2], cell[4]) for cell in choose_cells()]
    return tests + [(test_name(run), run[0], run[1], run[2], run[3], "", "") for run in case_runs()]


def tables():
    cells = choose_cells()
    text = "| CMake | generator | way in | compiler | CUDA is enabled |\n|---|---|---|---|---|\n"
    for cell in cells:
        text += "| " + " | ".join(NAMES.get(value, value) for value in cell) + " |\n"
    text += "\n%d cells: every pair of values stands in at least one of them, but `%s` with CMake 3.20, which lacks it.\n" % (
        len(cells), "CMAKE_PROJECT_TOP_LEVEL_INCLUDES")
    text += "\n%d runs of the %d cases of `tests/cmake`, beside those of the suite itself (CMake 3.25, Ninja, nvcc 13.0):\n\n" % (
        len(case_runs()), len(cases()))
    text += "| CMake | generator | compiler | cases |\n|---|---|---|---|\n"
    for run in sorted({run[1:] for run in case_runs()}, key=lambda run: [axis.index(value) for axis, value in zip(
            (AXES["cmake"], AXES["generator"], AXES["compiler"]), run)]):
        those = [each[0] for each in case_runs() if each[1:] == run]
        text += "| " + " | ".join(NAMES.get(value, value) for value in run) + " | %s |\n" % (
            len(those) if len(those) > 3 else ", ".join("`%s`" % case for case in those))
    text += "\nNot run so:\n\n"
    for case, (why, runs) in sorted(OTHER_RUNS.items()):
        text += "- `%s`: %s%s\n" % (case, why, "" if not runs else "; it has the runs above")
    return text


def times(folder):
    """Seconds of each test of the last run that passed, by name."""
    return {path.name[:-len(".seconds")]: float(path.read_text()) for path in pathlib.Path(folder).glob("*.seconds")}


TABLES = re.compile(r"(<!-- matrix.py writes from here -->\n).*(<!-- to here -->\n)", re.DOTALL)
TIME = re.compile(r"(<!-- time -->)[^\n]*\n")

if sys.argv[1] == "list":
    for test in all_tests():
        print("|".join(test))
elif sys.argv[1] in ("check", "write"):
    page = pathlib.Path(sys.argv[2]) / "docs/measured/cmake.md"
    text = page.read_text()
    fresh = TABLES.sub(lambda m: m.group(1) + tables() + m.group(2), text)
    if sys.argv[1] == "check" and fresh != text:
        sys.exit("%s is stale: python3 tests/cmake/matrix/matrix.py write ." % page)
    if sys.argv[1] == "write":
        if len(sys.argv) > 3:
            known = times(sys.argv[3])
            seconds = [known[test[0]] for test in all_tests()]
            fresh = TIME.sub(lambda m: "%s%d tests took %.0f s together, so about %.1f minutes on 2 cores.\n" % (
                m.group(1), len(seconds), sum(seconds), sum(seconds) / 120), fresh)
        page.write_text(fresh)
    print("%d cells, %d runs of cases" % (len(choose_cells()), len(case_runs())))
elif sys.argv[1] == "summary":
    done = times(sys.argv[2])
    wanted = [test[0] for test in all_tests()]
    print("matrix of the CMake package: %d cells and %d runs of cases, %d s together" % (
        len(choose_cells()), len(case_runs()), sum(done.get(name, 0) for name in wanted)))
    lacking = [name for name in wanted if name not in done]
    if lacking:
        sys.exit("did not pass: " + " ".join(lacking))

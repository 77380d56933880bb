"""Holds the documentation above each CMake command to what the command parses: complete.py REPOSITORY

Every public command has a block in the reference, its usage names the keywords that the code parses and no others, with
the values that the code takes; every ARCHGUARD_ variable and option of the code is explained, and none that is gone.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
modules = root / "cmake/Modules"
BLOCK = re.compile(r"^#\[(=*)\[\.rst:\n(.*?)^#\]\1\]", re.DOTALL | re.MULTILINE)

# Names of the code that no user writes: its own properties, cache entries and results.
INTERNAL = set("""
    ARCHGUARD_CHECKS ARCHGUARD_CHECK_ ARCHGUARD_CHECK_NAME ARCHGUARD_LINK_FOLDERS ARCHGUARD_LINKED_CUDA ARCHGUARD_CLANG ARCHGUARD_NVCC ARCHGUARD_COMPILE_CHECK ARCHGUARD_COMPILE_CHECKS
    ARCHGUARD_DEFAULT_LIST_POLICY ARCHGUARD_FIRST ARCHGUARD_IN_USE ARCHGUARD_VERSION_IN_USE ARCHGUARD_BUILT_BY ARCHGUARD_FOUND_HEADER ARCHGUARD_FOUND_LIBRARY ARCHGUARD_FOUND_NVCC
    ARCHGUARD_CMAKEDIR_FROM_BIN ARCHGUARD_FOUND_PROGRAM ARCHGUARD_PUT_ASIDE ARCHGUARD_PUT_ASIDE_FOR_TOOLS ARCHGUARD_GNU_OPTIONS ARCHGUARD_OFFERS_ALL ARCHGUARD_SEPARATE ARCHGUARD_VERSION
    ARCHGUARD_GIVEN ARCHGUARD_NO_ARCHGUARD ARCHGUARD_PROBE_COMPILES ARCHGUARD_PROBE_SECONDS
    ARCHGUARD_PROBE_STATE ARCHGUARD_SEEN ARCHGUARD_SEEN_PROGRAM ARCHGUARD_SELECTION ARCHGUARD_SELECTIONS ARCHGUARD_SELECTION_
    ARCHGUARD_SELECT_CALLS ARCHGUARD_SET_IN_THIS_RUN ARCHGUARD_SOURCE_DIR ARCHGUARD_TOP_LEVEL
    ARCHGUARD_VERIFIES_WITHOUT_DEVICES ARCHGUARD_WATCHED ARCHGUARD_WATCHER
    ARCHGUARD_CHECKED ARCHGUARD_FLEETS_READ ARCHGUARD_TESTS ARCHGUARD_ENVIRONMENT_ ARCHGUARD_MADE ARCHGUARD_MAYBE ARCHGUARD_MAYBES ARCHGUARD_MAYBE_ ARCHGUARD_REPORTED ARCHGUARD_RULES ARCHGUARD_SPLIT ARCHGUARD_TREES ARCHGUARD_WILL_FINISH
    ARCHGUARD_PREFLIGHT_ACTION ARCHGUARD_PREFLIGHT_DONE ARCHGUARD_PREFLIGHT_FOLDER ARCHGUARD_PREFLIGHT_PROGRAM ARCHGUARD_PREFLIGHT_TABLE
    """.split())

failures = []


def check(what, documented, actual):
    for name in sorted(actual - documented):
        failures.append("%s: %s is in the code and not documented" % (what, name))
    for name in sorted(documented - actual):
        failures.append("%s: %s is documented and not in the code" % (what, name))


def block_of(path):
    found = BLOCK.search(path.read_text())
    if not found:
        failures.append("%s: no documentation block" % path.name)
    return found.group(2) if found else ""


def usage_of(block):
    """The literal block behind the first `::` that ends a paragraph."""
    found = re.search(r"::\n\n((?:  .*\n|\n)+)", block)
    return found.group(1) if found else ""


# ---- commands ----

keywords = (root / "docs/reference/keywords.md").read_text()
commands = sorted((modules / "archguard").glob("*.cmake"))
for path in commands:
    name = "archguard_" + path.stem
    block, code = block_of(path), path.read_text()
    if not block.startswith("%s\n%s\n" % (name, "-" * len(name))):
        failures.append("%s: the block is not headed %s" % (path.name, name))
    if "\nfunction(%s)\n" % name not in code:
        failures.append("%s: does not define %s" % (path.name, name))
    usage = usage_of(block)
    parsed = set()
    for lists in re.findall(r"cmake_parse_arguments\(PARSE_ARGV 0 arg ([^)]*)\)", code):
        parsed.update(word for text in re.findall(r'"([^"]*)"', lists) for word in text.split(";") if word)
    check(name, set(re.findall(r"(?:\[|\(|\| )([A-Z][A-Z_]+)\b", usage)), parsed)
    section = re.search(r"(?ms)^## %s$(.*?)(?=^## |\Z)" % name, keywords)
    check("keywords.md, " + name, set(re.findall(r"(?m)^### (\w+)$", section[1] if section else "")), parsed)
    for keyword, values in re.findall(r"_archguard_check_choice\(\$\{command\} arg (\w+) ([^)]*)\)", code):
        if not re.search(r"\[%s %s\]" % (keyword, re.escape("|".join(values.split()))), usage):
            failures.append("%s: the usage does not say [%s %s]" % (name, keyword, "|".join(values.split())))

page = (root / "docs/reference/cmake.rst").read_text()
check("docs/reference/cmake.rst", set(re.findall(r"cmake-module:: \.\./\.\./(\S+)", page)),
      {path.relative_to(root).as_posix() for path in commands + list(modules.glob("*.cmake"))})

# ---- variables ----

blocks = "".join(block_of(path) for path in commands + list(modules.glob("*.cmake")))
sources = [root / "CMakeLists.txt", *(root / "cmake").rglob("*.cmake"), *(root / "cmake").rglob("*.in")]
code = "".join(BLOCK.sub("", path.read_text()) for path in sources)
used = set(re.findall(r"\bARCHGUARD_[A-Z_]+", re.sub(r"(?m)^\s*#(?! *(?:if|define)).*$", "", code)))
for name in sorted(INTERNAL - used):
    failures.append("complete.py: %s is in no file any more" % name)
check("ARCHGUARD_ variables", set(re.findall(r"(?m)^``(ARCHGUARD_[A-Z_]+)``$", blocks)), used - INTERNAL - {"ARCHGUARD_CHOICE"})

print("\n".join(failures) or "%d commands, %d variables, all documented" % (len(commands), len(used - INTERNAL)))
sys.exit(bool(failures))

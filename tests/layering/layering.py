"""Holds the source to the arrows of docs/architecture.md.

    layering.py ROOT         lists every breach in ROOT, exit 1 where there is one
    layering.py --self-test  proves on made-up sources that each rule can fail, and that a clean tree passes
"""
import pathlib
import re
import sys
import tempfile

# What the programs may include beside themselves; None: every library. What a library may include says USES in its
# CMakeLists.txt.
PROGRAMS = {"tools/arch_probe": ["base", "compat", "device", "select"], "tools/archguard": None}

# Libraries that are not the standard's or the system's, and who may use them. arch_probe, and with it base, compat,
# device and select, is compiled while a consumer's CMake configures: it needs none.
THIRD_PARTY = {
    r"CLI/": ["tools/archguard"],
    r"fmt/": ["src/diff", "src/report", "tools/archguard"],
    r"nlohmann/": ["src/diff", "src/installed", "tools/archguard"],
    r"zstd": ["src/fatbin"],
    r"lz4": ["src/fatbin"],
    r"zlib\.h": ["src/host"],
    r"(cuda|nvml|nvrtc|nvJitLink|nvFatbin)": [],
}

# A pattern that code may match in these folders only. Comments do not count, and what a string literal
# says counts for TEXTS alone.
WORDS = [
    ("opens a driver", r"\b(dlopen|dlsym|LoadLibrary\w*)\s*\(|#\s*include\s*<dlfcn\.h>", ["src/device"]),
    ("prints", r"\b(v?f?printf|f?puts|f?putc|putchar|perror)\s*\(|\bstd::(cout|cerr|clog)\b", ["tools/"]),
    ("ends the process", r"(?<!_)\b(exit|quick_exit|abort|terminate)\s*\(", ["tools/"]),
    ("leaves a forked child", r"\b_exit\s*\(", ["src/base", "src/device", "tools/"]),
    ("throws", r"\bthrow\b", []),
]
# An example within a message is fine; a text that is nothing but an architecture, or a number made one, is a table.
ARCH = r"((sm|compute|lto)_)?[0-9]{2,3}[af]?(-(real|virtual))?"
TEXTS = [
    ("is an architecture", r'"(?=[^"]*[_-])%s(;%s)*"' % (ARCH, ARCH), ["src/compat", "tools/"]),
    ("is an architecture", r"\b(Arch|ComputeCapability)(\s+\w+)?\s*\{\s*[1-9][^}]*\}", ["src/compat", "tools/"]),
]

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
                   re.DOTALL)


def blank(source, texts):
    """The source with comments, and with `texts` the string literals too, blanked; the lines stay where they are.
    An include's file name is no text."""
    def replace(match):
        token = match.group()
        start = source.rfind("\n", 0, match.start()) + 1
        if token[0] in "\"R'" and (not texts or re.match(r"\s*#\s*include\b", source[start:match.start()])):
            return token
        return re.sub(r"[^\n]", " ", token)
    return TOKEN.sub(replace, source)


def arrows_of(root):
    """What each folder may include: of src by the USES of its CMakeLists.txt."""
    arrows = {}
    for path in sorted(root.glob("src/*/CMakeLists.txt")):
        declared = re.search(r"\barchguard_library\(\w+[^)]*?(?:\bUSES\b([^)]*))?\)", re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8")))
        if declared:
            arrows[path.parent.relative_to(root).as_posix()] = (declared.group(1) or "").split()
    libraries = [folder[len("src/"):] for folder in arrows]
    return {**arrows, **{folder: libraries if uses is None else uses for folder, uses in PROGRAMS.items()}}


def folder_of(name, arrows):
    return next((folder for folder in arrows if name.startswith(folder + "/")), None)


def circle_of(arrows):
    """Folders that use each other round about, or none."""
    left = {folder: {"src/" + used for used in uses} for folder, uses in arrows.items()}
    while True:
        ends = [folder for folder, uses in left.items() if not uses & left.keys()]
        if not ends:
            return sorted(left)
        for folder in ends:
            del left[folder]


def allowed(folder, folders):
    return any((folder + "/").startswith(prefix) for prefix in folders)


def check_includes(name, folder, line, text, uses, used_ones):
    match = re.match(r'\s*#\s*include\s*(<([^>]*)>|"([^"]*)")', text)
    if not match:
        return
    if match.group(3) is not None:
        used = match.group(3).split("/")[0]
        local = "/" not in match.group(3) and folder.startswith("tools/")
        used_ones.add(used)
        if not local and used not in uses and "src/" + used != folder:
            yield "%s:%d: %s may not include \"%s\" (it may include %s)" % (
                name, line, folder, match.group(3), ", ".join(uses) or "nothing")
        return
    for library, users in THIRD_PARTY.items():
        if re.match(library, match.group(2)) and folder not in users:
            yield "%s:%d: %s may not include <%s> (for %s)" % (
                name, line, folder, match.group(2), ", ".join(users) or "nobody")


def check_words(name, folder, line, text, rules):
    for what, pattern, folders in rules:
        found = re.search(pattern, text)
        if found and not allowed(folder, folders):
            yield "%s:%d: '%s' %s (only %s)" % (name, line, found.group().strip(), what, ", ".join(folders) or "nobody")


def check_walks(root, page):
    """The tables of the page that name files: `file`, and the names that stand in it. Templates' arguments do not count."""
    found = []
    for line in page.split("\n"):
        names = re.findall(r"`([^`]+)`", line)
        files = [name for name in names if re.fullmatch(r"(src|tools)/[\w./]+\.h", name)]
        if not line.startswith("|") or len(files) != 1:
            continue
        file = root / files[0]
        text = blank(file.read_text(encoding="utf-8"), texts=False) if file.exists() else ""
        if not file.exists():
            found.append("docs/architecture.md: there is no `%s`" % files[0])
            continue
        found += ["docs/architecture.md: `%s` is not in %s" % (name, files[0])
                  for name in names if name not in files and not re.search(r"\b%s\b" % re.escape(name), text)]
    return found


def breaches(root):
    found, files = [], 0
    arrows = arrows_of(root)
    used_ones = {folder: set() for folder in arrows}
    for path in sorted(root.glob("src/**/*")) + sorted(root.glob("tools/**/*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cc"):
            continue
        files += 1
        folder = folder_of(name, arrows)
        if folder is None:
            found.append("%s: in a folder that no archguard_library() declares" % name)
            continue
        source = path.read_text(encoding="utf-8")
        for line, text in enumerate(blank(source, texts=True).split("\n"), 1):
            found += check_includes(name, folder, line, text, arrows[folder], used_ones[folder])
            found += check_words(name, folder, line, text, WORDS)
        # The two views of a source: code alone for calls, code with its texts for architectures.
        for line, text in enumerate(blank(source, texts=False).split("\n"), 1):
            found += check_words(name, folder, line, text, TEXTS)
    if files == 0:
        found.append("no source file below %s" % root)
    page = root / "docs/architecture.md"
    told = page.read_text(encoding="utf-8") if page.exists() else ""
    for folder, uses in arrows.items():
        if "`%s`" % folder not in told:
            found.append("docs/architecture.md: says nothing of `%s`" % folder)
        if folder not in PROGRAMS:
            found += ["%s/CMakeLists.txt: USES %s, and no file includes anything of it" % (folder, used)
                      for used in uses if used not in used_ones[folder]]
    found += check_walks(root, told)
    circle = circle_of(arrows)
    if circle:
        found.append("these use each other: " + ", ".join(circle))
    return found


# Made-up files, and the one breach that each must show; None for what must pass.
CASES = [
    ("src/compat/a.h", '#include "base/text.h"\n#include <string>\n', None),
    ("src/compat/a.h", '#include "compat/b.h"\n// sm_90, exit(1)\n', None),
    ("tools/archguard/a.cc", '#include "files.h"\nint main() { std::cout << "80-real"; exit(1); }\n', None),
    ("src/device/a.cc", '#include <dlfcn.h>\nauto h = dlopen("libcuda.so.1", 1);\n', None),
    ("src/base/a.cc", 'int n = std::snprintf(b, 4, "exit(%d)", 1); on_exit(1); x.printf_like(2);\n', None),
    ("src/select/a.cc", 'f("write 80-real, such as sm_80", Arch{}, Arch{0}, "75");\n', None),
    ("src/base/a.cc", 'void f() {\n  _exit(127);\n}\n', None),
    ("src/base/a.h", '#include "compat/arch.h"\n',
     'src/base/a.h:1: src/base may not include "compat/arch.h" (it may include nothing)'),
    ("src/fatbin/a.cc", '\n #  include "image/image.h" // why not\n',
     'src/fatbin/a.cc:2: src/fatbin may not include "image/image.h" (it may include base, compat)'),
    ("src/coverage/a.cc", '#include "../report/style.h"\n',
     'src/coverage/a.cc:1: src/coverage may not include "../report/style.h" (it may include base, fatbin, '
     'image)'),
    ("tools/arch_probe/main.cc", '#include "fatbin/fatbin.h"\n',
     'tools/arch_probe/main.cc:1: tools/arch_probe may not include "fatbin/fatbin.h" (it may include base, compat, '
     'device, select)'),
    ("src/select/a.cc", "#include <nlohmann/json.hpp>\n",
     "src/select/a.cc:1: src/select may not include <nlohmann/json.hpp> (for src/diff, src/installed, tools/archguard)"),
    ("src/device/a.cc", "#include <cuda.h>\n", "src/device/a.cc:1: src/device may not include <cuda.h> (for nobody)"),
    ("src/select/a.cc", 'auto h = dlopen("x", 1);\n', "src/select/a.cc:1: 'dlopen(' opens a driver (only src/device)"),
    ("src/report/a.cc", '/* one\ntwo */ std::fprintf(stderr, "x");\n',
     "src/report/a.cc:2: 'fprintf(' prints (only tools/)"),
    ("src/report/a.cc", "std::cerr << 1;\n", "src/report/a.cc:1: 'std::cerr' prints (only tools/)"),
    ("src/image/a.cc", "if (x) std::abort();\n", "src/image/a.cc:1: 'abort(' ends the process (only tools/)"),
    ("src/report/a.cc", "_exit(1);\n",
     "src/report/a.cc:1: '_exit(' leaves a forked child (only src/base, src/device, tools/)"),
    ("src/report/a.cc", "throw 1;\n", "src/report/a.cc:1: 'throw' throws (only nobody)"),
    ("src/fatbin/a.cc", 'auto name = "sm_90";\n',
     "src/fatbin/a.cc:1: '\"sm_90\"' is an architecture (only src/compat, tools/)"),
    ("src/select/a.cc", 'f("80-real;90-virtual");\n',
     "src/select/a.cc:1: '\"80-real;90-virtual\"' is an architecture (only src/compat, tools/)"),
    ("src/select/a.cc", "Arch oldest{75, Suffix::none};\n",
     "src/select/a.cc:1: 'Arch oldest{75, Suffix::none}' is an architecture (only src/compat, tools/)"),
    ("src/coverage/a.cc", "if (device == ComputeCapability{9, 0}) f();\n",
     "src/coverage/a.cc:1: 'ComputeCapability{9, 0}' is an architecture (only src/compat, tools/)"),
    ("src/extra/a.cc", "int x;\n", "src/extra/a.cc: in a folder that no archguard_library() declares"),
    ("src/extra/CMakeLists.txt", "archguard_library(extra SOURCES a.cc)\n", "docs/architecture.md: says nothing of `src/extra`"),
    ("docs/architecture.md", "<page>| it begins | `src/base/clean.h` | `clean` |\n", None),
    ("docs/architecture.md", "<page>| it begins | `src/base/clean.h` | `clean`, `walked` |\n| it ends | `src/base/none.h` | `f` |\n",
     "docs/architecture.md: `walked` is not in src/base/clean.h", "docs/architecture.md: there is no `src/base/none.h`"),
    ("src/image/CMakeLists.txt", "archguard_library(image SOURCES a.cc USES base\n  compat) # device\n",
     "src/image/CMakeLists.txt: USES compat, and no file includes anything of it"),
    ("src/base/CMakeLists.txt", "archguard_library(base SOURCES a.cc USES image)\n",
     "src/base/CMakeLists.txt: USES image, and no file includes anything of it",
     "these use each other: src/base, src/compat, src/coverage, src/device, src/fatbin, src/image, src/report, src/select, "
     "tools/arch_probe, tools/archguard"),
]

# The clean tree that each is put into: a folder, and what it uses.
CLEAN = {"base": [], "compat": ["base"], "device": ["base", "compat"], "select": ["base", "compat", "device"],
         "fatbin": ["base", "compat"], "image": ["base"], "coverage": ["base", "fatbin", "image"], "report": ["coverage"]}


def write_clean_tree(root):
    for folder, uses in CLEAN.items():
        place = root / "src" / folder
        place.mkdir(parents=True)
        (place / "CMakeLists.txt").write_text("archguard_library(%s SOURCES clean.cc USES %s)\n" % (folder, " ".join(uses)))
        (place / "clean.h").write_text("".join('#include "%s/clean.h"\n' % used for used in uses) + "int clean;\n")
    (root / "docs").mkdir()
    (root / "docs/architecture.md").write_text("".join("`%s`\n" % folder for folder in [*("src/" + name for name in CLEAN), *PROGRAMS]))


def self_test():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        if not breaches(pathlib.Path(folder))[0].startswith("no source file below"):
            wrong += 1
            print("an empty tree passes")
    for name, text, *expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            write_clean_tree(root)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            text = text.replace("<page>", (root / "docs/architecture.md").read_text())
            (root / name).write_text(text, encoding="utf-8")
            found = breaches(root)
        expected = [each for each in expected if each is not None]
        if len(found) != len(expected) or any(not a.startswith(b) for a, b in zip(found, expected)):
            wrong += 1
            print("%s holds %r\n  expected: %s\n  found:    %s" % (name, text, expected, "\n            ".join(found)))
    print("%d of %d cases as expected" % (len(CASES) + 1 - wrong, len(CASES) + 1))
    return wrong == 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test() else 1)
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = breaches(pathlib.Path(sys.argv[1]))
    print("\n".join(found) or "every include and call stays within its folder's bounds")
    sys.exit(1 if found else 0)


main()

"""Holds the source to the arrows of docs/architecture.md.

    layering.py ROOT         lists every breach in ROOT, exit 1 where there is one
    layering.py --self-test  proves on made-up sources that each rule can fail, and that a clean tree passes
"""
import pathlib
import re
import sys
import tempfile

LIBRARIES = ["base", "compat", "device", "select", "container", "loader", "fatbin", "image", "coverage", "kept", "report"]

# What each folder may include beside itself.
MAY_INCLUDE = {
    "src/base": [],
    "src/compat": ["base"],
    "src/device": ["base", "compat"],
    "src/select": ["base", "compat", "device"],
    "src/container": ["base", "compat"],
    "src/loader": ["base", "container"],
    "src/fatbin": ["base", "compat", "container"],
    "src/image": ["base", "compat", "container"],
    "src/coverage": ["base", "compat", "device", "fatbin", "image"],
    "src/kept": ["base", "compat", "device", "coverage"],
    "src/report": ["base", "compat", "device", "select", "container", "fatbin", "image", "coverage"],
    "tools/arch_probe": ["base", "compat", "device", "select"],
    "tools/archguard": LIBRARIES,
}

# Libraries that are not the standard's or the system's, and who may use them. arch_probe, and with it base, compat,
# device and select, is compiled while a consumer's CMake configures: it needs none.
THIRD_PARTY = {
    r"CLI/": ["tools/archguard"],
    r"fmt/": ["src/report", "tools/archguard"],
    r"nlohmann/": ["src/report", "tools/archguard"],
    r"zstd": ["src/fatbin"],
    r"lz4": ["src/fatbin"],
    r"zlib\.h": ["src/container"],
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


def folder_of(name):
    return next((folder for folder in MAY_INCLUDE if name.startswith(folder + "/")), None)


def allowed(folder, folders):
    return any((folder + "/").startswith(prefix) for prefix in folders)


def check_includes(name, folder, line, text):
    match = re.match(r'\s*#\s*include\s*(<([^>]*)>|"([^"]*)")', text)
    if not match:
        return
    if match.group(3) is not None:
        used = match.group(3).split("/")[0]
        local = "/" not in match.group(3) and folder.startswith("tools/")
        if not local and used not in MAY_INCLUDE[folder] and "src/" + used != folder:
            yield "%s:%d: %s may not include \"%s\" (it may include %s)" % (
                name, line, folder, match.group(3), ", ".join(MAY_INCLUDE[folder]) or "nothing")
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


def check_links(name, folder, text):
    uses = re.search(r"\bUSES\b([^)]*)\)", text)
    for used in uses.group(1).split() if uses else []:
        if used in LIBRARIES and used not in MAY_INCLUDE[folder]:
            yield "%s: %s may not use %s" % (name, folder, used)


def breaches(root):
    found, files = [], 0
    for path in sorted(root.glob("src/**/*")) + sorted(root.glob("tools/**/*")):
        name = path.relative_to(root).as_posix()
        folder = folder_of(name)
        if path.suffix in (".h", ".cc"):
            files += 1
            if folder is None:
                found.append("%s: in a folder that this test does not know" % name)
                continue
            source = path.read_text(encoding="utf-8")
            for line, text in enumerate(blank(source, texts=True).split("\n"), 1):
                found += check_includes(name, folder, line, text)
                found += check_words(name, folder, line, text, WORDS)
            # The two views of a source: code alone for calls, code with its texts for architectures.
            for line, text in enumerate(blank(source, texts=False).split("\n"), 1):
                found += check_words(name, folder, line, text, TEXTS)
        elif path.name == "CMakeLists.txt" and folder is not None:
            found += check_links(name, folder, path.read_text(encoding="utf-8"))
    if files == 0:
        found.append("no source file below %s" % root)
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
    ("src/base/CMakeLists.txt", "archguard_library(base SOURCES a.cc)\n", "no source file below"),
    ("src/base/a.h", '#include "compat/arch.h"\n',
     'src/base/a.h:1: src/base may not include "compat/arch.h" (it may include nothing)'),
    ("src/fatbin/a.cc", '\n #  include "image/image.h" // why not\n',
     'src/fatbin/a.cc:2: src/fatbin may not include "image/image.h" (it may include base, compat, container)'),
    ("src/coverage/a.cc", '#include "../report/style.h"\n',
     'src/coverage/a.cc:1: src/coverage may not include "../report/style.h" (it may include base, compat, device, '
     'fatbin, image)'),
    ("tools/arch_probe/main.cc", '#include "fatbin/fatbin.h"\n',
     'tools/arch_probe/main.cc:1: tools/arch_probe may not include "fatbin/fatbin.h" (it may include base, compat, '
     'device, select)'),
    ("src/select/a.cc", "#include <nlohmann/json.hpp>\n",
     "src/select/a.cc:1: src/select may not include <nlohmann/json.hpp> (for src/report, tools/archguard)"),
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
    ("src/extra/a.cc", "int x;\n", "src/extra/a.cc: in a folder that this test does not know"),
    ("src/image/CMakeLists.txt", "archguard_library(image SOURCES a.cc USES base\n  coverage)\n",
     "src/image/CMakeLists.txt: src/image may not use coverage"),
]


def self_test():
    wrong = 0
    for name, text, expected in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            if expected is None or not expected.startswith("no source file"):
                (root / "src/base").mkdir(parents=True)
                (root / "src/base/clean.h").write_text("int clean;\n", encoding="utf-8")
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
            found = breaches(root)
        good = found == [] if expected is None else len(found) == 1 and found[0].startswith(expected)
        if not good:
            wrong += 1
            print("%s holds %r\n  expected: %s\n  found:    %s" % (name, text, expected, "\n            ".join(found)))
    print("%d of %d cases as expected" % (len(CASES) - wrong, len(CASES)))
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

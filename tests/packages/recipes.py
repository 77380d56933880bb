"""Holds the recipes of packaging/ to the sources and to each other: recipes.py REPOSITORY"""
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
failures = []


def check(what, actual, expected):
    if actual != expected:
        failures.append("%s: is %s, expected %s" % (what, actual, expected))


def read(path):
    return (root / path).read_text()


top = read("CMakeLists.txt")
version = re.search(r"project\(ArchGuard\s+VERSION ([0-9.]+)", top).group(1)

# What the sources look for, by the names of each package manager: CMake's, vcpkg's, Conan's, Debian's, conda-forge's.
NAMES = [("CLI11", "cli11", "cli11", "libcli11-dev", "cli11"),
         ("fmt", "fmt", "fmt", "libfmt-dev", "fmt"),
         ("lz4.h", "lz4", "lz4", "liblz4-dev", "lz4-c"),
         ("nlohmann_json", "nlohmann-json", "nlohmann_json", "nlohmann-json3-dev", "nlohmann_json"),
         ("zlib.h", "zlib", "zlib", "zlib1g-dev", "zlib"),
         ("zstd.h", "zstd", "zstd", "libzstd-dev", "zstd")]
found = set()
for path in [*root.glob("src/**/CMakeLists.txt"), *root.glob("tools/**/CMakeLists.txt")]:
    text = path.read_text()
    found.update(re.findall(r"find_package\((\w+)", text))
    found.update(re.findall(r"find_path\(\w+ (\S+)", text))
check("what the sources look for", sorted(found - {"Threads"}), sorted(row[0] for row in NAMES))

# vcpkg
port = json.loads(read("packaging/vcpkg/archguard/vcpkg.json"))
check("vcpkg.json: name", port["name"], "archguard")
check("vcpkg.json: version", port["version"], version)
libraries = [name for name in port["dependencies"] if isinstance(name, str)]
tools = [name["name"] for name in port["dependencies"] if isinstance(name, dict) and name.get("host")]
check("vcpkg.json: libraries", libraries, [row[1] for row in NAMES])
check("vcpkg.json: tools", tools, ["vcpkg-cmake"])
check("vcpkg.json: keys", sorted(port), ["dependencies", "description", "license", "name", "supports", "version"])
portfile = read("packaging/vcpkg/archguard/portfile.cmake")
options = read("cmake/options.cmake")
for option in re.findall(r"-D(\w+)=", portfile):
    if option.startswith("ARCHGUARD_") and "option(%s " % option not in options:
        failures.append("portfile.cmake: there is no option %s" % option)
for file in re.findall(r"\$\{SOURCE_PATH\}/([\w/.]+)", portfile):
    if not (root / file).is_file():
        failures.append("portfile.cmake: there is no file %s" % file)

# Conan
recipe = read("packaging/conan/conanfile.py")
compile(recipe, "conanfile.py", "exec")
check("conanfile.py: libraries", re.findall(r'self\.requires\("(\w+)/', recipe), [row[2] for row in NAMES])
profile = read("packaging/conan/debian-12.profile")
check("debian-12.profile: libraries", re.findall(r"^(\w+)/[\d.]+$", profile, re.MULTILINE), [row[2] for row in NAMES])
check("debian-12.profile: packages", sorted(re.findall(r"\S+-dev\b", profile)), sorted(row[3] for row in NAMES))
exported = set(re.findall(r'"([\w.]+)(?:/\*)?"', re.search(r"for pattern in \((.*?)\):", recipe).group(1)))
needed = {"CMakeLists.txt", "LICENSE", "packaging"}
needed |= set(re.findall(r"(?:add_subdirectory|include)\((\w+)", top)) - {"tests", "bench", "docs", "CPack"}
check("conanfile.py: exported sources", sorted(exported), sorted(needed))

# Packages that are built from a copy: of these folders and files, and of what the sdist shows and tells its tools.
sources = read("packaging/sources").split()
check("packaging/sources", sources, sorted(needed | {"CONTRIBUTING.md", "README.md", "SECURITY.md", "pyproject.toml"}))

# conda
recipe = read("packaging/conda/recipe.yaml")
check("conda/recipe.yaml: version", re.search(r"^  version: (\S+)$", recipe, re.MULTILINE).group(1), version)
host = re.search(r"^  host:\n((?:    - .*\n)+)", recipe, re.MULTILINE).group(1)
check("conda/recipe.yaml: libraries", sorted(re.findall(r"- (\S+)", host)), sorted(row[4] for row in NAMES))

# Debian
changelog = read("packaging/debian/changelog")
check("debian/changelog: version", re.match(r"archguard \(([^)]*)\)", changelog).group(1), version)
for package in (row[3] for row in NAMES):
    if package not in read("README.md"):
        failures.append("README.md: does not name the package %s" % package)

for failure in failures:
    print(failure)
print("%d recipes held to version %s and %d libraries" % (4, version, len(NAMES)))
sys.exit(1 if failures else 0)

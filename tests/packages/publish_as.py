"""Whoever publishes ArchGuard writes an address once: publish_as.py REPOSITORY, on a copy of the files that tell one."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
failures = []


def check(what, holds):
    if not holds:
        failures.append(what)


def publish(tree, *words):
    return subprocess.run([tree / "packaging/publish_as", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def files_with_an_address():
    """Each file of the tree that names a host of the kind that is kept for examples (RFC 2606)."""
    for folder in ("packaging", "cmake", "docs", "examples", "README.md", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml"):
        start = root / folder
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if path.is_file() and re.search(rb"example\.(com|org)", path.read_bytes()):
                yield path.relative_to(root)


with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder)
    names = sorted(files_with_an_address())
    for name in [*names, pathlib.Path("packaging/publish_as")]:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tree / name)
    before = {name: (tree / name).read_bytes() for name in names}
    check("no clone: exit 2", publish(tree, "https://x.net/a.git", "A <a@x.net>").returncode == 2)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(tree), *command], check=True, stdout=subprocess.DEVNULL)

    for words in ([], ["--help"], ["https://x.net/a.git"], ["x.net", "A <a@x.net>"], ["https://x.net/a.git", "A a@x.net"],
                  ["https://x.net/a.git", "A\"; <a@x.net>"]):
        done = publish(tree, *words)
        check("exit %d with %s" % (done.returncode, words), done.returncode == 2 and "publish_as" in done.stdout)
    check("a wrong word changes nothing", all((tree / name).read_bytes() == text for name, text in before.items()))

    done = publish(tree, "https://git.mine.net/tools/archguard.git", "Mine & Co <tools@mine.net>")
    told = sorted(pathlib.Path(line) for line in done.stdout.splitlines())
    check("%s: changed %s" % (done.stdout, told), done.returncode == 0 and told == names)
    for name in names:
        left = re.search(r".*example\.(com|org).*", (tree / name).read_text())
        check("%s: still says %s" % (name, left and left.group()), not left)
    check("the maintainer of the package", b"Mine & Co <tools@mine.net>" in (tree / "cmake/packages.cmake").read_bytes())
    first = dict(line.split(" ", 1) for line in before[pathlib.Path("packaging/publisher")].decode().splitlines() if line[0] != "#")
    publish(tree, first["repository"], first["contact"])
    check("the way back", all((tree / name).read_bytes() == text for name, text in before.items()))
    (tree / "packaging/publisher").write_text("contact A <a@x.net>\n")
    done = publish(tree, "https://x.net/a.git", "A <a@x.net>")
    check("a publisher without a repository: %s" % done.stdout, done.returncode == 2 and "'repository'" in done.stdout)

for failure in failures:
    print(failure)
print("%d files tell an address" % len(names))
sys.exit(1 if failures else 0)

"""Builds the HTML and man pages with Sphinx, where a warning is an error, and looks into them: sphinx.py REPOSITORY OUTPUT"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

root, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sphinx = shutil.which("sphinx-build", path=os.environ["PATH"] + ":/usr/bin")
if not sphinx:
    print("SKIPPED: no sphinx-build; Debian: apt install python3-sphinx python3-myst-parser furo python3-sphinx-copybutton")
    sys.exit(77)
shutil.rmtree(output, ignore_errors=True)


def build(start, builder, folder):
    done = subprocess.run([*start, "-q", "-W", "--keep-going", "-c", root / "docs/sphinx", "-d", folder.with_name(folder.name + ".trees"),
                           "-b", builder, root / "docs", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8"), check=False)
    if done.returncode:
        sys.exit("sphinx-build -b %s: %d\n%s" % (builder, done.returncode, done.stdout))
    return done.stdout


HINTS = re.compile(r"ArchGuard's pages: .*; Debian: apt install (furo|python3-sphinx-copybutton)\n")
for builder in ("html", "man"):
    printed = build([sphinx], builder, output / builder)
    if HINTS.sub("", printed):
        sys.exit("sphinx-build -b %s says\n%s" % (builder, printed))
lacking = HINTS.findall(printed)

# Without Furo and its friend: a plain theme, and what to install.
python = pathlib.Path(sphinx).read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("#!").split()
without = "import sys; sys.modules.update(furo=None, sphinx_copybutton=None); from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
printed = build([*python, "-c", without], "html", output / "plain")
if HINTS.findall(printed) != ["furo", "python3-sphinx-copybutton"]:
    sys.exit("without Furo sphinx-build says\n%s" % printed)

failures = []
pages = [page.relative_to(root / "docs").with_suffix("") for pattern in ("*.md", "*.rst") for page in (root / "docs").rglob(pattern)]
for page in pages:
    if not (output / "html" / page).with_suffix(".html").exists():
        failures.append("%s has no HTML page" % page)

commands = ["archguard_" + path.stem for path in (root / "cmake/Modules/archguard").glob("*.cmake")]
html = (output / "html/reference/cmake.html").read_text()
manual = (output / "man/archguard-cmake.7").read_text()
for command in commands:
    if 'id="%s"' % command.replace("_", "-") not in html:
        failures.append("reference/cmake.html has no section %s" % command)
    if ".SS %s\n" % command not in manual:
        failures.append("archguard-cmake.7 has no section %s" % command)
linked = re.findall(r'href="[^"]*reference/cmake.html#archguard-verify"', (output / "html/guide/cmake.html").read_text())
if not linked:
    failures.append("guide/cmake.html: the name archguard_verify is no link to its reference")
if shutil.which("man"):
    for page in sorted((output / "man").glob("*.[17]")):
        done = subprocess.run(["man", "-l", "-E", "UTF-8", page], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=dict(os.environ, LC_ALL="C.UTF-8", MANPAGER="cat"), check=False)
        if done.returncode or len(done.stdout.split("\n")) < 50:
            failures.append("man %s: %d %s" % (page.name, done.returncode, done.stderr))

if not lacking and not (output / "html/_static/sections.js").exists():
    failures.append("the search has nothing to look through")
if lacking:
    print("SKIPPED: how the pages look with Furo; Debian: apt install %s" % " ".join(lacking))
print("\n".join(failures) or "%d pages, %d commands, 3 man pages" % (len(pages), len(commands)))
sys.exit(bool(failures))

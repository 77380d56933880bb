"""Holds the man pages to --help, and to groff: man.py REPOSITORY PROGRAM..."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
kept = root / "packaging/man"
failures = []

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-B", kept / "write", folder, *sys.argv[2:]], check=True)
    now = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
before = {path.name: path.read_text() for path in kept.glob("*.1")}
for name in sorted(set(now) | set(before)):
    if now.get(name) != before.get(name):
        failures.append("packaging/man/%s is not what --help says; cmake --build BUILD --target update_man" % name)

if not before:
    failures.append("packaging/man: no pages")
for name, text in sorted(before.items()):
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"):
        body = text.partition("\n.SH %s\n" % heading)[2].partition("\n.SH ")[0]
        if len(body.strip().splitlines()) < 1 or body.strip() in (".nf\n.fi", ""):
            failures.append("%s: nothing under %s" % (name, heading))

if shutil.which("groff") is None:
    print("SKIPPED: groff is missing: apt install groff-base")
else:
    for name in sorted(before):
        run = subprocess.run(["groff", "-man", "-ww", "-Tutf8", kept / name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             universal_newlines=True, check=False)
        if run.stderr or run.returncode or len(run.stdout.splitlines()) < 30:
            failures.append("%s: groff: %s" % (name, run.stderr.strip() or "next to nothing is shown"))

for text in failures:
    print(text)
print("%d pages: %d failures" % (len(before), len(failures)))
sys.exit(1 if failures else 0)

"""Plays cases that golden.py must refuse: refused.py FOLDER OPTION...

OPTION is what golden.py takes before its folders. The second line of a case says what must be told: `# TEXT`. --update
leaves such a case as it is, unless that line says `# update mends: TEXT`: then the case passes afterwards.
"""
import contextlib
import io
import pathlib
import sys
import tempfile

import golden

folder, options = pathlib.Path(sys.argv[1]), sys.argv[2:]
failures = []


def play(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as told:
        status = golden.main([*options, *map(str, arguments)])
    return int(status), told.getvalue()


def expect(name, status, text, done):
    if done[0] != status or text not in done[1]:
        failures.append("%s: exit %d instead of %d, or without '%s':\n%s" % (name, done[0], status, text, done[1]))


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    empty = root / "empty"
    empty.mkdir()
    expect("an empty folder", 1, "holds no case", play(empty))
    expect("an empty folder within", 1, "holds no case", play("--update", empty))
    cases = sorted(folder.glob("*.txt"))
    if len(cases) < 10:
        failures.append("%s: %d cases are not all" % (folder, len(cases)))
    for case in cases:
        alone = root / case.stem
        alone.mkdir()
        content = case.read_text(encoding="utf-8")
        (alone / case.name).write_text(content, encoding="utf-8")
        told = content.split("\n")[1].removeprefix("# ")
        mends = told.startswith("update mends: ")
        expect(case.name, 1, told.removeprefix("update mends: "), play(alone))
        expect(case.name + ", --update", 0 if mends else 1, "", play("--update", alone))
        if mends:
            expect(case.name + ", afterwards", 0, "1 cases", play(alone))
        elif (alone / case.name).read_text(encoding="utf-8") != content:
            failures.append("%s: --update changed it" % case.name)
    other = root / "other"
    other.mkdir()
    (other / "notes.md").write_text("# no case\n", encoding="utf-8")
    expect("a file that is no case", 1, "a case is named NAME.txt", play(other))

print("\n".join(failures) or "%d cases, each refused as it must be" % (len(cases) + 2))
sys.exit(bool(failures))

"""`archguard report` over the results of parts says what one run over all of their files says; and what it refuses."""
import json
import random
import subprocess
import tempfile
import zipfile

import play


def report(test, *words):
    done = subprocess.run([test.options.archguard, "report", *words], cwd=test.folder, capture_output=True,
                          env={"PATH": "/usr/bin:/bin"}, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def check_same(test, what, parts, *words):
    """Each of the parts is verified alone; then all of their files together."""
    names = []
    for i, files in enumerate(parts):
        names.append("part%d.json" % i)
        test.verify(*files, *words, "--report", "json=" + names[-1])
    together = list(dict.fromkeys(file for files in parts for file in files))
    status, text, _ = test.verify(*together, *words, "--report", "json=all.json", "--report", "junit=all.xml", "--report", "html=all.html")
    joined = report(test, *names, "--report", "json=joined.json", "--report", "junit=joined.xml", "--report", "html=joined.html")
    test.check("%s: exit %d, not %d: %s" % (what, joined[0], status, joined[2]), joined[0] == status)
    test.check("%s: another text:\n%s\n---\n%s" % (what, text.decode("utf-8", "replace"), joined[1].decode("utf-8", "replace")), joined[1] == text)
    for kind in ("json", "xml", "html"):
        paths = [test.folder / (name + "." + kind) for name in ("all", "joined")]
        test.check("%s: another %s" % (what, kind), all(path.exists() for path in paths) and paths[0].read_bytes() == paths[1].read_bytes())
        for path in paths:
            path.unlink(missing_ok=True)


def check_random(test, seed):
    """Any files, in any parts, some in several."""
    dice = random.Random(seed)
    archs = ("sm_70", "sm_75", "sm_80", "sm_90", "compute_70", "compute_90", "sm_80:kernel=other")
    files = [test.build("random/%d/%d.so" % (seed, i), dice.choice(("11.8", "12.4")), *dice.sample(archs, dice.randint(1, 4)))
             for i in range(dice.randint(1, 6))]
    parts = [[] for _ in range(dice.randint(1, 4))]
    for i, file in enumerate(files):
        for part in {i % len(parts), dice.randrange(len(parts))}:
            parts[part].append(file)
    devices = dice.sample(("7.0", "7.5@12.4", "8.0", "8.6", "9.0@11.8", "10.0"), dice.randint(1, 4))
    more = dice.choice(([], ["--scope", "library"], ["--require", "sass"], ["--any-of", "*.so"], ["--hollow", "error"], ["--expect", "80-real"]))
    check_same(test, "seed %d" % seed, [part for part in parts if part], *(word for device in devices for word in ("--device", device)), *more)


def check_refused(test, what, results, text):
    status, out, error = report(test, *results, "--report", "html=never.html")
    test.check("%s: exit %d: %s" % (what, status, error), status == 2 and out == b"" and text in error)
    test.check("%s: a report was written" % what, not (test.folder / "never.html").exists())


def main():
    with tempfile.TemporaryDirectory() as folder:
        test = play.Play(folder)
        files = test.files()
        fleet = ["--fleet", "fleet.csv"]
        check_same(test, "hostile names, a cut file, a fleet", [files[:3], files[3:7], files[7:]], *fleet)
        check_same(test, "one file twice", [files[:2], files[1:3]], "--device", "8.0", "--device", "9.0@12.4")
        check_same(test, "covered", [["whole.so"], ["b/lib00.so"]], "--device", "8.0@13.0")
        alternatives = [test.build("k/sm_%d.so" % arch, "12.4", "sm_%d" % arch) for arch in (75, 80, 90)]
        check_same(test, "alternatives", [[each] for each in alternatives], "--device", "7.5", "--device", "9.0", "--any-of", "sm_*.so")
        check_same(test, "images that were asked for", [alternatives[:1], alternatives[1:]], "--expect", "80-real")
        check_same(test, "scope library", [files[:5], files[5:]], *fleet, "--scope", "library")
        data = [test.build("data%d.so" % i, "12.4", "data=.rodata", "sm_%d" % arch) for i, arch in enumerate((80, 90))]
        check_same(test, "images held as data", [data[:1], data[1:]], "--device", "8.0", "--device", "9.0")
        (test.folder / "waivers.csv").write_text("kernel,compute_cap,reason\ngemm,8.0,not needed\nnone,*,misspelt\n")
        check_same(test, "waivers", [["whole.so"], [data[0]]], "--device", "8.0", "--waivers", "waivers.csv")
        for name in "xy":
            test.build("need/lib%s.so" % name, "12.4", "sm_80")
        programs = [test.build("need/%d" % i, "12.4", "sm_80", "sm_90", *("needs=lib%s.so" % name for name in names), "rpath=$ORIGIN")
                    for i, names in enumerate(("x", "xy", "z"))]
        check_same(test, "needed libraries", [programs[:1], programs[1:2], programs[2:]], "--device", "8.0", "--device", "9.0", "--needed")
        check_same(test, "needed libraries alone", [programs[:1], programs[1:2]], "--device", "9.0", "--needed-only")
        for name in "pq":
            with zipfile.ZipFile(test.folder / (name + ".whl"), "w") as wheel:
                wheel.write(test.folder / "whole.so", name + "/x.so")
                wheel.write(test.folder / "b/lib00.so", name + "/y.so")
                wheel.writestr(name + "-1.dist-info/METADATA", "Name: %s\nVersion: 1\n" % name)
                wheel.writestr(name + "-1.dist-info/RECORD", "" if name == "q" else "p/x.so,,\np/y.so,,\n")
        check_same(test, "wheels", [["p.whl"], ["q.whl"]], *fleet)
        check_same(test, "alternatives of each wheel", [["p.whl"], ["q.whl"]], *fleet, "--any-of", "?.so", "--any-of", "lib0?.so")
        check_same(test, "alternatives in folders and wheels", [["p.whl", "q.whl"], ["b", "need"]], *fleet, "--any-of", "*.so")
        check_same(test, "folders and wheels", [["need"], ["q.whl", "b"]], *fleet)
        for name in "rs":
            test.build("site%s/%s/x.so" % (name, name), "12.4", "sm_80")
            about = test.folder / ("site%s/%s-1.dist-info" % (name, name))
            about.mkdir()
            (about / "METADATA").write_text("Name: %s\nVersion: 1\n" % name)
            (about / "RECORD").write_text('"%s/x.so,,\n' % name)
        check_same(test, "lists of packages that are broken", [["siter"], ["sites"]], "--device", "8.0")
        test.check("a list that is broken is told", b"RECORD: line 1 has a quote that does not end" in test.verify("siter", "sites", "--device", "8.0")[1])
        (test.folder / "text.txt").write_text("no binary\n")
        check_same(test, "no device code", [["text.txt"], ["text.txt"]], "--device", "8.0")
        for seed in range(40):
            check_random(test, seed)

        test.verify("whole.so", *fleet, "--report", "json=one.json")
        test.verify("b/lib00.so", *fleet, "--report", "json=two.json")
        text = (test.folder / "one.json").read_text()
        compact = json.dumps(json.loads(text))
        (test.folder / "compact.json").write_text(compact)
        test.check("another layout is refused: %s" % (report(test, "compact.json"),), report(test, "compact.json")[0] == report(test, "one.json")[0])
        changes = {
            "cut": (text[:len(text) // 2], "was cut"),
            "empty": ("", "is not JSON"),
            "schema": (text.replace("archguard.verify/1", "archguard.verify/2"), "'archguard.verify/2'"),
            "inspect": ('{"schema":"archguard.inspect/1"}', "'archguard.inspect/1'"),
            "list": ("[]", "is no result"),
            "version": (text.replace("archguard.record/1 ", "archguard.record/1 99."), "was written by archguard 99."),
            "without": (json.dumps({key: value for key, value in json.loads(text).items() if key != "record"}), "holds no record"),
            "verdict": (text.replace('"verdict": "covered"', '"verdict": "unknown"'), "is damaged"),
            "path": (text.replace('"path": "whole.so"', '"path": "other.so"'), "is damaged"),
            "kind": (text.replace('"kind": 0', '"kind": 99'), "is damaged"),
        }
        # A byte of a record that changed.
        begin = text.rindex('"record": "') + len('"record": "archguard.record/1 0.0.0 ')
        dice = random.Random(1)
        for at in dice.sample(range(begin, len(text) - 8), 100) + dice.sample(range(text.index('"record"') + 12, text.index('"record"') + 400), 100):
            (test.folder / "changed.json").write_text(text[:at] + ("A" if text[at] != "A" else "/") + text[at + 1:])
            status, _, error = report(test, "changed.json")
            test.check("a byte at %d, %s: exit %d: %s" % (at, text[at - 5:at + 5], status, error), status == 2)
        for what, (changed, told) in changes.items():
            (test.folder / (what + ".json")).write_text(changed)
            check_refused(test, what, ["two.json", what + ".json"], told)
        check_refused(test, "missing", ["one.json", "missing.json"], "missing.json")
        test.verify("whole.so", "--device", "8.0", "--report", "json=other.json")
        check_refused(test, "other devices", ["one.json", "other.json"], "was asked for other devices than one.json")
        for i, asked in enumerate((["--scope", "library"], ["--require", "sass"], ["--hollow", "off", "--env", "CUDA_FORCE_PTX_JIT=1"])):
            test.verify("whole.so", *fleet, *asked, "--report", "json=asked%d.json" % i)
            check_refused(test, "another policy", ["two.json", "asked%d.json" % i],
                          "asked%d.json: was judged with %s, and two.json without options of policy" % (i, " ".join(asked)))
        test.build("whole.so", "12.4", "sm_80")
        test.verify("whole.so", *fleet, "--report", "json=later.json")
        check_refused(test, "disagree", ["two.json", "one.json", "later.json"], "later.json: disagrees with one.json on whole.so")
        test.end()


main()

"""Plays situations to `archguard doctor` and compares what it names with what was written down first.

    play.py --archguard PATH --fixture PATH --fake-driver FOLDER [--only TEXT] [--show] [--score DOCUMENT] FILE.json...

--score: DOCUMENT must say "N of M" of the situations that are named as expected.

A file is a list of situations:

    name        what it shows; `report`: the public report that it plays, by its row in the list of reports
    device      CC[@CUDA], or a list of them; or
    machine     a machine of tests/machines (its keys), with the played driver
    packages    {"torch 2.9.1+cu128": {FILE: CONTENT}}: an environment with these, and their RECORD
    conda       the same, of a conda environment
    files       {PATH: CONTENT} below the folder of the situation
    env         {NAME: VALUE}
    arguments   further ones; without `packages` and `conda` also what is looked at
    process     Python code that runs meanwhile; {pid} stands for it
    interpreter the path of its Python, to which {python} was linked;  process_env: what it has more in its environment
    rename      its first argument, in place of the path
    commands    run before it, in the folder, by a shell
    expect      "ID PACKAGE RANK" of the first finding, PACKAGE - for none, "ID PACKAGE" for certain or likely; or "clean", "unknown", "none" for exit 0, 2 and 3
    missed      why the doctor does not name it yet: then `expect` is what it should, and a fault where it does
    says        texts that must stand in the document, in any finding
    never       texts that must not stand in the text
    python      its version, where that is not 3.11.7
    stdin       what it reads there;  program: the path that archguard itself has
    not         ids that no finding of rank certain or likely may have

CONTENT: "12.8 sm_80 …" is written by tests/support/fixture; "c: CODE | FLAGS" by the C compiler, as a library;
"text: …" is a text. {root}, {prefix} and {site} stand for folders. torch gets its version.py by its version.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "machines"))
import play as machines  # noqa: E402
sys.path.insert(0, str(HERE.parent / "support"))
import schemas  # noqa: E402

STATUS = {"clean": 0, "unknown": 2, "none": 3}


def fill(text, places):
    return re.sub(r"\{(root|prefix|site|pid|python)\}", lambda match: str(places[match.group(1)]), text)


def write_file(path, content, places, fixture):
    path.parent.mkdir(parents=True, exist_ok=True)
    if content.startswith("text:"):
        path.write_text(fill(content[5:].lstrip(" "), places))
    elif content.startswith("c:"):
        code, _, flags = content[2:].partition("|")
        subprocess.run(["cc", "-shared", "-fPIC", "-nostartfiles", "-x", "c", "-", "-x", "none", "-o", str(path), "-Wl,--unresolved-symbols=ignore-all",
                        *fill(flags, places).split()], input=code.encode(), check=True)
    else:
        target = path if path.suffix != ".pyd" else path.with_suffix(".dll")
        subprocess.run([fixture, target, *fill(content, places).split()], check=True)
        target.rename(path)


def version_py(version):
    found = re.search(r"\+cu(\d+)(\d)$", version)
    cuda = "'%s.%s'" % found.groups() if found else "None" if version.endswith("+cpu") else "'12.6'"
    return "text:__version__ = '%s'\ncuda: Optional[str] = %s\n" % (version, cuda)


def write_packages(packages, places, fixture, conda):
    for package, files in packages.items():
        name, _, version = package.partition(" ")
        files = dict(files)
        if name == "torch":
            files.setdefault("torch/version.py", version_py(version))
        base = places["prefix"] if conda else places["site"]
        for file, content in files.items():
            write_file(base / file, content, places, fixture)
        if conda:
            record = {"name": name, "version": version, "files": sorted(files)}
            write_file(base / ("conda-meta/%s-%s-0.json" % (name, version)), "text:" + json.dumps(record), {**places}, fixture)
        else:
            info = places["site"] / ("%s-%s.dist-info" % (name.replace("-", "_"), version))
            info.mkdir(parents=True, exist_ok=True)
            (info / "METADATA").write_text("Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
            (info / "RECORD").write_text("".join("%s,,\n" % file for file in files))


def build(situation, root, options):
    """Makes the folder; returns the arguments and the environment."""
    conda, original = "conda" in situation, options.archguard
    prefix = root / "home/jane/env"
    places = {"root": root, "python": os.path.realpath(sys.executable), "prefix": prefix, "site": prefix / ("lib/python%s/site-packages" % ".".join(situation.get("python", "3.11").split(".")[:2]))}
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": str(root / "home/jane"), "USER": "jane"}
    # The loader's cache of the machine that runs the tests is hidden: the played one has none.
    environment.update({"LD_PRELOAD": str(options.fake_driver / "files/libfake_files.so.1"), "ARCHGUARD_FAKE_ROOT": str(root),
                        "ASAN_OPTIONS": "verify_asan_link_order=0"})
    machine = situation.get("machine")
    if machine is not None:
        lists = {key: [] for key in machines.LISTS}
        environment.update(machines.build({"name": "", **machines.DEFAULT, **lists, **machine}, root, options.fake_driver))
        environment["PATH"] = "/usr/bin:/bin"
    arguments = []
    if "packages" in situation or conda:
        places["site"].mkdir(parents=True)
        if not conda:
            (prefix / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\nversion = %s\n" % situation.get("python", "3.11.7"))
        write_packages(situation.get("packages", situation.get("conda")), places, options.fixture, conda)
        arguments = ["--prefix", str(prefix)]
    for path, content in situation.get("files", {}).items():
        write_file(root / path, content, places, options.fixture)
    if "program" in situation:
        options = argparse.Namespace(**{**vars(options), "archguard": pathlib.Path(fill(situation["program"], places))})
        options.archguard.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(original, options.archguard)
    for command in situation.get("commands", []):
        subprocess.run(fill(command, places), shell=True, cwd=root, check=True)
    for name, value in situation.get("env", {}).items():
        value = fill(value, places)
        if name == "LD_LIBRARY_PATH" and environment.get(name):
            value += ":" + environment[name]
        environment[name] = value
    devices = situation.get("device", [])
    for device in [devices] if isinstance(devices, str) else devices:
        arguments += ["--device", device]
    if "process" in situation:
        interpreter = fill(situation.get("interpreter", sys.executable), places)
        of_process = {name: fill(value, places) for name, value in situation.get("process_env", {}).items()}
        places["process"] = subprocess.Popen([situation.get("rename", interpreter), "-c", fill(situation["process"], places) + "\nprint('ready', flush=True)\ninput()"],
                                             executable=interpreter, env={"PATH": "/usr/bin:/bin", "HOME": str(root / "home/jane"), **of_process},
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        places["process"].stdout.readline()
        places["pid"] = places["process"].pid
    arguments += [fill(each, places) for each in situation.get("arguments", [])]
    if not situation.get("active", True):
        arguments = arguments[2:]
    return options.archguard, arguments, environment, places.get("process")


def run(situation, options):
    with tempfile.TemporaryDirectory(prefix="ag") as folder:
        program, arguments, environment, process = build(situation, pathlib.Path(folder), options)
        runs = [subprocess.run([program, "doctor", *arguments, "--format", kind], env=environment, cwd=folder,
                               input=situation.get("stdin", "").encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
                for kind in ("json", "text", "markdown")]
        if process:
            process.communicate(b"\n")
        private = [runs[2].stdout.decode("utf-8", "replace").count("jane")]
        texts = [each.stdout.decode("utf-8", "replace").replace(folder, "") for each in runs]
        return runs, texts + private


def named(finding):
    package = finding["package"]["name"] if finding["package"] else "-"
    return "%s %s %s" % (finding["id"], package, finding["rank"])


def unmet(situation, code, first, causes):
    """What differs from `expect`."""
    expect, found = situation["expect"], []
    ranks = ("certain", "likely")
    status = STATUS.get(expect, 1 if expect.count(" ") == 1 or expect.split()[-1] in ranks else situation.get("status", 0))
    if code != status:
        found.append("exit %d, not %d" % (code, status))
    if expect not in STATUS and first not in (expect, *("%s %s" % (expect, rank) for rank in ranks)):
        found.append("the first finding is '%s', not '%s'" % (first, expect))
    if expect in STATUS and causes:
        found.append("a cause where there is none: %s" % named(causes[0]))
    return found


def faults(situation, runs, texts):
    if runs[0].returncode < 0 or runs[0].returncode > 3 or not texts[0]:
        return ["exit %s: %s" % (runs[0].returncode, runs[0].stderr.decode())]
    document = json.loads(texts[0])
    found = schemas.faults(document) or []
    if len({each.returncode for each in runs}) != 1:
        found.append("the formats do not exit alike: %s" % [each.returncode for each in runs])
    first = named(document["findings"][0]) if document["findings"] else "nothing"
    causes = [each for each in document["findings"] if each["rank"] in ("certain", "likely")]
    wrong = unmet(situation, runs[0].returncode, first, causes)
    if "missed" not in situation:
        found += wrong
    elif not wrong:
        found.append("is named now: take its `missed` out")
    if bool(causes) != (document["verdict"] == "cause"):
        found.append("the verdict is %s" % document["verdict"])
    if texts[3]:
        found.append("the Markdown names the user")
    for text in situation.get("says", []):
        if text not in json.dumps(document, ensure_ascii=False) and text not in texts[1]:
            found.append("nothing says '%s'" % text)
    for text in situation.get("never", []):
        if text in texts[1]:
            found.append("the text says '%s'" % text)
    for each in causes:
        if each["id"] in situation.get("not", []):
            found.append("'%s' is named" % named(each))
        if not each["cause"] or not each["fix"] or not each["evidence"]:
            found.append("a cause without evidence or fix: %s" % each)
    if first != "nothing" and document["findings"][0]["cause"].isprintable() and document["findings"][0]["cause"] not in texts[1]:
        found.append("the text does not say the first finding")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("archguard", "fixture", "fake-driver"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--score", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = played = missed = 0
    for file in options.files:
        for situation in json.loads(file.read_text(encoding="utf-8")):
            if options.only not in situation["name"]:
                continue
            played += 1
            missed += "missed" in situation
            runs, texts = run(situation, options)
            if options.show:
                print("== %s\n%s" % (situation["name"], texts[1]))
            for fault in faults(situation, runs, texts):
                print("%s: %s: %s" % (file.name, situation["name"], fault))
                failed += 1
            sys.stdout.flush()
    score = "%d of %d" % (played - missed, played)
    if options.score and not options.only and score not in options.score.read_text(encoding="utf-8"):
        print("%s does not say %s" % (options.score, score))
        failed += 1
    rest = "each as expected" if not missed else "%d known to be missed, the others as expected" % missed
    print("%d situations, %s" % (played, "%d faults" % failed if failed else rest))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

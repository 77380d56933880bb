"""Holds all JSON that the cases lead to to docs/schema.

    schemas.py --program PATH... --fixture PATH --fake-driver FOLDER FOLDER...

Plays the cases of the folders (golden.py) with JSON as the format of each command that has one.
"""
import collections
import json
import pathlib
import shlex
import subprocess
import sys

import golden

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import schemas  # noqa: E402

# How many documents of each there are at least: fewer mean that this test looks at nothing.
LEAST = {"verify": 150, "inspect": 20, "diff": 10, "explain": 10, "requirements": 10, "devices": 10, "select": 10, "releases": 20}
PACKAGES = ("torch", "torchvision", "triton", "bitsandbytes", "xformers", "vllm", "cupy-cuda12x")
QUESTIONS = ("", "--device 6.1", "--device 8.6@12.4 --python 3.13", "--device 12.1 --device 5.0")


def as_json(command):
    """The command with JSON as its format, or nothing where it prints another one on purpose."""
    words = shlex.split(command)
    if words[1:2] == ["requirements"]:
        return command.split(" --for ")[0] + " --for json"
    if "--format" in words:
        return command if "json" in words else None
    return command + " --format json"


def document_in(lines):
    text = "\n".join(line[3:] for line in lines if line.startswith(("1|", "1\\")))
    return json.loads(text) if text.startswith('{\n  "schema": "archguard.') or text.startswith('{"schema":"archguard.') else None


def main(arguments):
    parser = golden.parser_of(__doc__)
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    options = parser.parse_args(arguments)
    seen, failures = collections.Counter(), []

    def look_at(where, document):
        if document is None:
            return
        seen[document["schema"].split(".")[1].split("/")[0]] += 1
        faults = schemas.faults(document)
        if faults is None:
            print(schemas.SKIPPED)
            sys.exit(77)
        failures.extend("%s: %s" % (where, each) for each in faults)

    def run(play, command):
        with_json = as_json(command)
        return document_in(play.run(with_json)) if with_json else None

    for folder in options.folder:
        for case in sorted(folder.glob("*.txt")):
            for number, document in golden.replay(golden.read(case)[1], options, run):
                look_at("%s, line %d" % (case.name, number), document)
    archguard = next(each for each in options.program if each.stem == "archguard")
    for package in PACKAGES:
        for question in QUESTIONS:
            command = [archguard, "releases", package, *question.split(), "--format", "json"]
            output = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
            look_at(" ".join(map(str, command[1:])), json.loads(output))

    for name, least in LEAST.items():
        if seen[name] < least:
            failures.append("only %d documents of archguard.%s" % (seen[name], name))
    for text in failures:
        print(text)
    print(", ".join("%d of %s" % (count, name) for name, count in sorted(seen.items())))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

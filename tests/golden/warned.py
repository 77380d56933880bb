"""Each warning that the report for people has stands in the reports for tools too, word for word.

    warned.py --program PATH --fixture PATH --fake-driver FOLDER FOLDER

Plays the cases of FOLDER (golden.py) with a report in SARIF beside what verify prints.
"""
import json
import pathlib
import sys

import golden

PREFIX = "1| archguard: warning: "


def run_with_report(play, command):
    """What a command prints, and the first lines of the findings in its report; no report is None."""
    report = pathlib.Path(play.folder).parent / "report.sarif"
    if command.startswith("archguard verify "):
        command = command.replace("verify ", "verify --report sarif=../report.sarif ", 1)
    lines = play.run(command)
    if not report.exists():
        return lines, None
    text = play.neutral(report.read_text(encoding="utf-8"))
    report.unlink()
    return lines, {result["message"]["text"].split("\n")[0] for result in json.loads(text)["runs"][0]["results"]}


def lost(path, options):
    """How many warnings a case prints, and those that are in no finding."""
    printed, missing = 0, []
    for number, (lines, heads) in golden.replay(golden.read(path)[1], options, run_with_report):
        for line in lines:
            if heads is not None and line.startswith(PREFIX):
                printed += 1
                if "warning: " + line[len(PREFIX):] not in heads:
                    missing.append("line %d: %s" % (number, line[3:]))
    return printed, missing


def main(arguments):
    parser = golden.parser_of(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args(arguments)
    all_printed, all_missing = 0, []
    for case in sorted(options.folder.glob("*.txt")):
        printed, missing = lost(case, options)
        all_printed += printed
        all_missing += ["%s, %s" % (case.name, each) for each in missing]
    for each in all_missing:
        print("is in no finding: " + each)
    if not all_printed:
        print("%s: no case prints a warning" % options.folder)
    elif not all_missing:
        print("%d warnings" % all_printed)
    return bool(all_missing or not all_printed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

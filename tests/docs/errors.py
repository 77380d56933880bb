"""The pages of docs/errors against what `archguard explain` says: errors.py --archguard PATH [--update] REPOSITORY

Every section has what it means, the proof, the fix and how to be sure. Behind each `<!-- explain: ID -->` stands what explain says of
that error: written by --update, else compared. Of what a section has as printed (its heading, and the inline code of its first
paragraph), explain finds that error. No error that explain knows is without a section; and the list of guide/troubleshooting.md is
that of the headings.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

PAGES = ("cuda", "pytorch", "cmake", "compilers", "driver", "archguard")  # who says it
PARTS = ("What it means", "Proof", "Fix", "To be sure")  # of each section
BLOCK = re.compile(r"(<!-- explain: (\S+) -->\n).*?(<!-- end of explain -->\n)", re.DOTALL)
LIST = re.compile(r"(<!-- list of the headings -->\n).*?(<!-- end of the list -->\n)", re.DOTALL)
COMMAND = re.compile(r"(?:^|(?<=: )|(?<=and ))((?:archguard|arch_probe|python|docker run|nvidia-smi -|nvidia-ctk|nvidia-modprobe|modprobe|pip install"
                     r"|systemctl|export|ptxas)(?!\w).*?)(?= exits | ends | lists | prints | says | shows | counts | tells | takes | on the host"
                     r"|, and |,? or |; (?!print|torchvision|cuda\.)|   \(|$)")
NAME = re.compile(r"(?<![\w`/.…-])(--gpus all|-gencode arch=\S+|-D\w+(?:='[^']*')?|--?[a-z][\w=.-]*\w|[~/]\w?[\w./*-]+\w|\w*_[\w.=/*-]*\w(?:\([^)]*\))?|__\w+__)(?![\w`])")


def marked(text):
    """Markdown of a sentence of explain: commands and names as code, and nothing else taken for marks."""
    pieces = []
    for at, piece in enumerate(COMMAND.split(text)):
        if at % 2:
            pieces.append("`%s`" % piece)
            continue
        for number, part in enumerate(NAME.split(piece)):
            pieces.append("`%s`" % part if number % 2 else re.sub(r"([*_<\[`])", r"\\\1", part))
    return "".join(pieces)


def proof(check):
    """All is the command, but what stands in parentheses behind it."""
    command, _, remark = check.partition("   ")
    return marked(command) if ", and " in command else "`%s`" % command + (remark and " " + remark)


class Explain:
    def __init__(self, program):
        self.program = program

    def __call__(self, text):
        done = subprocess.run([self.program, "explain", "--format", "json", "-"], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        return json.loads(done.stdout)["explanations"] if done.stdout else []


def lines_of(error):
    yield "**What it means:** %s." % marked(error["meaning"])
    if error["causes"]:
        yield "**Usual cause:** %s." % marked("; ".join(error["causes"]))
    yield "**Proof:** %s" % proof(error["check"])
    yield "**Fix:** %s." % marked(error["fix"])
    yield "**To be sure:** %s." % marked(error["sure"])


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def without_code(text):
    return re.sub(r"(?ms)^(```+).*?^\1\s*$", "", text)


def list_of(pages):
    parts = []
    for name, text in pages.items():
        text = without_code(text)
        parts.append("\n## [%s](../errors/%s.md)\n" % (re.search(r"(?m)^# (.*)$", text)[1], name))
        parts += ["- [%s](../errors/%s.md#%s)" % (re.sub(r"([*<\[\]])", r"\\\1", heading), name, slug(heading))
                  for heading in re.findall(r"(?m)^## (.*)$", text)]
    return "\n".join(parts) + "\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archguard", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("repository", type=pathlib.Path)
    options = parser.parse_args()
    explain, docs = Explain(options.archguard), options.repository / "docs"
    failures, explained, pages = [], set(), {}

    def block(found):
        known = explain(found[2])
        explained.add(found[2])
        if not known or known[0]["id"] != found[2]:
            failures.append("archguard explain knows no %s" % found[2])
            return found[0]
        return found[1] + "".join("- %s\n" % line for line in lines_of(known[0])) + found[3]

    wanted = {}
    for name in PAGES:
        path = docs / "errors" / (name + ".md")
        pages[name] = path.read_text(encoding="utf-8")
        wanted[path] = BLOCK.sub(block, pages[name])
        for section in re.split(r"(?m)^## ", without_code(wanted[path]))[1:]:
            if [part for part in PARTS if "- **%s:**" % part not in section]:
                failures.append("errors/%s.md: '%s' does not have each of %s" % (name, section.split("\n", 1)[0], PARTS))
        for heading, printed, number in re.findall(r"(?m)^## (.*)\n\n(Printed as .*\n\n)?<!-- explain: (\S+) -->", pages[name]):
            for text in [heading] + re.findall(r"``(.*?)``|`(.*?)`", printed):
                text = (text if isinstance(text, str) else text[0] or text[1]).replace("…", "7.5")
                found = [error["id"] for error in explain(text)]
                if number not in found and not heading.startswith("MPS"):
                    failures.append("errors/%s.md: '%s' stands under %s, and archguard explain says %s" % (name, text, number, found))
    path = docs / "guide/troubleshooting.md"
    wanted[path] = LIST.sub(lambda found: found[1] + list_of(pages) + found[2], path.read_text(encoding="utf-8"))
    sources = "".join(path.read_text(encoding="utf-8") for path in (options.repository / "src/explain").glob("*_errors.cc"))
    ids = set(re.findall(r'\{"([\w-]+)",\s+Depth::', sources))
    failures += ["docs/errors has no section of %s" % name for name in sorted(ids - explained)]
    for path, text in wanted.items():
        if options.update:
            path.write_text(text, encoding="utf-8")
        elif text != path.read_text(encoding="utf-8"):
            failures.append("%s is not what the program says; tests/docs/errors.py --update writes it" % path.name)
    print("\n".join(failures) or "%d errors on %d pages" % (len(explained), len(pages)))
    sys.exit(bool(failures) or not explained)


main()

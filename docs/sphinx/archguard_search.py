"""What the search looks through: every section of every page by itself, with its code and its numbers.

Sphinx's own index drops numbers, takes a page as a whole and wants every word, so that a pasted error finds nothing. This writes
_static/sections.js instead, which static/search.js ranks. A section: address, page, heading, text, and as literals the heading
and the inline code of its first paragraph, which on the pages of docs/errors is what a program prints; and how much it counts.
"""
import json
import os

from docutils import nodes

WEIGHTS = {"errors": 1.5, "guide": 1.1, "measured": 0.5, "reference/keywords": 0.8}  # by folder or page; 1 elsewhere
MOST = 6000  # letters of a section: tables of measurements are long


def own_text(section):
    """The text of a section without that of those below it."""
    parts = []
    for child in section.children:
        if isinstance(child, nodes.section):
            continue
        if not isinstance(child, (nodes.title, nodes.comment, nodes.raw)):
            parts.append(child.astext())
    return " ".join(" ".join(parts).split())[:MOST]


def literals(section, title):
    found = [title]
    first = next((child for child in section.children if isinstance(child, nodes.paragraph)), None)
    if first is not None:
        found += [code.astext() for code in first.findall(nodes.literal)]
    return found


def sections_of(app):
    for page in sorted(app.env.found_docs):
        doctree = app.env.get_doctree(page)
        address = app.builder.get_target_uri(page)
        name = app.env.titles[page].astext() if page in app.env.titles else page
        weight = WEIGHTS.get(page, WEIGHTS.get(page.split("/")[0], 1))
        for section in doctree.findall(nodes.section):
            title = section[0].astext()
            anchor = "" if isinstance(section.parent, nodes.document) else "#" + section["ids"][0]
            said = literals(section, title) if page.startswith("errors/") and anchor else [title]
            yield [address + anchor, name, title, own_text(section), said, weight]


def write(app, failure):
    if failure or app.builder.name != "html":
        return
    path = os.path.join(app.outdir, "_static", "sections.js")
    with open(path, "w", encoding="utf-8") as file:
        file.write("const archguardSections = %s;\n" % json.dumps(list(sections_of(app)), ensure_ascii=False))


def setup(app):
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

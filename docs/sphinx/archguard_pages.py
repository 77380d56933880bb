"""What Sphinx lacks for these pages: the documentation blocks of CMake files, and links to what they describe.

``.. cmake-module:: FILE`` puts the block between ``#[===[.rst:`` and ``#]===]`` of a CMake file into the page. Each section
there that is named like a command, and each term of a definition list that is the name of a variable, becomes a target:
inline code that is exactly that name, on any page, links to it. A Markdown link to a file outside of docs/ becomes plain
text, for the built pages do not hold it; where there is no such file, Sphinx's own warning stands.
"""
import os
import re

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode, nested_parse_with_titles

BLOCK = re.compile(r"^#\[(=*)\[\.rst:\n(.*?)^#\]\1\]", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"archguard_[a-z_]+|ARCHGUARD_[A-Z_]+|ArchGuardInject")


class CMakeModule(SphinxDirective):
    required_arguments = 1

    def run(self):
        _, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        block = BLOCK.search(text)
        if not block:
            raise self.error("%s has no documentation block" % path)
        first = text[:block.start(2)].count("\n")
        lines = block.group(2).splitlines()
        content = StringList(lines, items=[(path, first + i) for i in range(len(lines))])
        node = nodes.Element()
        node.document = self.state.document
        nested_parse_with_titles(self.state, content, node)
        return node.children


def targets(app):
    if not hasattr(app.env, "archguard_targets"):
        app.env.archguard_targets = {}  # name: (page, anchor)
    return app.env.archguard_targets


def forget(app, _env, page):
    for name in [name for name, (where, _) in targets(app).items() if where == page]:
        del targets(app)[name]


def collect(app, doctree):
    page = app.env.docname
    if page != "reference/cmake":
        return
    for section in doctree.findall(nodes.section):
        name = section[0].astext()
        if NAME.fullmatch(name):
            targets(app)[name] = (page, section["ids"][0])
    for term in doctree.findall(nodes.term):
        name = term.astext()
        if NAME.fullmatch(name) and isinstance(term[0], nodes.literal):
            if name in targets(app):
                continue  # a command in an overview
            anchor = "variable-" + nodes.make_id(name)
            term["ids"].append(anchor)
            targets(app)[name] = (page, anchor)


def link(app, doctree, page):
    for code in list(doctree.findall(nodes.literal)):
        name = re.sub(r"\(\)$", "", code.astext())
        own = isinstance(code.parent, nodes.term) and name.isupper()
        inside = own or isinstance(code.parent, (nodes.reference, nodes.title))
        if inside or name not in targets(app):
            continue
        where, anchor = targets(app)[name]
        code.replace_self(make_refnode(app.builder, page, where, anchor, code.deepcopy()))


def outside(app, _env, node, content):
    path = node.get("reftarget", "").split("#")[0]
    full = os.path.normpath(os.path.join(os.path.dirname(app.env.doc2path(node["refdoc"])), path))
    is_outside = os.path.relpath(full, app.srcdir).startswith("..")
    if path and is_outside and os.path.exists(full):
        return nodes.inline("", "", *content.children) if content.children else content
    return None


def setup(app):
    app.add_directive("cmake-module", CMakeModule)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-read", collect)
    app.connect("doctree-resolved", link)
    app.connect("missing-reference", outside)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}

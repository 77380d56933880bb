"""Pictures drawn from text, in the colours of the page, and what stands in a page's head.

``{matrix}`` draws the table of a report: a line of devices, then one line per file with S (SASS), P (compiled from PTX), D (held
as data) or the number of an error in each column; columns are separated by ``|``. ``{flow}`` draws the way of the data: one
line per station, ``name: what happens there``, with ``->`` in front of all but the first.
"""
import html

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

KINDS = {"S": ("sass", "SASS: code made for this GPU"), "P": ("ptx", "PTX, which the driver compiles for this GPU"),
         "D": ("data", "images held as data")}


class Picture(SphinxDirective):
    has_content = True

    def run(self):
        return [nodes.raw("", self.draw([line.strip() for line in self.content if line.strip()]), format="html")]


class Matrix(Picture):
    def draw(self, lines):
        head, *rows = [[cell.strip() for cell in line.split("|")] for line in lines]
        parts = ['<div class="ag-matrix" role="region" aria-label="report" tabindex="0"><table><thead><tr>']
        parts += ['<th scope="col">%s</th>' % html.escape(cell) for cell in head]
        parts.append("</tr></thead><tbody>")
        seen = {}
        for name, *cells in rows:
            parts.append('<tr><th scope="row">%s</th>' % html.escape(name))
            for cell in cells:
                kind, meaning = KINDS.get(cell, ("error", "error %s: it does not run" % cell))
                seen[cell] = (kind, meaning)
                parts.append('<td class="ag-%s" title="%s">%s</td>' % (kind, html.escape(meaning), html.escape(cell)))
            parts.append("</tr>")
        parts.append('</tbody></table></div><p class="ag-legend">')
        parts += ['<span><b class="ag-%s">%s</b> %s</span> ' % (kind, html.escape(cell), html.escape(meaning))
                  for cell, (kind, meaning) in seen.items()]
        return "".join(parts) + "</p>"


class Flow(Picture):
    def draw(self, lines):
        stations = [line[2:].strip() if line.startswith("->") else line for line in lines]
        parts = []
        for station in stations:
            name, _, what = station.partition(": ")
            parts.append("<li><b>%s</b><span>%s</span></li>" % (html.escape(name), html.escape(what)))
        return '<ol class="ag-flow">%s</ol>' % "".join(parts)


def describe(app, page, _template, context, doctree):
    """The page's first paragraph is what a search engine shows of it."""
    paragraph = next(iter(doctree.findall(nodes.paragraph)), None) if doctree else None
    if paragraph is not None:
        text = " ".join(paragraph.astext().split())
        context["metatags"] = (context.get("metatags") or "") + '<meta name="description" content="%s">' % html.escape(text[:300])


def setup(app):
    app.add_directive("matrix", Matrix)
    app.add_directive("flow", Flow)
    app.connect("html-page-context", describe)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""The built pages in Chromium: browse.py HTML PASTED

Each text of PASTED (JSON: text, address) is pasted into the search of the front page, and the section at that address is the first
that it finds. On a page of each kind, wide and on a phone, light and dark: every text has a contrast of at least 4.5 to what it
stands on, nothing is wider than the screen, what is too wide for its box scrolls. The button changes the colours, and a click on
the button of a code box copies the command without its output.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import browser

CONTRAST = 4.5
KINDS = ("index", "guide/troubleshooting", "errors/cuda", "guide/cmake", "reference/cmake", "reference/archguard", "measured/releases", "search")

# The texts with too little contrast, each with the ratio.
PALE = r"""(() => {
  const channels = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = (top, below) => { const a = top.length > 3 ? top[3] : 1; return [0, 1, 2].map((i) => top[i] * a + below[i] * (1 - a)); };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(channels(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const found = new Set();
  const look = (element, color, text) => {
    const back = behind(element), [a, b] = [light(over(channels(color), back)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < LEAST) found.add(ratio.toFixed(2) + " " + element.tagName + "." + element.className + ": " + text.trim().slice(0, 40));
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, style, noscript, svg, .headerlink, .visually-hidden, option")) continue;
    if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    look(element, getComputedStyle(element).color, walker.currentNode.data);
  }
  for (const field of document.querySelectorAll("input[placeholder]")) look(field, getComputedStyle(field, "::placeholder").color, field.placeholder);
  return [...found];
})()""".replace("LEAST", str(CONTRAST))

# Boxes that are wider inside than out, and do not scroll.
CUT = r"""[...document.querySelectorAll("article pre, article table, article ol.ag-flow")].filter((box) => {
  for (let at = box; at.tagName !== "ARTICLE"; at = at.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return false;
  return box.getBoundingClientRect().right > document.querySelector("article").getBoundingClientRect().right + 1 || box.scrollWidth > box.clientWidth + 1;
}).map((box) => box.tagName + ": " + box.innerText.trim().slice(0, 40))"""


class Site:
    def __init__(self, page, html):
        self.page, self.html, self.failures = page, html, []

    def open(self, name, query=""):
        self.page.events.clear()
        self.page.ask("Page.navigate", url=(self.html / (name + ".html")).as_uri() + query)
        self.wait("document.readyState === 'complete' && location.pathname.endsWith(%s)" % json.dumps(name + ".html"))

    def wait(self, condition):
        begin = time.monotonic()
        while not self.holds(condition):
            if time.monotonic() - begin > 30:
                raise SystemExit("failed: never %s: %s" % (condition, self.page.faults()))
            time.sleep(0.01)

    def holds(self, condition):
        try:
            return self.page.tell("!!(%s)" % condition)
        except SystemExit as failure:
            if "navigated" in str(failure):  # the page that was asked is gone
                return False
            raise

    def check(self, what, fine):
        if not fine:
            self.failures.append(what)


def paste(site, text, wanted):
    """What a reader does: a click into the search, the text, Enter."""
    site.open("index")
    site.page.click("input.sidebar-search")
    site.page.write(text)
    site.page.key("Enter")
    site.wait("document.body && document.body.dataset.ready === 'yes'")
    found = site.page.tell("[...document.querySelectorAll('#ag-results a')].slice(0, 3).map((link) => link.href)")
    found = [address.split("/html/", 1)[-1] for address in found]
    site.check("%r finds %s, not %s first" % (text, found, wanted), found[:1] == [wanted])
    site.check("%r: %s is no section" % (text, wanted), not found or found[0] != wanted or anchored(site, wanted))


def anchored(site, address):
    path, _, anchor = address.partition("#")
    return 'id="%s"' % anchor in (site.html / path).read_text(encoding="utf-8")


def look(site, name):
    for width, height, phone in ((1280, 900, False), (390, 844, True)):
        for scheme in ("light", "dark"):
            site.page.size(width, height, phone)
            site.page.scheme(scheme)
            site.open(name, "?q=no+kernel+image+209" if name == "search" else "")
            where = "%s, %d wide, %s" % (name, width, scheme)
            for pale in site.page.tell(PALE):
                site.check("%s: contrast %s" % (where, pale), False)
            for cut in site.page.tell(CUT):
                site.check("%s: does not scroll: %s" % (where, cut), False)
            wide = site.page.tell("document.documentElement.scrollWidth")
            site.check("%s: %d wide" % (where, wide), wide <= width)
            dark = site.page.tell("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((c) => c < 64)")
            site.check("%s: the ground is %s" % (where, "dark" if dark else "light"), dark == (scheme == "dark"))
            faults = [fault for fault in site.page.faults() if "scripts/furo.js" not in json.dumps(fault)]  # Debian's: theme.js
            site.check("%s: %s" % (where, faults), not faults)


def use(site):
    site.page.size(1280, 900)
    site.page.scheme("light")
    site.open("errors/cuda")
    site.check("a description", site.page.tell("document.querySelector('meta[name=description]').content.length > 40"))
    site.check("an icon", site.page.tell("document.querySelector('link[rel*=icon]').href.endsWith('.svg')"))
    site.check("what is on this page", site.page.tell("document.querySelectorAll('.toc-tree a').length > 10"))
    for theme in ("light", "dark", "auto"):
        site.page.click(".theme-toggle-content .theme-toggle")
        site.check("a click makes it " + theme, site.page.tell("document.body.dataset.theme") == theme)
    site.page.tell("document.addEventListener('copy', () => { window.copied = document.activeElement.value || getSelection().toString(); }, true)")
    site.wait("document.querySelector('.highlight-console button.copybtn')")
    site.page.tell("document.querySelector('.highlight-console button.copybtn').click()")
    copied = site.page.tell("window.copied || ''")
    site.check("the button copies %r" % copied, copied == "nvcc -arch=sm_80 -o errors errors.cu && ./errors")


    # A link leads to a heading that can be seen, and the list on the right knows it.
    for width, height, phone in ((1500, 900, False), (390, 844, True)):
        site.page.size(width, height, phone)
        site.open("errors/pytorch")
        site.page.tell("location.hash = 'torch-not-compiled-with-cuda-enabled'")
        site.wait("(() => { const top = document.querySelector('section:target h2').getBoundingClientRect().top; "
                  "return top >= document.querySelector('.mobile-header').getBoundingClientRect().bottom && top >= 0 && top < 200; })()")
        site.wait("document.querySelector('.toc-tree .scroll-current a')?.hash === '#torch-not-compiled-with-cuda-enabled'")


def main():
    html, pasted = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
    program = browser.program_or_skip()
    if not (html / "_static/search.js").exists() or not (html / "_static/styles/furo.css").exists():
        print("SKIPPED: no pages with Furo in %s; Debian: apt install furo python3-sphinx-copybutton" % html)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as profile:
        site = Site(browser.Browser(program, profile), html.resolve())
        try:
            site.page.size(1280, 900)
            for text, wanted in pasted.items():
                paste(site, text, wanted)
            use(site)
            for name in KINDS:
                look(site, name)
        finally:
            site.page.close()
    print("\n".join(site.failures) or "%d texts, each finds its section first; %d kinds of pages" % (len(pasted), len(KINDS)))
    sys.exit(bool(site.failures) or not pasted)


main()

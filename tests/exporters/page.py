"""Opens the report as a page in Chromium, without a network, and uses it: clicks, keys, search, both colour schemes, a phone.

With --shots PREFIX screenshots of it are written: PREFIX-light.png and so on.
"""
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import browser
import play

SLOWEST = 2.0  # seconds until 2,000 files × 40 classes can be used


def large(text, files, classes):
    """The page with the data of so many files, of which no two get the same."""
    begin = text.index('id="data">') + len('id="data">')
    end = text.index("</script>", begin)
    data = json.loads(text[begin:end])
    cells = len(data["cells"])
    data["classes"] = [{"title": "%d.0@%d" % (i % 13, i), "text": "GPU %d" % i} for i in range(classes)]
    data["files"] = ["lib/some/folder/name/libkernels_%04d.so" % i for i in range(files)]
    data["rows"] = [{"files": [i], "cells": [(i * 7 + (i >> c % 11)) % cells for c in range(classes)]} for i in range(files)]
    data["of"] = [0] * (files * classes)
    data["findings"] = [dict(data["findings"][0], files=list(range(i * 10, i * 10 + 10)), classes=[i % classes])
                        for i in range(files // 10)]
    return text[:begin] + json.dumps(data) + text[end:]


def use(test, page, shots):
    shot = lambda name: page.shot(shots and "%s-%s.png" % (shots, name))
    page.size(1200, 900)
    page.scheme("light")
    page.open(test.folder / "out.html")
    test.check("page: it asks for %s" % page.requests(), all(url.startswith("file:") for url in page.requests()) and len(page.requests()) == 1)
    test.check("page: a name became script", page.tell("window.hacked === undefined") and page.tell("document.images.length") == 0)
    rows = page.tell("document.querySelectorAll('#rows tr').length")
    test.check("page: rows: %s" % rows, rows == 4)
    shot("light")

    page.click("#rows tr:first-child td:nth-of-type(1)")
    opened = page.tell("document.getElementById('panel').open && document.getElementById('content').innerText")
    test.check("page: a cell opens cause, kernels and fix: %s" % opened,
               bool(opened) and "cause" in opened and "fix" in opened and "kernel '" in opened and "209" in opened)
    shot("cell")
    page.key("Escape")
    test.check("page: Escape closes it", not page.tell("document.getElementById('panel').open"))
    test.check("page: what was clicked has the focus", page.tell("document.activeElement.dataset.column") == "1")

    page.key("ArrowRight")
    page.key("ArrowDown")
    where = page.tell("document.activeElement.dataset.row + ',' + document.activeElement.dataset.column")
    test.check("page: the arrow keys lead to %s" % where, where == "1,2")
    page.key("End")
    test.check("page: End", page.tell("document.activeElement.dataset.column") == "4")
    page.key("Home")
    page.key("Enter")
    test.check("page: Enter opens a row", page.tell("document.getElementById('panel').open"))
    page.click("#close")
    test.check("page: a button closes it", not page.tell("document.getElementById('panel').open"))
    test.check("page: one place in the table can be tabbed to", page.tell("document.querySelectorAll('#rows [tabindex=\"0\"]').length") == 1)

    bars = page.tell("[...document.querySelectorAll('#archs .weighed')].map(e => e.innerText.split('\\n')[0])")
    test.check("page: bars of archs: %s" % bars, bars == ["compute_90", "sm_75", "sm_80", "sm_90"])
    widths = page.tell("[...document.querySelectorAll('#archs .bar')].map(e => [e.offsetWidth, e.lastChild.offsetWidth])")
    sizes = page.tell("JSON.parse(document.getElementById('data').textContent).sizes.archs.map(e => e.stored)")
    test.check("page: widths %s of bars for %s" % (widths, sizes),
               all(abs(width[1] - width[0] * size / max(sizes)) <= 1.5 for width, size in zip(widths, sizes)) and widths[0][0] > 100)
    page.tell("document.querySelector('#kernels summary').focus()")
    page.key("Enter")
    told = page.tell("document.querySelector('#kernels details[open] dl').innerText")
    test.check("page: Enter opens a kernel: %s" % told, "file" in told and "size" in told)
    page.tell("document.querySelector('#weight').scrollIntoView()")
    shot("weight")

    page.click("#search")
    page.write("LIB03")
    time.sleep(0.3)
    told = page.tell("document.getElementById('count').innerText + '|' + document.querySelector('#rows th').innerText")
    test.check("page: what a search finds: %s" % told, told == "1 file in 1 row|b/lib03.so")
    page.tell("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'))")
    time.sleep(0.3)
    page.click("#failing")
    test.check("page: only what fails", page.tell("document.querySelectorAll('#rows tr').length") == 3)
    test.check("page: a name became script", page.tell("window.hacked === undefined") and not page.faults())

    page.scheme("dark")
    dark = page.tell("getComputedStyle(document.body).backgroundColor")
    test.check("page: dark: %s" % dark, dark == "rgb(20, 23, 28)")
    shot("dark")
    page.scheme("light")
    page.size(360, 740, phone=True)
    page.open(test.folder / "out.html")
    wide = page.tell("document.documentElement.scrollWidth")
    test.check("page: wider than a phone: %s" % wide, wide <= 360)
    shot("phone")
    page.click("#rows tr:first-child td:nth-of-type(1)")
    test.check("page: a cell opens on a phone", page.tell("document.getElementById('panel').getBoundingClientRect().right <= 360"))
    shot("phone-cell")
    page.key("Escape")
    page.tell("document.querySelector('#weight').scrollIntoView()")
    shot("phone-weight")

    page.size(1200, 900)
    many = test.folder / "many.html"
    many.write_text(large((test.folder / "out.html").read_text(), 2000, 40))
    seconds = min(page.open(many) for _ in range(3))
    print("2,000 files × 40 classes (%.1f MB) can be used after %.2f s" % (many.stat().st_size / 1e6, seconds))
    test.check("page: it takes %.2f s to open" % seconds, seconds < SLOWEST)
    made = page.tell("document.querySelectorAll('#rows tr').length")
    test.check("page: all rows are made at once", made <= 300)
    page.click("#rows td")
    page.key("Escape")
    page.tell("document.getElementById('frame').scrollTop = 1e6")
    for _ in range(100):
        if page.tell("document.querySelectorAll('#rows tr').length") > made:
            break
        time.sleep(0.05)
    test.check("page: no more rows come", page.tell("document.querySelectorAll('#rows tr').length") > made)
    page.click("#search")
    page.write("kernels_1999")
    time.sleep(0.5)
    test.check("page: what a search finds of many", page.tell("document.querySelector('#rows th').innerText").endswith("_1999.so"))
    shot("many")


def main():
    shots = None
    if "--shots" in sys.argv:
        at = sys.argv.index("--shots")
        shots = os.path.abspath(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    program = browser.program_or_skip()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        test = play.Play(folder)
        _, _, error = test.verify("--fleet", "fleet.csv", *test.files(), "--report", "html=out.html")
        test.check("verify: " + error, (test.folder / "out.html").exists())
        page = browser.Browser(program, profile)
        try:
            use(test, page, shots)
        finally:
            page.close()
        test.end()


main()

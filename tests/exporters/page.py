"""Opens the report as a page in Chromium, without a network, and uses it: clicks, keys, search, both colour schemes, a phone.

With --shots PREFIX screenshots of it are written: PREFIX-light.png and so on.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import play

SLOWEST = 2.0  # seconds until 2,000 files × 40 classes can be used


class Browser:
    """Chromium's own protocol over its pipe: messages end with a NUL."""

    def __init__(self, program, folder):
        to_read, self.to = os.pipe()
        self.read, to_write = os.pipe()

        def take():  # descriptors 3 and 4 of the browser
            os.dup2(to_read, 103)
            os.dup2(to_write, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--no-first-run", "--disable-extensions", "--user-data-dir=%s" % folder, "about:blank"],
            close_fds=False, preexec_fn=take, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = next(each for each in self.ask("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.ask(domain + ".enable")

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                got = os.read(self.read, 1 << 20)
                if not got:
                    raise SystemExit("failed: the browser ended")
                self.buffer += got
            text, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit("failed: %s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Seconds until the page says that it is ready."""
        self.events.clear()
        begin = time.monotonic()
        self.ask("Page.navigate", url=pathlib.Path(path).as_uri())
        while self.tell("document.readyState === 'complete' && !!document.body && document.body.dataset.ready || ''") != "yes":
            if time.monotonic() - begin > 60:
                raise SystemExit("failed: the page is never ready: %s" % self.faults())
            time.sleep(0.01)
        return time.monotonic() - begin

    def tell(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise SystemExit("failed: %s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def faults(self):
        return [event for event in self.events if event.get("method") in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening")]

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def click(self, selector):
        box = self.tell("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center', inline: 'center'}); "
                        "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()" % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def key(self, name):
        code = {"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40, "End": 35, "Home": 36}[name]
        more = {"text": "\r"} if name == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **more)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def write(self, text):
        self.ask("Input.insertText", text=text)

    def size(self, width, height, phone=False):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def scheme(self, name):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def shot(self, path):
        picture = base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])
        if path:
            pathlib.Path(path).write_bytes(picture)

    def close(self):
        try:
            self.ask("Browser.close")
            self.process.wait(10)
        except (SystemExit, OSError, subprocess.TimeoutExpired):
            self.process.kill()
        self.process.wait()


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
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("SKIPPED: no Chromium (Debian: apt-get install chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        test = play.Play(folder)
        _, _, error = test.verify("--fleet", "fleet.csv", *test.files(), "--report", "html=out.html")
        test.check("verify: " + error, (test.folder / "out.html").exists())
        page = Browser(program, profile)
        try:
            use(test, page, shots)
        finally:
            page.close()
        test.end()


main()

"""Chromium without a window, driven by its own protocol: clicks, keys, texts, both colour schemes, a phone."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time


def program_or_skip():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        print("SKIPPED: no Chromium (Debian: apt-get install chromium)")
        sys.exit(77)
    return program


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

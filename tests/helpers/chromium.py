"""A real browser for tests: Chromium, spoken to over its own debugging pipe.

Chromium reads commands from descriptor 3 and writes answers and events to descriptor 4, as JSON
that ends in a zero byte. Nothing needs to be installed but Chromium itself.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
LAUNCHER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 60


def executable():
    """Where Chromium is, if it is anywhere."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return None


class Chromium:
    """A browser with one tab that notes errors and requests."""

    def __init__(self, profile):
        ends = []
        for pair in (os.pipe(), os.pipe()):
            # Away from 3 and 4, which the child will give them.
            ends += [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in pair]
            for end in pair:
                os.close(end)
        to_read, self._write, self._read, to_write = ends
        self._process = subprocess.Popen(
            [
                sys.executable, "-c", LAUNCHER, str(to_read), str(to_write), executable(),
                *FLAGS, f"--user-data-dir={profile}", "about:blank",
            ],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._last, self._session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self._session = None
            self.call("Browser.close")
        finally:
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            os.close(self._write)
            os.close(self._read)

    def call(self, method, **arguments):
        """Give a command and wait for its answer; events that come before it are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": arguments}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, until - time.monotonic()))
            assert ready, "Chromium does not answer"
            read = os.read(self._read, 2**16)
            assert read, "Chromium has ended"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path):
        """Open a file and wait until it has loaded."""
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def run(self, script):
        """The value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script, value):
        """Wait until an expression has a value: what a click leads to may take a moment."""
        end = time.monotonic() + PATIENCE
        while (found := self.run(script)) != value:
            assert time.monotonic() < end, f"{script} is {found!r}, not {value!r}"
            time.sleep(0.02)

    def click(self, selector):
        """Press and release the mouse over the middle of an element, or of its first line."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        x, y = self.run(
            f"(() => {{ const r = {element}.getClientRects()[0];"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        with self._taken_in("click"):
            for kind in ("mousePressed", "mouseReleased"):
                self.call(
                    "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
                )

    @contextmanager
    def _taken_in(self, event):
        """Wait until the page has seen an event: a command is answered before that."""
        self.run(
            f"window.awaited = false; window.addEventListener('{event}', "
            "() => setTimeout(() => { window.awaited = true; }), {capture: true, once: true})"
        )
        yield
        self.until("window.awaited", True)

    def type(self, text):
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def press(self, key, text=None):
        """Press a key."""
        codes = {
            "Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
            "ArrowDown": 40, "+": 187, "-": 189, "0": 48,
        }  # fmt: skip
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        with self._taken_in("keyup"):
            for kind in ("keyDown", "keyUp"):
                extra = {"text": text} if text and kind == "keyDown" else {}
                self.call("Input.dispatchKeyEvent", type=kind, **common, **extra)

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False,
        )  # fmt: skip

    def screenshot(self, path, whole=False):
        """What is to be seen, as a PNG."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def pdf(self):
        """The page as it prints."""
        found = self.call("Page.printToPDF", printBackground=False)
        return base64.b64decode(found["data"])

    def processor_time(self):
        """Seconds that the page's thread has worked for until now."""
        self.call("Performance.enable", timeDomain="threadTicks")
        found = self.call("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in found if each["name"] == "ThreadTime")

    def requests(self):
        """Every address that was asked for, but for what is inside the page."""
        asked = [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith("data:")]

    def errors(self):
        """What went wrong in the page, in its console or in its scripts."""
        return [
            event["params"]
            for event in self.events
            if event["method"] in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening")
            or (
                event["method"] == "Runtime.consoleAPICalled"
                and event["params"]["type"] in ("error", "warning", "assert")
            )
            or (
                event["method"] == "Log.entryAdded"
                and event["params"]["entry"]["level"] in ("error", "warning")
            )
        ]


in_a_browser = pytest.mark.skipif(
    executable() is None, reason="no chromium found; apt-get install chromium"
)

"""A real browser: headless Chromium, driven over the DevTools protocol on two pipes.

    with Browser(tmp_path) as browser:
        page = browser.open("http://127.0.0.1:…/")
        page.press("/")
        page.until("document.activeElement.id === 'search'")

What a page complained about (errors, violations of its policy) is in `page.complaints`, what it asked for in
`page.requested`.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import pytest

DEADLINE = 20.0

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-default-apps"),
    *("--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb"),
    "--remote-debugging-pipe",
)

# The browser reads descriptor 3 and writes 4, whatever numbers the pipes have here.
_LAUNCH = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(reads, 3); os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

_KEYS = {
    "Enter": ("Enter", "Enter", 13, "\r"),
    "Tab": ("Tab", "Tab", 9, ""),
    "Escape": ("Escape", "Escape", 27, ""),
    "Space": (" ", "Space", 32, " "),
    "ArrowDown": ("ArrowDown", "ArrowDown", 40, ""),
}


def chromium() -> str:
    """The program; skips where it is not installed."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium here (apt-get install chromium)")


class Browser:
    """Closed at the end of the `with` block; its profile is in `folder`."""

    def __init__(self, folder: Path) -> None:
        program = chromium()
        theirs_in, self._sink = os.pipe()
        self._source, theirs_out = os.pipe()
        self._log = (folder / "chromium.log").open("wb")
        launch = [sys.executable, "-c", _LAUNCH, str(theirs_in), str(theirs_out)]
        self._process = subprocess.Popen(
            [*launch, program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._ids = itertools.count(1)
        self._begun = b""
        self._pages: dict[str, Page] = {}
        self._answers: dict[int, dict[str, Any]] = {}

    def open(self, url: str = "about:blank", *, width: int = 1100, height: int = 800, dark: bool = False) -> Page:
        """A new page of that size."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.prefer(dark=dark)
        if url != "about:blank":
            page.go(url)
        return page

    def call(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        """The result of a command."""
        ident = next(self._ids)
        message: dict[str, Any] = {"id": ident, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self._sink, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + DEADLINE
        while ident not in self._answers:
            self.pump(end - time.monotonic())
            assert time.monotonic() < end, f"no answer to {method}: {self.log}"
        answer = self._answers.pop(ident)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def pump(self, seconds: float) -> None:
        """Take what comes within so many seconds, returning at the first piece."""
        if not select.select([self._source], [], [], max(seconds, 0))[0]:
            return
        data = os.read(self._source, 1 << 20)
        assert data, f"the browser has ended: {self.log}"
        *whole, self._begun = (self._begun + data).split(b"\0")
        for each in whole:
            message = json.loads(each)
            if "id" in message:
                self._answers[message["id"]] = message
            elif message.get("sessionId") in self._pages:
                self._pages[message["sessionId"]].take(message["method"], message["params"])

    @property
    def log(self) -> str:
        """What the browser said, its end."""
        self._log.flush()
        return Path(self._log.name).read_text("utf-8", "replace")[-2000:]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._log.close()
        os.close(self._sink)
        os.close(self._source)


class Page:
    """A tab."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser = browser
        self._session = session
        self._target = target
        self.complaints: list[str] = []
        self.requested: list[str] = []
        self._loaded = False

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command to this page."""
        return self._browser.call(method, params, self._session)

    def take(self, method: str, params: dict[str, Any]) -> None:
        """An event of the browser."""
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{params['entry']['text']} ({params['entry'].get('url', '')})")

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", {"targetId": self._target})

    def go(self, url: str) -> None:
        """Load a page to its end."""
        self._loaded = False
        result = self.call("Page.navigate", url=url)
        assert "errorText" not in result, f"{url}: {result['errorText']}"
        end = time.monotonic() + DEADLINE
        while not self._loaded:
            assert time.monotonic() < end, f"{url} is still loading"
            self._browser.pump(0.1)

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript comes to."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{expression}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def until(self, expression: str, deadline: float = DEADLINE) -> Any:
        """Wait until an expression is true; its value."""
        end = time.monotonic() + deadline
        while True:
            try:
                if found := self.value(expression):
                    return found
            except AssertionError:
                if time.monotonic() > end:
                    raise  # else it is between two pages
            if time.monotonic() > end:
                raise AssertionError(f"not within {deadline} s: {expression}\n{self.text}")
            self._browser.pump(0.02)

    @property
    def text(self) -> str:
        """What one reads on it."""
        return str(self.value("document.body?.innerText ?? ''"))

    def press(self, key: str) -> None:
        """Press a key: a character, or a name of `_KEYS`."""
        name, code, number, text = _KEYS.get(key) or (key, "", ord(key.upper()), key)
        about = {"key": name, "code": code, "windowsVirtualKeyCode": number}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Type a text, key by key."""
        for character in text:
            self.press("Space" if character == " " else character)

    def resize(self, width: int, height: int = 800, *, mobile: bool = False, scale: float = 1) -> None:
        """Another size of the window."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile
        )

    def prefer(self, *, dark: bool) -> None:
        """What the person has set for their system."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.call("Emulation.setEmulatedMedia", features=[scheme, still])

    def screenshot(self, path: str | os.PathLike[str], *, whole: bool = False) -> None:
        """A picture of what is in sight, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))


def unfold(page: Page) -> None:
    """Open all folds."""
    page.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")

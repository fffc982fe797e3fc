"""A headless Chromium that is steered through a pipe: widths, keys, and what it says."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
BROWSER = pytest.mark.skipif(
    CHROMIUM is None, reason="not tested: what a browser makes of the page (needs chromium)"
)
#: Seconds in which a page has to be there.
_PATIENCE = 120.0
_KEYS = {"Tab": 9, "Enter": 13, "Space": 32, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36}
_TEXTS = {"Enter": "\r", "Space": " "}

# Elements that are seen and have a text of their own.
_TEXTS_OF_PAGE = """[...document.querySelectorAll("body *:not(script):not(style)")].filter((each) =>
  each.checkVisibility() && [...each.childNodes].some((node) =>
    node.nodeType === Node.TEXT_NODE && node.textContent.trim()) && each.localName !== "title")"""
#: Texts of less than 11 pixels as they are shown, within scaled drawings as well.
SMALL = f"""{_TEXTS_OF_PAGE}.filter((each) => {{
  const drawing = each.ownerSVGElement && each.ownerSVGElement.getScreenCTM();
  return parseFloat(getComputedStyle(each).fontSize) * (drawing ? drawing.a : 1) < 10.9;
}}).map((each) => each.textContent)"""
#: Pairs of texts of a drawing that lie on each other.
OVERLAID = """[...document.querySelectorAll("svg")].flatMap((drawing) => {
  const texts = [...drawing.querySelectorAll("text")].filter((each) =>
    each.textContent.trim() && each.checkVisibility({ opacityProperty: true }));
  const boxes = texts.map((each) => each.getBoundingClientRect());
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1
    || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
  return boxes.flatMap((box, at) => boxes.slice(at + 1).map((other, further) =>
    apart(box, other) ? null : `${texts[at].textContent} / ${texts[at + 1 + further].textContent}`))
    .filter((pair) => pair !== null);
})"""
#: Toolbars of plots that a text of the same plot lies under.
COVERED = """[...document.querySelectorAll(".modebar-group")].filter((bar) => {
  const over = bar.getBoundingClientRect();
  return [...bar.closest(".plot").querySelectorAll("svg text")].some((each) => {
    const box = each.getBoundingClientRect();
    return box.width && box.right > over.left && box.left < over.right
      && box.bottom > over.top && box.top < over.bottom;
  });
}).length"""
#: What keys reach, in the order of the page.
CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, [tabindex='0'], pre")]
  .filter((each) => each.checkVisibility() && !each.disabled)"""
#: Whether the element that has the focus shows it.
FOCUS_IS_SEEN = """(() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
})()"""


class Browser:
    """One tab. `said` is what the console said, `asked` the addresses that the page asked for."""

    def __init__(self, to: int, answers: int) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self._to, self._answers = to, answers
        self._rest, self._number, self._session = b"", 0, ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser for something, and note what it tells meanwhile."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], _PATIENCE)
            assert ready, f"the browser says nothing for {_PATIENCE:g} s"
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser has ended"
            self._rest += read
        first, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(first))

    def _note(self, event: Mapping[str, Any]) -> None:
        told, name = event.get("params", {}), event.get("method")
        if name == "Runtime.consoleAPICalled":
            self.said += [str(each.get("value", each)) for each in told["args"]]
        elif name == "Runtime.exceptionThrown":
            self.said.append(str(told["exceptionDetails"]))
        elif name == "Log.entryAdded":
            self.said.append(told["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.asked.append(told["request"]["url"])

    def open(self, page: Path, width: int, height: int = 900, ready: str = "true") -> None:
        """Show a file in a window of this size, until the expression `ready` holds."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        self.call("Page.navigate", url=page.as_uri())
        self.wait(f"document.readyState === 'complete' && ({ready})")

    def wait(self, expression: str) -> None:
        """Until an expression holds."""
        end = time.monotonic() + _PATIENCE
        while not self.value(expression):
            assert time.monotonic() < end, f"{expression}: {self.said}"
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """What an expression is in the page."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def press(self, key: str, times: int = 1) -> None:
        """A key, so many times."""
        for _ in range(times):
            about: dict[str, Any] = {
                "key": _TEXTS.get(key, key),
                "code": key,
                "windowsVirtualKeyCode": _KEYS[key],
            }
            text = {"text": _TEXTS[key]} if key in _TEXTS else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **about, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def picture(self, file: Path) -> None:
        """The whole page as a PNG file."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]}
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(base64.b64decode(shot["data"]))


def legible(tab: Browser, width: int) -> None:
    """Check the page that is shown: widths, sizes of texts, and that none lies on another."""
    assert tab.value("document.documentElement.scrollWidth") <= width
    assert tab.value(SMALL) == []
    assert tab.value(OVERLAID) == [], str(tab.value(OVERLAID))
    assert tab.value(COVERED) == 0


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser that keeps its files in a folder of its own."""
    assert CHROMIUM is not None
    read, to = os.pipe()
    answers, write = os.pipe()
    # Chromium reads from descriptor 3 and writes to 4.
    start = f'exec "$@" 3<&{read} 4>&{write}'
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    options += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    with subprocess.Popen(
        ["bash", "-c", start, "bash", CHROMIUM, *options],
        pass_fds=(read, write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(read)
        os.close(write)
        try:
            yield Browser(to, answers)
        finally:
            process.kill()
            os.close(to)
            os.close(answers)

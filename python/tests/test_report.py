"""A report: everything is in the file, and a browser shows it without a network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import EXPERIMENT
from test_cli import call

pytest.importorskip("plotly")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
BROWSER = pytest.mark.skipif(
    CHROMIUM is None, reason="not tested: what a browser makes of the page (needs chromium)"
)
#: Points of each curve: MIN at 0.1 and where it saturates, VLB at 0.2; then all that are accepted.
POINTS = [[1, 1, 1], [3, 1], [1, 1, 1]]
TITLE = 'A <script>alert("no")</script> & "title" --> </title>'
EVIL = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an experiment whose texts are what nobody should write."""
    where = tmp_path_factory.mktemp("report")
    text = EXPERIMENT.replace('"A small experiment"', json.dumps(TITLE))
    text = text.replace('label = "VLB"', f"label = {json.dumps(EVIL)}")
    text = text.replace('routing = "VLB"', f"routing = {json.dumps(EVIL)}")
    # Half of the points are saturated: one link carries what a whole group sends.
    text = text.replace('pattern = "uniform"', "pattern = { adversarial = { offset = 1 } }")
    text += '\n[[figure]]\nname = "taken"\nkind = "throughput"\nseries = "routing"\n'
    text += '\n[[figure]]\nname = "tail"\nkind = "line"\ny = "latency.p99"\nseries = "routing"\n'
    text += '\n[[figure]]\nname = "fair"\nkind = "fairness"\nseries = "routing"\n'
    text += "where = { load = 0.2 }\n"
    (where / "evil.toml").write_text(text)
    call("run", where / "evil.toml", "--dir", where / "results")
    output = call("report", where / "results").output
    assert f"report: {where / 'results' / 'report.html'}" in output
    return where / "results" / "report.html"


class Tags(HTMLParser):
    """What a parser sees: the tags, and what they load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        wanted = ("src", "href", "data", "action", "srcset", "poster")
        self.links += [value or "" for name, value in attrs if name in wanted]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_texts_are_texts_and_nothing_is_loaded(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.tags.count("script") == 3
    assert all(link.startswith(("#", "data:")) for link in tags.links)
    assert TITLE in "".join(tags.texts)
    assert EVIL not in text
    assert "default-src 'none'" in text
    assert page.stat().st_size < 8_000_000


def test_the_page_has_every_point_and_figure(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert len(data["rows"]) == 4
    assert {row["labels"]["routing"] for row in data["rows"]} == {"MIN", EVIL}
    for row in data["rows"]:
        assert row["values"]["latency"]["mean"] > 100
        assert row["values"]["latency"]["ci"] > 0
        assert row["why"].startswith("seed ") or row["state"] == "steady"
    assert [figure["y"] for figure in data["figures"]] == ["latency", "accepted", "latency.p99"]
    assert text.count('<img class="still"') == 1
    assert "network.switch.combined_queued.pipeline" in text
    assert "a warm-up of 1 us is short" in text


def browse(page: Path, width: int, *options: str) -> tuple[str, str]:
    """The page after its scripts have run, and what the console said."""
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    command += ["--enable-logging=stderr", "--virtual-time-budget=20000"]
    command += [f"--window-size={width},2000", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    return done.stdout, done.stderr


def requests(log: Path) -> set[str]:
    """What a page asked a network for; what the browser does on its own has no page as origin."""
    # An event a line; the last one may be cut.
    lines = (line.rstrip(",") for line in log.read_text(encoding="utf-8").splitlines())
    events = [json.loads(line) for line in lines if line.startswith('{"params"')]
    asked = (event["params"] for event in events)
    of_pages = (each for each in asked if each.get("initiator", "not an origin") != "not an origin")
    return {each["url"] for each in of_pages if each.get("url", "").startswith("http")}


@BROWSER
def test_a_request_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text('<img src="http://127.0.0.1:9/secret.png">')
    browse(tmp_path / "bad.html", 800, "--dump-dom", f"--log-net-log={tmp_path / 'net.json'}")
    assert requests(tmp_path / "net.json") == {"http://127.0.0.1:9/secret.png"}


@BROWSER
@pytest.mark.parametrize("width", [1280, 400])
def test_a_browser_shows_it_without_an_error_or_a_request(
    page: Path, tmp_path: Path, width: int
) -> None:
    log = tmp_path / "net.json"
    document, console = browse(page, width, "--dump-dom", f"--log-net-log={log}")
    assert 'data-ready="yes"' in document
    assert "CONSOLE" not in console, console
    assert requests(log) == set()
    assert document.count('class="plot js-plotly-plot"') == 3
    assert document.count('<tr id="row-') == 4
    assert "<img src=x" not in document
    assert "<script>alert" not in document.partition("</head>")[2].partition("<script")[0]


@BROWSER
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window(page: Path, tmp_path: Path, width: int) -> None:
    """Text is at least 12 pixels high, and only tables and pictures scroll sideways."""
    # A window of a headless browser is at least 500 pixels wide: a frame of the width is in it.
    probe = """
    const page = document.getElementById("frame").contentDocument;
    const inside = (element) => element.closest(".wide, .filters, pre");
    const wide = [...page.querySelectorAll("body *")].filter((element) =>
      !inside(element) && element.getBoundingClientRect().right > WIDTH + 1);
    const small = [...page.querySelectorAll("body *")].filter((element) =>
      element.childNodes.length && parseFloat(getComputedStyle(element).fontSize) < 11);
    const clear = (one, other) => one.right <= other.left || other.right <= one.left
      || one.bottom <= other.top || other.bottom <= one.top;
    const crowded = [...page.querySelectorAll(".xaxislayer-above")].filter((layer) => {
      const boxes = [...layer.querySelectorAll("text")].map((text) => text.getBoundingClientRect());
      return boxes.some((box, index) => index > 0 && !clear(box, boxes[index - 1]));
    });
    document.title = JSON.stringify({
      wide: wide.map((element) => `${element.tagName}.${element.getAttribute("class")}`),
      small: small.map((element) => element.tagName).slice(0, 5),
      crowded: crowded.length,
      points: [...page.querySelectorAll(".js-plotly-plot")].map((plot) =>
        plot.data.map((trace) => trace.x.length)),
    });
    """.replace("WIDTH", str(width))
    frame = tmp_path / "frame.html"
    frame.write_text(
        f'<body style="margin:0"><iframe id="frame" style="border:0" width="{width}" height="3000"'
        f' src="{page.as_uri()}" onload="setTimeout(() => {{ {probe.replace(chr(34), "&quot;")} }},'
        ' 3000)"></iframe></body>'
    )
    document, _ = browse(frame, 1300, "--dump-dom", "--allow-file-access-from-files")
    found = re.search(r"<title>(.*?)</title>", document)
    assert found is not None, document[:2000]
    assert json.loads(found[1]) == {"wide": [], "small": [], "crowded": 0, "points": POINTS}


def test_an_experiment_without_figures_has_the_usual_ones(tmp_path: Path) -> None:
    text = EXPERIMENT.partition("[[figure]]")[0]
    (tmp_path / "bare.toml").write_text(text)
    call("run", tmp_path / "bare.toml", "--dir", tmp_path / "bare")
    call("report", tmp_path / "bare", "--to", tmp_path / "bare.html")
    assert '"kind": "line"' in (tmp_path / "bare.html").read_text(encoding="utf-8")
    call("report", tmp_path, code=2)

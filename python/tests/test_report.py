"""A report: everything is in the file, and a browser shows it without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import BROWSER, CONTROLS, FOCUS_IS_SEEN, OVERLAID, SMALL, Browser, browser, legible
from conftest import EXPERIMENT
from test_cli import call

pytest.importorskip("plotly")
WIDTHS = [1280, 400]
#: Points of each curve: MIN at 0.1 and where it saturates, VLB at 0.2; then all that are accepted,
#: and a panel for each routing.
POINTS = [[1, 1, 1], [3, 1], [1, 1, 1], [1, 1], [1]]
TITLE = 'A <script>alert("no")</script> & "title" --> </title>'
EVIL = "</script><img src=x onerror=alert(1)>"
#: A value of the base that is long.
WATCHED = f"hosts = {list(range(30))}"
LOAD = "(id) => document.getElementById(id).cells[1].textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an experiment whose texts are what nobody should write."""
    where = tmp_path_factory.mktemp("report")
    text = EXPERIMENT.replace('"A small experiment"', json.dumps(TITLE))
    text = text.replace('label = "VLB"', f"label = {json.dumps(EVIL)}")
    text = text.replace('routing = "VLB"', f"routing = {json.dumps(EVIL)}")
    # Half of the points are saturated: one link carries what a whole group sends.
    text = text.replace('pattern = "uniform"', "pattern = { adversarial = { offset = 1 } }")
    probe = '[base.probes]\ncongestion = { every = "100 ns", members = true }\n'
    probe += f'queues = {{ every = "1 us", ports = {{ {WATCHED} }} }}\n\n[[axis]]'
    text = text.replace("[[axis]]", probe, 1)
    text += '\n[[figure]]\nname = "taken"\nkind = "throughput"\nseries = "routing"\n'
    text += '\n[[figure]]\nname = "tail"\nkind = "line"\ny = "latency.p99"\nseries = "routing"\n'
    text += '\n[[figure]]\nname = "apart"\nkind = "latency"\npanel = "routing"\n'
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
    assert tags.tags.count("script") == 4
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
    assert [figure["y"] for figure in data["figures"]] == [
        "latency",
        "accepted",
        "latency.p99",
        "latency",
    ]
    assert text.count('<img class="still"') == 1
    assert "network.switch.combined_queued.pipeline" in text
    assert WATCHED in text
    assert "a warm-up of 1 us is short" in text


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def show(tab: Browser, page: Path, width: int) -> None:
    tab.open(page, width, ready="document.documentElement.dataset.ready === 'yes'")


@BROWSER
def test_a_request_and_an_error_would_be_seen(tab: Browser, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        '<img src="http://127.0.0.1:9/secret.png"><script>console.log("said"); no()</script>'
    )
    tab.open(tmp_path / "bad.html", 800)
    assert "http://127.0.0.1:9/secret.png" in tab.asked
    assert "said" in tab.said
    assert any("no is not defined" in each for each in tab.said)


@BROWSER
@pytest.mark.parametrize("width", WIDTHS)
def test_a_browser_shows_it_without_an_error_or_a_request(
    page: Path, tab: Browser, width: int
) -> None:
    tab.said.clear()
    tab.asked.clear()
    show(tab, page, width)
    assert tab.said == []
    assert [each for each in tab.asked if not each.startswith(("data:", page.as_uri()))] == []
    assert tab.value("document.querySelectorAll('.plot.js-plotly-plot').length") == 5
    assert tab.value("document.querySelectorAll('tr[id^=row-]').length") == 4
    assert tab.value("document.querySelector('h1').textContent") == TITLE
    assert tab.value("document.title") == TITLE
    buttons = "[...document.querySelectorAll('.modebar-btn')].map((each) => each.dataset.title)"
    assert "Zoom in" in tab.value(buttons)
    # Plotly offers to upload what it shows.
    assert [each for each in tab.value(buttons) if "hare" in each or "loud" in each] == []
    assert tab.value("document.querySelectorAll('img[src=x], h1 script').length") == 0
    points = "[...document.querySelectorAll('.js-plotly-plot')].map("
    points += "(plot) => plot.data.map((trace) => trace.x.length))"
    assert tab.value(points) == POINTS
    outside = "[...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot.data"
    outside += ".flatMap((trace) => trace.y).filter((y) => y > plot.layout.yaxis.range[1]))"
    assert tab.value(outside) == []


@BROWSER
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_legible(page: Path, tab: Browser, width: int) -> None:
    """Nothing is wider than the window, texts have 11 pixels or more, and none lies on another."""
    show(tab, page, width)
    legible(tab, width)


@BROWSER
def test_texts_that_are_not_legible_would_be_seen(tab: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<p style="font-size:8px">small</p><div style="width:2000px">wide</div>'
        '<svg><text y="20">one</text><text y="21" x="4">two</text></svg>'
    )
    tab.open(bad, 400)
    assert tab.value(SMALL) == ["small"]
    assert tab.value(OVERLAID) == ["one / two"]
    assert tab.value("document.documentElement.scrollWidth") > 2000


@BROWSER
@pytest.mark.parametrize("width", WIDTHS)
def test_every_control_is_reached_by_keys(page: Path, tab: Browser, width: int) -> None:
    """Tab goes through them in the order of the page, and each shows that it has the focus."""
    show(tab, page, width)
    controls = tab.value(f"{CONTROLS}.length")
    # Links, labels of both axes, plots, a picture, what plays, heads of the table, the spec.
    assert controls > 20
    for place in range(controls):
        tab.press("Tab")
        assert tab.value(f"{CONTROLS}.indexOf(document.activeElement)") == place
        assert tab.value(FOCUS_IS_SEEN), tab.value("document.activeElement.outerHTML")


@BROWSER
def test_keys_filter_sort_and_play(page: Path, tab: Browser) -> None:
    show(tab, page, 1280)
    rows = "[...document.querySelectorAll('tr[id^=row-]')].map((row) => row.id)"
    tab.value("document.querySelector('#filters input').focus()")
    tab.press("Space")
    assert tab.value(rows) == ["row-3"]
    tab.press("Space")
    assert tab.value(rows) == [f"row-{each}" for each in range(4)]
    tab.value("document.querySelectorAll('th button')[1].focus()")
    tab.press("Enter")
    assert tab.value("document.activeElement.parentElement.ariaSort") == "ascending"
    tab.press("Enter")
    loads = [float(each) for each in tab.value(f"{rows}.map({LOAD})")]
    assert loads == sorted(loads, reverse=True)
    assert loads[0] > loads[-1]
    slider = "document.querySelector('input[type=range]')"
    tab.value(f"{slider}.focus()")
    tab.press("Home")
    tab.press("ArrowRight", times=2)
    assert tab.value(f"{slider}.value") == "2"
    tab.value("document.querySelector('.player button').focus()")
    tab.press("Space")
    assert tab.value("document.activeElement.textContent") == "Pause"
    tab.wait(f"Number({slider}.value) > 3")
    tab.press("Space")
    assert tab.value("document.activeElement.textContent") == "Play"


def test_an_experiment_without_figures_has_the_usual_ones(tmp_path: Path) -> None:
    text = EXPERIMENT.partition("[[figure]]")[0]
    (tmp_path / "bare.toml").write_text(text)
    call("run", tmp_path / "bare.toml", "--dir", tmp_path / "bare")
    call("report", tmp_path / "bare", "--to", tmp_path / "bare.html")
    assert '"kind": "line"' in (tmp_path / "bare.html").read_text(encoding="utf-8")
    call("report", tmp_path, code=2)


@BROWSER
def test_a_run_without_a_finished_point_has_a_report(tab: Browser, tmp_path: Path) -> None:
    """Of a ring that blocks itself nothing is known but its network."""
    text = """name = "ring"
[base.network]
topology = { graph = { edges = [[0, 1], [1, 2], [2, 3], [3, 0]], hosts = 1, hop_vcs = 1 } }
links = { link = { latency = "10 ns", buffer = "100 B" } }
switch = { combined_queued = { pipeline = "10 ns", output_buffer = "100 B" } }
[base.routing.minimal]
[base.traffic]
load = 1.0
packet_size = "100 B"
pattern = { shift = { by = 2 } }
[base.run]
warmup = "5 us"
measure = "100 us"
[[axis]]
name = "load"
path = "traffic.load"
values = [0.9, 1.0]
"""
    (tmp_path / "ring.toml").write_text(text)
    call("run", tmp_path / "ring.toml", "--dir", tmp_path / "ring", code=1)
    call("report", tmp_path / "ring")
    tab.said.clear()
    show(tab, tmp_path / "ring" / "report.html", 400)
    assert tab.said == []
    shown = tab.value("document.body.innerText")
    assert shown.count("No point is finished yet.") == 2
    assert "2 points are not finished." in shown
    assert "graph: 4 routers, 4 hosts" in shown
    legible(tab, 400)

"""Experiment files: what they mean, and how mistakes are reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import EXPERIMENT, ROOT
from deroute.api import simulate
from deroute.errors import InputError, parse_path, show_path
from deroute.experiment import Experiment
from deroute.plan import check_experiment
from deroute.reader import RESERVED
from deroute.schema import experiment_schema
from deroute.spec import assign, canonical, fingerprint


def test_points_are_the_product_less_the_skipped(experiment_file: Path) -> None:
    experiment = Experiment.load(experiment_file)
    assert experiment.axes == {"routing": ["MIN", "VLB"], "load": [0.1, 0.2, 0.3], "seed": [1, 2]}
    assert len(experiment.points) == 8
    last = experiment.points[-1]
    assert dict(last.labels) == {"routing": "VLB", "load": 0.2, "seed": 2}
    assert last.spec["routing"] == {"valiant": {"phase_a": "lgl"}}
    assert last.spec["traffic"]["load"] == 0.2
    assert last.spec["run"] == {"warmup": 1000, "measure": 2000, "seed": 2}
    assert len({point.key for point in experiment.points}) == 8


def test_a_check_says_how_far_it_is(experiment_file: Path) -> None:
    said: list[tuple[int, int]] = []
    checked = check_experiment(Experiment.load(experiment_file), told=lambda *far: said.append(far))
    # Seeds make no other spec.
    specs = {json.dumps([each.spec | {"run": None}]) for each in checked.points}
    assert said == [(done, len(specs)) for done in range(1, len(specs) + 1)]


def test_the_base_is_not_touched(experiment_file: Path) -> None:
    experiment = Experiment.load(experiment_file)
    before = json.dumps(experiment.document)
    assert experiment.points
    assert json.dumps(experiment.document) == before


def _problem(text: str, tmp_path: Path) -> Any:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        check_experiment(Experiment.load(file))
    first = caught.value.problems[0]
    assert first.file == file
    return first


Mistake = tuple[str, str, str, str, str]

#: (text, its replacement, path of the error, text on its line, a word of message or choices)
BAD: list[Mistake] = [
    ('title = "A', 'titel = "A', "titel", "titel", "title"),
    ("[base.traffic]", "[base.trafic]", "base.trafic", "[base.trafic]", "traffic"),
    ("load = 0.3\n", "lod = 0.3\n", "base.traffic.lod", "lod", "load"),
    ('latency = "15 ns"', 'latency = "15 KB"', "base.network.links.local.latency", "local =", "ns"),
    ("h = 2\n", "h = 2\ngroups = 10\n", "base.network.topology.dragonfly.groups", "groups", "9"),
    ('path = "traffic.load"', 'path = "traffic.lod"', "axis[1].path", "path", "load"),
    ("to = 0.3", "to = 1.3", "axis[1].range", "range", "rate"),
    (
        'phase_a = "lgl"',
        'phase_a = "glg"',
        "axis[0].values[1].set.routing.valiant.phase_a",
        "VLB",
        "-g-",
    ),
    ('label = "VLB"', 'label = "MIN"', "axis[0].values[1]", 'label = "MIN"', "twice"),
    ("values = [1, 2]", "values = [1, 1.0]", "axis[2].values[1]", "values = [1, 1.0]", "twice"),
    ("values = [1, 2]", "values = [1, nan]", "axis[2].values[1]", "values = [1, nan]", "finite"),
    ('path = "run.seed"', 'path = "run.warmup"', "axis[2].name", 'name = "seed"', "run.seed"),
    (
        "values = [1, 2]",
        'values = [1, { label = "again", set = { "run.seed" = 1.0 } }]',
        "axis[2].values[1]",
        "again",
        "one and the same run",
    ),
    ("step = 0.1", "step = 0", "axis[1].range", "range", "step"),
    ("step = 0.1", "stop = 0.1", "axis[1].range.stop", "range", "step"),
    ("values = [1, 2]", "values = []", "axis[2].values", "values = []", "empty"),
    ("values = [1, 2]", "value = [1, 2]", "axis[2].value", "value = [1", "values"),
    ('routing = "VLB"\nload', 'routing = "VLX"\nload', "skip[0].routing", 'routing = "VLX"', "VLB"),
    ('kind = "latency"', 'kind = "latencies"', "figure[0].kind", "kind", "latency"),
    ('series = "routing"', 'series = "router"', "figure[0].series", "series", "routing"),
    ('series = "routing"', "", "figure[0].where.routing", "[[figure]]", "routing"),
    ("vcs = 2, buffer", "vcs = 1, buffer", "base.network.links.global.vcs", "global =", "2"),
    ("load = 0.3\n", "load = inf\n", "base.traffic.load", "load = inf", "finite"),
    ("p = 2\n", "p = 2000-01-01\n", "base.network.topology.dragonfly.p", "p = 2000", "text"),
    ('name = "small"', 'name = "../small"', "name", "name", "name"),
    ('path = "traffic.load"', 'path = "trafic.load"', "axis[1].path", "path", "traffic"),
    ('path = "traffic.load"', 'path = "traffic..[load"', "axis[1].path", "path", "not a path"),
    ('name = "routing"', 'name = "state"', "axis[0].name", "state", "column"),
    ('name = "latency"', 'name = "a\\u0000b"', "figure[0].name", "name = ", "names files"),
    ('series = "routing"', 'series = "routing"\ny_max = 0', "figure[0].y_max", "y_max", "1e-09"),
    (
        'series = "routing"',
        'series = "routing"\ny_max = 1e308',
        "figure[0].y_max",
        "y_max",
        "1e+12",
    ),
    ('series = "routing"', 'series = "routing"\ny_max = nan', "figure[0].y_max", "y_max", "nan"),
    (
        'series = "routing"',
        'x = "routing"\nseries = "load"',
        "figure[0].x",
        'x = "routing"',
        "load",
    ),
    ('kind = "latency"', 'kind = "transient"\npanel = "load"', "figure[0].kind", "kind", "probes"),
    ("load = 0.3\n", "load = 7\n", "base.traffic.load", "load = 7", "rate"),
]


@pytest.mark.parametrize("mistake", BAD, ids=[each[2] for each in BAD])
def test_mistakes_have_file_line_path_and_choices(tmp_path: Path, mistake: Mistake) -> None:
    old, new, path, line, word = mistake
    assert old in EXPERIMENT
    text = EXPERIMENT.replace(old, new, 1)
    if new == "load = inf\n":
        # The axis would replace it.
        text = text.replace('path = "traffic.load"', 'path = "traffic.packet_size"')
    problem = _problem(text, tmp_path)
    shown = "\n".join(problem.lines())
    assert problem.path == path, shown
    assert line in text.splitlines()[problem.line - 1], shown
    assert word in shown
    assert len(problem.lines()) <= 4


def test_columns_of_results_are_no_axes(spec: dict[str, Any]) -> None:
    columns = simulate(spec).scalars()
    assert {column for column in columns if "." not in column} <= set(RESERVED)


def test_what_is_not_toml_names_the_line(tmp_path: Path) -> None:
    assert "line 2" in _problem("name = 1\nx = = 2\n", tmp_path).message


def test_no_points_is_a_mistake(tmp_path: Path) -> None:
    text = EXPERIMENT + '\n[[skip]]\nrouting = ["MIN", "VLB"]\n'
    assert "every point" in _problem(text, tmp_path).message


def test_many_mistakes_fit_on_a_screen(tmp_path: Path) -> None:
    values = ", ".join(str(1.5 + i) for i in range(40))
    text = EXPERIMENT.replace(
        "range = { from = 0.1, to = 0.3, step = 0.1 }", f"values = [{values}]"
    )
    text = text.replace("load = [0.1, 0.3]", "")
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        check_experiment(Experiment.load(file))
    assert len(str(caught.value).splitlines()) < 24


@pytest.mark.parametrize(
    "file", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda f: f.stem
)
def test_shipped_experiments_are_valid(file: Path) -> None:
    experiment = Experiment.load(file)
    assert experiment.name == file.stem
    assert check_experiment(experiment).points
    assert experiment.figures


def test_the_schema_lists_the_keys_of_an_experiment() -> None:
    schema = experiment_schema()
    assert set(schema["properties"]) == {
        *("name", "title", "extends", "base", "reference", "seeds", "axis", "skip", "figure")
    }
    assert schema["$defs"]["Spec"]["properties"].keys() >= {"network", "routing", "traffic"}


keys = st.text("abcxyz_-é", min_size=1)
scalars = (
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=10
)
tables = st.dictionaries(keys, values, max_size=4)


@given(tables)
def test_the_key_does_not_depend_on_the_order(table: dict[str, Any]) -> None:
    turned = dict(reversed(table.items()))
    assert fingerprint(canonical(table)) == fingerprint(canonical(turned))


@given(tables)
def test_the_canonical_form_is_the_same_spec(table: dict[str, Any]) -> None:
    text = canonical(table)
    assert json.loads(text) == table
    assert canonical(json.loads(text)) == text


@given(tables, tables)
def test_different_specs_have_different_keys(one: dict[str, Any], other: dict[str, Any]) -> None:
    # True equals 1 in Python, but not in a spec.
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    if same or canonical(one) != canonical(other):
        assert (canonical(one) == canonical(other)) == same


@given(tables, st.lists(keys, min_size=1, max_size=4), scalars)
def test_assign_sets_or_refuses(table: dict[str, Any], steps: list[str], value: Any) -> None:
    path = ".".join(steps)
    try:
        assign(table, path, value)
    except InputError:
        return
    place: Any = table
    for step in steps:
        place = place[step]
    assert place == value


@given(st.lists(keys | st.integers(0, 99), min_size=1, max_size=5))
def test_paths_read_back(steps: list[str | int]) -> None:
    steps = ["root", *steps]
    assert parse_path(show_path(steps)) == tuple(steps)


@given(st.text() | tables.map(json.dumps))
def test_any_text_is_an_experiment_or_a_mistake(text: str) -> None:
    import tomllib  # noqa: PLC0415

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    with pytest.raises(InputError):
        Experiment.from_document(document, text=text)


@given(
    st.dictionaries(
        st.sampled_from(["name", "title", "base", "axis", "skip", "figure"]),
        values
        | st.lists(st.dictionaries(st.sampled_from(["name", "path", "values", "range"]), values)),
    )
)
def test_any_document_is_an_experiment_or_a_mistake(document: dict[str, Any]) -> None:
    try:
        experiment = Experiment.from_document({"name": "x", "base": {}} | document)
        assert experiment.points is not None
    except InputError:
        pass

"""Mistakes are found before anything runs, and all that do not depend on each other at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import EXPERIMENT
from deroute import plan
from deroute.errors import InputError, Problem


def problems(text: str, tmp_path: Path) -> Sequence[Problem]:
    """What is wrong with an experiment file."""
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        plan.check_file(file)
    return caught.value.problems


def changed(*pairs: tuple[str, str]) -> str:
    """The small experiment with replacements."""
    text = EXPERIMENT
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_mistakes_of_all_parts_are_told_together(tmp_path: Path) -> None:
    text = changed(
        ("title =", "titel ="),
        ('kind = "latency"', 'kind = "latencies"'),
        ("p = 2", 'p = "two"'),
        ("packet_size = 10", "packet_size = 0"),
        ('phase_a = "lgl"', 'phase_a = "glg"'),
    )
    assert {problem.path for problem in problems(text, tmp_path)} == {
        "titel",
        "figure[0].kind",
        "base.network.topology.dragonfly.p",
        "base.traffic.packet_size",
        "axis[0].values[1].set.routing.valiant.phase_a",
    }


def test_mistakes_of_axes_and_of_skips_are_told_together(tmp_path: Path) -> None:
    broken = changed(
        ('name = "routing"', 'name = "Routing"'),
        ("values = [1, 2]", "values = []"),
        ("step = 0.1", "stop = 0.1"),
    )
    assert [problem.path for problem in problems(broken, tmp_path)] == [
        "axis[0].name",
        "axis[1].range.stop",
        "axis[1].range.step",
        "axis[2].values",
    ]
    skips = changed(
        ("load = [0.1, 0.3]", "load = [0.1, 0.4]\nrooting = 1"), ('series = "r', 'series = "x')
    )
    assert [problem.path for problem in problems(skips, tmp_path)] == [
        "skip[0].load",
        "skip[0].rooting",
        "figure[0].series",
    ]


def test_a_list_of_no_labels_is_told_with_its_line(tmp_path: Path) -> None:
    text = changed(('series = "routing"', 'series = "routing"\nwhere = { load = [] }'))
    (drawn,) = problems(text, tmp_path)
    assert (drawn.path, drawn.message) == ("figure[0].where.load", "is empty: nothing is drawn")
    assert drawn.line == text[: text.index("where =")].count("\n") + 1
    (skipped,) = problems(changed(("load = [0.1, 0.3]", "load = []")), tmp_path)
    assert (skipped.path, skipped.message) == ("skip[0].load", "is empty: it skips nothing")
    assert skipped.line == EXPERIMENT[: EXPERIMENT.index("load = [0.1, 0.3]")].count("\n") + 1


def test_a_misspelt_key_hides_nothing_and_is_told_once(tmp_path: Path) -> None:
    text = changed(("load = 0.3\n", "lod = 0.3\n"), ("packet_size = 10", "packet_size = 0"))
    text = text.replace('path = "traffic.load"', 'path = "run.warmup"').replace(
        "from = 0.1, to = 0.3, step = 0.1", "from = 1000, to = 3000, step = 1000"
    )
    text = text.replace("load = [0.1, 0.3]", "load = [1000, 3000]")
    found = problems(text, tmp_path)
    assert [each.path for each in found] == ["base.traffic.lod", "base.traffic.packet_size"]


def test_a_misspelt_path_of_an_axis_is_told_once(tmp_path: Path) -> None:
    found = problems(changed(('path = "traffic.load"', 'path = "traffic.laod"')), tmp_path)
    assert [each.path for each in found] == ["axis[1].path"]
    assert "in 8 of 8 points" in str(found[0])


def test_a_misspelt_name_of_a_table_has_no_false_followers(tmp_path: Path) -> None:
    text = changed(("switch.combined_queued", "switch.combind_queued"))
    (problem,) = problems(text, tmp_path)
    assert problem.path == "base.network.switch"
    assert problem.hint() == "combined_queued"
    (problem,) = problems(changed(("topology.dragonfly", "topology.dragonfyl")), tmp_path)
    assert problem.path == "base.network.topology"
    # Nothing is known of what stands in a table whose name means nothing.
    (problem,) = problems(changed(("topology.dragonfly", "topology.thing")), tmp_path)
    assert problem.path == "base.network.topology"


def test_a_misspelt_name_of_a_table_hides_no_other_mistake(tmp_path: Path) -> None:
    text = changed(
        ("switch.combined_queued", "switch.combind_queued"),
        ("valiant = {", "valant = {"),
        ("packet_size = 10", "packet_size = 0"),
    )
    assert {each.path for each in problems(text, tmp_path)} == {
        "base.network.switch",
        "axis[0].values[1].set.routing",
        "base.traffic.packet_size",
    }


def test_an_axis_that_undoes_another_has_to_say_so(tmp_path: Path) -> None:
    again = (
        '[[axis]]\nname = "again"\nvalues = [{ label = "a", set = { traffic = { load = 0.1 } } }]\n'
    )
    text = EXPERIMENT.replace("[[skip]]", f"{again}\n[[skip]]").replace(
        'series = "routing"', 'series = "routing"\npanel = "again"'
    )
    (problem,) = problems(text, tmp_path)
    assert problem.path == "axis[3]"
    assert "'again' sets traffic, and 'load' sets traffic.load" in problem.message
    file = tmp_path / "said.toml"
    whole = "{ traffic = { load = 0.1, packet_size = 10, pattern = 'uniform' } }"
    said = text.replace("{ traffic = { load = 0.1 } }", whole)
    file.write_text(said.replace('"again"\nvalues', '"again"\noverrides = true\nvalues'))
    assert plan.check_file(file).points
    (problem,) = problems(
        said.replace('"again"\nvalues', '"again"\noverrides = 1\nvalues'), tmp_path
    )
    assert problem.path == "axis[3].overrides"


def test_an_axis_may_refine_what_one_before_it_sets(tmp_path: Path) -> None:
    finer = '[[axis]]\nname = "bias"\npath = "routing.valiant.phase_a"\nvalues = ["lgl", "-g-"]\n'
    text = changed(
        ('    { label = "MIN", set = { routing = { minimal = {} } } },\n', ""),
        ("[[skip]]", f"{finer}\n[[skip]]"),
        ('series = "routing"', 'series = "routing"\npanel = "bias"'),
    )
    file = tmp_path / "fine.toml"
    file.write_text(text)
    assert len(plan.check_file(file).points) == 4


@pytest.mark.parametrize(
    "pattern",
    ["[" * 300 + "]" * 300, "[" * 3000 + "]" * 3000, "{ a = " * 200 + "1" + " }" * 200],
)
def test_tables_without_end_are_refused(tmp_path: Path, pattern: str) -> None:
    (problem,) = problems(changed(('pattern = "uniform"', f"pattern = {pattern}")), tmp_path)
    assert "more than 100 levels" in problem.message


def test_a_number_without_end_is_refused(tmp_path: Path) -> None:
    (problem,) = problems(changed(("p = 2", f"p = {'9' * 5000}")), tmp_path)
    assert "is not TOML" in problem.message


def test_what_depends_on_a_mistake_is_none(tmp_path: Path) -> None:
    # With another `a` there would be enough groups for the offset.
    text = changed(
        ("a = 4", 'a = "four"'),
        ('pattern = "uniform"', "pattern = { adversarial = { offset = 8 } }"),
    )
    assert [each.path for each in problems(text, tmp_path)] == ["base.network.topology.dragonfly.a"]


CROSSBAR = [
    ("dragonfly]\np = 2\na = 4\nh = 2", "crossbar]\nhosts = 8"),
    ('local = { latency = "15 ns", vcs = 4, buffer = "4.5 KB" }', ""),
    ('global = { latency = "150 ns", vcs = 2, buffer = "22.5 KB" }', ""),
    ('    { label = "VLB", set = { routing = { valiant = { phase_a = "lgl" } } } },\n', ""),
    ('[[skip]]\nrouting = "VLB"\nload = [0.1, 0.3]\n', ""),
]


@pytest.mark.parametrize(
    ("figure", "key"),
    [
        ('kind = "fairness"\nwhere = { load = 0.1 }', "kind"),
        ('kind = "path-mix"\nx = "router"\nwhere = { load = 0.1 }', "x"),
    ],
)
def test_figures_of_groups_need_groups(tmp_path: Path, figure: str, key: str) -> None:
    text = changed(*CROSSBAR, ('kind = "latency"', figure))
    (problem,) = problems(text, tmp_path)
    assert problem.path == f"figure[0].{key}"
    assert "no groups of routers" in problem.message


@pytest.mark.parametrize(
    ("figure", "key", "word"),
    [
        ('kind = "fairness"\ngroup = 9\npanel = "load"', "group", "0 to 8"),
        ('kind = "fairness"\ngroup = -1\npanel = "load"', "group", "0 to 8"),
        ('kind = "path-mix"\ngroup = 1', "group", 'x = "router"'),
        ('kind = "agents"\nstate = "level"\npanel = "load"', "kind", "probes.agents"),
        ('kind = "agents"\npanel = "load"', "state", "is missing"),
        ('title = "of no kind"', "kind", "is missing"),
        ('kind = "latency"\nwhere = { load = 0.2, seed = 7 }', "where.seed", "no label 7"),
        ('kind = "latency"\npanel = "routing"', "panel", "is `series` already"),
        ('kind = "line"\ny = "latency.p9"', "y", "latency.p99"),
        ('kind = "line"\ny = "verdict.state"', "y", "no number"),
        ('kind = "line"', "y", "is missing"),
        ('kind = "congestion"\npanel = "load"', "kind", "probes.congestion"),
        ('kind = "congestion-map"\npanel = "load"', "kind", "probes.congestion.members"),
        ('kind = "queues"\npanel = "load"', "kind", "probes.queues"),
        ('kind = "rates"\npanel = "load"', "kind", "probes.rates"),
        ('kind = "pauses"\npanel = "load"', "kind", "probes.pauses"),
        ('kind = "streams"\nx = "load"', "kind", "`traffic.stream`"),
    ],
)
def test_figures_that_could_not_be_drawn_are_refused(
    tmp_path: Path, figure: str, key: str, word: str
) -> None:
    (problem,) = problems(changed(('kind = "latency"', figure)), tmp_path)
    assert problem.path == f"figure[0].{key}"
    assert word in "\n".join(problem.lines())


def test_a_label_that_no_axis_has_is_shown_on_its_line(tmp_path: Path) -> None:
    text = changed(('kind = "latency"', 'kind = "latency"\nwhere = { load = 0.25 }'))
    (problem,) = problems(text, tmp_path)
    assert text.splitlines()[(problem.line or 0) - 1] == "where = { load = 0.25 }"


def test_an_abscissa_that_is_left_out_has_to_be_an_axis(tmp_path: Path) -> None:
    text = changed(('name = "load"', 'name = "offered"'), ("load = [", "offered = ["))
    (problem,) = problems(text, tmp_path)
    assert problem.path == "figure[0].x"
    assert problem.message == "is 'load' when absent, which is not an axis here"
    assert problem.choices == ("routing", "offered", "seed")


THRESHOLD = '[[axis]]\nname = "above"\npath = "routing.ugal.threshold"\nvalues = [0, 10]\n'


def test_an_alternative_too_many_is_blamed_on_what_adds_it(tmp_path: Path) -> None:
    text = changed(('[[axis]]\nname = "load"', f'{THRESHOLD}\n[[axis]]\nname = "load"'))
    text = text.replace('series = "routing"', 'series = "routing"\npanel = "above"')
    (problem,) = problems(text, tmp_path)
    assert problem.path == "axis[1].path"
    assert problem.message == "must name exactly one alternative, and names minimal and ugal"
    both = "{ routing = { minimal = {}, valiant = {} } }"
    (problem,) = problems(changed(("{ routing = { minimal = {} } }", both)), tmp_path)
    assert problem.path == "axis[0].values[0].set.routing"
    nothing = changed(("{ routing = { minimal = {} } }", "{ routing = {} }"))
    (problem,) = problems(nothing, tmp_path)
    assert problem.message == "must name exactly one alternative, and names none"


@pytest.mark.parametrize("at", ["2000", "2500", '"2 us"', '"1 ms"'])
def test_a_change_after_the_measurement_is_refused(tmp_path: Path, at: str) -> None:
    then = 'pattern = "uniform"\nthen = [{ at = 500, load = 0.2 }, { at = AT, load = 0.1 }]'
    text = changed(('pattern = "uniform"', then.replace("AT", at)))
    (problem,) = problems(text, tmp_path)
    assert problem.path == "base.traffic.then[1].at"
    assert "not before the end of the measurement (2000)" in problem.message


def test_a_change_during_the_measurement_is_fine(tmp_path: Path) -> None:
    file = tmp_path / "good.toml"
    then = 'pattern = "uniform"\nthen = [{ at = "1999 ns", load = 0.2 }]'
    file.write_text(changed(('pattern = "uniform"', then)))
    assert len(plan.check_file(file).points) == 8


@pytest.mark.parametrize(
    ("old", "new", "path", "words"),
    [
        ("p = 2", 'p = "two"', "network.topology.dragonfly.p", "is not a whole number from 0 to"),
        ("h = 2", "h = -1", "network.topology.dragonfly.h", "-1 is not a whole number from 0 to"),
        ("load = 0.3\n", 'load = "much"\n', "traffic.load", "is not a number"),
        ("vcs = 4", "vcs = 400", "network.links.local.vcs", "400 is not a whole number from 1 to"),
        ("[base.run]\n", "[base.run]\nseed = true\n", "run.seed", "true is not a whole number"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_in_words(
    tmp_path: Path, old: str, new: str, path: str, words: str
) -> None:
    text = changed((old, new))
    if path == "traffic.load":  # The axis would cover it up.
        text = text.replace('path = "traffic.load"', 'path = "run.warmup"').replace(
            "from = 0.1, to = 0.3, step = 0.1", "from = 1000, to = 3000, step = 1000"
        )
        text = text.replace("load = [0.1, 0.3]", "load = [1000, 3000]")
    if path == "run.seed":
        text = text.replace(
            'name = "seed"\npath = "run.seed"\nvalues = [1, 2]',
            'name = "size"\npath = "traffic.packet_size"\nvalues = [10]',
        )
    (problem,) = problems(text, tmp_path)
    assert problem.path == f"base.{path}"
    assert words in problem.message
    assert "u32" not in problem.message
    assert "invalid type" not in problem.message


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ('"uniform"', '"adversarial"', "traffic.pattern", "as a table: { adversarial = {} }"),
        ('"uniform"', "{ uniform = {} }", "traffic.pattern", 'uniform is written: "uniform"'),
        ('"uniform"', "{}", "traffic.pattern", "exactly one alternative, and names none"),
        ('"uniform"', '["uniform"]', "traffic.pattern", "exactly one alternative: a list is none"),
        (
            '"uniform"',
            "{ shift = { by = 1 }, permutation = {} }",
            "traffic.pattern",
            "names permutation and shift",
        ),
        (
            '"uniform"',
            "{ adversarial = { offset = 100 } }",
            "traffic.pattern.adversarial.offset",
            "100 is no other group of 9",
        ),
    ],
)
def test_an_alternative_that_is_misspelt_is_told_how_it_is_written(
    tmp_path: Path, old: str, new: str, place: str, words: str
) -> None:
    (problem,) = problems(changed((f"pattern = {old}", f"pattern = {new}")), tmp_path)
    assert problem.path == f"base.{place}"
    assert words in problem.message

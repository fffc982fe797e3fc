"""Traffic matrices from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deroute import api, plan
from deroute.errors import InputError
from deroute.experiment import Experiment
from deroute.matrices import matrix, pairs
from deroute.spec import canonical

EXPERIMENT = """name = "matrix"

[base.network.topology.crossbar]
hosts = 4

[base.network.links]

[base.network.switch.output_queued]

[base.routing.minimal]

[base.traffic]
load = 0.4
packet_size = 4
pattern = { pairs = { file = "pairs.csv" } }

[base.run]
warmup = 100
measure = 5000
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "matrix.toml"
    file.write_text(EXPERIMENT)
    return file


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1\n1,0\n", [[0, 1, 1], [1, 0, 1]]),
        ("source,destination,weight\n\n0, 3, 2\n1,0,4 # half\n", [[0, 3, 1], [1, 0, 2]]),
        ("# from to\n0 1 0.75\n0\t2  1e-1\n1 2\n", [[0, 1, 15], [0, 2, 2], [1, 2, 20]]),
        ("0,1,0.0\n1,2,0.50\n", [[0, 1, 0], [1, 2, 1]]),
        ("", []),
    ],
)
def test_pairs(tmp_path: Path, text: str, expected: list[list[int]]) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    assert pairs(tmp_path / "pairs.csv") == {"list": expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1\n1,0\n", [[0, 1], [1, 0]]),
        ("a,b,c\n0, 0.5, 1.5\n2,0,0\n\n0,0,0\n", [[0, 1, 3], [4, 0, 0], [0, 0, 0]]),
        ("0 12\n18 0\n", [[0, 2], [3, 0]]),
    ],
)
def test_square_matrices(tmp_path: Path, text: str, expected: list[list[int]]) -> None:
    (tmp_path / "matrix.csv").write_text(text)
    assert matrix(tmp_path / "matrix.csv") == {"rows": expected}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (pairs, "0,1\n0\n", "line 2: '0' is not a source, a destination"),
        (pairs, "0,1\n0,1,2,3\n", "line 2: '0,1,2,3' is not a source"),
        (pairs, "0,1\n\n0,x\n", "line 3: 'x' is not the number of a host"),
        (pairs, "0,-1\n", "line 1: '-1' is not the number of a host"),
        (pairs, "0,1,\n", "line 1: '' is not a weight: a number, 0 or more"),
        (pairs, "0,1,-2\n", "line 1: '-2' is not a weight"),
        (pairs, "0,1,nan\n", "line 1: 'nan' is not a weight"),
        (pairs, "0,1,1e99999999\n", "line 1: '1e99999999' has more than 18 digits before"),
        (pairs, "0,1,1e-19\n", "line 1: '1e-19' has more than 18 digits before and 18 behind"),
        (pairs, "0,1,1e-18\n0,2,1e9\n", "differ too much"),
        (matrix, "0,1\n1\n", "line 2: 1 weights, not 2 as above"),
        (matrix, "0,1\n1,0\n0,0\n", "3 lines of 2 weights are no square"),
        (matrix, "0,1\n1,b\n", "line 2: 'b' is not a weight"),
    ],
)
def test_mistakes_in_files(tmp_path: Path, read: Any, text: str, message: str) -> None:
    (tmp_path / "file.csv").write_text(text)
    with pytest.raises(ValueError, match=r"line|differ") as caught:
        read(tmp_path / "file.csv")
    assert message in str(caught.value)


def test_mistakes_name_the_experiment_and_the_file(file: Path) -> None:
    with pytest.raises(InputError, match=r"matrix.toml:15: base.traffic.pattern.pairs: pairs.csv"):
        Experiment.load(file)
    (file.parent / "pairs.csv").write_text("0,1\n0,x\n")
    with pytest.raises(InputError, match=r"pairs.csv: line 2: 'x' is not the number of a host"):
        Experiment.load(file)


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("from,to\n0,1\n\n2,4\n", "base.traffic.pattern.pairs.list[1][1]", "no host 4"),
        ("from,to\n0,1\n\n2,2\n", "base.traffic.pattern.pairs.list[1]", "to itself"),
    ],
)
def test_what_the_engine_refuses_stands_on_a_line(
    file: Path, text: str, path: str, message: str
) -> None:
    read = file.parent / "pairs.csv"
    read.write_text(text)
    with pytest.raises(InputError) as caught:
        plan.check_file(file)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line, problem.path) == (read, 4, path)
    assert message in problem.message


def test_a_matrix_of_an_axis(file: Path) -> None:
    (file.parent / "pairs.csv").write_text("0,1\n1,0\n")
    (file.parent / "matrix.csv").write_text("0,1,1,1\n1,0,1,1\n1,1,0,1\n1,1,2,1\n")
    axis = '{ label = "M", set = { "traffic.pattern" = { matrix = { file = "matrix.csv" } } } }'
    file.write_text(EXPERIMENT + f'[[axis]]\nname = "traffic"\nvalues = [{axis}]\n')
    with pytest.raises(InputError) as caught:
        plan.check_file(file)
    problem = caught.value.problems[0]
    assert (problem.file, problem.line) == (file.parent / "matrix.csv", 4)
    assert problem.path.endswith("matrix.rows[3][3]")


def test_files_become_part_of_the_spec(file: Path) -> None:
    read = file.parent / "pairs.csv"
    read.write_text("0,1\n1,0\n3,1\n")
    (first,) = Experiment.load(file).points
    assert first.spec["traffic"]["pattern"] == {
        "pairs": {"list": [[0, 1, 1], [1, 0, 1], [3, 1, 1]]}
    }
    assert canonical(first.spec) == first.canonical
    load = api.simulate(file).load
    assert load.offered == pytest.approx(0.3)
    assert load.accepted == pytest.approx(0.3, rel=0.05)
    read.write_text("0,1\n1,0\n2,1\n")
    (changed,) = Experiment.load(file).points
    assert changed.key != first.key


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    with file.open("wb") as stream:
        stream.truncate(4 << 30)  # A hole: it takes no room on the disk.
    with pytest.raises(ValueError, match="more than 1,000,000,000"):
        pairs(file)


def test_a_byte_order_mark_is_no_part_of_a_number(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("\ufeff0,1\n1,0\n", encoding="utf-8")
    assert list(pairs(file)["list"]) == [[0, 1, 1], [1, 0, 1]]

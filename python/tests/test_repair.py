"""A damaged store: what is whole is saved, what is not is computed again."""

from __future__ import annotations

import io
import shutil
import sqlite3
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from conftest import EXPERIMENT
from deroute import lock, plan, runner
from deroute.errors import InputError
from deroute.executors import Resources, make
from deroute.frame import load_results
from deroute.repair import repair
from deroute.store import FILE, Store, unpacked
from test_cli import call


@pytest.fixture
def directory(experiment_file: Path, tmp_path: Path) -> Path:
    """Results of the small experiment."""
    where = tmp_path / "results"
    checked = plan.check_file(experiment_file)
    report = runner.Report(total=len(checked.points), kept=0)
    pool = make("local", Resources())
    runner.run_points(
        checked.experiment, checked.points, where, pool, report=report, watch=lambda _: None
    )
    assert report.done == 8
    return where


def spoil(directory: Path, change: str) -> None:
    connection = sqlite3.connect(directory / FILE)
    with connection:
        connection.execute(f"UPDATE points SET {change} WHERE rowid = 3")
    connection.close()


def test_a_whole_store_is_left_alone(directory: Path) -> None:
    before = (directory / FILE).read_bytes()
    assert repair(directory).backup is None
    assert (directory / FILE).read_bytes() == before
    assert "nothing to repair" in call("repair", directory).output


@pytest.mark.parametrize(
    "change",
    [
        "outcome = 'nonsense'",
        "outcome = '{}'",
        "arrays = x'00'",
        "spec = '{}'",
        "key = 'other'",
    ],
)
def test_a_damaged_record_is_dropped_and_computed_again(
    directory: Path, experiment_file: Path, change: str
) -> None:
    before = load_results(directory).frame
    spoil(directory, change)
    output = call("repair", directory).output
    assert "7 results kept, 1 lost" in output
    assert (directory / f"{FILE}.damaged").exists()
    assert len(load_results(directory).missing) == 1
    call("run", experiment_file, "--dir", directory)
    assert load_results(directory).frame.equals(before)
    assert repair(directory).backup is None


def test_a_damaged_record_says_how_to_drop_it(directory: Path) -> None:
    spoil(directory, "outcome = 'nonsense'")
    with pytest.raises(InputError, match="deroute repair"):
        load_results(directory)
    assert "deroute repair" in call("show", directory, code=2).output


def test_damaged_pages_lose_no_other_record(directory: Path, experiment_file: Path) -> None:
    before = load_results(directory).frame
    file = directory / FILE
    connection = sqlite3.connect(file)
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // page * page
    content[middle : middle + page] = b"\xa5" * page
    file.write_bytes(content)
    found = repair(directory)
    assert found.dropped
    assert 0 < found.kept < 8
    call("run", experiment_file, "--dir", directory)
    assert load_results(directory).frame.equals(before)


def test_results_that_are_lost_are_counted_wherever_the_damage_is(tmp_path: Path) -> None:
    file, where = tmp_path / "small.toml", tmp_path / "results"
    seeds = f"values = {list(range(1, 8))}"
    file.write_text(EXPERIMENT.replace("values = [1, 2]", seeds).replace("p = 2", "p = 1"))
    call("run", file, "--dir", where)
    content, lost, unknown = (where / FILE).read_bytes(), 0, 0
    size = int.from_bytes(content[16:18], "big")
    # Nodes of trees, and one page of a record.
    pages = [page for page in range(size, len(content), size) if content[page] in (2, 5, 10, 13)]
    for page in (*pages, len(content) // 2 // size * size):
        copy = tmp_path / "copy"
        copy.mkdir()
        shutil.copy(where / "experiment.toml", copy)
        (copy / FILE).write_bytes(content[:page] + b"\xa5" * size + content[page + size :])
        found = repair(copy)
        unknown += found.open_end
        lost += len(found.dropped) > 1
        assert found.open_end or found.kept + len(found.dropped) == 28
        assert found.kept + len(found.dropped) <= 28
        shutil.rmtree(copy)
    assert (lost > 0, unknown) == (True, 0)


def test_the_store_of_a_run_is_not_repaired(directory: Path) -> None:
    with lock.exclusive(directory), pytest.raises(InputError, match="another run"):
        repair(directory)
    with pytest.raises(InputError, match="no results"):
        repair(directory / "nowhere")


def test_a_bomb_among_the_arrays_is_refused(directory: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        header = io.BytesIO()
        np.save(header, np.zeros(1 << 24, dtype=np.uint8))
        archive.writestr("arrays.injected_by_host.npy", header.getvalue())
    with pytest.raises(ValueError, match="would unpack"):
        unpacked(packed.getvalue())
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        claim, {"descr": "<u8", "fortran_order": False, "shape": (1 << 50,)}
    )
    huge = io.BytesIO()
    with zipfile.ZipFile(huge, "w") as archive:
        archive.writestr("a.npy", claim.getvalue())
    with pytest.raises(ValueError, match="memory"):
        unpacked(huge.getvalue())
    connection = sqlite3.connect(directory / FILE)
    with connection:
        connection.execute("UPDATE points SET arrays = ?", (packed.getvalue(),))
    connection.close()
    with pytest.raises(InputError, match="would unpack"):
        _ = load_results(directory).outcomes[0].arrays


def test_a_locked_store_is_told_soon(directory: Path) -> None:
    connection = sqlite3.connect(directory / FILE, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    begin = time.monotonic()
    with pytest.raises(InputError, match="Another process holds it"):
        load_results(directory)
    with pytest.raises(InputError, match="Another process"), Store.open(directory, create=True):
        pass
    assert time.monotonic() - begin < 15
    connection.close()

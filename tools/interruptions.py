"""Kill and terminate a run again and again, and compare what it has in the end with a plain run.

Each round starts `deroute run` on the same directory and sends it a signal at a random moment, from
the start of the program to the drawing of the figures. Nothing that was kept may be lost from one
round to the next, no round may need a repair, and the last run has to have the bytes of an
undisturbed one. Minutes:

    python tools/interruptions.py                        # 100 SIGKILL, 30 SIGTERM
    python tools/interruptions.py --kill 10 --term 3
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from slurm_cluster import DEROUTE, records, seconds, small

from deroute.store import FILE

#: Points of the experiment, and rounds before it begins anew.
POINTS, ROUNDS = 40, 12


def run(file: Path, where: Path) -> subprocess.Popen[bytes]:
    """A run on one core, in silence."""
    command = [*DEROUTE, "run", str(file), "--dir", str(where), "--jobs", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Round(NamedTuple):
    """What one round came to."""

    hit: bool  # The signal found the program at work.
    added: int  # Points that this round kept.
    kept: int  # Points that are kept after it.


def disturb(file: Path, where: Path, sign: signal.Signals, longest: float) -> Round:
    """One round, with a signal at a random moment of so many seconds."""
    before = records(where) if (where / FILE).exists() else {}
    process = run(file, where)
    time.sleep(random.uniform(0.0, longest))
    hit = process.poll() is None
    process.send_signal(sign)
    _, told = process.communicate()
    assert b"Traceback" not in told, told.decode()
    after = records(where) if (where / FILE).exists() else {}
    assert before.items() <= after.items(), "a result has been lost"
    return Round(hit, len(after) - len(before), len(after))


def main() -> None:
    """Disturb, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kill", type=int, default=100, help="times SIGKILL (default 100)")
    parser.add_argument("--term", type=int, default=30, help="times SIGTERM (default 30)")
    asked = parser.parse_args()
    signals = [signal.SIGKILL] * asked.kill + [signal.SIGTERM] * asked.term
    random.seed(1)
    random.shuffle(signals)
    with tempfile.TemporaryDirectory(prefix="interruptions-") as name:
        folder = Path(name)
        file, whole, where = folder / "small.toml", folder / "whole", folder / "disturbed"
        file.write_text(small(200_000, POINTS))
        begin = time.monotonic()
        assert run(file, whole).wait() == 0
        total = time.monotonic() - begin
        # As long as a round takes that has to do a part of the points.
        longest = total - seconds(whole) * (1 - 2 / ROUNDS)
        expected, rounds, whole_runs = records(whole), list[Round](), 0
        for number, sign in enumerate(signals, 1):
            rounds.append(disturb(file, where, sign, longest))
            # The last round of a run does the last points, whatever else the machine has to do.
            ahead = rounds[-1].kept > POINTS * ((number - 1) % ROUNDS + 1) / ROUNDS
            longest = min(2 * total, longest * (0.8 if ahead else 1.25))
            if number % ROUNDS == 0 or number == len(signals):
                assert run(file, where).wait() == 0
                assert records(where) == expected, "the results differ"
                whole_runs += 1
                print(f"{number} of {len(signals)}: {rounds[-1].kept} of {POINTS} kept", flush=True)
                where = folder / f"disturbed-{number}"
    at_work, added = sum(each.hit for each in rounds), sum(each.added > 0 for each in rounds)
    print(
        f"{asked.kill} SIGKILL, {asked.term} SIGTERM, {at_work} of them while it worked, {added} "
        f"after new points: nothing lost, {whole_runs} runs the same"
    )


if __name__ == "__main__":
    main()

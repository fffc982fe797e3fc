"""Run experiments under a Slurm of one node, which it starts, and compare with a plain run.

Needs root and the Debian packages slurm-wlm and munge, and submitit; without them it says what was
not tested and ends well. What is tried, at the same time: an array of jobs; a terminal that is
closed (the driver is killed) while jobs run; a job that is cancelled; a job that its time limit
cuts. The results have to be the same bytes each time. And signals that end this program, which may
leave no process behind. A minute or more, which is the least time limit that Slurm has:

    python tools/slurm_cluster.py
    python tools/slurm_cluster.py a_time_limit
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

from deroute.executors import slurm
from deroute.store import Store

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
DEROUTE = (sys.executable, "-m", "deroute")
#: Points of an experiment.
POINTS = 40
#: What ends this program.
SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Outcomes and arrays, by key.
Records = dict[str, tuple[str, bytes]]

# A job that is queued again waits for as long as a credential lives, two minutes if nobody says so.
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={where}/munge.socket,cred_expire=5
StateSaveLocation={where}/state
SlurmdSpoolDir={where}/spool
SlurmctldPidFile={where}/slurmctld.pid
SlurmdPidFile={where}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=short Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def small(cycles: int, loads: int) -> str:
    """An experiment on 72 hosts with so many points."""
    return f"""\
name = "small"
[base.network.topology.dragonfly]
p = 2
a = 4
h = 2
[base.network.links.local]
latency = 15
vcs = 4
buffer = 360
[base.network.links.global]
latency = 150
vcs = 2
buffer = 900
[base.network.switch.combined_queued]
pipeline = 90
output_buffer = 630
[base.routing.minimal]
[base.traffic]
load = 0.1
packet_size = 10
pattern = "uniform"
[base.run]
warmup = 1000
measure = {cycles}
[[axis]]
name = "load"
path = "traffic.load"
range = {{ from = 0.01, to = {loads / 100}, step = 0.01 }}
"""


@contextmanager
def cluster(where: Path) -> Iterator[Path]:
    """A Slurm of this machine, and its folder. Nothing that was started is left in the end."""
    for name in ("state", "spool"):
        (where / name).mkdir()
    key = where / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    host = socket.gethostname().partition(".")[0]
    configuration = where / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(host=host, where=where, ports=free_ports()))
    os.environ["SLURM_CONF"] = str(configuration)
    munge = ["munged", "--foreground", "--force", f"--key-file={key}"]
    munge += [f"--socket={where}/munge.socket", f"--pid-file={where}/munged.pid"]
    munge += [f"--log-file={where}/munged.log", f"--seed-file={where}/munged.seed"]
    daemons: list[tuple[list[str], Callable[[], bool]]] = [
        (munge, (where / "munge.socket").exists),
        (["slurmctld", "-D", "-c"], lambda: "is UP" in told("scontrol", "ping")),
        (["slurmd", "-D", "-c"], lambda: "idle" in told("sinfo", "--noheader", "--format=%T")),
    ]
    started = []
    try:
        with (where / "daemons.log").open("wb") as log:
            for command, ready in daemons:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
                wait(ready, 60)
        yield where
    finally:
        for sign in SIGNALS:
            signal.signal(sign, signal.SIG_IGN)
        for daemon in reversed(started):
            daemon.terminate()
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
        # Jobs go on without their daemons, and drivers wait for them.
        for number in members(where):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        wait(lambda: not members(where), 30)


def free_ports() -> tuple[int, int]:
    """Two ports that nobody has."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def members(where: Path) -> list[int]:
    """Processes of the cluster in a folder, by their environment."""
    mark = f"SLURM_CONF={where}/slurm.conf".encode()
    found = []
    for each in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in each.read_bytes().split(b"\0"):
                found.append(int(each.parent.name))
    return found


def told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def wait(done: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s")
        time.sleep(0.2)


def records(directory: Path) -> Records:
    with Store.open(directory) as store:
        return {each.key: (each.outcome, each.arrays) for each in store.records()}


def seconds(directory: Path) -> float:
    """What all points took, for one core."""
    with Store.open(directory) as store:
        return sum(point.seconds for point in store.points())


def log() -> Path:
    """What the programs of a scenario print."""
    return Path(os.environ["SLURM_CONF"]).with_name(f"{threading.current_thread().name}.log")


def deroute(*arguments: object) -> subprocess.Popen[bytes]:
    command = [*DEROUTE, *(str(each) for each in arguments)]
    with log().open("ab") as stream:
        return subprocess.Popen(command, stdout=stream, stderr=stream)


def done(*arguments: object) -> None:
    code = deroute(*arguments).wait()
    assert code == 0, f"exit code {code} of {arguments}"


class Case:
    """An experiment, where a scenario leaves its results, and what they have to be."""

    def __init__(self, where: Path, name: str, cycles: int) -> None:
        self.file, self.where = where / f"{name}.toml", where / name
        self.file.write_text(small(cycles, POINTS))

    def whole(self) -> Records:
        """The results of a run on this machine."""
        there = self.where.with_name(f"{self.where.name}-plain")
        done("run", self.file, "--dir", there)
        return records(there)

    def run(self, jobs: int, *options: str) -> subprocess.Popen[bytes]:
        """A run in so many jobs."""
        given = [part for option in options for part in ("--slurm", option)]
        slurm_jobs = ["--executor", "slurm", "--jobs", jobs]
        return deroute("run", self.file, "--dir", self.where, *slurm_jobs, *given)


def an_array(case: Case) -> None:
    """An array of jobs, from end to end."""
    assert case.run(3, "partition=short").wait() == 0
    assert records(case.where) == case.whole()
    assert not list((case.where / slurm.FOLDER / slurm.RESULTS).iterdir())


def a_closed_terminal(case: Case) -> None:
    """The driver is killed while jobs run: they go on, and a later one takes what they leave."""
    driver, folder = case.run(2), case.where / slurm.FOLDER
    wait((folder / slurm.JOBS).exists, 60)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    jobs = list(slurm.under_way(folder))
    assert len(jobs) == 1, jobs
    done("status", case.where, "--follow")
    left = len(list((folder / slurm.RESULTS).glob("*.npz"))) + len(records(case.where))
    assert left == POINTS, left
    assert case.run(2).wait() == 0
    assert records(case.where) == case.whole()


def a_cancelled_job(case: Case) -> None:
    """Its points fail with a message; the same command submits them again."""
    driver, folder = case.run(2), case.where / slurm.FOLDER
    wait((folder / slurm.JOBS).exists, 60)
    (job,) = slurm.under_way(folder)
    wait(lambda: "RUNNING" in slurm.states(job), 60)
    told("scancel", f"{job}_1")
    assert driver.wait() == 1
    assert 0 < len(records(case.where)) < POINTS
    assert case.run(2).wait() == 0
    assert records(case.where) == case.whole()


def job(case: Case) -> int:
    """The process of the job of a case, once the job has a result."""
    folder = case.where / slurm.FOLDER
    wait(lambda: any((folder / slurm.RESULTS).glob("*.npz")), 60)
    logs = str(folder / slurm.LOGS).encode()
    for number in members(case.file.parent):
        with suppress(OSError):
            command = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            if command[3:5] == [b"submitit.core._submit", logs]:
                return number
    raise AssertionError("there is no job")


def printed(case: Case) -> str:
    """What jobs print."""
    return "".join(path.read_text() for path in (case.where / slurm.FOLDER).glob("logs/*_log.*"))


def a_time_limit(case: Case) -> None:
    """A job that is too slow for its minute is warned, and queued again with what it has left."""
    driver = case.run(1, "time=1")
    number = job(case)
    os.kill(number, signal.SIGSTOP)
    # Slurm may let it go on itself, to be heard.
    wait(lambda: warned(number) or driver.poll() is not None, 120)
    with suppress(ProcessLookupError):
        os.kill(number, signal.SIGCONT)
    assert driver.wait() == 0
    printed = "".join(path.read_text() for path in (case.where / slurm.FOLDER).glob("logs/*_log.*"))
    assert "this job is timed-out" in printed
    assert "Requeued job" in printed
    assert records(case.where) == case.whole()


def warned(number: int) -> bool:
    """Whether a job has been told that its time is nearly over, or has ended."""
    try:
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return True
    masks = [int(line.split()[1], 16) for line in lines if line[:7] in ("SigPnd:", "ShdPnd:")]
    return any(mask >> (signal.SIGUSR2 - 1) & 1 for mask in masks)


def a_termination(case: Case) -> None:
    """SIGTERM ends this program, and a Slurm with a job."""
    ended_by(signal.SIGTERM, case.where)


def an_interruption(case: Case) -> None:
    """The same with Ctrl-C."""
    ended_by(signal.SIGINT, case.where)


def ended_by(sign: signal.Signals, folder: Path) -> None:
    """No process is left, and no file."""
    folder.mkdir()
    command = [sys.executable, __file__, an_array.__name__]
    with log().open("ab") as stream:
        tool = subprocess.Popen(
            command, env=os.environ | {"TMPDIR": str(folder)}, stdout=stream, stderr=stream
        )
    wait(lambda: any(folder.glob("slurm-*/an_array/slurm/logs/*_log.out")), 60)
    (where,) = folder.glob("slurm-*")
    before = members(where)
    # Three daemons, a driver, a job and who watches it.
    assert len(before) >= 6, before
    tool.send_signal(sign)
    code = tool.wait()
    assert code == 128 + sign, code
    assert not members(where), members(where)
    assert not list(folder.iterdir())


SCENARIOS = (
    an_array,
    a_closed_terminal,
    a_cancelled_job,
    a_time_limit,
    a_termination,
    an_interruption,
)
#: Seconds of one core that the points of a scenario take, whatever a core is.
WORK = 6


def attempt(scenario: Callable[[Case], None], case: Case, ends: SimpleQueue[bool]) -> None:
    """Says how it went."""
    begin, name = time.monotonic(), scenario.__name__
    try:
        scenario(case)
    except Exception:
        print(f"{name}: FAILED\n{traceback.format_exc()}\n{log().read_text()}", flush=True)
        ends.put(False)
    else:
        print(f"{name}: ok, {time.monotonic() - begin:.0f} s", flush=True)
        ends.put(True)


def scenarios(asked: list[str]) -> bool:
    """Try them at the same time; returns whether all went well."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as name, cluster(Path(name)) as where:
        first = Case(where, "first", 20_000)
        first.whole()
        cycles = int(21_000 * WORK / max(seconds(where / "first-plain"), 0.1))
        ends: SimpleQueue[bool] = SimpleQueue()
        chosen = [each for each in SCENARIOS if each.__name__ in asked]
        for scenario in chosen:
            case = Case(where, scenario.__name__, cycles)
            # A thread that is left behind if a signal ends this program.
            threading.Thread(
                target=attempt, args=(scenario, case, ends), name=scenario.__name__, daemon=True
            ).start()
        went = [ends.get() for _ in chosen]
    return all(went)


def end(number: int, _: object) -> None:
    """Leaves what is going on, and cleans up."""
    sys.exit(128 + number)


def main() -> None:
    """Try everything, or what is named."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if importlib.util.find_spec("submitit") is None:
        absent.append("submitit")
    if os.geteuid():
        absent.append("root")
    if absent:
        print(f"NOT TESTED under Slurm: there is no {', no '.join(absent)}")
        return
    # Also where a shell has told its background jobs to ignore one of them.
    for sign in SIGNALS:
        signal.signal(sign, end)
    sys.exit(not scenarios(sys.argv[1:] or [each.__name__ for each in SCENARIOS]))


if __name__ == "__main__":
    main()

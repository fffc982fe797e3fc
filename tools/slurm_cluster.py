"""Run experiments under a Slurm of one node, which it starts, and compare with a plain run.

Needs root and the Debian packages slurm-wlm and munge, and submitit; without them it says what was
not tested and ends well. What is tried: an array of jobs; a terminal that is closed (the driver is
killed) while jobs run; a job that is cancelled. The results have to be the same bytes each time.
Also a job that its time limit cuts, which takes ten minutes, if it is named:

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
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deroute.executors import slurm
from deroute.store import Store

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
DEROUTE = (sys.executable, "-m", "deroute")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={where}/munge.socket
StateSaveLocation={where}/state
SlurmdSpoolDir={where}/spool
SlurmctldPidFile={where}/slurmctld.pid
SlurmdPidFile={where}/slurmd.pid
SlurmctldPort=26817
SlurmdPort=26818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
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
    """A Slurm of this machine, and its folder."""
    for name in ("state", "spool"):
        (where / name).mkdir()
    key = where / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    host = socket.gethostname().partition(".")[0]
    configuration = where / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(host=host, where=where))
    os.environ["SLURM_CONF"] = str(configuration)
    munge = ["munged", "--foreground", "--force", f"--key-file={key}"]
    munge += [f"--socket={where}/munge.socket", f"--pid-file={where}/munged.pid"]
    munge += [f"--log-file={where}/munged.log", f"--seed-file={where}/munged.seed"]
    started = []
    with (where / "daemons.log").open("wb") as log:
        for command in (munge, ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-c"]):
            started.append(subprocess.Popen(command, stdout=log, stderr=log))
            time.sleep(2)
        try:
            wait(lambda: "idle" in told("sinfo", "--noheader", "--format=%T"), 60)
            yield where
        finally:
            for daemon in reversed(started):
                daemon.terminate()
                daemon.wait()


def told(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def wait(done: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s")
        time.sleep(0.2)


def records(directory: Path) -> dict[str, tuple[str, bytes]]:
    with Store.open(directory) as store:
        return {each.key: (each.outcome, each.arrays) for each in store.records()}


def seconds(directory: Path) -> float:
    """What all points took, for one core."""
    with Store.open(directory) as store:
        return sum(point.seconds for point in store.points())


def deroute(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*DEROUTE, *(str(each) for each in arguments)])


def done(*arguments: object) -> None:
    code = deroute(*arguments).wait()
    assert code == 0, f"exit code {code} of {arguments}"


def an_array(file: Path, where: Path, whole: dict[str, tuple[str, bytes]]) -> None:
    """An array of jobs, from end to end."""
    options = ["--executor", "slurm", "--jobs", 3, "--slurm", "partition=short"]
    done("run", file, "--dir", where, *options)
    assert records(where) == whole
    assert not list((where / slurm.FOLDER / slurm.RESULTS).iterdir())


def a_closed_terminal(file: Path, where: Path, whole: dict[str, tuple[str, bytes]]) -> None:
    """The driver is killed while jobs run: they go on, and a later one takes what they leave."""
    driver = deroute("run", file, "--dir", where, "--executor", "slurm", "--jobs", 2)
    folder = where / slurm.FOLDER
    wait((folder / slurm.JOBS).exists, 60)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    jobs = list(slurm.under_way(folder))
    assert len(jobs) == 1, jobs
    done("status", where, "--follow")
    assert len(list((folder / slurm.RESULTS).glob("*.npz"))) + len(records(where)) == len(whole)
    done("run", file, "--dir", where, "--executor", "slurm", "--jobs", 2)
    assert records(where) == whole


def a_cancelled_job(file: Path, where: Path, whole: dict[str, tuple[str, bytes]]) -> None:
    """Its points fail with a message; the same command submits them again."""
    driver = deroute("run", file, "--dir", where, "--executor", "slurm", "--jobs", 2)
    folder = where / slurm.FOLDER
    wait((folder / slurm.JOBS).exists, 60)
    (job,) = slurm.under_way(folder)
    wait(lambda: "RUNNING" in slurm.states(job), 60)
    told("scancel", f"{job}_1")
    assert driver.wait() == 1
    assert 0 < len(records(where)) < len(whole)
    done("run", file, "--dir", where, "--executor", "slurm", "--jobs", 2)
    assert records(where) == whole


def a_time_limit(file: Path, where: Path, whole: dict[str, tuple[str, bytes]]) -> None:
    """One job of two minutes for more than that: it is queued again until all is done."""
    options = ["--executor", "slurm", "--jobs", 1, "--slurm", "time=2"]
    begin = time.monotonic()
    code = deroute("run", file, "--dir", where, *options).wait()
    took = time.monotonic() - begin
    logs = "".join(path.read_text() for path in (where / slurm.FOLDER / slurm.LOGS).glob("*.out"))
    logs += "".join(path.read_text() for path in (where / slurm.FOLDER / slurm.LOGS).glob("*.err"))
    assert "timed-out" in logs.lower() or "timeout" in logs.lower(), f"{took:.0f} s: {logs}"
    assert code == 0, f"exit code {code} after {took:.0f} s: {logs}"
    assert records(where) == whole


QUICK = (an_array, a_closed_terminal, a_cancelled_job)


def main() -> None:
    """Try what is quick, or what is named."""
    absent = [program for program in PROGRAMS if shutil.which(program) is None]
    if importlib.util.find_spec("submitit") is None:
        absent.append("submitit")
    if os.geteuid():
        absent.append("root")
    if absent:
        print(f"NOT TESTED under Slurm: there is no {', no '.join(absent)}")
        return
    asked = sys.argv[1:] or [each.__name__ for each in QUICK]
    with tempfile.TemporaryDirectory(prefix="slurm-") as name, cluster(Path(name)) as where:
        file = where / "small.toml"
        file.write_text(small(20_000, 40))
        done("run", file, "--dir", where / "first")
        # So many seconds for one core, whatever that is.
        wanted = 300 if a_time_limit.__name__ in asked else 20
        cycles = 21_000 * wanted / max(seconds(where / "first"), 0.1)
        file.write_text(small(int(cycles), 40))
        done("run", file, "--dir", where / "local")
        whole = records(where / "local")
        assert len(whole) == 40
        for each in (*QUICK, a_time_limit):
            if each.__name__ in asked:
                begin = time.monotonic()
                each(file, where / each.__name__, whole)
                print(f"{each.__name__}: ok, {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()

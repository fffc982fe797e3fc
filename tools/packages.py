"""Checks what `make dist` has built, and uses it as somebody would who has nothing else.

The wheel is installed into an empty environment, from which two commands lead to a figure.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
DATA = "deroute/data"
#: What an sdist must have beside the data, below its folder.
SOURCES = (
    *("Cargo.toml", "Cargo.lock", "pyproject.toml", "LICENSE-MIT", "README.md"),
    *("crates/deroute/src/lib.rs", "crates/deroute-py/src/lib.rs", "python/deroute/_engine.pyi"),
)


def shipped() -> list[str]:
    """Files of the repository that come with the lab, below the folder of the data."""
    files = [*ROOT.glob("experiments/*.toml"), *ROOT.glob("schemas/*.json")]
    files += [ROOT / "reproduce/README.md", *ROOT.glob("reproduce/*/*.toml")]
    files += ROOT.glob("reproduce/*/verdicts/*.json")
    files += ROOT.glob("reproduce/*/traces/*.tar.gz")
    return sorted(str(file.relative_to(ROOT)) for file in files)


def missing(names: Iterable[str], wanted: Iterable[str], package: Path) -> None:
    """Ends unless all that is wanted is there."""
    absent = sorted(set(wanted) - set(names))
    if absent:
        sys.exit(f"{package.name} has no {', '.join(absent)}")


def check_wheel(wheel: Path, version: str) -> None:
    """Its tags, and what comes with it."""
    name, tagged, _, abi, _ = wheel.stem.split("-")
    if (name, tagged, abi) != ("deroute", version, "abi3"):
        sys.exit(f"{wheel.name} is not deroute {version} for the stable ABI")
    missing(zipfile.ZipFile(wheel).namelist(), [f"{DATA}/{name}" for name in shipped()], wheel)


def check_sdist(sdist: Path, version: str, folder: Path) -> None:
    """What comes with it, and that cargo finds its way there."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    inside = folder / f"deroute-{version}"
    names = [str(file.relative_to(inside)) for file in inside.rglob("*") if file.is_file()]
    missing(names, [*SOURCES, *(f"python/{DATA}/{name}" for name in shipped())], sdist)
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    subprocess.run(command, cwd=inside, check=True, stdout=subprocess.DEVNULL)


def check_crate() -> None:
    """As cargo would publish it. The same sources have been compiled already."""
    command = ["cargo", "publish", "--dry-run", "--quiet", "--locked", "--allow-dirty"]
    subprocess.run([*command, "--no-verify", "-p", "deroute"], cwd=ROOT, check=True)


def from_nothing(wheel: Path, version: str, folder: Path) -> float:
    """Seconds from an empty environment to a figure."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    work = folder / "work"
    work.mkdir()
    programs = folder / "venv" / "bin"
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }

    def call(*command: str | Path) -> str:
        done = subprocess.run(
            command, cwd=work, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    begin = time.monotonic()
    call(programs / "pip", "install", "--quiet", wheel)
    call(programs / "deroute", "run", "first")
    took = time.monotonic() - begin
    if not (work / "runs/first/latency.png").stat().st_size:
        sys.exit("there is no figure")
    where = call(programs / "python", "-c", "import deroute; print(deroute.__version__)").strip()
    if where != version:
        sys.exit(f"the wheel of {version} says that it is {where}")
    for command in (["examples", "demo", "--copy"], ["check", "demo.toml", "--no-probe"]):
        call(programs / "deroute", *command)
    if "thesis" not in call(programs / "deroute", "examples"):
        sys.exit("the papers did not come with the wheel")
    call(programs / "deroute", "reproduce", "hipineb", "--status")
    return took


def main() -> None:
    """Check every package."""
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    wheels = sorted(DIST.glob("*.whl"))
    (wheel,) = (each for each in wheels if each.stem.endswith(platform.machine()))
    (sdist,) = DIST.glob("*.tar.gz")
    for each in wheels:
        check_wheel(each, version)
    check_crate()
    with tempfile.TemporaryDirectory() as name:
        check_sdist(sdist, version, Path(name))
        took = from_nothing(wheel, version, Path(name))
    print(f"{wheel.name}, {sdist.name}: from nothing to a figure in {took:.0f} s")
    for each in wheels:
        if each != wheel:
            print(f"{each.name}: built, and not run on a machine of its own")


if __name__ == "__main__":
    main()

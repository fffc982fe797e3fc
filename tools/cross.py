"""Builds the wheel for the other architecture of Linux into dist, or says why it does not.

The linker is Zig's (`pip install ziglang`), the standard library of Rust that of the target
(`rustup target add`). Whatever is missing is told with the command that gets it, and is no failure:
that wheel can be built on a machine of its own.
"""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}


def missing(target: str) -> str | None:
    """What has to be done before a wheel can be built for the target; None if nothing."""
    if importlib.util.find_spec("ziglang") is None:
        return f"{sys.executable} -m pip install ziglang"
    command = ["rustc", "--print", "target-libdir", "--target", target]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode or not list(Path(told.stdout.strip()).glob("libstd-*")):
        return f"rustup target add {target}"
    return None


def main() -> None:
    """Build it, or say why not."""
    other = OTHER.get(platform.machine())
    if other is None or sys.platform != "linux":
        print(f"no wheels but that of {platform.machine()} have been built")
        return
    target = f"{other}-unknown-linux-gnu"
    if (step := missing(target)) is not None:
        print(f"the wheel for {other} has not been built; it needs: {step}")
        return
    maturin = shutil.which("maturin") or str(Path(sys.executable).with_name("maturin"))
    command = [maturin, "build", "--release", "--locked", "--target", target, "--zig"]
    subprocess.run([*command, "--out", "dist"], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()

"""Does what CONTRIBUTING says on a copy of the engine, and runs the result."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BLOCK = r"<!-- {} -->\n(`{{3,}})\w+\n(.*?)\n\1\n"


def block(text: str, marker: str) -> str:
    """The code block behind a marker."""
    found = re.search(BLOCK.format(re.escape(marker)), text, re.DOTALL)
    if found is None:
        sys.exit(f"CONTRIBUTING.md has no block marked {marker!r}")
    return found.group(2) + "\n"


def apply(text: str, copy: Path) -> None:
    """Adds the files and the lines of the walkthroughs to a copy of the repository."""
    for path in re.findall(r"<!-- file: (\S+) -->", text):
        (copy / path).write_text(block(text, f"file: {path}"))
    for path, anchor in re.findall(r"<!-- line: (\S+): (.+?) -->", text):
        target = copy / path
        source = target.read_text()
        found = re.search(rf"^ *{re.escape(anchor)}\n", source, re.MULTILINE)
        if found is None:
            sys.exit(f"{path} has no line {anchor!r}")
        line = block(text, f"line: {path}: {anchor}")
        target.write_text(source[: found.end()] + line + source[found.end() :])


def run(text: str, name: str, copy: Path) -> dict[str, Any]:
    """The outcome of a spec of the walkthroughs, which must be steady."""
    spec = copy / f"{name}.toml"
    spec.write_text(block(text, f"spec: {name}"))
    # The networks are small: to optimise the engine would take longer.
    profile = ["--config", "profile.dev.package.deroute.opt-level=0"]
    command = ["cargo", "run", "--quiet", "--locked", *profile]
    example = ["-p", "deroute", "--example", "point", "--", str(spec)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    done = subprocess.run(
        [*command, *example], cwd=copy, env=environment, check=True, stdout=subprocess.PIPE
    )
    outcome: dict[str, Any] = json.loads(done.stdout)
    if outcome["verdict"]["state"] != "steady":
        sys.exit(f"{name} gives {outcome['verdict']}")
    return outcome


def main() -> None:
    """Fails unless the walkthroughs build, are well formatted, and give what they promise."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("Cargo.toml", "Cargo.lock", "crates", "rustfmt.toml"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name)
            else:
                shutil.copy(source, copy / name)
        apply(text, copy)
        for path in re.findall(r"<!-- file: (\S+) -->", text):
            subprocess.run(["rustfmt", "--check", "--edition", "2024", copy / path], check=True)
        names = re.findall(r"<!-- spec: (\S+) -->", text)
        outcomes = {name: run(text, name, copy) for name in names}
    shares = {path["kind"]: path["share"] for path in outcomes["timid"]["paths"]}
    if not 0 < shares["-gl"] < 1:
        sys.exit(f"the toy algorithm has paths {shares}")
    links = outcomes["on_off"]["flow_control"]["links"]
    stops = sum(link["stops"] for link in links)
    if not stops or any(link["lost_packets"] for link in links):
        sys.exit(f"the toy flow control does {links}")
    did = f"{shares['-gl']:.0%} detours, {stops} stops"
    print(f"walkthroughs: {', '.join(outcomes)} are steady; {did}")


if __name__ == "__main__":
    main()

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

ROOT = Path(__file__).resolve().parent.parent
BLOCK = r"<!-- {} -->\n(`{{3,}})\w+\n(.*?)\n\1\n"


def block(text: str, marker: str) -> str:
    """The code block behind a marker."""
    found = re.search(BLOCK.format(re.escape(marker)), text, re.DOTALL)
    if found is None:
        sys.exit(f"CONTRIBUTING.md has no block marked {marker!r}")
    return found.group(2) + "\n"


def apply(text: str, copy: Path) -> None:
    """Adds the file and the line of the walkthrough to a copy of the repository."""
    for path in re.findall(r"<!-- file: (\S+) -->", text):
        (copy / path).write_text(block(text, f"file: {path}"))
    for path, anchor in re.findall(r"<!-- line: (\S+): (.+?) -->", text):
        target = copy / path
        source = target.read_text()
        start = source.index(f"\n{anchor}\n") + len(f"\n{anchor}\n")
        line = block(text, f"line: {path}: {anchor}")
        target.write_text(source[:start] + line + source[start:])


def main() -> None:
    """Fails unless the walkthrough builds, is well formatted, and gives a steady result."""
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
        spec = copy / "spec.toml"
        spec.write_text(block(text, "spec"))
        command = ["cargo", "run", "--quiet", "--locked", "-p", "deroute", "--example", "point"]
        environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
        done = subprocess.run(
            [*command, "--", spec], cwd=copy, env=environment, check=True, capture_output=True
        )
    outcome = json.loads(done.stdout)
    shares = {path["kind"]: path["share"] for path in outcome["paths"]}
    if outcome["verdict"]["state"] != "steady" or not 0 < shares["-gl"] < 1:
        sys.exit(f"the toy algorithm gives {outcome['verdict']} with paths {shares}")
    print(f"walkthrough: steady, {shares['-gl']:.0%} of the packets detoured")


if __name__ == "__main__":
    main()

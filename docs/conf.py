"""The documentation site: `make docs`."""

import tomllib
from pathlib import Path

_CARGO = Path(__file__).parent.parent / "Cargo.toml"

project = "Deroute"
author = copyright = "the authors of Deroute"
release = tomllib.loads(_CARGO.read_text(encoding="utf-8"))["workspace"]["package"]["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["images"]
nitpicky = False

# Headings that pages may refer to.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"Deroute {release}"
html_copy_source = False
html_show_sphinx = False

"""Checks the links between the pages of a site, and lists those that lead elsewhere.

No network is asked for anything: links to other sites are counted by site, for a person to look at.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that refer to something, by tag.
_REFERENCES = {"a": "href", "img": "src", "link": "href", "script": "src"}


class Page(HTMLParser):
    """The anchors and the references of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.references: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag is called, and what it refers to."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name == _REFERENCES.get(tag) and value:
                self.references.append(value)


def dead(site: Path) -> Iterator[str]:
    """Links to pages, files and anchors that are not there."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        for reference in page.references:
            parts = urlsplit(reference)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            anchor = unquote(parts.fragment)
            if not target.exists() or (known and anchor and anchor not in known.anchors):
                yield f"{file.relative_to(site)}: {reference}"


def elsewhere(site: Path) -> Counter[str]:
    """Pages that refer to each other site."""
    found: Counter[str] = Counter()
    for file in site.rglob("*.html"):
        links = {urlsplit(each).netloc for each in Page(file.read_text("utf-8")).references}
        found.update(host for host in links if host)
    return found


def main() -> int:
    """Say what is dead, and fail if anything is."""
    site = Path(sys.argv[1]).resolve()
    missing = sorted(set(dead(site)))
    for link in missing:
        print(f"dead link: {link}", file=sys.stderr)
    for host, pages in sorted(elsewhere(site).items()):
        print(f"not followed: {host}, on {pages} pages")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

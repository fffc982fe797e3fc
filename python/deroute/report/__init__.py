"""A report: one HTML file with everything in it, which needs no network."""

from __future__ import annotations

from deroute.report.page import write

__all__ = ["write"]

"""The routing of a spec by its name here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deroute.errors import InputError
from deroute.tables.compiler import ROUTINGS


def routing_of(spec: Mapping[str, Any]) -> str:
    """What tables can do of the routing that a spec asks for."""
    (name, parameters), *_ = spec["routing"].items()
    match name:
        case "minimal" | "ecmp":
            return str(name)
        case "mod_k":
            return "s-mod-k" if parameters.get("of") == "source" else "d-mod-k"
        case "valiant" if parameters.get("phase_a") == "-g-" and not parameters.get("restricted"):
            return "valiant"
        case "valiant":
            message = "the intermediate router is drawn: tables know the links of `-g-` only"
            raise InputError.of(message, "routing.valiant.phase_a", ["-g-"])
    message = f"{name!r} looks at queues or draws: no table does. Choose one by --routing"
    raise InputError.of(message, "routing", ROUTINGS)

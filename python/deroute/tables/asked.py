"""The routing of a spec by its name here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deroute.errors import InputError
from deroute.tables.compiler import ROUTINGS, TREES


def routing_of(spec: Mapping[str, Any]) -> str:
    """What tables can do of the routing that a spec asks for."""
    (name, parameters), *_ = spec["routing"].items()
    match name:
        case "minimal" | "ecmp":
            return str(name)
        case "mod_k":
            return "s-mod-k" if parameters.get("of") == "source" else "d-mod-k"
        case "mar_bp":
            (topology, *_) = spec["network"]["topology"]
            detours = "minimal" if topology in TREES else "non-minimal"
            _check(name, parameters, {"alternatives": detours, "paused": "pauses"})
            return "mar-bp"
        case "qcn_switch":
            _check(name, parameters, {"alternatives": 1, "phase_a": None})
            return "qcn-switch"
        case "table":
            message = "the file has rules of its own: there are none to make. Choose by --routing"
            raise InputError.of(message, "routing", ROUTINGS)
        case "valiant" if parameters.get("phase_a") == "-g-" and not parameters.get("restricted"):
            return "valiant"
        case "valiant":
            message = "the intermediate router is drawn: tables know the links of `-g-` only"
            raise InputError.of(message, "routing.valiant.phase_a", ["-g-"])
    message = f"{name!r} looks at queues or draws: no table does. Choose one by --routing"
    raise InputError.of(message, "routing", ROUTINGS)


def _check(name: str, parameters: Mapping[str, Any], known: Mapping[str, object]) -> None:
    """Refuse what a packet turns to, or when, if it is not what tables have."""
    for key, usual in known.items():
        value = parameters.get(key, usual)
        if value != usual:
            choices = ["nothing" if usual is None else usual]
            raise InputError.of(f"no table does {value!r}", f"routing.{name}.{key}", choices)

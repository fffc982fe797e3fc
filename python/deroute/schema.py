"""JSON Schema of experiment files: the engine's schema of a spec, and the lab's own tables."""

from __future__ import annotations

import json
from typing import Any

from deroute import _engine, figures
from deroute.figures.table import Option
from deroute.reader import REFERENCES

_LABEL = {"type": ["string", "number"], "description": "What the value is called."}


def experiment_schema() -> dict[str, Any]:
    """JSON Schema of an experiment file."""
    spec = json.loads(_engine.schema("spec"))
    definitions = spec.pop("$defs")
    spec.pop("$schema", None)
    definitions["Spec"] = spec
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Deroute experiment",
        "type": "object",
        "required": ["name"],
        "anyOf": [{"required": ["base"]}, {"required": ["extends"]}],
        "additionalProperties": False,
        "properties": {
            "name": _text("Name of the experiment and of its result directory."),
            "title": _text("Title of tables and figures."),
            "extends": _text("A network to start from, by its name, or a file with a base."),
            "base": {
                "description": "A spec. What every point sets on an axis may be left out.",
                "$ref": "#/$defs/PartialSpec",
            },
            "reference": {
                "description": "What every point is compared with: the same traffic there.",
                "enum": list(REFERENCES),
            },
            "seeds": _seeds(),
            "axis": _tables("Dimensions of the sweep.", _axis()),
            "skip": _tables(
                "Combinations of labels that are not run.",
                {"type": "object", "additionalProperties": _one_or_more(_LABEL)},
            ),
            "figure": _tables("Figures drawn from the results.", _figure()),
        },
        "$defs": definitions | {"PartialSpec": _partial(spec)},
    }


def _seeds() -> dict[str, Any]:
    share = {"type": "string", "description": 'Half-width of the interval over the mean: "1%".'}
    count = {"type": "integer", "minimum": 2, "maximum": 1000}
    return {
        "type": "object",
        "description": "A point gets more seeds until the intervals between them are so narrow.",
        "required": ["most"],
        "anyOf": [{"required": ["latency"]}, {"required": ["accepted"]}],
        "additionalProperties": False,
        "properties": {"latency": share, "accepted": share, "least": count, "most": count},
    }


def _partial(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key != "required"}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _tables(description: str, items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "description": description, "items": items}


def _one_or_more(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "array", "items": schema}]}


def _axis() -> dict[str, Any]:
    number = {"type": "number"}
    steps = {
        "type": "object",
        "description": "Evenly spaced numbers, both ends included.",
        "required": ["from", "to", "step"],
        "additionalProperties": False,
        "properties": {"from": number, "to": number, "step": number},
    }
    named = {
        "type": "object",
        "required": ["label", "set"],
        "additionalProperties": False,
        "properties": {
            "label": _LABEL,
            "set": {"type": "object", "description": "Spec path to value; tables are replaced."},
        },
    }
    return {
        "type": "object",
        "required": ["name"],
        "oneOf": [{"required": ["values"]}, {"required": ["range", "path"]}],
        "additionalProperties": False,
        "properties": {
            "name": _text("Name of the axis."),
            "path": _text("Spec path that plain values set."),
            "values": {"type": "array", "minItems": 1, "items": {"anyOf": [_LABEL, named]}},
            "range": steps,
            "overrides": {
                "type": "boolean",
                "description": "The axis may set again what an axis before it sets.",
            },
        },
    }


def _option(option: Option) -> dict[str, Any]:
    """A text with choices, a number, or either."""
    text: dict[str, Any] = {"enum": list(option.choices)} if option.choices else {"type": "string"}
    allowed = [text] if str in option.types else []
    if int in option.types or float in option.types:
        allowed.append({"type": "number"})
    return allowed[0] if len(allowed) == 1 else {"anyOf": allowed}


def _figure() -> dict[str, Any]:
    kinds = figures.CATALOGUE.values()
    options: dict[str, Any] = {}
    for kind in kinds:
        for name, option in kind.options.items():
            schema = _option(option)
            # A key of several kinds may have the values that any of them allows.
            known = options.get(name, {}).get("enum", [])
            if "enum" in schema:
                schema["enum"] = list(dict.fromkeys([*known, *schema["enum"]]))
            options[name] = schema
    axis = "Axis on which this is drawn."
    return {
        "type": "object",
        "required": ["name", "kind"],
        "additionalProperties": False,
        "properties": {
            "name": _text("Name of the figure's files."),
            "kind": {"oneOf": [{"const": k.name, "description": k.summary} for k in kinds]},
            "title": _text("Title of the figure."),
            "x": _text(axis),
            "series": _text(axis),
            "panel": _text(axis),
            "where": {"type": "object", "additionalProperties": _one_or_more(_LABEL)},
            **options,
        },
    }

"""`deroute schema`."""

from __future__ import annotations

import json

from deroute.schema import experiment_schema


def schema() -> None:
    """Print the JSON Schema of experiment files, for editors.

    deroute schema > experiment.schema.json
    """
    print(json.dumps(experiment_schema(), indent=2))

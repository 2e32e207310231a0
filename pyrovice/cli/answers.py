"""What commands print: words for people, one JSON object for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import typer


def answer(text: object, record: dict[str, Any], *, as_json: bool, quiet: bool = False) -> None:
    """Print one of the two, or nothing."""
    if as_json:
        typer.echo(json.dumps(_for_json(record), allow_nan=False, ensure_ascii=False, indent=2))
    elif not quiet:
        typer.echo(str(text))


def _for_json(value: Any) -> Any:
    """The same in types that JSON knows; numbers that are not finite become null."""
    import numpy as np
    import pandas as pd

    if isinstance(value, dict):
        return {str(key): _for_json(item) for key, item in value.items()}
    if isinstance(value, pd.DataFrame):
        return _for_json(value.to_dict("records"))
    if isinstance(value, list | tuple):
        return [_for_json(item) for item in value]
    if isinstance(value, np.generic):
        return _for_json(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)

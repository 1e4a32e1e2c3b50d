"""What a model used, in units that do not overlap: as its provider measured it, or estimated from text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ._table import TABLE

__all__ = ["Measured", "estimate_tokens", "usage_of"]


@dataclass(frozen=True)
class Measured:
    """What a model used, in tokens."""

    units: dict[str, int]
    """By kind, without overlap, none that is zero: `input`, `cachedInput`, `cacheWrite`, `cacheWrite1h`, `output`,
    `reasoning`, `inputAudio`, `inputImage`, `outputAudio`, `outputImage`."""
    estimated: bool
    """Whether some of it was estimated from text, since it was not measured."""

    @property
    def input_tokens(self) -> int:
        """All of the input, of whichever kind."""
        return sum(self.units.get(unit, 0) for unit in TABLE["units"]["input"])

    @property
    def output_tokens(self) -> int:
        """All of the output, of whichever kind."""
        return sum(self.units.get(unit, 0) for unit in TABLE["units"]["output"])


def estimate_tokens(text: str) -> int:
    """Tokens of a text, where nothing better is known: by the script that it is written in."""
    hundredths: int = sum(next(weight for last, weight in TABLE["text"] if ord(letter) <= last) for letter in text)
    return -(-hundredths // 100)


def usage_of(usage: Any, asked: int, answered: int) -> Measured:
    """What a provider's usage object says (OpenAI's, Anthropic's, Gemini's, the AI SDK's, LiteLLM's; of a stream a list
    of them), and an estimate for what it does not: the tokens of what was asked and of what was answered.
    """
    whole = whole_of(usage)
    units: dict[str, int] = {}
    estimated = False
    for side, estimate in (("input", asked), ("output", answered)):
        found = measured(whole, side)
        if found is None and estimate > 0:
            found, estimated = {side: estimate}, True
        units.update(found or {})
    return Measured(units, estimated)


def whole_of(usage: Any) -> Any:
    """A usage object as a dictionary; of a stream all of them together."""
    whole: Any = None
    for each in usage if isinstance(usage, (list, tuple)) else [usage]:
        whole = together(whole, plain(each))
    return whole


def shape_of(usage: Any) -> Any:
    """The row of the table that describes it, if one does."""
    shapes = (each for each in TABLE["shapes"] if all(first(usage, paths) is not None for paths in each["marks"]))
    return next(shapes, None)


def plain(value: Any) -> Any:
    """An object of a provider's client as dictionaries and lists."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump())
    if value is None or isinstance(value, (str, int, float)):
        # A modality is an enumeration of words.
        word = getattr(value, "value", None)
        return word if isinstance(word, str) else value
    fields = getattr(value, "__dict__", None)
    return plain(fields) if isinstance(fields, dict) else None


def together(older: Any, newer: Any) -> Any:
    """What the objects of a stream say together: the later word counts, unless it is nothing."""
    if isinstance(newer, dict):
        all_of_it = dict(older) if isinstance(older, dict) else {}
        for name, value in newer.items():
            all_of_it[name] = together(all_of_it.get(name), value)
        return all_of_it
    nothing = newer is None or (isinstance(newer, (int, float)) and not newer > 0)
    return older if newer is None or (nothing and isinstance(older, (int, float)) and older > 0) else newer


def at(usage: Any, path: str) -> Any:
    """The value at a path such as `a.b`, or `a[AUDIO]` for the count of a list's entry."""
    steps, _, modality = path.rstrip("]").partition("[")
    found = usage
    for step in steps.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    if not modality:
        return found
    entries = found if isinstance(found, list) else []
    entry = next((each for each in entries if isinstance(each, dict) and each.get("modality") == modality), {})
    return entry.get("tokenCount", entry.get("token_count"))


def first(usage: Any, paths: Sequence[str]) -> Any:
    return next((value for value in (at(usage, path) for path in paths) if value is not None), None)


def count_of(value: Any) -> Optional[int]:
    """A whole number from 0, which some write with a point."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**53 and value == int(value) else None


def measured(usage: Any, side: str) -> Optional[dict[str, int]]:
    """A side of a provider's usage; None where it is no measurement: absent, zero, or in contradiction to itself."""
    shape = shape_of(usage)
    if shape is None:
        return None
    found: dict[str, int] = {}
    whole = False
    for row in shape["rows"]:
        unit, within = row["unit"], row.get("within")
        value = first(usage, row["at"])
        if unit not in TABLE["units"][side] or value is None:
            continue
        count = count_of(value)
        if count is None:
            return None
        whole = whole or (unit == side and within is None)
        found[unit] = found.get(unit, 0) + count
        if within is not None:
            found[within] = found.get(within, 0) - count
    # Audio and images that were cached are reported in both places: they count as cached.
    cached = sum(found.get(unit, 0) for unit in ("cachedInput", "cacheWrite", "cacheWrite1h"))
    twice = min(max(-found.get("input", 0), 0), cached)
    for kind in ("inputAudio", "inputImage"):
        less = min(twice, max(found.get(kind, 0), 0))
        if less:
            found[kind] -= less
            found["input"] += less
            twice -= less
    values = found.values()
    if not whole or any(value < 0 for value in values) or not any(values):
        return None
    return {unit: value for unit, value in found.items() if value > 0}

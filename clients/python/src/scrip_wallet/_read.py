"""Reads what the service sends into the types of `models`. What is missing or of another kind is no answer of
the service; what is new is kept in `raw`.
"""

import re
from collections.abc import Hashable
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import (
    Any,
    Callable,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")
Reader = Callable[[Any], Any]


class Unreadable(ValueError):
    """It is not what the API describes."""


def read(kind: type[T], value: Any) -> T:
    """A value of this dataclass."""
    of: Any = kind
    found: T = reader(of)(value)
    return found


def rows(kind: type[T], body: Any, name: str) -> list[T]:
    """The list of this name in an answer."""
    if not isinstance(body, dict) or not isinstance(body.get(name), list):
        raise Unreadable(f"{name} is missing")
    return [read(kind, each) for each in body[name]]


def camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name.rstrip("_"))


@cache
def reader(kind: Hashable) -> Reader:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if origin is list:
        each = reader(inner[0])
        return lambda value: [each(one) for one in expect(list, value)]
    if origin is dict:
        each = reader(inner[1])
        return lambda value: {name: each(one) for name, one in expect(dict, value).items()}
    if origin is Union:
        some = reader(next(one for one in inner if one is not type(None)))
        return lambda value: None if value is None else some(value)
    if kind is datetime:
        return instant
    if is_dataclass(kind):
        return record(kind)
    return lambda value: expect(kind, value)


def record(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    known: list[tuple[str, str, Reader]] = []
    needed: list[str] = []
    for field in fields(kind):
        if field.name != "raw":
            known.append((field.name, camel(field.name), reader(hints[field.name])))
            # What has a default may be left out, and null.
            if field.default is MISSING:
                needed.append(camel(field.name))

    def whole(value: Any) -> Any:
        given: dict[str, Any] = expect(dict, value)
        found = {}
        for name, wire, of in known:
            if given.get(wire) is not None:
                found[name] = of(given[wire])
            elif wire in needed:
                # Null where it may be; an answer without it is none.
                if type(None) not in get_args(hints[name]):
                    raise Unreadable(f"{wire} is missing")
                found[name] = None
        return kind(**found, raw=given)

    return whole


def expect(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Unreadable(f"{type(value).__name__} where {kind.__name__} is expected")
    return value


def instant(value: Any) -> datetime:
    """An instant of the service's, `2026-11-22T08:00:00.000Z`."""
    try:
        return datetime.fromisoformat(re.sub("Z$", "+00:00", expect(str, value)))
    except ValueError as error:
        raise Unreadable(str(error)) from error


def instant_text(value: datetime) -> str:
    """As the service takes it. A time without a zone might be any."""
    if value.tzinfo is None:
        raise ValueError("a time needs a zone: datetime.now(timezone.utc), say")
    return value.isoformat()

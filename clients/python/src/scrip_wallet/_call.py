"""What is sent, what an answer says, and when a call is made again. Pure: it neither waits nor asks."""

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Generic, Optional, TypeVar

import httpx

from ._read import Unreadable, read
from .errors import InsufficientCreditsError, LimitExceededError, ScripError, text
from .models import Limit, Price

T = TypeVar("T")

MAX_WAIT = 30.0
"""A longer `Retry-After` is the caller's to wait for: it is on the error."""
FIRST_WAIT = 0.25
"""Seconds before the first repetition; doubled for each later one."""


@dataclass(frozen=True)
class Answer:
    """An answer that is no refusal."""

    body: Any
    replayed: bool
    """Whether the service had done it before under this key."""
    request_id: Optional[str]
    """Names the request in the service's log."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Answer], T]
    query: Optional[Mapping[str, Any]] = None
    body: Optional[dict[str, Any]] = None
    headers: Optional[Mapping[str, str]] = None
    key: Optional[str] = None
    """The idempotency key in the body, to be named by an error."""
    repeatable: bool = False
    """Whether doing it twice is doing it once."""


def new_key() -> str:
    """A key for an operation whose caller gave none."""
    return str(uuid.uuid4())


# Dashes of all kinds, spaces, full stops and what cannot be seen: between a code's letters they do not count.
MARKS = re.compile("[\\s_.\u00ad\u200b-\u200f\u2010-\u2015\u2043\u2060\u2212\u3002\ufe58\ufe63\ufeff\uff0d-]")


def segment(value: str, param: str) -> str:
    """One step of a path. What is no name must not become another path: `..`, say."""
    name = MARKS.sub("", value) if param == "code" else value.strip()
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    raise ScripError("invalid_request", f"This is no {param}.", param=param)


def given(**fields: Any) -> dict[str, Any]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def encode(call: "Call[Any]") -> Optional[bytes]:
    if call.body is None:
        return None
    try:
        return json.dumps(call.body, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        problem = ScripError("invalid_request", "The input cannot be written as JSON.", idempotency_key=call.key)
        raise problem from error


def receive(call: "Call[T]", response: httpx.Response, content: bytes) -> T:
    """What the answer says; raises the refusal."""
    status = response.status_code
    try:
        body = json.loads(content) if content else None
    except (ValueError, RecursionError):
        body = Unreadable
    if response.is_success:
        replayed = response.headers.get("idempotency-replayed") == "true"
        # Recovery and what removes something answer without a body, and say so by their status.
        if isinstance(body, dict) or (status in (202, 204) and body is None):
            try:
                return call.read(Answer(body, replayed, response.headers.get("x-request-id")))
            except Unreadable as error:
                raise unexpected(call, response) from error
    elif isinstance(body, dict) and isinstance(body.get("code"), str) and isinstance(body.get("message"), str):
        raise refusal(body, call.key, status=status, **known(response))
    raise unexpected(call, response)


def refusal(body: dict[str, Any], key: Optional[str], **known: Any) -> ScripError:
    """The error that a refusal's body describes."""
    code = body["code"]
    if code == "insufficient_credits" and all(isinstance(body.get(name), int) for name in ("balance", "requested")):
        error = InsufficientCreditsError(code, body["message"], idempotency_key=key, body=body, **known)
        error.balance, error.requested = body["balance"], body["requested"]
        short = body.get("shortfall")
        error.shortfall = short if isinstance(short, int) else max(error.requested - error.balance, 0)
        available = body.get("creditAvailable")
        error.credit_available = available if isinstance(available, int) else None
        error.product_id = text(body.get("productId"))
        try:
            error.prices = [read(Price, price) for price in body.get("prices") or []]
        except Unreadable:
            error.prices = []
        return error
    if code == "limit_exceeded" and isinstance(body.get("requested"), int):
        try:
            limit = read(Limit, body.get("limit"))
        except Unreadable:
            pass
        else:
            exceeded = LimitExceededError(code, body["message"], idempotency_key=key, body=body, **known)
            exceeded.limit, exceeded.requested = limit, body["requested"]
            return exceeded
    return ScripError(code, str(body["message"]), idempotency_key=key, body=body, **known)


def known(response: httpx.Response) -> dict[str, Any]:
    seconds = response.headers.get("retry-after", "")
    return {
        "request_id": response.headers.get("x-request-id"),
        "retry_after": float(seconds) if re.fullmatch(r"\d{1,9}(\.\d+)?", seconds) else None,
    }


def unexpected(call: "Call[Any]", response: httpx.Response) -> ScripError:
    status = response.status_code
    message = f"This is no answer of the service (status {status})."
    return ScripError("unexpected_response", message, status=status, idempotency_key=call.key, **known(response))


def transport_error(call: "Call[Any]", error: Exception, timeout: float) -> tuple[ScripError, bool]:
    """The error for an answer that did not arrive, and whether nothing was sent."""
    unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    if isinstance(error, httpx.TimeoutException):
        return ScripError("timeout", f"No answer within {timeout:g} s.", idempotency_key=call.key), unsent
    return ScripError("network_error", "The service cannot be reached.", idempotency_key=call.key), unsent


def wait_before(error: ScripError, *, repeatable: bool, unsent: bool, attempt: int, chance: float) -> Optional[float]:
    """How many seconds to wait before the next attempt; None where there should be none. `chance`, from 0 to 1,
    spreads callers who failed together.
    """
    # These were refused before anything was done.
    undone = unsent or error.status == 429 or error.code == "overloaded"
    lost = error.code in ("network_error", "timeout") or (error.code == "unexpected_response" and error.status < 300)
    if not undone and not (repeatable and (lost or error.status in (500, 502, 503, 504))):
        return None
    asked = error.retry_after or 0.0
    if asked > MAX_WAIT:
        return None
    # Never before the interval that was named, and not all at the same instant.
    return asked + FIRST_WAIT * float(2**attempt) * (0.5 + chance / 2)

"""Webhooks, signed as in Standard Webhooks 1.0: verified where they arrive, and signed for tests of that."""

import base64
import binascii
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, Optional, Union

from .errors import ScripError, SignatureError
from .events import Event, read_event

Text = Union[str, bytes]
HeaderBag = Union[Mapping[str, Any], Iterable[tuple[Text, Text]]]

TOLERANCE = 300
"""How many seconds a delivery may be away from now."""
NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")


def verify_webhook(
    body: Text, headers: HeaderBag, secret: Union[str, Sequence[str]], *, now: Optional[float] = None
) -> Event:
    """The event of a delivery, once it is certain that the service sent it, within the last five minutes.

    `body` is what arrived, byte by byte: not what a framework made of it. `headers` are a framework's, or pairs.
    With several secrets one has to fit: the old and the new one while a secret is being changed. An event may come
    more than once, with the same `id`. Raises `SignatureError`; `now` replaces the clock.
    """
    if not isinstance(body, (str, bytes)):
        raise ScripError("invalid_options", "verify_webhook needs the body as it arrived: a text or its bytes.")
    keys = [key_of(each) for each in ([secret] if isinstance(secret, str) else secret)]
    if not keys:
        raise ScripError("invalid_options", "verify_webhook needs a secret (whsec_…).")
    content = body.encode() if isinstance(body, str) else body
    given = bag(headers)
    missing = [name for name in NAMES if not given.get(name)]
    if missing:
        raise SignatureError("invalid_signature", f"This delivery has no {missing[0]}.")
    identifier, timestamp, signatures = (given[name] for name in NAMES)
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        raise SignatureError("invalid_signature", "The timestamp of this delivery is none.")
    wanted = [digest(key, identifier, timestamp, content) for key in keys]
    fits = False
    for signature in signatures.split(" "):
        version, _, value = signature.partition(",")
        for each in wanted:
            # All are compared, each in constant time: how long it takes says nothing.
            fits |= version == "v1" and hmac.compare_digest(each, value.encode())
    if not fits:
        raise SignatureError("invalid_signature", "This delivery was not signed with this secret.")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        raise SignatureError("invalid_signature", "This delivery is too old, or from the future.")
    try:
        return read_event(json.loads(content), identifier)
    except (ValueError, RecursionError) as error:
        raise ScripError("unexpected_response", "This delivery is signed, and no event.") from error


def sign_webhook(
    body: Text, secret: Union[str, Sequence[str]], *, id: Optional[str] = None, now: Optional[float] = None
) -> dict[str, str]:
    """The headers with which the service would deliver this body: for tests of what receives it. With several
    secrets each signs it.
    """
    content = body.encode() if isinstance(body, str) else body
    identifier = id or f"evt_{uuid.uuid4().hex}"
    timestamp = str(int(time.time() if now is None else now))
    keys = [key_of(each) for each in ([secret] if isinstance(secret, str) else secret)]
    signatures = " ".join("v1," + digest(key, identifier, timestamp, content).decode() for key in keys)
    return {
        "content-type": "application/json",
        "webhook-id": identifier,
        "webhook-timestamp": timestamp,
        "webhook-signature": signatures,
    }


def sign_event(
    type: str,
    data: Mapping[str, Any],
    secret: Union[str, Sequence[str]],
    *,
    id: Optional[str] = None,
    now: Optional[float] = None,
) -> tuple[bytes, dict[str, str]]:
    """The body and headers of a delivery of this event, for tests: `data` as it is sent, `{"order": {…}}` say."""
    at = datetime.fromtimestamp(time.time() if now is None else now, timezone.utc)
    instant = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = json.dumps({"type": type, "timestamp": instant, "recordedAt": instant, "data": data}).encode()
    return body, sign_webhook(body, secret, id=id, now=now)


def key_of(secret: str) -> bytes:
    """The bytes that a secret encodes."""
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        # What was given is not repeated: it may be a secret after all.
        raise ScripError("invalid_options", "Not the secret of a webhook (whsec_…).")
    return key


def digest(key: bytes, identifier: str, timestamp: str, content: bytes) -> bytes:
    signed = b".".join([identifier.encode(), timestamp.encode(), content])
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def bag(headers: HeaderBag) -> dict[str, str]:
    """The headers by their names in lower case, from any framework's mapping."""
    pairs: Iterable[Any] = headers.items() if isinstance(headers, Mapping) else headers
    found: dict[str, str] = {}
    for name, value in pairs:
        values: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
        if values:
            found[plain(name).lower()] = plain(values[0])
    return found


def plain(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)

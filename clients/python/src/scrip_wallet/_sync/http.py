# Made by generate.py from _async/http.py: do not change it by hand.
"""One way to ask the service: attempts, waits, and every failure as a `ScripError`. It knows no endpoint."""

import random
import re
import time
from collections.abc import Callable
from typing import Any, Optional, TypeVar

import httpx

from .._call import Call, encode, receive, transport_error, wait_before
from .._keeper import join, nap
from .._version import VERSION
from ..errors import ScripError

T = TypeVar("T")


class Http:
    def __init__(
        self,
        key: str,
        base_url: str,
        *,
        timeout: float,
        retries: int,
        transport: Optional[httpx.BaseTransport],
        sleep: Optional[Callable[[float], None]],
    ) -> None:
        if not re.fullmatch(r"pay_[sr]k_\w+", key or "", re.ASCII):
            raise ScripError("invalid_options", "Not a secret key (pay_sk_…) or a restricted one (pay_rk_…).")
        try:
            base = httpx.URL(base_url)
        except (httpx.InvalidURL, TypeError) as error:
            raise ScripError("invalid_options", "base_url has to be an http(s) address.") from error
        if base.scheme not in ("http", "https") or not base.host:
            raise ScripError("invalid_options", "base_url has to be an http(s) address.")
        self.base_url = base_url.rstrip("/")
        self.timeout = timeout
        self.sleep = sleep or nap
        # What goes on though its caller was cancelled.
        self.pending: set[Any] = set()
        self.retries = retries
        self._client = httpx.Client(
            base_url=f"{self.base_url}/api/v1",
            headers={"Authorization": f"Bearer {key}", "User-Agent": f"scrip-python/{VERSION}"},
            timeout=timeout,
            transport=transport,
            # A redirect would pass the key on, and a proxy to this machine would see it without need.
            follow_redirects=False,
            trust_env=base.host not in ("localhost", "127.0.0.1", "::1"),
        )

    def call(self, call: Call[T], timeout: Optional[float] = None, retries: Optional[int] = None) -> T:
        """Asks until there is an answer, or a refusal that asking again would not change."""
        retries = self.retries if retries is None else retries
        content = encode(call)
        attempt = 0
        while True:
            try:
                response, body = self._attempt(call, content, timeout or self.timeout)
                return receive(call, response, body)
            except httpx.HTTPError as cause:
                error, unsent = transport_error(call, cause, timeout or self.timeout)
                error.__cause__ = cause
            except ScripError as refused:
                error, unsent = refused, False
            wait = wait_before(
                error, repeatable=call.repeatable, unsent=unsent, attempt=attempt, chance=random.random()
            )
            if wait is None or attempt >= retries:
                raise error
            self.sleep(wait)
            attempt += 1

    def _attempt(self, call: Call[T], content: Optional[bytes], timeout: float) -> tuple[httpx.Response, bytes]:
        headers = dict(call.headers or {})
        if content is not None:
            headers["Content-Type"] = "application/json"
        query = {name: value for name, value in (call.query or {}).items() if value is not None}
        ends = time.monotonic() + timeout
        sent = self._client.stream(
            call.method, call.path, params=query, content=content, headers=headers, timeout=timeout
        )
        with sent as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                # Each wait of httpx ends by itself; many short ones do not.
                if time.monotonic() > ends:
                    raise httpx.ReadTimeout("the answer takes too long", request=response.request)
            return response, bytes(body)

    def close(self) -> None:
        join(self.pending)
        self._client.close()

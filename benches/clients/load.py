"""Deducts through the Python client from many callers at once: asyncio tasks or threads. Prints a line of JSON."""

import asyncio
import json
import os
import random
import threading
import time

import httpx

from scrip_wallet import AsyncScrip, Scrip

KEY, URL = os.environ["SECRET_KEY"], os.environ["BASE_URL"]
WALLETS, CALLERS, SECONDS = (int(os.environ[name]) for name in ("WALLETS", "CALLERS", "SECONDS"))
GATHER = os.environ["GATHER"] == "true"
META = {"feature": "image"}


def user() -> str:
    return f"user_{random.randint(1, WALLETS)}"


async def tasks(times: "list[float]") -> None:
    limits = httpx.Limits(max_connections=CALLERS, max_keepalive_connections=CALLERS)
    transport = httpx.AsyncHTTPTransport(limits=limits)
    async with AsyncScrip(KEY, base_url=URL, gather=GATHER, transport=transport, timeout=60) as scrip:

        async def caller() -> None:
            ends = time.monotonic() + SECONDS
            while (began := time.monotonic()) < ends:
                await scrip.deduct(external_user_id=user(), amount=1, meta=META)
                times.append(time.monotonic() - began)

        await asyncio.gather(*(caller() for _ in range(CALLERS)))


def threads(times: "list[float]") -> None:
    limits = httpx.Limits(max_connections=CALLERS, max_keepalive_connections=CALLERS)
    with Scrip(KEY, base_url=URL, gather=GATHER, transport=httpx.HTTPTransport(limits=limits), timeout=60) as scrip:

        def caller() -> None:
            ends = time.monotonic() + SECONDS
            while (began := time.monotonic()) < ends:
                scrip.deduct(external_user_id=user(), amount=1, meta=META)
                times.append(time.monotonic() - began)

        callers = [threading.Thread(target=caller) for _ in range(CALLERS)]
        for each in callers:
            each.start()
        for each in callers:
            each.join()


if __name__ == "__main__":
    times: "list[float]" = []
    began = time.monotonic()
    if os.environ["KIND"] == "tasks":
        asyncio.run(tasks(times))
    else:
        threads(times)
    took = time.monotonic() - began
    times.sort()
    p50, p99 = (times[len(times) * part // 100] * 1000 for part in (50, 99))
    print(json.dumps({"rate": len(times) / took, "p50": p50, "p99": p99}))

"""Users of locust (of PyPI) who deduct through one Python client: `locust --headless -f locustfile.py -u 64 -r 64 -t 5`."""

import os
import random
import time

import httpx
from locust import User, task

from scrip_wallet import Scrip, ScripError

limits = httpx.Limits(max_connections=1_000, max_keepalive_connections=1_000)
scrip = Scrip(
    os.environ["SECRET_KEY"],
    base_url=os.environ["BASE_URL"],
    gather=os.environ["GATHER"] == "true",
    transport=httpx.HTTPTransport(limits=limits),
)


class Spender(User):
    @task
    def deduct(self) -> None:
        user, failure, began = f"user_{random.randint(1, int(os.environ['WALLETS']))}", None, time.perf_counter()
        try:
            scrip.deduct(external_user_id=user, amount=1, meta={"feature": "image"})
        except ScripError as error:
            failure = error
        took = (time.perf_counter() - began) * 1000
        self.environment.events.request.fire(
            request_type="client", name="deduct", response_time=took, response_length=0, exception=failure
        )

"""Starts the service itself, with its demo project, on a port and a data directory of its own."""

import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import httpx
import pytest
from faults import Proxy

from scrip_wallet import Scrip

ROOT = Path(__file__).parents[3]
BINARY = os.environ.get("SCRIP_BINARY", str(ROOT / "target/debug/scrip"))


@dataclass
class Service:
    base_url: str
    secret_key: str
    publishable_key: str
    project: str
    product: str
    price: str
    tier: str
    admin_token: str

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        """Calls the admin API."""
        headers = {"Authorization": f"Bearer {self.admin_token}"}
        url = f"{self.base_url}/api/admin/v1/projects/{self.project}{path}"
        reply = httpx.request(method, url, json=body, headers=headers, trust_env=False)
        assert reply.is_success, reply.text
        return reply.json() if reply.content else None

    def press(self, checkout_url: str, button: str) -> None:
        """Presses a button of the sandbox: `pay`, `fail`, `expire`."""
        assert httpx.post(f"{checkout_url}/{button}", trust_env=False).is_success


MakeUser = Callable[[int], str]
State = Callable[[str], dict[str, int]]


class Server:
    """`scrip dev`, which may be killed and started again on what it wrote."""

    def __init__(self, data: Path) -> None:
        assert Path(BINARY).exists(), f"no binary at {BINARY}: cargo build"
        self.data = data

    def start(self, port: int = 0) -> Service:
        command = [BINARY, "dev", "--listen", f"127.0.0.1:{port}", "--data-dir", str(self.data)]
        environment = {**os.environ, "SCRIP_WEBHOOKS_ALLOW_PRIVATE_NETWORKS": "true"}
        self.child = subprocess.Popen(
            command, cwd=self.data, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        printed = ""
        assert self.child.stdout is not None
        for line in self.child.stdout:
            printed += line
            found = re.search(r"listening on (http:\S+)[\s\S]*idempotencyKey", printed)
            if found:
                break
        else:
            raise AssertionError(f"scrip dev ended: {printed}")
        demo = json.loads((self.data / "dev.json").read_text("utf-8"))
        names = ("secret_key", "publishable_key", "project", "product", "price", "tier", "admin_token")
        return Service(base_url=found[1], **{name: demo[name] for name in names})

    def kill(self) -> None:
        self.child.kill()
        self.child.communicate(timeout=30)

    def stop(self) -> None:
        self.child.terminate()
        # Read to its end: a full pipe would keep it from ending.
        self.child.communicate(timeout=30)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """One to kill."""
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    server = Server(tmp_path_factory.mktemp("scrip"))
    try:
        yield server.start()
    finally:
        server.stop()


@pytest.fixture(scope="session")
def scrip(service: Service) -> Iterator[Scrip]:
    with Scrip(service.secret_key, base_url=service.base_url) as scrip:
        yield scrip


@pytest.fixture
def user(scrip: Scrip, service: Service) -> Callable[[int], str]:
    """Makes a user with so many credits."""

    def make(amount: int) -> str:
        name = f"user-{uuid.uuid4()}"
        scrip.ensure_wallet(name)
        if amount:
            scrip.credit(external_user_id=name, product_id=service.product, amount=amount, idempotency_key="first")
        return name

    return make


@pytest.fixture
def state(scrip: Scrip) -> "Callable[[str], dict[str, int]]":
    """What a user can spend, and what is held."""

    def read(name: str) -> dict[str, int]:
        balances = scrip.wallet(name).balances
        return {"balance": sum(each.balance for each in balances), "held": sum(each.held for each in balances)}

    return read


@pytest.fixture(scope="session")
def generous_key(service: Service) -> str:
    """The key of a project that gives each user five credits."""
    root = f"{service.base_url}/api/admin/v1/projects"
    with httpx.Client(headers={"Authorization": f"Bearer {service.admin_token}"}, trust_env=False) as admin:
        project = admin.post(root, json={"name": "Sketches"}).raise_for_status().json()
        free = {"credits": 5, "period": "once"}
        product = {"name": "Sketches", "type": "credits", "creditUnit": "sketches", "freeGrant": free}
        admin.post(f"{root}/{project['id']}/products", json=product).raise_for_status()
    return str(project["secretKey"])


@pytest.fixture(scope="session")
def generous(service: Service, generous_key: str) -> Iterator[Scrip]:
    with Scrip(generous_key, base_url=service.base_url) as scrip:
        yield scrip


@pytest.fixture
def proxy(service: Service) -> "Iterator[Proxy]":
    """Stands before the service, and is faulty."""
    with Proxy(service.base_url).running() as proxy:
        yield proxy


@dataclass
class Faulty:
    """A client behind the proxy, whose waits are only noted."""

    proxy: Proxy
    scrip: Scrip
    waits: list[float]


@pytest.fixture
def faulty(service: Service, proxy: Proxy) -> "Iterator[Faulty]":
    waits: list[float] = []
    with Scrip(service.secret_key, base_url=proxy.base_url, sleep=waits.append) as scrip:
        yield Faulty(proxy, scrip, waits)


def needs(service: Service, path: str) -> None:
    """Skips where the service is one from before there was this."""
    described = httpx.get(f"{service.base_url}/api/openapi.json", trust_env=False).json()
    if path not in described["paths"]:
        pytest.skip(f"the service has no {path} yet")


@pytest.fixture
def draws(service: Service) -> None:
    needs(service, "/holds/{holdId}/draw")


@pytest.fixture
def sessions(service: Service) -> None:
    needs(service, "/sessions")


@pytest.fixture
def debts(service: Service) -> None:
    needs(service, "/wallets/external/forgive")

"""Clients and services of different versions: this client with services of yesterday and of tomorrow, as
`clients/kit/other-version.mjs` answers, and the client of an earlier commit with this service.
"""

import importlib
import io
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Service

EARLIER = "30821452"
"""The first commit whose client speaks the API as it is now; its package was called `scrip`."""


@contextmanager
def other_version(kind: str, service: Service) -> Iterator[str]:
    command = ["node", str(ROOT / "clients/kit/other-version.mjs"), kind, service.base_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        try:
            yield proxy.stdout.readline().strip()
        finally:
            proxy.terminate()


def use(module: Any, base_url: str, service: Service, lacks: bool = False) -> None:
    """What an application does in its first days."""
    with module.Scrip(service.secret_key, base_url=base_url) as scrip:
        user = f"versions-{uuid.uuid4()}"
        product = service.product

        def refused(call: Any) -> Any:
            with pytest.raises(module.ScripError) as caught:
                call()
            return caught.value

        assert scrip.me().project_id == service.project
        assert product in [each.id for each in scrip.products()]
        scrip.ensure_wallet(user)
        credit = scrip.credit(external_user_id=user, product_id=product, amount=100, idempotency_key="a")
        assert credit.balance == 100
        for _ in ("once", "again"):
            spent = scrip.deduct(
                external_user_id=user, product_id=product, amount=10, idempotency_key="b", meta={"feature": "ocr"}
            )
            assert spent.balance == 90
        short = refused(lambda: scrip.deduct(external_user_id=user, product_id=product, amount=1000))
        assert (short.code, short.status) == ("insufficient_credits", 402)
        items = [module.BatchItem(external_user_id=user, product_id=product, amount=amount) for amount in (1, 2, 1000)]
        assert len(scrip.deduct_batch(items)) == 3
        hold = scrip.place_hold(external_user_id=user, product_id=product, amount=40)
        if lacks:
            # What the service does not have is a refusal like others.
            assert refused(lambda: scrip.draw(hold.hold_id, amount=5)).code == "route_not_found"
            assert refused(lambda: scrip.usage(product_id=product)).code == "route_not_found"
        else:
            scrip.draw(hold.hold_id, amount=5)
            assert scrip.usage(product_id=product)
        assert scrip.settle(hold.hold_id, amount=12).balance == 75
        assert [each.balance for each in scrip.wallet(user).balances] == [75]
        deltas = [entry.delta for entry in scrip.ledger_entries(external_user_id=user)]
        assert 100 in deltas and -10 in deltas
        assert any(event.id for event in scrip.all_events())
        bought = scrip.checkout(price_id=service.price, external_user_id=user)
        service.press(bought.url, "pay")
        assert scrip.order(bought.order_id).status == "paid"
        assert bought.order_id in [each.id for each in scrip.orders(limit=5).items]
        assert refused(lambda: scrip.order("ord_none")).status == 404


@pytest.mark.parametrize("kind", ["yesterday", "tomorrow"])
def test_this_client_with_another_service(service: Service, kind: str) -> None:
    with other_version(kind, service) as base_url:
        use(importlib.import_module("scrip_wallet"), base_url, service, lacks=kind == "yesterday")


def test_an_earlier_client_with_this_service(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = subprocess.run(
        ["git", "archive", EARLIER, "clients/python/src"], cwd=ROOT, capture_output=True, check=False
    )
    if archive.returncode != 0:
        pytest.skip(f"this clone does not have {EARLIER}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(tmp_path, filter="data")
    monkeypatch.syspath_prepend(str(tmp_path / "clients/python/src"))
    earlier = importlib.import_module("scrip")
    assert str(tmp_path) in str(earlier.__file__), sys.path
    use(earlier, service.base_url, service)

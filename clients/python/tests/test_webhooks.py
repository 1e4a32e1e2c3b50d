"""Webhooks: as the service delivers them, and as others would like to."""

import base64
import json
import queue
import threading
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from conftest import Service

from scrip_wallet import Scrip, ScripError, SignatureError, sign_event, sign_webhook, verify_webhook
from scrip_wallet.events import (
    BalanceEvent,
    DebtEvent,
    FeaturesEvent,
    UnknownEvent,
    WalletCreatedEvent,
    WalletCreditedEvent,
)

NOW = 1_700_000_000.0
SECRET = "whsec_" + base64.b64encode(b"a secret of 24 bytes at least").decode()
OTHER = "whsec_" + base64.b64encode(b"another secret of such a length").decode()
DATA = {"walletId": "wal_1", "externalUserId": "ann", "productId": "prod_1", "balance": 0}


class TestDeliveries:
    def test_of_the_service_are_verified_with_either_secret(self, service: Service, scrip: Scrip) -> None:
        arrived: queue.Queue[tuple[bytes, dict[str, str]]] = queue.Queue()

        class Receiver(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                arrived.put((self.rfile.read(int(self.headers["content-length"])), dict(self.headers.items())))
                self.send_response(204)
                self.end_headers()

        server = HTTPServer(("127.0.0.1", 0), Receiver)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            types = ["wallet.credited", "features.changed"]
            url = f"http://127.0.0.1:{server.server_port}/hooks"
            made = service.admin("POST", "/webhooks", {"url": url, "events": types})
            name = f"Zoë 😀 {uuid.uuid4()}"
            scrip.credit(external_user_id=name, product_id=service.product, amount=5)
            body, headers = arrived.get(timeout=30)
            event = verify_webhook(body, headers, made["secret"])
            assert isinstance(event, WalletCreditedEvent)
            assert (event.data.external_user_id, event.data.delta, event.data.reason) == (name, 5, "manual")
            assert event == next(each for each in scrip.all_events() if each.id == event.id)
            rotated = service.admin("POST", f"/webhooks/{made['id']}/rotate-secret")["secret"]
            scrip.grant_feature("exports", external_user_id=name)
            body, headers = arrived.get(timeout=30)
            for secret in (made["secret"], rotated, [OTHER, rotated]):
                event = verify_webhook(body, headers, secret)
                assert isinstance(event, FeaturesEvent) and event.data.added == ["exports"]
            with pytest.raises(SignatureError):
                verify_webhook(body, headers, OTHER)
        finally:
            service.admin("DELETE", f"/webhooks/{made['id']}")
            server.shutdown()
            server.server_close()
            thread.join()

    def test_are_taken_from_any_framework(self) -> None:
        body, headers = sign_event("wallet.depleted", DATA, SECRET, now=NOW, id="evt_1")
        as_bytes = [(name.upper().encode(), value.encode()) for name, value in headers.items()]
        as_lists = {name.title(): [value] for name, value in headers.items()}
        for given in (headers, as_bytes, as_lists, list(headers.items())):
            for content in (body, body.decode()):
                event = verify_webhook(content, given, SECRET, now=NOW)
                assert isinstance(event, BalanceEvent)
                assert (event.id, event.type, event.data.balance) == ("evt_1", "wallet.depleted", 0)

    def test_are_told_apart_by_their_type(self) -> None:
        def arrive(type: str, data: dict[str, Any]) -> Any:
            body, headers = sign_event(type, data, SECRET)
            return verify_webhook(body, headers, SECRET)

        assert isinstance(arrive("wallet.created", {"walletId": "wal_1"}), WalletCreatedEvent)
        owing = arrive("wallet.owing", {**DATA, "owed": 7})
        assert isinstance(owing, DebtEvent) and owing.data.owed == 7
        new = arrive("wallet.on_the_moon", {"phase": "full"})
        assert isinstance(new, UnknownEvent)
        assert (new.type, new.name, new.data) == ("unknown", "wallet.on_the_moon", {"phase": "full"})
        # One in a shape that this client does not know.
        assert isinstance(arrive("wallet.depleted", {"walletId": "wal_1"}), UnknownEvent)

    def test_of_others_are_refused(self) -> None:
        body, headers = sign_event("wallet.depleted", DATA, SECRET, now=NOW, id="evt_1")
        signature = headers["webhook-signature"]

        def refused(body: bytes = body, secret: Any = SECRET, now: float = NOW, **changes: str) -> bool:
            changed = {**headers, **{name.replace("_", "-"): value for name, value in changes.items()}}
            try:
                verify_webhook(body, changed, secret, now=now)
            except SignatureError as error:
                assert error.code == "invalid_signature"
                return True
            return False

        assert not refused()
        assert refused(body=body + b" ") and refused(body=body[:-1])
        assert refused(secret=OTHER) and refused(secret=[OTHER, OTHER])
        assert not refused(secret=[OTHER, SECRET])
        assert refused(webhook_id="evt_2") and refused(webhook_timestamp=str(int(NOW) + 1))
        for wrong in ["", "v1", "v1,", "v2" + signature[2:], signature[:-2], signature[3:], "v1,ä", "v1," + "A" * 44]:
            assert refused(webhook_signature=wrong), wrong
        assert not refused(webhook_signature=f"v1,AAAA v1a,xyz {signature}")
        assert not refused(now=NOW + 300) and not refused(now=NOW - 300)
        assert refused(now=NOW + 301) and refused(now=NOW - 301)
        for wrong in ["", "x", "-1700000000", "1700000000.5", "٣", "9" * 400, "1_7"]:
            assert refused(webhook_timestamp=wrong), wrong
        assert refused(webhook_id="")
        for missing in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            with pytest.raises(SignatureError):
                verify_webhook(
                    body, {name: value for name, value in headers.items() if name != missing}, SECRET, now=NOW
                )

    @pytest.mark.parametrize("secret", ["", "whsec_", "whsec_%%%", "nonsense!", []])
    def test_need_a_secret_that_is_one_and_is_not_repeated(self, secret: Any) -> None:
        body, headers = sign_event("wallet.depleted", DATA, SECRET)
        with pytest.raises(ScripError) as caught:
            verify_webhook(body, headers, secret)
        assert caught.value.code == "invalid_options" and "nonsense" not in str(caught.value)

    def test_need_the_body_as_it_arrived(self) -> None:
        body, headers = sign_event("wallet.depleted", DATA, SECRET)
        with pytest.raises(ScripError) as caught:
            verify_webhook(json.loads(body), headers, SECRET)
        assert caught.value.code == "invalid_options"

    @pytest.mark.parametrize("body", [b"", b"[]", b'{"type":1}', b'{"type":"a","data":{}}', b"\xff", b"[" * 100_000])
    def test_that_are_signed_and_no_events_are_told_apart(self, body: bytes) -> None:
        with pytest.raises(ScripError) as caught:
            verify_webhook(body, sign_webhook(body, SECRET), SECRET)
        assert caught.value.code == "unexpected_response"


def test_the_example_of_the_standard_fits() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    body = b'{"test": 2432232314}'
    with pytest.raises(ScripError) as caught:
        verify_webhook(body, headers, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now=1614265330)
    # Its signature fits: what it signs is no event of ours.
    assert caught.value.code == "unexpected_response"
    signed = sign_webhook(body, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id=headers["webhook-id"], now=1614265330)
    assert signed["webhook-signature"] == headers["webhook-signature"]
    every: list[str] = sign_webhook(body, [SECRET, OTHER])["webhook-signature"].split(" ")
    assert len(every) == 2

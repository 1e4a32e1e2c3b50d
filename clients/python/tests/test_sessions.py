"""Sessions for browsers, and debts."""

import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from conftest import Faulty, MakeUser, Service

from scrip_wallet import InsufficientCreditsError, Scrip, ScripError


def browser(service: Service, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{service.base_url}/api/v1/wallets/external", headers=headers, trust_env=False)


@pytest.mark.usefixtures("sessions")
class TestSession:
    def test_reads_its_wallet_until_it_is_revoked(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(7)
        session = scrip.session(external_user_id=name, expires_in_seconds=600, can=["read"])
        assert session.token.startswith("pay_ws_")
        left = session.expires_at - datetime.now(timezone.utc)
        assert timedelta(seconds=500) < left <= timedelta(seconds=601)
        read = browser(service, session.token)
        assert read.json()["balances"][0]["balance"] == 7
        scrip.revoke_sessions(external_user_id=name)
        assert browser(service, session.token).json()["code"] == "session_expired"
        assert browser(service, scrip.session(external_user_id=name).token).status_code == 200

    def test_is_made_for_whom_there_was_no_wallet_yet(self, scrip: Scrip, service: Service) -> None:
        name = f"user-{uuid.uuid4()}"
        assert browser(service, scrip.session(external_user_id=name).token).json()["externalUserId"] == name

    def test_opens_a_code_wallet(self, scrip: Scrip) -> None:
        code = scrip.create_wallet().code
        assert scrip.session(code=code).token
        scrip.revoke_sessions(code=code)

    def test_is_of_one_wallet(self, scrip: Scrip) -> None:
        names: list[dict[str, Any]] = [{}, {"external_user_id": "ann", "code": "A-B"}]
        for named in names:
            for call in (scrip.session, scrip.revoke_sessions):
                with pytest.raises(ScripError) as caught:
                    call(**named)
                assert caught.value.code == "conflicting_wallet"

    def test_is_asked_for_again_where_an_answer_was_lost(self, faulty: Faulty, user: MakeUser) -> None:
        faulty.proxy.troubles.extend(["lost", "cut"])
        assert faulty.scrip.session(external_user_id=user(0)).token

    def test_route_answers_pages_of_its_own_site(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(7)
        own: list[dict[str, str]] = [
            {"Sec-Fetch-Site": "same-origin"},
            {"Host": "shop.example", "Origin": "https://shop.example"},
            {},
        ]
        for headers in own:
            status, body = scrip.session_response("POST", headers, name, can=["read"])
            assert status == 200 and set(body) == {"token", "expiresAt"}
            assert browser(service, body["token"]).json()["balances"][0]["balance"] == 7
        other: list[dict[str, str]] = [
            {"sec-fetch-site": "cross-site"},
            {"host": "shop.example", "origin": "https://evil.example"},
        ]
        for headers in other:
            status, body = scrip.session_response("POST", headers, name)
            assert (status, body["code"]) == (403, "cross_site")
        status, body = scrip.session_response("POST", {}, None)
        assert (status, body["code"]) == (401, "no_wallet")
        assert scrip.session_response("GET", {}, name)[0] == 405

    def test_route_says_that_a_failure_passes(self, faulty: Faulty) -> None:
        faulty.proxy.troubles.extend(["lost"] * 4)
        status, body = faulty.scrip.session_response("POST", {}, "zoe")
        assert (status, body["code"]) == (503, "session_failed")

    def test_checkout_of_one_key_is_opened_once(self, faulty: Faulty, service: Service, user: MakeUser) -> None:
        name = user(0)
        faulty.proxy.troubles.extend(["lost", "cut"])
        first = faulty.scrip.checkout(external_user_id=name, price_id=service.price, idempotency_key="cart-7")
        again = faulty.scrip.checkout(external_user_id=name, price_id=service.price, idempotency_key="cart-7")
        assert first == again


@pytest.mark.usefixtures("debts")
class TestDebt:
    def test_is_owed_as_far_as_it_may_be_and_forgiven_once(
        self, scrip: Scrip, service: Service, user: MakeUser
    ) -> None:
        name = user(10)
        whose: dict[str, Any] = {"external_user_id": name, "product_id": service.product}
        limit = scrip.set_debt_limit(**whose, debt_limit=20)
        assert (limit.balance, limit.owed, limit.debt_limit, limit.credit_available) == (10, 0, 20, 20)
        done = scrip.deduct(**whose, amount=50, on_shortfall="owe")
        assert (done.balance, done.charged, done.owed, done.uncovered) == (0, 10, 20, 20)
        assert scrip.wallet(name).balances[0].owed == 20
        with pytest.raises(InsufficientCreditsError):
            scrip.deduct(**whose, amount=1)
        forgiven = scrip.forgive(**whose, amount=5, note="sorry", idempotency_key="case-1")
        assert (forgiven.owed, forgiven.amount, forgiven.forgiven) == (15, 5, True)
        again = scrip.forgive(**whose, amount=5, note="sorry", idempotency_key="case-1")
        assert (again.owed, again.amount, again.forgiven) == (15, 5, False)
        assert scrip.forgive(**whose, note="all of it").owed == 0
        assert scrip.set_debt_limit(**whose, debt_limit=None).debt_limit == 0
        events = [event for event in scrip.all_events(types=["wallet.owing", "wallet.repaid"])]
        mine = [event for event in events if event.data.external_user_id == name]  # type: ignore[union-attr]
        assert [event.type for event in mine] == ["wallet.owing", "wallet.repaid"]

    def test_of_a_hold_has_its_room_kept(self, scrip: Scrip, service: Service, user: MakeUser) -> None:
        name = user(11)
        whose: dict[str, Any] = {"external_user_id": name, "product_id": service.product}
        scrip.set_debt_limit(**whose, debt_limit=20)
        with scrip.hold(**whose, amount=10, max_overrun=15, on_shortfall="owe") as hold:
            with pytest.raises(InsufficientCreditsError) as caught:
                scrip.place_hold(**whose, amount=1, max_overrun=10)
            assert (caught.value.credit_available, caught.value.balance) == (5, 1)
            hold.cost = 23
        assert hold.outcome and (hold.outcome.charged, hold.outcome.owed, hold.outcome.uncovered) == (11, 12, 0)

    def test_is_forgiven_once_though_an_answer_is_lost(self, faulty: Faulty, service: Service, user: MakeUser) -> None:
        whose: dict[str, Any] = {"external_user_id": user(0), "product_id": service.product}
        faulty.scrip.set_debt_limit(**whose, debt_limit=20)
        faulty.scrip.deduct(**whose, amount=20, on_shortfall="owe")
        faulty.proxy.troubles.extend(["lost", "cut"])
        forgiven = faulty.scrip.forgive(**whose, amount=5, note="sorry")
        assert (forgiven.owed, forgiven.forgiven) == (15, True)

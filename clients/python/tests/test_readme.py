"""The README's examples, as they are printed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Service

from scrip_wallet import Scrip, sign_event

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
WHOLE, STREAM, WEBHOOK, METER = re.findall(r"^ *```python\n([\s\S]*?)^ *```", README, re.M)


def test_the_whole_example_says_what_it_says(service: Service) -> None:
    environment = {**os.environ, "SCRIP_SECRET_KEY": service.secret_key, "SCRIP_URL": service.base_url}
    said = subprocess.run([sys.executable, "-c", WHOLE], env=environment, capture_output=True, text=True, check=False)
    assert said.stderr == ""
    wanted = re.search(r"^```text\n([\s\S]*?)^```", README, re.M)
    assert wanted and said.stdout == wanted[1]


@pytest.mark.usefixtures("draws")
def test_the_stream_is_paid_as_far_as_it_was_read(service: Service, scrip: Scrip) -> None:
    scrip.credit(external_user_id="zoe", product_id=service.product, amount=100, idempotency_key="stream")
    before = scrip.wallet("zoe").balance(service.product)
    names: dict[str, Any] = {"scrip": scrip, "model": str.split}
    exec(re.sub(r"^  ", "", STREAM, flags=re.M), names)
    words = names["stream"]("one two three four")
    assert [next(words), next(words)] == ["one", "two"]
    words.close()
    assert scrip.wallet("zoe").balance(service.product) == before - 2


def test_the_receiver_ships_what_is_paid(
    service: Service, scrip: Scrip, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = scrip.checkout(external_user_id="zoe", price_id=service.price)
    service.press(checkout.url, "pay")
    secret = "whsec_c2VjcmV0IG9mIHRoZSByZWNlaXZlcg=="
    monkeypatch.setenv("SCRIP_WEBHOOK_SECRET", secret)
    names: dict[str, Any] = {"os": os}
    exec(WEBHOOK, names)
    body, headers = sign_event("order.paid", {"order": scrip.order(checkout.order_id).raw}, secret)
    names["receive"](body, headers)
    assert capsys.readouterr().out == f"ship {checkout.order_id}\n"


def test_the_meter_can_be_made(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("litellm", reason="LiteLLM is not installed")
    monkeypatch.setenv("SCRIP_SECRET_KEY", service.secret_key)
    monkeypatch.setenv("SCRIP_URL", service.base_url)
    names: dict[str, Any] = {}
    exec(METER, names)
    from scrip_wallet.litellm import Usage

    assert [names["meter"].cost(Usage("words", prompt, 1)) for prompt in (0, 99, 100)] == [1, 1, 2]

"""What a rate card prices, against the service itself."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import Faulty, MakeUser, Service, State

from scrip_wallet import (
    AsyncScrip,
    BatchItem,
    HoldItem,
    InsufficientCreditsError,
    Scrip,
    ScripError,
    SettleItem,
    SettlementError,
)
from scrip_wallet._types import formatted

CARD: dict[str, Any] = {"rate_card": "ai.v1", "attributes": {"model": "mock-1"}}
USAGE = {
    "prompt_tokens": 14,
    "completion_tokens": 3,
    "total_tokens": 17,
    "prompt_tokens_details": {"cached_tokens": 8},
}
"""Six tokens of input, eight that were cached, three of output."""
COST = "1.88"


def price(service: Service, output: str) -> None:
    """Saves the card; a change makes a version."""
    prices = {"input": "1", "cachedInput": "0.1", "output": output}
    rates = [
        {"match": {"model": "mock*"}, "per": 10, "unitPrices": prices},
        {"match": {"kind": "image"}, "unitPrices": {"image": "0.4"}},
    ]
    service.admin("PUT", "/rate-cards/ai.v1", {"productId": service.product, "rates": rates})


@pytest.fixture(autouse=True)
def card(service: Service) -> None:
    price(service, "4")


def refused(call: Any) -> ScripError:
    with pytest.raises(ScripError) as caught:
        call()
    return caught.value


def test_cards_are_read_and_estimate_what_a_use_would_cost(scrip: Scrip, user: MakeUser) -> None:
    assert "ai.v1" in [card.slug for card in scrip.rate_cards()]
    assert scrip.rate_card("ai.v1").rates[1].unit_prices == {"image": "0.4"}
    assert refused(lambda: scrip.rate_card("none")).code == "rate_card_not_found"
    assert refused(lambda: scrip.rate_card("..")).status == 0
    estimate = scrip.estimate(**CARD, usage=USAGE, external_user_id=user(1))
    assert (estimate.amount, estimate.cost, estimate.balance, estimate.affordable) == (2, COST, 1, False)
    assert [(line.unit, line.quantity) for line in estimate.lines] == [("cachedInput", 8), ("input", 6), ("output", 3)]
    assert scrip.estimate(**CARD, quantities={"input": 5}).balance is None


@pytest.mark.parametrize("gather", [True, False])
def test_a_deduction_is_priced_to_the_last_fraction(service: Service, user: MakeUser, gather: bool) -> None:
    name = user(100)
    with Scrip(service.secret_key, base_url=service.base_url, gather=gather) as scrip:
        deduction = scrip.deduct(external_user_id=name, **CARD, usage={**USAGE, "new_tokens": 5})
        assert (deduction.balance, deduction.amount, deduction.cost) == (99, 1, COST)
        assert deduction.unpriced_usage == ["new_tokens"]
        image: dict[str, Any] = {"rate_card": "ai.v1", "attributes": {"kind": "image"}, "quantities": {"image": 1}}
        answers = [scrip.deduct(external_user_id=name, **image) for _ in range(3)]
        # 1.88 + 3 × 0.4 = 3.08.
        assert [(answer.amount, answer.deducted) for answer in answers] == [(1, True), (0, True), (1, True)]
        *_, entry, _ = scrip.ledger(external_user_id=name).items
        assert entry.rate is not None and entry.rate.cost == COST
        assert entry.rate.quantities == {"input": 6, "cachedInput": 8, "output": 3, "request": 1}


def test_usage_may_be_an_object_of_a_providers_client_or_those_of_a_stream(scrip: Scrip, user: MakeUser) -> None:
    @dataclass
    class Usage:
        input_tokens: int
        output_tokens: int

    name = user(100)
    assert scrip.deduct(external_user_id=name, **CARD, usage=Usage(20, 10)).cost == "6"
    stream = [{"input_tokens": 20, "output_tokens": 1}, {"output_tokens": 10}]
    assert scrip.deduct(external_user_id=name, **CARD, usage=stream).cost == "6"


def test_a_lost_answer_is_asked_for_again_and_is_the_first_though_the_price_changed(
    service: Service, faulty: Faulty, user: MakeUser, state: State
) -> None:
    name = user(100)
    faulty.proxy.troubles.append("lost")
    first = faulty.scrip.deduct(external_user_id=name, **CARD, usage=USAGE, idempotency_key="once")
    price(service, "400")
    again = faulty.scrip.deduct(external_user_id=name, **CARD, usage=USAGE, idempotency_key="once")
    assert len(faulty.waits) == 1
    assert [(each.amount, each.cost, each.balance) for each in (first, again)] == [(1, COST, 99)] * 2
    assert state(name)["balance"] == 99


def test_what_has_no_price_or_no_known_shape_is_refused(scrip: Scrip, user: MakeUser, state: State) -> None:
    name = user(100)
    other: dict[str, Any] = {"rate_card": "ai.v1", "attributes": {"model": "other"}}
    assert refused(lambda: scrip.deduct(external_user_id=name, **other, usage=USAGE)).code == "rate_not_found"
    unknown = refused(lambda: scrip.deduct(external_user_id=name, **CARD, usage={"tokens": 5}))
    assert (unknown.code, unknown.param, unknown.status) == ("invalid_request", "usage_format", 0)
    named = refused(lambda: scrip.deduct(external_user_id=name, **CARD, usage={"tokens": 5}, usage_format="anthropic"))
    assert (named.status, named.param) == (400, "usage")
    both = refused(lambda: scrip.deduct(external_user_id=name, amount=1, **CARD, usage=USAGE))
    assert (both.status, both.param) == (400, "amount")
    assert state(name)["balance"] == 100


def test_batches_are_priced(scrip: Scrip, user: MakeUser) -> None:
    name = user(100)
    done, none = scrip.deduct_batch(
        [
            BatchItem(external_user_id=name, **CARD, usage=USAGE),
            {"external_user_id": name, **CARD, "rate_card": "none", "quantities": {"input": 1}},
        ]
    )
    assert not isinstance(done, ScripError) and (done.amount, done.cost) == (1, COST)
    assert isinstance(none, ScripError) and none.code == "rate_card_not_found"
    (held,) = scrip.hold_batch([HoldItem(external_user_id=name, **CARD, quantities={"input": 100})])
    assert not isinstance(held, ScripError) and (held.amount, held.cost) == (10, "10")
    results = scrip.settle_batch(
        [SettleItem(held.hold_id, keep_open=True, **CARD, usage=USAGE), SettleItem(held.hold_id, **CARD, usage=USAGE)]
    )
    assert [None if isinstance(each, ScripError) else each.cost for each in results] == [COST, COST]


def test_many_at_once_go_together_each_as_it_was(service: Service, user: MakeUser) -> None:
    name = user(1_000)

    async def many() -> list[int]:
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:
            mine = {"prompt_tokens": 10, "completion_tokens": 0}
            calls = [
                asyncio.ensure_future(scrip.deduct(external_user_id=name, **CARD, usage=mine, meta={"n": n}))
                for n in range(200)
            ]
            await asyncio.sleep(0)
            mine["prompt_tokens"] = 1_000_000
            plain = scrip.deduct(external_user_id=name, amount=1)
            return [each.balance for each in [*await asyncio.gather(*calls), await plain]]

    assert asyncio.run(many()) == [*range(999, 798, -1)]


def test_work_is_held_for_drawn_and_settled_by_the_card_of_its_hold(
    service: Service, scrip: Scrip, user: MakeUser, state: State
) -> None:
    name = user(100)
    with scrip.hold(external_user_id=name, **CARD, quantities={"input": 100, "output": 100}) as hold:
        assert hold.amount == 50
        # What changes under the work does not change its price.
        price(service, "400")
        assert hold.draw(quantities={"output": 10}).amount == 4
        hold.draw(1)
        assert hold.drawn == 5
        hold.usage = {"inputTokens": 20, "outputTokens": 30}
    assert hold.outcome is not None
    assert (hold.outcome.charged, hold.outcome.cost, hold.outcome.balance) == (14, "14", 86)
    assert state(name) == {"balance": 86, "held": 0}


def test_work_that_only_draws_is_charged_what_was_drawn(scrip: Scrip, user: MakeUser, state: State) -> None:
    name = user(100)
    with pytest.raises(RuntimeError), scrip.hold(external_user_id=name, **CARD, quantities={"output": 100}) as hold:
        hold.draw(quantities={"output": 10})
        hold.usage = USAGE
        raise RuntimeError
    assert hold.outcome is not None and hold.outcome.charged == 4
    assert state(name) == {"balance": 96, "held": 0}
    with scrip.hold(external_user_id=name, **CARD, quantities={"output": 100}) as hold:
        hold.draw(usage=USAGE)
    assert hold.outcome is not None and hold.outcome.charged in (1, 2)
    assert state(name)["held"] == 0


def test_a_draw_whose_answer_never_came_is_asked_about_in_the_end(
    faulty: Faulty, scrip: Scrip, user: MakeUser, state: State
) -> None:
    name = user(100)
    with faulty.scrip.hold(external_user_id=name, **CARD, quantities={"output": 100}) as hold:
        faulty.proxy.only = "/draw"
        faulty.proxy.troubles.extend(["lost"] * 4)
        with pytest.raises(ScripError):
            hold.draw(quantities={"output": 10})
    assert hold.outcome is not None and hold.outcome.charged == 4
    assert state(name) == {"balance": 96, "held": 0}


def test_work_whose_card_is_not_known_costs_nothing_and_says_so(scrip: Scrip, user: MakeUser, state: State) -> None:
    name = user(100)
    with pytest.raises(ScripError) as caught, scrip.hold(external_user_id=name, amount=50) as hold:
        hold.usage = USAGE
    assert caught.value.code == "invalid_request"
    with scrip.hold(external_user_id=name, amount=50) as hold:
        hold.rate_card, hold.attributes, hold.usage = "ai.v1", CARD["attributes"], USAGE
    assert state(name) == {"balance": 99, "held": 0}


def test_work_that_has_to_be_paid_for_later_keeps_what_it_used(service: Service, scrip: Scrip, user: MakeUser) -> None:
    name = user(50)
    hold = scrip.hold(external_user_id=name, **CARD, quantities={"output": 100}, on_shortfall="refuse")
    with pytest.raises(SettlementError) as caught, hold:
        hold.quantities = {"output": 200}
    assert caught.value.cost is None and isinstance(caught.value.__cause__, InsufficientCreditsError)
    scrip.credit(external_user_id=name, product_id=service.product, amount=100, idempotency_key="more")
    outcome = caught.value.resume()
    assert (outcome.charged, outcome.cost) == (80, "80")


def test_all_of_it_works_with_asyncio(service: Service, user: MakeUser) -> None:
    name = user(100)

    async def run() -> None:
        async with AsyncScrip(service.secret_key, base_url=service.base_url) as scrip:
            assert (await scrip.estimate(**CARD, usage=USAGE)).cost == COST
            placed = await scrip.place_hold(external_user_id=name, **CARD, quantities={"output": 10})
            assert (await scrip.draw(placed.hold_id, **CARD, quantities={"output": 5})).cost == "2"
            assert (await scrip.settle(placed.hold_id, **CARD, quantities={"output": 10})).amount == 4
            async with scrip.hold(external_user_id=name, **CARD, quantities={"output": 10}) as hold:
                hold.usage = USAGE
            assert hold.outcome is not None and hold.outcome.cost == COST

    asyncio.run(run())


def test_usage_is_summed_up_by_card_and_by_model(scrip: Scrip, user: MakeUser) -> None:
    name = user(100)
    scrip.deduct(external_user_id=name, **CARD, usage=USAGE)
    for group_by, key in (("rateCard", "ai.v1"), ("attribute:model", "mock-1")):
        last = scrip.usage(external_user_id=name, group_by=group_by)[-1]  # type: ignore[arg-type]
        assert [(group.key, group.credits) for group in last.groups or []] == [(key, 1)]


def test_the_shape_of_usage_says_its_format_as_all_clients_judge_it() -> None:
    fixtures = json.loads((Path(__file__).parents[2] / "usage-fixtures.json").read_text("utf-8"))
    formats = {
        "OpenAI chat": "openai.chat",
        "LiteLLM": "openai.chat",
        "OpenAI responses": "openai.responses",
        "Anthropic": "anthropic",
        "Gemini": "gemini",
        "AI SDK": "ai-sdk",
    }
    judged = 0
    for fixture in fixtures:
        wanted = next((name for start, name in formats.items() if fixture["name"].startswith(start)), None)
        if wanted is None or fixture["estimated"]:
            continue
        assert formatted({"usage": fixture["usage"]})["usageFormat"] == wanted, fixture["name"]
        judged += 1
    assert judged > 15

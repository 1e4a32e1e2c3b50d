"""The methods take all that the API's description says an endpoint takes, and there is one for each endpoint."""

import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any, Optional

import pytest

from scrip_wallet import AsyncScrip, BatchItem, CreditItem, HoldItem, Scrip, SettleItem
from scrip_wallet.events import KINDS

API: dict[str, Any] = json.loads((Path(__file__).parents[3] / "docs/openapi/api.json").read_text("utf-8"))

METHODS: dict[str, Optional[str]] = {
    "POST /checkout": "checkout",
    "POST /credit": "credit",
    "POST /credit/batch": "credit_batch",
    "POST /deductions/batch": "deduct_batch",
    "POST /deductions/{ledgerId}/reverse": "reverse_deduction",
    "GET /events": "events",
    "POST /estimate": "estimate",
    "POST /features": "grant_feature",
    "POST /holds/batch": "hold_batch",
    "GET /holds/{holdId}": "get_hold",
    "POST /holds/{holdId}/draw": "draw",
    "POST /holds/{holdId}/extend": "extend",
    "POST /holds/{holdId}/release": "release",
    "POST /holds/{holdId}/settle": "settle",
    "GET /me": "me",
    "GET /orders": "orders",
    "GET /orders/{orderIdOrCheckoutId}": "order",
    "POST /orders/{orderIdOrCheckoutId}/refund": "refund",
    "GET /products": "products",
    "GET /rate-cards": "rate_cards",
    "GET /rate-cards/{slug}": "rate_card",
    "POST /sessions": "session",
    "POST /sessions/revoke": "revoke_sessions",
    "POST /settlements/batch": "settle_batch",
    "POST /subscriptions/cancel": "cancel_subscription",
    "POST /subscriptions/resume": "resume_subscription",
    "GET /usage": "usage",
    "POST /wallets": "create_wallet",
    "GET /wallets/external": "wallet",
    "PATCH /wallets/external": "update_wallet",
    "POST /wallets/external": "ensure_wallet",
    "GET /wallets/external/auto-top-up": "read_auto_top_up",
    "PUT /wallets/external/auto-top-up": "set_auto_top_up",
    "POST /wallets/external/debt-limit": "set_debt_limit",
    "POST /wallets/external/deduct": "deduct",
    "POST /wallets/external/forgive": "forgive",
    "POST /wallets/external/holds": "place_hold",
    "GET /wallets/external/ledger": "ledger",
    "GET /wallets/external/limits": "limits",
    "PUT /wallets/external/limits": "set_limits",
    "DELETE /wallets/external/payment-method": "remove_payment_method",
    "POST /wallets/external/payment-method": "set_up_payment_method",
    "POST /wallets/external/portal": "portal",
    "POST /wallets/freeze": "freeze",
    "POST /wallets/recover": "recover",
    "GET /wallets/{code}": "code_wallet",
    "POST /wallets/{code}/deduct": "deduct",
    "POST /wallets/{code}/holds": "hold",
    "GET /wallets/{code}/ledger": "ledger",
    "GET /wallets/{code}/limits": "limits",
    "PUT /wallets/{code}/limits": "set_limits",
    "GET /wallets/{code}/portal": "portal",
    "POST /wallets/{code}/rotate": "rotate",
    # Balances as they change are for pages to show.
    "GET /wallets/external/stream": None,
    "GET /wallets/{code}/stream": None,
}
# The schemas of batches, and the classes of their items.
ITEMS: dict[str, tuple[str, Any]] = {
    "credit_batch": ("CreditBatch", CreditItem),
    "deduct_batch": ("DeductBatch", BatchItem),
    "hold_batch": ("HoldBatch", HoldItem),
    "settle_batch": ("SettleBatch", SettleItem),
}
# Where a method has another word, or needs none.
WORDS = {"from": "from_", "action": "", "Last-Event-ID": ""}

OPERATIONS = [
    (f"{verb.upper()} {path}", operation)
    for path, operations in API["paths"].items()
    for verb, operation in operations.items()
]


def properties(schema: Any) -> set[str]:
    """All that an object may have, however its schema is put together."""
    if "$ref" in schema:
        return properties(API["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    parts = [*schema.get("allOf", []), *schema.get("oneOf", [])]
    return set(schema.get("properties", {})).union(*(properties(part) for part in parts))


def taken(operation: Any) -> set[str]:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    return {each["name"] for each in operation.get("parameters", []) if each.get("in") == "query"} | properties(body)


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
def test_an_endpoint_is_called_with_all_that_it_takes(name: str, operation: Any) -> None:
    assert name in METHODS, "the Python client has no method for it"
    method = METHODS[name]
    if method is None:
        return
    if method in ITEMS:
        schema, item = ITEMS[method]
        items = API["components"]["schemas"][schema]["properties"]["items"]["items"]
        fields, parameters = properties(items), set(inspect.signature(item).parameters)
    else:
        fields, parameters = taken(operation), set(inspect.signature(getattr(Scrip, method)).parameters)
    wanted = {WORDS.get(field, re.sub(r"([A-Z])", r"_\1", field).lower()) for field in fields}
    assert wanted - {""} <= parameters


def test_both_clients_have_the_same_methods_with_the_same_words() -> None:
    def public(of: Any) -> dict[str, Any]:
        return {name: getattr(of, name) for name in dir(of) if not name.startswith("_")}

    one, other = public(Scrip), public(AsyncScrip)
    assert {*one} == {"close" if name == "aclose" else name for name in other}
    for name, method in one.items():
        twin = other["aclose" if name == "close" else name]
        assert [*inspect.signature(method).parameters] == [*inspect.signature(twin).parameters], name


def test_the_union_of_events_is_the_one_that_is_described() -> None:
    schemas = API["components"]["schemas"]
    assert {*KINDS} == {*schemas["EventType"]["enum"]} == {*API["webhooks"]}
    for alternative in schemas["Event"]["oneOf"]:
        properties = schemas[alternative["$ref"].rsplit("/", 1)[1]]["properties"]
        _, data = KINDS[properties["type"]["const"]]
        required = [field for part in properties["data"].get("allOf", []) for field in part.get("required", [])]
        known = {field.name for field in dataclasses.fields(data)}
        assert {re.sub(r"([A-Z])", r"_\1", field).lower() for field in required} <= known, properties["type"]

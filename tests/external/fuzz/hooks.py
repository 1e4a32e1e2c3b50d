# What JSON Schema cannot say of a request, for Schemathesis: what it makes as valid follows these rules too.
# What it makes as invalid is sent as it is.
import json
import os

import schemathesis
from schemathesis import GenerationMode

FUTURE = "2099-12-31T23:00:00.000Z"


def whole(value):
    """In a JSON Schema 5.0 is an integer; here it is a float, and refused."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    return value


def entry(body):
    """A grant, a deduction or a hold."""
    # An instant to come.
    if body.get("expiresAt") is not None:
        body["expiresAt"] = FUTURE
    # A note of at most 4 KiB, as it is kept.
    if len(json.dumps(body.get("meta"), ensure_ascii=True)) > 2000:
        body["meta"] = {"feature": "render"}


COSTLY = ("/deduct", "/holds", "/draw", "/settle", "/estimate", "s/batch")
USE = ["rateCard", "attributes", "quantities", "usage", "usageFormat"]


def cost(body, path):
    """Work costs an amount, or what a rate card prices: so much of its units, or a usage object that agrees with itself."""
    if body.get("rateCard") is not None and (body.get("amount") is None or path == "/estimate"):
        for name in ["amount", "usage", "usageFormat"]:
            body.pop(name, None)
        body["attributes"], body["quantities"] = {"model": "m"}, {"input": 1}
    elif path != "/estimate":
        for name in USE:
            body.pop(name, None)
        if body.get("amount") is None:
            body["amount"] = 1
        if path == "/wallets/{code}/deduct":
            body["productId"] = body.get("productId") or "prod_none"
    if path == "/estimate" and body.get("externalUserId") is not None:
        body.pop("code", None)


def charge(body):
    """A draw has a key, charges something and is refused where it is not there."""
    if body.get("keepOpen") and "amount" not in body:
        body["idempotencyKey"] = body.get("idempotencyKey") or "draw"
        body.pop("onShortfall", None)
    elif body.get("keepOpen"):
        body["amount"] = max(body["amount"], 1)
        body["idempotencyKey"] = body.get("idempotencyKey") or "draw"
        body.pop("onShortfall", None)


def product(body, method):
    # Credits are called something, and go on being; a product that has prices keeps its type.
    if method == "PATCH":
        body.pop("type", None)
        if not body.get("creditUnit"):
            body.pop("creditUnit", None)
    elif body.get("type") == "credits" and not body.get("creditUnit"):
        body["creditUnit"] = "credits"


def price(body):
    # These are of what recurs, in a product that is subscribed to: most are not here.
    for recurring in ["trialDays", "trialCredits", "rollover"]:
        body.pop(recurring, None)
    # More than the least, and of a size, that providers take in any currency.
    if body.get("amountCents"):
        body["amountCents"] = min(body["amountCents"] // 1000 * 1000 + 10_000, 90_000_000)


def limits(body, path):
    """Zones, scopes that are not listed twice, thresholds in an order: no schema says it. Of what credits a price's are
    its product says."""
    if body.get("limits") and (path.endswith("/limits") or body.get("type") == "credits"):
        body["limits"] = [{"scope": "member:*", "amount": 1000, "window": "week", "timeZone": "Europe/Berlin", "alertsAt": [80]}]
    else:
        body["limits"] = []


def key(body):
    """What a restricted key can do, and no other names."""
    if body.get("kind") != "restricted":
        body.pop("can", None)
    elif not body.get("can"):
        body["can"] = ["read"]


def project(body):
    # A Stripe account is set with its key: only one that is set already goes without.
    provider = body.get("provider")
    if isinstance(provider, dict) and not provider.get("secretKey"):
        provider["kind"] = "sandbox"


def positive(case):
    meta = getattr(case, "meta", None)
    return meta is None or meta.generation.mode == GenerationMode.POSITIVE


@schemathesis.hook
def map_case(context, case):
    path = case.operation.path
    # Wherever a fuzzer would have a backup made: it is made here.
    if path == "/backups" and isinstance(case.body, dict):
        if positive(case) or str(case.body.get("to")).startswith("/"):
            case.body["to"] = os.path.join(os.environ["FUZZ_FOLDER"], "backups")
    if not positive(case):
        return case
    if isinstance(case.body, dict):
        case.body = whole(case.body)
        for item in [case.body, *(case.body.get("items") or [])]:
            if isinstance(item, dict):
                entry(item)
                if path.endswith(COSTLY) and "items" not in item:
                    cost(item, path)
                charge(item)
        if "/products" in path and not path.endswith(("/prices", "{priceId}")):
            product(case.body, case.method.upper())
        if "limits" in case.body:
            limits(case.body, path)
        if path.endswith("/keys"):
            key(case.body)
        if path.endswith("/prices"):
            price(case.body)
        if path == "/projects/{projectId}":
            project(case.body)
        # A power of ten, decimals that are not all zero, matches that do not tie.
        if path.endswith("/rate-cards/{slug}"):
            case.body["rates"] = [{"match": {}, "unitPrices": {"input": "0.3"}, "per": 1000}]
        # What a host may be called no pattern says.
        if "/webhooks" in path and case.body.get("url"):
            case.body["url"] = "https://shop.example/hooks"
        # A range of time that has begun and does not end before.
        if path.endswith("/reconciliation"):
            case.body = {}
        if path == "/checkout" and case.body.get("locale") is not None:
            case.body["locale"] = "de-AT"
    # Kinds of events.
    if path == "/events" and isinstance(case.query, dict) and "types" in case.query:
        case.query["types"] = "order.paid,order.disputed"
    # At most 1,000 intervals.
    if path == "/usage" and isinstance(case.query, dict):
        case.query.pop("from", None)
        case.query.pop("to", None)
    return case

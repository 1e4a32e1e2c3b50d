"""One file of usage objects judges all clients alike: what each reads in them, and what it estimates."""

import json
from pathlib import Path
from typing import Any

import pytest

from scrip_wallet.usage import estimate_tokens, usage_of


def revive(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {name: revive(each) for name, each in value.items()}
    return [revive(each) for each in value] if isinstance(value, list) else float("nan") if value == "NaN" else value


FIXTURES = revive(json.loads((Path(__file__).parents[2] / "usage-fixtures.json").read_text("utf-8")))


def judge(fixture: dict[str, Any], units: dict[str, int], estimated: bool) -> None:
    assert estimated == fixture["estimated"]
    assert set(units) == set(fixture["units"]), units
    for unit, wanted in fixture["units"].items():
        least, most = wanted if isinstance(wanted, list) else (wanted, wanted)
        assert least <= units[unit] <= most, (unit, units)


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["name"])
def test_usage(fixture: dict[str, Any]) -> None:
    asked, answered = estimate_tokens(fixture["prompt"]), estimate_tokens(fixture["answer"])
    found = usage_of(fixture["usage"], asked, answered)
    judge(fixture, found.units, found.estimated)
    assert found.input_tokens + found.output_tokens == sum(found.units.values())


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["name"])
def test_usage_in_the_hook_for_litellm(fixture: dict[str, Any]) -> None:
    tokens = pytest.importorskip("scrip_wallet._tokens", reason="LiteLLM is not installed")
    usage = fixture["usage"]
    prompt = tokens.about("words", tokens.count("words", fixture["prompt"]), 0)
    whole = tokens.Stream(prompt)
    last = {} if isinstance(usage, list) else {"usage": usage}
    whole.see({"choices": [{"message": {"content": fixture["answer"]}}], **last})
    for each in usage if isinstance(usage, list) else []:
        whole.see({"usage": each})
    found = whole.whole()
    judge(fixture, found.units, found.estimated)
    assert found.total_tokens == sum(found.units.values())


MODELS = {
    "Anthropic": ("anthropic.types", ("Usage", "MessageDeltaUsage")),
    "OpenAI chat": ("openai.types", ("CompletionUsage",)),
    "OpenAI responses": ("openai.types.responses", ("ResponseUsage",)),
    "LiteLLM": ("litellm", ("Usage",)),
}
"""Who answers such an object: the first piece of a stream is of the first type, a later one of the last."""
TYPED = [fixture for fixture in FIXTURES if str(fixture["name"]).split(",")[0] in MODELS]


@pytest.mark.parametrize("fixture", TYPED, ids=lambda fixture: fixture["name"])
def test_usage_as_the_providers_clients_type_it(fixture: dict[str, Any]) -> None:
    module, names = MODELS[fixture["name"].split(",")[0]]
    types = [getattr(pytest.importorskip(module), name) for name in names]
    usage = fixture["usage"]
    pieces = usage if isinstance(usage, list) else [usage]
    read = [each and types[min(at, len(types) - 1)].model_validate(each) for at, each in enumerate(pieces)]
    asked, answered = estimate_tokens(fixture["prompt"]), estimate_tokens(fixture["answer"])
    found = usage_of(read if isinstance(usage, list) else read[0], asked, answered)
    judge(fixture, found.units, found.estimated)

"""One file of usage objects judges all clients alike: what each reads in them, and what it estimates."""

import json
from pathlib import Path
from typing import Any

import pytest

from scrip.usage import estimate_tokens, usage_of


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
    tokens = pytest.importorskip("scrip._tokens", reason="LiteLLM is not installed")
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


def test_usage_as_the_providers_clients_type_it() -> None:
    openai = pytest.importorskip("openai.types")
    chat = openai.CompletionUsage(
        prompt_tokens=100, completion_tokens=20, total_tokens=120, prompt_tokens_details={"cached_tokens": 60}
    )
    assert usage_of(chat, 0, 0).units == {"input": 40, "cachedInput": 60, "output": 20}
    responses = pytest.importorskip("openai.types.responses").ResponseUsage.model_validate(
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 120,
        }
    )
    assert usage_of(responses, 0, 0).units == {"input": 40, "cachedInput": 60, "output": 15, "reasoning": 5}
    anthropic = pytest.importorskip("anthropic.types").Usage(
        input_tokens=10, cache_creation_input_tokens=2000, cache_read_input_tokens=10000, output_tokens=140
    )
    assert usage_of(anthropic, 0, 0).units == {"input": 10, "cachedInput": 10000, "cacheWrite": 2000, "output": 140}
    litellm = pytest.importorskip("litellm")
    of_litellm = litellm.Usage(
        prompt_tokens=12010,
        completion_tokens=140,
        total_tokens=12150,
        cache_creation_input_tokens=2000,
        cache_read_input_tokens=10000,
    )
    assert usage_of(of_litellm, 0, 0).units == {"input": 10, "cachedInput": 10000, "cacheWrite": 2000, "output": 140}

"""Ten thousand uses of models, as `POST /estimate` prices them and as others do: genai-prices to the last digit,
LiteLLM and genai-prices in JavaScript, which compute with floating point, to 10^-9. Each judges cards of its own.
"""

import json
import os
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from decimal import Decimal
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Optional, Union
from urllib.parse import urlsplit

import pytest
from conftest import BINARY, Service
from genai_prices import data
from genai_prices.types import Provider, TieredPrices, UsageExtractor
from genai_prices.types import Usage as GenaiUsage

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
import litellm  # noqa: E402
from litellm.cost_calculator import default_image_cost_calculator  # noqa: E402
from litellm.llms.anthropic.chat.transformation import AnthropicConfig  # noqa: E402
from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import VertexGeminiConfig  # noqa: E402

litellm.suppress_debug_info = True
SEED = int(os.environ.get("SCRIP_JUDGES_SEED", "36"))
CREDITS, MARKUP = "1000", "1.3"
FACTOR = Decimal(CREDITS) * Decimal(MARKUP)
"""Credits for a dollar, marked up."""

NOW = datetime.now(timezone.utc)
LITELLM_FILE = Path(litellm.__file__).with_name("model_prices_and_context_window_backup.json")
MODES = ("chat", "completion", "embedding", "responses")
"""What is paid by the token."""
PRICED = ["input_cost_per_token", "output_cost_per_token", "input_cost_per_second", "output_cost_per_second"]
PRICED += ["output_cost_per_image"]

EQUAL = "equal"
FREE = "costs nothing there, and is refused here"
BY_TIME = "has a price by the time of day, and is refused here"
UNPRICED = "has no price for a unit, which costs nothing there and is refused here"
NAMES = "matches a name by a regular expression or in other capitals, and is refused here"
ROUNDED = "has a price of more than nine digits, which is rounded up here"
NO_PRICE = "is refused there, as cached input and audio may overlap"
FIREWORKS = "has no price for cached input, which is half of that of input there"
PERPLEXITY = "is charged there without its prices for cached input, long context and requests"
RENAMED = "has the prices of its name with the provider's before it there"
EXPERIMENTAL = "costs nothing there, by its name"
DIFFERENCES = {
    "genai-prices": {FREE: 205, BY_TIME: 5, UNPRICED: 81, ROUNDED: 35, NO_PRICE: 20},
    "@pydantic/genai-prices": {FREE: 177, BY_TIME: 4, UNPRICED: 48, NAMES: 15, ROUNDED: 35, NO_PRICE: 20},
    "litellm": {
        FREE: 217,
        BY_TIME: 10,
        UNPRICED: 18,
        FIREWORKS: 240,
        PERPLEXITY: 80,
        RENAMED: 5,
        EXPERIMENTAL: 1,
    },
}
"""Where a judge says something else, and of how many models it does so at most."""

Use = dict[str, int]
"""How much of each unit, without overlap."""
INPUT = ["input", "cachedInput", "cacheWrite", "cacheWrite1h", "inputAudio", "inputImage"]
OUTPUT = ["output", "reasoning", "outputAudio", "outputImage"]
DIRECT = {
    "cache_read_tokens": ["cachedInput"],
    "cache_write_tokens": ["cacheWrite", "cacheWrite1h"],
    "cache_write_1h_tokens": ["cacheWrite1h"],
    "input_audio_tokens": ["inputAudio"],
    "input_image_tokens": ["inputImage"],
    "output_reasoning_tokens": ["reasoning"],
    "output_audio_tokens": ["outputAudio"],
    "output_image_tokens": ["outputImage"],
    "input_tokens": INPUT,
    "output_tokens": OUTPUT,
}
"""The units of what genai-prices counts."""


def total(use: Use, units: Iterable[str]) -> int:
    return sum(use.get(unit, 0) for unit in units)


def openai_chat(use: Use) -> dict[str, Any]:
    inputs, outputs = total(use, INPUT), total(use, OUTPUT)
    return {
        "prompt_tokens": inputs,
        "prompt_tokens_details": {
            "cached_tokens": use.get("cachedInput", 0),
            "cache_write_tokens": total(use, ["cacheWrite", "cacheWrite1h"]),
            "audio_tokens": use.get("inputAudio", 0),
            "image_tokens": use.get("inputImage", 0),
        },
        "completion_tokens": outputs,
        "completion_tokens_details": {
            "reasoning_tokens": use.get("reasoning", 0),
            "audio_tokens": use.get("outputAudio", 0),
            "image_tokens": use.get("outputImage", 0),
        },
        "total_tokens": inputs + outputs,
    }


def openai_responses(use: Use) -> dict[str, Any]:
    chat = openai_chat(use)
    return {
        "input_tokens": chat["prompt_tokens"],
        "input_tokens_details": chat["prompt_tokens_details"],
        "output_tokens": chat["completion_tokens"],
        "output_tokens_details": chat["completion_tokens_details"],
        "total_tokens": chat["total_tokens"],
    }


def anthropic(use: Use) -> dict[str, Any]:
    written = {
        "ephemeral_5m_input_tokens": use.get("cacheWrite", 0),
        "ephemeral_1h_input_tokens": use.get("cacheWrite1h", 0),
    }
    return {
        "input_tokens": use.get("input", 0),
        "cache_read_input_tokens": use.get("cachedInput", 0),
        "cache_creation_input_tokens": sum(written.values()),
        "cache_creation": written,
        "output_tokens": total(use, OUTPUT),
        "output_tokens_details": {"thinking_tokens": use.get("reasoning", 0)},
    }


def gemini(use: Use) -> dict[str, Any]:
    def details(text: str, audio: str, image: str, more: int = 0) -> list[dict[str, Any]]:
        counts = {"TEXT": use.get(text, 0) + more, "AUDIO": use.get(audio, 0), "IMAGE": use.get(image, 0)}
        return [{"modality": kind, "tokenCount": count} for kind, count in counts.items() if count]

    cached = use.get("cachedInput", 0)
    candidates = total(use, ["output", "outputAudio", "outputImage"])
    return {
        "promptTokenCount": total(use, INPUT),
        "promptTokensDetails": details("input", "inputAudio", "inputImage", cached),
        "cachedContentTokenCount": cached,
        "cacheTokensDetails": details("cachedInput", "", ""),
        "candidatesTokenCount": candidates,
        "candidatesTokensDetails": details("output", "outputAudio", "outputImage"),
        "thoughtsTokenCount": use.get("reasoning", 0),
        "totalTokenCount": total(use, INPUT + OUTPUT),
    }


def xai_chat(use: Use) -> dict[str, Any]:
    """xAI counts reasoning beside the completion."""
    chat = openai_chat(use)
    return {**chat, "completion_tokens": chat["completion_tokens"] - use.get("reasoning", 0)}


SHAPES = {
    "prompt_tokens": ("openai.chat", openai_chat),
    "beside": ("openai.chat", xai_chat),
    "cache_read_input_tokens": ("anthropic", anthropic),
    "input_tokens": ("openai.responses", openai_responses),
    "promptTokenCount": ("gemini", gemini),
}
"""Usage objects by a field that only they have, the first that counts."""


def random_use(dice: random.Random, kinds: Iterable[str], bounds: set[int]) -> Use:
    """Some of the kinds, of one token to a million; often just at a bound of the prices, or a token above it."""

    def count(digits: int) -> int:
        return dice.randint(1, 10 ** dice.randint(1, digits))

    use = {kind: count(6) for kind in kinds if kind in ("input", "output") or dice.random() < 0.6}
    rest = total(use, INPUT) - use["input"]
    fitting = [bound for bound in sorted(bounds) if bound > rest]
    if fitting and dice.random() < 0.5:
        use["input"] = dice.choice(fitting) - rest + dice.randint(0, 1)
    return use


@dataclass
class Pair:
    """A model's use, and what a judge says that it costs."""

    card: str
    model: str
    use: Use
    usage_format: str
    """Empty: the usage is quantities."""
    usage: dict[str, Any]
    dollars: Union[Decimal, float, None]
    """None: it gives no price."""
    where: str
    """The model in the judge's file."""
    reasons: list[str]
    """Why it may differ."""
    bounds: set[int]
    """The quantities of input above which prices are others."""


def import_cards(service: Service, cards: Iterable[tuple[str, Path, list[str]]]) -> None:
    environment = {"SCRIP_URL": service.base_url, "SCRIP_ADMIN_TOKEN": service.admin_token}
    environment |= {**os.environ, "SCRIP_PROJECT": service.project}

    def run(card: tuple[str, Path, list[str]]) -> None:
        slug, file, only = card
        command = [BINARY, "rates", "import", str(file), "--card", slug, "--yes", *only]
        command += ["--credits-per-dollar", CREDITS, "--markup", MARKUP]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (slug, done.stderr)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, cards))


def estimates(service: Service, pairs: list[Pair]) -> list[dict[str, Any]]:
    """Asks over eight connections."""
    headers = {"Authorization": f"Bearer {service.secret_key}", "Content-Type": "application/json"}

    def ask(pairs: list[Pair]) -> list[dict[str, Any]]:
        connection = HTTPConnection(urlsplit(service.base_url).netloc)
        answers = []
        for pair in pairs:
            body = {"rateCard": pair.card, "attributes": {"model": pair.model}}
            usage = {"usage": pair.usage, "usageFormat": pair.usage_format}
            body |= usage if pair.usage_format else {"quantities": pair.usage}
            connection.request("POST", "/api/v1/estimate", json.dumps(body), headers)
            answers.append(json.loads(connection.getresponse().read()))
        connection.close()
        return answers

    answers: list[dict[str, Any]] = [{}] * len(pairs)
    with ThreadPoolExecutor(8) as pool:
        for at, part in enumerate(pool.map(ask, [pairs[at::8] for at in range(8)])):
            answers[at::8] = part
    return answers


def genai_usage(use: Use) -> GenaiUsage:
    return GenaiUsage(**{name: total(use, units) for name, units in DIRECT.items()})


Reader = tuple[Optional[UsageExtractor], str, list[str]]
"""What reads a usage object, the field that tells its shape, and the units that it reads as we do."""


def readers(provider: Provider) -> Iterable[Reader]:
    """For each shape the reader that reads most."""
    found: dict[str, Reader] = {}
    for extractor in provider.extractors or []:
        paths = {path if isinstance(path, str) else path[0] for path in (each.path for each in extractor.mappings)}
        field = next((field for field in SHAPES if field in paths), None)
        if field is None or extractor.root not in ("usage", "usageMetadata"):
            continue
        if (provider.id, extractor.api_flavor) == ("x-ai", "chat"):
            field = "beside"
        kinds = [kind for kind in INPUT + OUTPUT if reads(extractor, field, kind)]
        if kinds and (field not in found or len(kinds) > len(found[field][2])):
            found[field] = (extractor, field, kinds)
    return found.values() or [(None, "prompt_tokens", ["input", "cachedInput", "cacheWrite", "output", "reasoning"])]


def reads(extractor: UsageExtractor, field: str, kind: str) -> bool:
    use = {"input": 5, kind: 7}
    try:
        counts = extractor.extract(response(extractor, SHAPES[field][1](use)))[1]
    except ValueError:  # It is of images, or the like.
        return False
    return all(counts.reported_value(name) == total(use, units) for name, units in DIRECT.items() if total(use, units))


def response(extractor: UsageExtractor, usage: dict[str, Any]) -> dict[str, Any]:
    return {"model": "any", str(extractor.root): usage}


def names(rule: Any) -> Iterator[str]:
    """Some names that a model's rule is for."""
    rule = rule if isinstance(rule, dict) else rule.__dict__
    for kind in ("equals", "starts_with", "contains", "ends_with"):
        if kind in rule:
            yield rule[kind] + ("-x" if kind == "starts_with" else "")
    for part in rule.get("or_") or rule.get("or") or []:
        yield from names(part)


def card_of(prefix: str, provider: str, model: str) -> str:
    half = "" if provider != "openrouter" else ".1" if model[0] in HALF else ".2"
    return f"{prefix}.{provider}{half}"


HALF = "abcdefghijklm"
"""What the names of one half of OpenRouter's models begin with, which are too many for one card."""


def genai_cards(prefix: str, files: dict[str, Path]) -> Iterator[tuple[str, Path, list[str]]]:
    for provider, file in files.items():
        only = ["--provider", provider]
        if provider == "openrouter":
            rest = [letter for letter in map(chr, range(33, 127)) if letter not in HALF + ","]
            yield f"{prefix}.{provider}.1", file, [*only, "--model", ",".join(HALF)]
            yield f"{prefix}.{provider}.2", file, [*only, "--model", ",".join(rest)]
        else:
            yield f"{prefix}.{provider}", file, only


def reasons(prices: dict[str, Any], by_time: bool) -> list[str]:
    """Why a model of genai-prices may have another cost here, or none."""
    numbers = [Decimal(str(price)) * FACTOR for each in prices.values() for price in numbers_of(each)]
    found = [BY_TIME] if by_time else []
    if "input_mtok" not in prices or "output_mtok" not in prices:
        found.append(UNPRICED)
    if any(number != round(number, 9) for number in numbers):
        found.append(ROUNDED)
    return found


def numbers_of(price: Any) -> list[Any]:
    if isinstance(price, TieredPrices):
        return [price.base, *(tier.price for tier in price.tiers)]
    return [price["base"], *(tier["price"] for tier in price["tiers"])] if isinstance(price, dict) else [price]


def genai_pairs(dice: random.Random) -> Iterator[tuple[str, Pair]]:
    """With their providers."""
    for provider in data.providers:
        ways = readers(provider)
        for listed in provider.models:
            known = sorted(name for name in {listed.id, *names(listed.match)} if provider.find_model(name))
            for name in dice.sample(known, min(2, len(known))):
                model = provider.find_model(name)
                assert model is not None
                prices = {unit: price for unit, price in model.get_prices(NOW).__dict__.items() if price is not None}
                tiers = [tier for price in prices.values() if isinstance(price, TieredPrices) for tier in price.tiers]
                bounds = {tier.start for tier in tiers}
                why = reasons(prices, "TimeOfDateConstraint" in str(model.prices))
                for extractor, field, kinds in ways:
                    use = random_use(dice, kinds, bounds)
                    usage_format, shape = SHAPES[field]
                    usage = shape(use)
                    counts = extractor.extract(response(extractor, usage))[1] if extractor else genai_usage(use)
                    try:
                        dollars = model.calc_price(counts, provider, genai_request_timestamp=NOW).total_price
                    except ValueError:
                        dollars = None
                    card, where = card_of("genai", provider.id, name), f"{provider.id} {model.id}"
                    yield provider.id, Pair(card, name, use, usage_format, usage, dollars, where, why, bounds)


def javascript(words: Iterable[str], questions: Iterable[dict[str, Any]] = ()) -> list[Any]:
    command = ["node", str(Path(__file__).with_name("judge.mjs")), *words]
    lines = "\n".join(map(json.dumps, questions))
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def javascript_pairs(asked: list[tuple[str, Pair]]) -> Iterator[Pair]:
    """The same uses of the models that it knows, which are fewer."""
    questions = [
        {"provider": provider, "model": pair.model, "usage": genai_usage(pair.use).__dict__} for provider, pair in asked
    ]
    for (provider, pair), answer in zip(asked, javascript([], questions)):
        if not answer:
            continue
        model = answer.get("model", {"id": pair.model, "match": {}, "prices": []})
        why = reasons(answer.get("prices", {}), "time_of_date" in str(model["prices"]))
        if pair.model not in {model["id"], *names(model["match"])}:
            why.append(NAMES)
        card, where = card_of("npm", provider, pair.model), f"{provider} {model['id']}"
        yield replace(pair, card=card, dollars=answer.get("dollars"), where=where, reasons=why)


def litellm_models() -> dict[str, dict[str, Any]]:
    models: dict[str, dict[str, Any]] = json.loads(LITELLM_FILE.read_text("utf-8"))
    kept = {name: model for name, model in models.items() if "*" not in name and model.get("litellm_provider")}
    del kept["sample_spec"]
    return kept


def litellm_cards(models: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The providers of each card, as few as have room for them."""
    counts = Counter(model["litellm_provider"] for model in models.values())
    priced = {
        model["litellm_provider"]
        for model in models.values()
        if any(model.get(price) for price in PRICED) and "off_peak_pricing" not in model
    }
    cards: dict[str, list[str]] = {}
    room: dict[str, int] = {}
    for provider in sorted(priced, key=lambda provider: -counts[provider]):
        card = next((card for card in room if room[card] >= counts[provider]), f"litellm.{len(cards)}")
        cards.setdefault(card, []).append(provider)
        room[card] = room.get(card, 1000) - counts[provider]
    return cards


def litellm_pairs(dice: random.Random, models: dict[str, Any], cards: dict[str, list[str]]) -> Iterator[Pair]:
    card_of_provider = {provider: card for card, providers in cards.items() for provider in providers}
    for name, model in models.items():
        provider = model["litellm_provider"]
        card = card_of_provider.get(provider, "litellm.0")
        family = provider.split("-")[0] if provider.startswith("vertex_ai") else provider
        if model.get("mode") == "audio_transcription" and (model.get(PRICED[2]) or model.get(PRICED[3])):
            use = {"second": dice.randint(1, 10_000)}
            dollars = sum(
                litellm.cost_per_token(
                    name,
                    custom_llm_provider=family,
                    call_type="transcription",
                    audio_transcription_file_duration=use["second"],
                )
            )
            yield Pair(card, name, use, "", use, dollars, name, [], set())
        # Of others LiteLLM charges the price of an image that is given, in place of one that is made.
        if model.get("mode") == "image_generation" and model.get(PRICED[4]) and "input_cost_per_image" not in model:
            use = {"image": dice.randint(1, 10)}
            dollars = default_image_cost_calculator(name, family, n=use["image"])
            yield Pair(card, name, use, "", use, dollars, name, [], set())
        if model.get("mode") not in MODES:
            continue
        bounds = {int(bound) * 1000 for bound in re.findall(r"_above_(\d+)k_tokens", " ".join(model))}
        bounds |= {int(each["range"][0]) for each in model.get("tiered_pricing") or [] if "range" in each}
        field = "prompt_tokens"
        kinds = ["cachedInput", "cacheWrite", "inputAudio", "reasoning", "outputAudio"]
        if "claude" in name:
            field, kinds = "cache_read_input_tokens", ["cachedInput", "cacheWrite", "cacheWrite1h", "reasoning"]
        elif "gemini" in name:
            field = "promptTokenCount"
            kinds = ["cachedInput", "inputAudio", "inputImage", "reasoning", "outputAudio", "outputImage"]
        use = random_use(dice, ["input", "output", *kinds], bounds)
        usage_format, shape = SHAPES[field]
        usage = shape(use)
        if usage_format == "anthropic":
            read = AnthropicConfig().calculate_usage(usage_object=usage, reasoning_content=None)
        elif usage_format == "gemini":
            answer: Any = {"usageMetadata": usage}
            read = VertexGeminiConfig._calculate_usage(completion_response=answer)
        else:
            read = litellm.Usage(**usage)
            usage = read.model_dump(exclude_none=True)
        dollars = sum(litellm.cost_per_token(model=name, custom_llm_provider=family, usage_object=read))
        why = [BY_TIME] if "off_peak_pricing" in model else []
        if model.get("input_cost_per_token") is None or model.get("output_cost_per_token") is None:
            why.append(UNPRICED)
        if provider == "fireworks_ai" and use.get("cachedInput") and "cache_read_input_token_cost" not in model:
            why.append(FIREWORKS)
        if provider == "perplexity":
            why.append(PERPLEXITY)
        if name.startswith("gemini-exp"):
            why.append(EXPERIMENTAL)
        if models.get(f"{provider}/{name}", model) != model:
            why.append(RENAMED)
        yield Pair(card, name, use, usage_format, usage, dollars, name, why, bounds)


def verdict(pair: Pair, answer: dict[str, Any], tolerance: Decimal) -> str:
    """Equal, or why not."""
    if pair.dollars is None:
        return NO_PRICE
    judged = Decimal(pair.dollars) * FACTOR
    if "cost" not in answer:
        assert answer["code"] == "rate_not_found", (pair, answer)
        why = [FREE] if judged == 0 else []
        return next((reason for reason in [BY_TIME, *why, NAMES, UNPRICED] if reason in pair.reasons + why), "refused")
    more = Decimal(answer["cost"]) - judged
    if BY_TIME not in pair.reasons and abs(more) <= judged * tolerance:
        return EQUAL
    if ROUNDED in pair.reasons and abs(more) <= sum(pair.use.values()) * Decimal("1e-15") + judged * tolerance:
        return ROUNDED
    theirs = [reason for reason in (FIREWORKS, PERPLEXITY, RENAMED, EXPERIMENTAL) if reason in pair.reasons]
    return theirs[0] if theirs else "another cost"


@pytest.fixture(scope="module")
def judged(service: Service, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Pair], Decimal]]:
    """What each judge says, and how far from that a cost may be, as a ratio."""
    print(f"SCRIP_JUDGES_SEED={SEED}")
    dice = random.Random(SEED)
    providers = [provider.id for provider in data.providers]
    folder = tmp_path_factory.mktemp("prices")
    files = {}
    for provider in filter(None, javascript(["data", *providers])):
        files[provider["id"]] = folder / f"{provider['id']}.json"
        files[provider["id"]].write_text(json.dumps([provider]), "utf-8")
    models = litellm_models()
    cards = litellm_cards(models)
    litellm_files = [(card, LITELLM_FILE, ["--provider", ",".join(each)]) for card, each in cards.items()]
    genai_files = genai_cards("genai", dict.fromkeys(providers, Path(data.__file__)))
    import_cards(service, [*litellm_files, *genai_files, *genai_cards("npm", files)])
    asked = list(genai_pairs(dice))
    return {
        "genai-prices": ([pair for _, pair in asked], Decimal(0)),
        "@pydantic/genai-prices": (list(javascript_pairs(asked)), Decimal("1e-9")),
        "litellm": (list(litellm_pairs(dice, models, cards)), Decimal("1e-9")),
    }


def test_ten_thousand_uses_cost_what_others_say(
    service: Service, judged: dict[str, tuple[list[Pair], Decimal]]
) -> None:
    equal: Counter[str] = Counter()
    unexplained: list[str] = []
    for judge, (pairs, tolerance) in judged.items():
        counts: Counter[str] = Counter()
        models: dict[str, set[str]] = defaultdict(set)
        for pair, answer in zip(pairs, estimates(service, pairs)):
            reason = verdict(pair, answer, tolerance)
            counts[reason] += 1
            models[reason].add(pair.where)
            if reason == EQUAL:
                is_above = any(total(pair.use, INPUT) > bound > 0 for bound in pair.bounds)
                equal.update(["uses", *pair.use, *(["above"] if is_above else [])])
            elif reason not in DIFFERENCES[judge]:
                unexplained.append(f"{judge}: {reason}: {pair} {answer}")
        print(f"{judge}: {len(pairs)} uses, {counts[EQUAL]} of {len(models.pop(EQUAL))} models cost the same")
        for reason, where in models.items():
            print(f"  {reason}: {counts[reason]} of {len(where)} models")
            if len(where) > DIFFERENCES[judge].get(reason, 0):
                unexplained.append(f"{judge}: {reason}: {sorted(where)}")
    print(dict(equal))
    assert not unexplained, (SEED, len(unexplained), unexplained[:5])
    assert equal["uses"] >= 10_000
    assert min(equal[kind] for kind in [*INPUT, *OUTPUT, "above", "image"]) >= 100
    assert equal["second"] >= 50

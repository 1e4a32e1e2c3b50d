"""What a call through LiteLLM uses: as it is expected, as a stream goes, and as its answer says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any

from litellm import token_counter

from ._table import TABLE
from .usage import Measured, plain, usage_of

REPLY_TOKENS = 1024
"""What an answer is taken to be at most, where the request does not say."""
WORDLESS = ("embedding", "moderation", "rerank")
"""Kinds of calls that say nothing."""


SIDES = TABLE["units"]


@dataclass(frozen=True)
class Usage:
    """What a call used, or is about to."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    response: Any = None
    """LiteLLM's answer, where there is a whole one; its `_hidden_params["response_cost"]` is the provider's price."""
    units: dict[str, int] = default(default_factory=dict)
    """The same tokens by kind, without overlap: `input`, `cachedInput`, `cacheWrite`, `cacheWrite1h`, `output`,
    `reasoning`, and audio and images where there are any; none that is zero."""
    estimated: bool = False
    """Whether some of it was estimated from text, since it was not measured."""

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Stream:
    """What a stream has said so far, and how much of it went out."""

    def __init__(self, prompt: Usage) -> None:
        self.prompt = prompt
        self.usages: list[Any] = []
        """The usage objects that were seen."""
        self.texts: list[str] = []
        self.passed_on = 0
        """How many of the chunks went out."""
        self.out = 0
        """How many of the texts went out."""
        self.about = 0
        """How many tokens all that was seen is, at most."""
        self.rest = b""

    def see(self, chunk: Any) -> None:
        for part in self.parts(chunk):
            self.usages.extend(usages_of(part))
            for text in texts_of(part):
                self.texts.append(text)
                self.about += count(self.prompt.model, text)

    def pass_on(self) -> None:
        self.passed_on += 1
        self.out = self.seen

    @property
    def seen(self) -> int:
        return len(self.texts)

    def parts(self, chunk: Any) -> Iterator[Any]:
        """The objects in a chunk: itself, or those in a piece of a text/event-stream."""
        if not isinstance(chunk, (bytes, str)):
            yield chunk
            return
        *lines, self.rest = (self.rest + (chunk.encode() if isinstance(chunk, str) else chunk)).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                try:
                    yield json.loads(line[5:])
                except ValueError:
                    # `[DONE]`, say.
                    continue

    def counted(self, texts: int) -> int:
        return count(self.prompt.model, "".join(self.texts[:texts]))

    def recount(self) -> None:
        self.about = self.counted(self.seen)

    def running(self) -> Usage:
        """What was seen used so far: a provider tells that at the end only."""
        return self.said(self.about)

    def passed(self) -> Usage:
        """What went out used."""
        return self.said(self.counted(self.out))

    def whole(self, response: Any = None) -> Usage:
        """What all of it used."""
        found = usage_of(self.usages, self.prompt.prompt_tokens, self.counted(self.seen))
        return usage(self.prompt.model, found, response)

    def said(self, completion: int) -> Usage:
        """The prompt as it was measured, and so much of an answer."""
        found = usage_of(self.usages, self.prompt.prompt_tokens, 0)
        units = {unit: count for unit, count in found.units.items() if unit in SIDES["input"]}
        return usage(self.prompt.model, Measured({**units, **({"output": completion} if completion else {})}, True))


def usage(model: str, found: Measured, response: Any = None) -> Usage:
    return Usage(model, found.input_tokens, found.output_tokens, response, found.units, found.estimated)


def about(model: str, prompt: int, completion: int) -> Usage:
    """An estimate."""
    units = {unit: count for unit, count in (("input", prompt), ("output", completion)) if count}
    return Usage(model, prompt, completion, None, units, True)


def prompt_tokens(data: dict[str, Any]) -> int:
    """All that a request says, calls of tools and their results included, and the tools themselves."""
    model = str(data.get("model") or "")
    beside = sum(count(model, written(data.get(name))) for name in ("system", "instructions", "tools"))
    messages = data.get("messages")
    if not isinstance(messages, list):
        return beside + count(model, written(data.get("input", data.get("prompt"))))
    try:
        found = int(token_counter(model=model, messages=messages))
    except Exception:
        return beside + count(model, written(messages))
    # Where it knows a part of a message, it counts it. What lies deeper it passes over.
    return beside + max(found, count(model, "\n".join(texts_in(messages))))


def written(value: Any) -> str:
    """A value as a model reads it."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, default=str, ensure_ascii=False)


def texts_in(value: Any, name: str = "content") -> Iterator[str]:
    """The texts of messages, wherever they are in them; addresses and data of files are none."""
    if isinstance(value, str):
        if name in ("content", "text", "arguments", "name", "thinking", "reasoning_content", "output"):
            yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each, name)
    elif isinstance(value, dict):
        for inner, each in value.items():
            if inner == "input":
                yield written(each)
            else:
                yield from texts_in(each, inner)


def expected(prompt: Usage, data: dict[str, Any], call_type: str) -> Usage:
    """The most that a request may use, as far as it says."""
    if any(word in call_type for word in WORDLESS):
        return prompt
    asked = (data.get(name) for name in ("max_completion_tokens", "max_output_tokens", "max_tokens"))
    reply = next((value for value in asked if isinstance(value, int) and value > 0), REPLY_TOKENS)
    answers = data.get("n")
    return about(prompt.model, prompt.prompt_tokens, reply * (answers if isinstance(answers, int) else 1))


def count(model: str, text: str) -> int:
    return int(token_counter(model=model, text=text)) if text else 0


def field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def usages_of(part: Any) -> Iterator[Any]:
    """The usage objects that an answer has, or a piece of one, in any of the providers' forms."""
    for of in (part, field(part, "message"), field(part, "response")):
        for name in ("usage", "usageMetadata", "usage_metadata"):
            usage = field(of, name) if of is not None else None
            if usage is not None:
                yield plain(usage)


def texts_of(part: Any) -> Iterator[str]:
    """The words that an object says, in any of the providers' forms: an answer's, or a piece's."""
    for choice in listed(part, "choices"):
        yield from said(field(choice, "text"))
        for said_by in (field(choice, "delta"), field(choice, "message")):
            if said_by is None:
                continue
            for name in ("content", "reasoning_content"):
                yield from said(field(said_by, name))
                for block in listed(said_by, name):
                    yield from said(field(block, "text"))
            for call in listed(said_by, "tool_calls"):
                yield from called(field(call, "function"))
            yield from called(field(said_by, "function_call"))
    delta = field(part, "delta")
    yield from said(delta)
    for name in ("text", "partial_json", "thinking"):
        yield from said(field(delta, name) if delta is not None and not isinstance(delta, str) else None)
    # A whole answer of Anthropic's, of OpenAI's responses, or a piece of Gemini's.
    for block in [*listed(part, "content"), *listed(part, "output")]:
        yield from block_texts(block)
    for candidate in listed(part, "candidates"):
        for block in listed(field(candidate, "content"), "parts"):
            yield from said(field(block, "text"))
            call = field(block, "functionCall") or field(block, "function_call")
            if call is not None:
                yield written(plain(call))


def block_texts(block: Any) -> Iterator[str]:
    for name in ("text", "thinking", "name", "arguments"):
        yield from said(field(block, name))
    if field(block, "input") is not None:
        yield written(plain(field(block, "input")))
    for name in ("content", "summary"):
        for inner in listed(block, name):
            yield from said(field(inner, "text"))


def called(function: Any) -> Iterator[str]:
    if function is not None:
        yield from said(field(function, "name"))
        yield from said(field(function, "arguments"))


def listed(value: Any, name: str) -> list[Any]:
    found = field(value, name) if value is not None else None
    return found if isinstance(found, list) else []


def said(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value

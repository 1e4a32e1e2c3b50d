"""What a call through LiteLLM uses: as it is expected, as a stream goes, and as its answer says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from litellm import token_counter

REPLY_TOKENS = 1024
"""What an answer is taken to be at most, where the request does not say."""
WORDLESS = ("embedding", "moderation", "rerank")
"""Kinds of calls that say nothing."""


@dataclass(frozen=True)
class Usage:
    """What a call used, or is about to."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    response: Any = None
    """LiteLLM's answer, where there is a whole one; its `_hidden_params["response_cost"]` is the provider's price."""

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Stream:
    """What a stream has said so far, and how much of it went out."""

    def __init__(self, prompt: Usage) -> None:
        self.prompt = prompt
        self.prompt_tokens: Optional[int] = None
        self.completion_tokens: Optional[int] = None
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
            prompt, completion = tokens_of(part)
            self.prompt_tokens = prompt or self.prompt_tokens
            self.completion_tokens = completion or self.completion_tokens
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
        return self.usage(self.about)

    def passed(self) -> Usage:
        """What went out used."""
        return self.usage(self.counted(self.out))

    def whole(self) -> Usage:
        """What all of it used."""
        return self.usage(self.counted(self.seen) if self.completion_tokens is None else self.completion_tokens)

    def usage(self, completion: int) -> Usage:
        prompt = self.prompt.prompt_tokens if self.prompt_tokens is None else self.prompt_tokens
        return Usage(self.prompt.model, prompt, completion)


def prompt_tokens(data: dict[str, Any]) -> int:
    messages = data.get("messages")
    if isinstance(messages, list):
        try:
            return int(token_counter(model=str(data.get("model") or ""), messages=messages))
        except Exception:
            return count("", json.dumps(messages, default=str))
    asked = data.get("input", data.get("prompt"))
    if asked is None:
        return 0
    return count(str(data.get("model") or ""), asked if isinstance(asked, str) else json.dumps(asked, default=str))


def expected(prompt: Usage, data: dict[str, Any], call_type: str) -> Usage:
    """The most that a request may use, as far as it says."""
    if any(word in call_type for word in WORDLESS):
        return prompt
    asked = (data.get(name) for name in ("max_completion_tokens", "max_output_tokens", "max_tokens"))
    reply = next((value for value in asked if isinstance(value, int) and value > 0), REPLY_TOKENS)
    answers = data.get("n")
    return Usage(prompt.model, prompt.prompt_tokens, reply * (answers if isinstance(answers, int) else 1))


def count(model: str, text: str) -> int:
    return int(token_counter(model=model, text=text)) if text else 0


def field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def tokens_of(part: Any) -> tuple[Optional[int], Optional[int]]:
    """The tokens of prompt and answer that an object names, in any of the providers' words."""
    for of in (part, field(part, "message"), field(part, "response")):
        usage = field(of, "usage") if of is not None else None
        if usage is None:
            continue
        found = [
            next((value for value in (field(usage, name) for name in names) if isinstance(value, int)), None)
            for names in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens"))
        ]
        if found != [None, None]:
            return found[0], found[1]
    return None, None


def texts_of(part: Any) -> Iterator[str]:
    """The words that an object says, in any of the providers' forms: an answer's, or a piece's."""
    for choice in field(part, "choices") or []:
        yield from said(field(choice, "text"))
        for said_by in (field(choice, "delta"), field(choice, "message")):
            if said_by is None:
                continue
            for name in ("content", "reasoning_content"):
                yield from said(field(said_by, name))
            for call in field(said_by, "tool_calls") or []:
                yield from said(field(field(call, "function"), "name"))
                yield from said(field(field(call, "function"), "arguments"))
    delta = field(part, "delta")
    yield from said(delta)
    for name in ("text", "partial_json", "thinking"):
        yield from said(field(delta, name) if isinstance(delta, dict) else None)


def said(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value

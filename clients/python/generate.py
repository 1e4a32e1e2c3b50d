"""Writes what is not written by hand: `models.py` from the API's description, `_table.py` from the table of usage that
all clients share, and `_sync/` from `_async/`.

`python generate.py` writes, `python generate.py --check` only says whether something is stale.
"""

import json
import keyword
import pprint
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
API = HERE / "../../docs/openapi/api.json"
USAGE = HERE / "../usage.json"
SOURCE = HERE / "src/scrip_wallet"
HEADER = "# Made by generate.py from {}: do not change it by hand.\n"

# What the client's methods answer, by the name that the description has for it. All that these consist of is
# added; what only wraps a list is not.
ANSWERS = [
    "Identity", "Product", "CodeWallet", "ExternalWallet", "Order", "LedgerEntry", "Deducted", "Credited",
    "PlacedHold", "Hold", "DrawnHold", "Released", "DebtState", "Forgiven", "CheckoutResult", "Subscription",
    "SessionToken", "Bucket", "Dispute", "FrozenWallet", "Reversed", "RateCard", "Estimate", "LimitState", "AutoTopUp",
]  # fmt: skip
# Where the clients have another word than the description.
NAMES = {
    "CodeWallet": "Wallet",
    "CheckoutResult": "Checkout",
    "Deducted": "Deduction",
    "Credited": "Credit",
    "DrawnHold": "Draw",
    "Reversed": "Reversal",
    "DebtState": "Debt",
    "Forgiven": "Forgiveness",
    "LimitState": "Limit",
    "Feature": "FeatureUse",
}
# A user without a wallet has an empty one, which has no identifier yet.
# What a deduction charged is in the answer only where it may be less than its amount.
OPTIONAL = {("ExternalWallet", "walletId"), ("Deducted", "charged")}
# Classes with methods of their own.
BASES = {"CodeWallet": "Holdings", "ExternalWallet": "Holdings"}

MODELS = '''
"""What the service answers. Fields that a newer server adds are in `raw`, where all is as it was sent."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Optional

from ._holdings import Holdings
'''


def snake(name: str) -> str:
    words = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
    return f"{words}_" if keyword.iskeyword(words) else words


class Models:
    def __init__(self, api: dict[str, Any]) -> None:
        self.api = api
        self.schemas: dict[str, Any] = api["components"]["schemas"]
        self.done: set[str] = set()
        self.classes: list[str] = []

    def resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        """All properties of an object, also of those that it is composed of."""
        if "$ref" in schema:
            return self.resolve(self.schemas[schema["$ref"].rsplit("/", 1)[1]])
        whole: dict[str, Any] = {
            "properties": dict(schema.get("properties", {})),
            "required": list(schema.get("required", [])),
        }
        for part in schema.get("allOf", []):
            found = self.resolve(part)
            whole["properties"].update(found["properties"])
            whole["required"] += found["required"]
        return whole

    def kind(self, schema: dict[str, Any]) -> str:
        """The type of a value that is there."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            named = self.schemas[name]
            if named.get("format") == "date-time":
                return "datetime"
            if "properties" in named or "allOf" in named:
                self.add(str(name))
                return NAMES.get(name, str(name))
            return self.kind(named)
        for choice in schema.get("oneOf") or schema.get("anyOf", []):
            if choice.get("type") != "null":
                return self.kind(choice)
        of = schema.get("type")
        of = next(each for each in of if each != "null") if isinstance(of, list) else of
        if of == "array":
            return f"list[{self.kind(schema['items'])}]"
        if of == "object":
            values = schema.get("additionalProperties")
            return f"dict[str, {self.kind(values) if isinstance(values, dict) else 'Any'}]"
        return {"string": "str", "integer": "int", "boolean": "bool", "number": "float"}[str(of)]

    def fields(self, name: str) -> Iterator[str]:
        whole = self.resolve(self.schemas[name])
        required: list[str] = []
        optional: list[str] = []
        for wire, schema in sorted(whole["properties"].items()):
            needed = wire in whole["required"] and (name, wire) not in OPTIONAL
            kind = self.kind(schema)
            of = schema.get("type")
            null = (isinstance(of, list) and "null" in of) or {"type": "null"} in schema.get("oneOf", [])
            if null or (not needed and ((name, wire) in OPTIONAL or kind not in ("bool", "int"))):
                kind = f"Optional[{kind}]"
            default = "" if needed else {"bool": " = False", "int": " = 0"}.get(kind, " = None")
            notes = [schema.get("description")] + [choice.get("description") for choice in schema.get("oneOf", [])]
            note = " ".join(str(next((note for note in notes if note), "")).split())
            lines = [f"    {snake(wire)}: {kind}{default}"]
            if note:
                lines.append(quoted(note, 4))
            (required if needed else optional).append("\n".join(lines))
        yield from required
        yield from optional
        yield "    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)"

    def add(self, name: str) -> None:
        if name in self.done:
            return
        self.done.add(name)
        fields = list(self.fields(name))
        note = quoted(" ".join(self.schemas[name].get("description", "").split()), 4)
        base = f"({BASES[name]})" if name in BASES else ""
        body = "\n".join(fields)
        self.classes.append(f"@dataclass(frozen=True)\nclass {NAMES.get(name, name)}{base}:\n{note}\n\n{body}\n")

    def codes(self) -> dict[str, int]:
        """Every code with which an endpoint may refuse, and its status: the responses' descriptions begin with them."""
        found: dict[str, int] = {}
        for operations in self.api["paths"].values():
            for operation in operations.values():
                for status, response in operation.get("responses", {}).items():
                    if int(status) >= 400:
                        found.update(
                            (code, int(status)) for code in re.findall(r"`([a-z_]+)`: ", response["description"])
                        )
        return dict(sorted(found.items()))

    def text(self) -> str:
        for name in ANSWERS:
            self.add(name)
        found = self.codes()
        codes = "".join(f'    "{code}",\n' for code in found)
        statuses = "".join(f'    "{code}": {status},\n' for code, status in found.items())
        note = '"""The codes with which the service refuses. A newer one may have others."""'
        codes = f"\nServiceErrorCode = Literal[\n{codes}]\n{note}\n"
        codes += f'\nSTATUSES: dict[str, int] = {{\n{statuses}}}\n"""The HTTP status of each code."""\n'
        return HEADER.format("docs/openapi/api.json") + MODELS[1:] + "\n\n" + "\n\n".join(self.classes) + codes


def quoted(note: str, indent: int) -> str:
    pad = " " * indent
    note = note.replace("\\", "\\\\")
    lines = textwrap.wrap(note, 110 - indent)
    if len(lines) <= 1:
        return f'{pad}"""{note}"""'
    return f'{pad}"""' + f"\n{pad}".join(lines) + f'\n{pad}"""'


WORDS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"^(from collections.abc import .*)\bAwaitable, ", r"\1"),
    (r"\bAsync([A-Z]\w+)\b", r"\1"),
    (r"\bAwaitable\[None\]", "None"),
    (r"\baclose\b", "close"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\basync_(\w+)\b", r"\1"),
]  # fmt: skip


def unasync(text: str) -> str:
    """The same without `async`: one way to do things, twice."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text, flags=re.M)
    return text


def table() -> str:
    """The table of usage as Python."""
    shown = pprint.pformat(json.loads(USAGE.read_text("utf-8")), width=116, sort_dicts=False)
    return HEADER.format("clients/usage.json") + f"from typing import Any\n\nTABLE: dict[str, Any] = {shown}\n"


def files() -> dict[Path, str]:
    found = {
        SOURCE / "models.py": Models(json.loads(API.read_text("utf-8"))).text(),
        SOURCE / "_table.py": table(),
    }
    for path in sorted((SOURCE / "_async").glob("*.py")):
        found[SOURCE / "_sync" / path.name] = HEADER.format(f"_async/{path.name}") + unasync(path.read_text("utf-8"))
    return found


def stale() -> list[str]:
    """The files that are not as they would be written now."""
    wanted = files()
    written = set((SOURCE / "_sync").glob("*.py"))
    differs = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    return [path.name for path in [*differs, *(written - set(wanted))]]


if __name__ == "__main__":
    if "--check" in sys.argv:
        if stale():
            sys.exit(f"{stale()} in clients/python are stale: python generate.py")
    else:
        (SOURCE / "_sync").mkdir(exist_ok=True)
        for path, text in files().items():
            path.write_text(text, "utf-8")

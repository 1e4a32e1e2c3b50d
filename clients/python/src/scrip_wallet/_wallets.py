"""How a wallet is named in a request. A recovery code goes in a header, so that no log has it."""

from collections.abc import Mapping
from typing import Any, Optional

from ._call import Answer, Call, segment
from ._read import Unreadable
from .errors import ScripError


def code_header(code: str) -> dict[str, str]:
    return {"X-Wallet-Code": segment(code, "code")}


def wallet_path(external_user_id: Optional[str], code: Optional[str]) -> tuple[str, Optional[dict[str, str]]]:
    """The wallet's path and headers; exactly one of the two names it."""
    if (external_user_id is None) == (code is None):
        raise ScripError("conflicting_wallet", "Name one wallet: by external_user_id or by code.")
    if code is None:
        return "/wallets/external", None
    return "/wallets/code", code_header(code)


def session_refusal(
    method: str, headers: Mapping[str, str], external_user_id: Optional[str]
) -> Optional[tuple[int, dict[str, Any]]]:
    """Why a page gets no session, as a status and a body; None where it gets one."""
    sent = {name.lower(): value for name, value in headers.items()}
    site, origin = sent.get("sec-fetch-site"), sent.get("origin")
    # A browser that does not say where the page is from names at least its origin.
    is_elsewhere = site != "same-origin" if site else origin and origin.split("://")[-1] != sent.get("host")
    if method != "POST":
        return 405, {"code": "method_not_allowed", "message": "Ask for a session by POST."}
    if is_elsewhere:
        return 403, {"code": "cross_site", "message": "Another site asked."}
    if external_user_id is None:
        return 401, {"code": "no_wallet", "message": "Nobody is signed in."}
    return None


def making(external_user_id: str) -> "Call[None]":
    """A user's wallet to be made, if there is none."""
    body = {"externalUserId": external_user_id}
    return Call("POST", "/wallets/external", lambda answer: None, body=body, repeatable=True)


def named(answer: Answer, name: str, kind: Any) -> Any:
    """One field of an answer."""
    value = answer.body.get(name)
    if not isinstance(value, kind):
        raise Unreadable(f"{name} is missing")
    return value


def anything(body: dict[str, Any]) -> bool:
    """Whether an operation moved credits, as a repeat tells it: it may have come short of everything."""
    return body.get("charged") is None or bool(body["charged"] or body.get("owed"))

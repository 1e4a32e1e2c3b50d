# Made by generate.py from _async/wallets.py: do not change it by hand.
"""Wallets: read and made, their ledgers, codes, sessions and features."""

from collections.abc import Iterator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Optional

from .._call import Call, given, new_key
from .._read import instant_text, read, rows
from .._types import Ability, LedgerReason, NewLimit, Page, camel
from .._wallets import code_header, named, session_refusal, wallet_path
from ..errors import ScripError
from ..models import ExternalWallet, FrozenWallet, LedgerEntry, Limit, SessionToken, Wallet
from .calls import Calls


class Wallets(Calls):
    """Wallets: read and made, their ledgers, codes, sessions and features."""

    def wallet(self, external_user_id: str) -> ExternalWallet:
        """A user's wallet. That of a user who has none is empty, and its `wallet_id` None."""
        try:
            return self._get("/wallets/external", ExternalWallet, {"externalUserId": external_user_id})
        except ScripError as error:
            if error.code != "wallet_not_found":
                raise
        return ExternalWallet(balances=[], external_user_id=external_user_id, features=[], subscriptions=[])

    def code_wallet(self, code: str) -> Wallet:
        """The wallet that a recovery code opens; `wallet_not_found` where it opens none."""
        return self._get("/wallets/code", Wallet, headers=code_header(code))

    def ensure_wallet(self, external_user_id: str) -> ExternalWallet:
        """A user's wallet, made if there is none."""
        body = {"externalUserId": external_user_id}
        return self._post("/wallets/external", ExternalWallet, body, repeatable=True)

    def update_wallet(self, external_user_id: str, *, email: Optional[str]) -> ExternalWallet:
        """Says where mails about a user's wallet go; None: nowhere."""
        body = {"externalUserId": external_user_id, "email": email}
        return self._do(
            Call(
                "PATCH",
                "/wallets/external",
                lambda answer: read(ExternalWallet, answer.body),
                body=body,
                repeatable=True,
            )
        )

    def create_wallet(self) -> Wallet:
        """Creates a wallet that belongs to anyone who has its code."""
        return self._post("/wallets", Wallet)

    def rotate(self, code: str, *, idempotency_key: Optional[str] = None) -> str:
        """Replaces a recovery code that leaked: the new one."""
        key = idempotency_key or new_key()
        return self._do(
            Call(
                "POST",
                "/wallets/code/rotate",
                lambda answer: str(named(answer, "code", str)),
                body={"idempotencyKey": key},
                headers=code_header(code),
                key=key,
                repeatable=True,
            )
        )

    def recover(self, email: str) -> None:
        """Has the codes of wallets that were paid for with this address mailed to it. Says nothing else."""
        self._do(Call("POST", "/wallets/recover", lambda answer: None, body={"email": email}))

    def ledger(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        reason: Optional[LedgerReason] = None,
        from_: Optional[datetime] = None,
        to: Optional[datetime] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page[LedgerEntry]:
        """A page of a wallet's ledger, newest first. A user without a wallet has an empty one."""
        path, headers = wallet_path(external_user_id, code)
        query = given(
            externalUserId=external_user_id,
            productId=product_id,
            reason=reason,
            to=None if to is None else instant_text(to),
            limit=limit,
            cursor=cursor,
        )
        if from_ is not None:
            query["from"] = instant_text(from_)
        try:
            return self._page(f"{path}/ledger", LedgerEntry, "entries", query, headers)
        except ScripError as error:
            if error.code != "wallet_not_found" or external_user_id is None:
                raise
        return Page([], None)

    def ledger_entries(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        reason: Optional[LedgerReason] = None,
    ) -> Iterator[LedgerEntry]:
        """All of a wallet's ledger, newest first, read 100 at a time as they are asked for."""
        cursor: Optional[str] = None
        while True:
            page = self.ledger(
                external_user_id=external_user_id,
                code=code,
                product_id=product_id,
                reason=reason,
                limit=100,
                cursor=cursor,
            )
            for entry in page.items:
                yield entry
            # A cursor that does not move would go round for ever.
            if page.next_cursor in (None, cursor):
                return
            cursor = page.next_cursor

    def set_limits(
        self, limits: Iterable[NewLimit], *, external_user_id: Optional[str] = None, code: Optional[str] = None
    ) -> list[Limit]:
        """How much may be used of a wallet, in place of all limits that it had of its own; a user without a wallet
        gets one. Those that are in force, products' and tiers' included.
        """
        path, headers = wallet_path(external_user_id, code)
        sent = [given(**{camel(name): value for name, value in vars(limit).items()}) for limit in limits]
        body = given(externalUserId=external_user_id, limits=sent)
        return self._do(
            Call(
                "PUT",
                f"{path}/limits",
                lambda answer: rows(Limit, answer.body, "limits"),
                body=body,
                headers=headers,
                repeatable=True,
            )
        )

    def limits(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        member: Optional[str] = None,
    ) -> list[Limit]:
        """The limits in force, with what is used, held and left of each. With a member, what those about each member
        count of theirs.
        """
        path, headers = wallet_path(external_user_id, code)
        query = given(externalUserId=external_user_id, member=member)
        return self._do(
            Call(
                "GET",
                f"{path}/limits",
                lambda answer: rows(Limit, answer.body, "limits"),
                query=query,
                headers=headers,
                repeatable=True,
            )
        )

    def freeze(
        self,
        *,
        frozen: bool,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        wallet_id: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> FrozenWallet:
        """Puts a wallet's credits out of reach, or lets them be used again."""
        body = given(externalUserId=external_user_id, code=code, walletId=wallet_id, frozen=frozen, reason=reason)
        return self._post("/wallets/freeze", FrozenWallet, body, repeatable=True)

    def session(
        self,
        *,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        can: Optional[Sequence[Ability]] = None,
    ) -> SessionToken:
        """A token with which this user's browser may read this wallet, and buy for it; an hour by
        default. A user without a wallet gets one.
        """
        wallet_path(external_user_id, code)
        body = given(
            externalUserId=external_user_id,
            code=code,
            expiresInSeconds=expires_in_seconds,
            can=None if can is None else list(can),
        )
        return self._post("/sessions", SessionToken, body, repeatable=True)

    def session_response(
        self,
        method: str,
        headers: Mapping[str, str],
        external_user_id: Optional[str],
        *,
        expires_in_seconds: Optional[int] = None,
        can: Optional[Sequence[Ability]] = None,
    ) -> tuple[int, dict[str, Any]]:
        """What your route answers to a page that asks for a session: a status, and a body to be sent as JSON. The user
        is who is signed in, or None, and never one that the request names. Another site's page is refused.
        """
        refusal = session_refusal(method, headers, external_user_id)
        if refusal is not None:
            return refusal
        try:
            opened = self.session(
                external_user_id=external_user_id, expires_in_seconds=expires_in_seconds, can=can
            )
        except ScripError as error:
            if not error.passing:
                raise
            return 503, {"code": "session_failed", "message": "No session could be opened. Try again in a moment."}
        return 200, dict(opened.raw)

    def revoke_sessions(self, *, external_user_id: Optional[str] = None, code: Optional[str] = None) -> None:
        """Ends all sessions of a wallet that were made so far."""
        wallet_path(external_user_id, code)
        body = given(externalUserId=external_user_id, code=code)
        self._do(Call("POST", "/sessions/revoke", lambda answer: None, body=body, repeatable=True))

    def grant_feature(
        self, feature: str, *, external_user_id: Optional[str] = None, code: Optional[str] = None
    ) -> list[str]:
        """Unlocks a feature by hand. All that the wallet unlocks."""
        return self._feature(feature, "grant", external_user_id, code)

    def revoke_feature(
        self, feature: str, *, external_user_id: Optional[str] = None, code: Optional[str] = None
    ) -> list[str]:
        """Takes back what was granted by hand; what was bought stays. All that the wallet unlocks."""
        return self._feature(feature, "revoke", external_user_id, code)

    def _feature(
        self, feature: str, action: str, external_user_id: Optional[str], code: Optional[str]
    ) -> list[str]:
        wallet_path(external_user_id, code)
        body = given(externalUserId=external_user_id, code=code, feature=feature, action=action)
        call = Call("POST", "/features", lambda answer: named(answer, "features", list), body=body, repeatable=True)
        return self._do(call)

"""Credits given, taken and owed, each once for its key."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Optional, Union

from .._call import given, new_key, segment
from .._types import BatchItem, BatchResult, CreditItem, OnShortfall, UsageFormat
from ..errors import ScripError
from ..models import Credit, Debt, Deduction, Forgiveness, Reversal
from .calls import AsyncCalls


class AsyncCredits(AsyncCalls):
    """Credits given, taken and owed, each once for its key."""

    async def credit(
        self,
        *,
        product_id: str,
        amount: int,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        expires_at: Optional[datetime] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> Credit:
        """Gives credits, once for each key. A user without a wallet gets one.

        Without a key each call is a new grant: give one that names the reason (`welcome-ann`).
        """
        item = CreditItem(product_id, amount, external_user_id, code, idempotency_key, expires_at, meta)
        credit: Credit = await self._gathered(item)
        return credit

    async def deduct(
        self,
        *,
        amount: Optional[int] = None,
        external_user_id: Optional[str] = None,
        code: Optional[str] = None,
        product_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
        on_shortfall: Optional[OnShortfall] = None,
        rate_card: Optional[str] = None,
        attributes: Optional[Mapping[str, str]] = None,
        quantities: Optional[Mapping[str, int]] = None,
        usage: Any = None,
        usage_format: Optional[UsageFormat] = None,
        member: Optional[str] = None,
    ) -> Deduction:
        """Takes credits, once for each key: all of them or none, unless `on_shortfall` says otherwise. A user without
        a wallet gets one. Those that are made while others are under way go together: see `gather`.

        In place of an `amount` a `rate_card` prices what was used, by `attributes` such as the model: `quantities` by
        unit, or the `usage` object of the model's provider. `member` is who of those who share the wallet uses them.
        """
        charge = (rate_card, attributes, quantities, usage, usage_format, member)
        item = BatchItem(amount, external_user_id, code, product_id, idempotency_key, meta, on_shortfall, *charge)
        deduction: Deduction = await self._gathered(item)
        return deduction

    async def reverse_deduction(
        self, ledger_id: str, *, idempotency_key: str, amount: Optional[int] = None, note: Optional[str] = None
    ) -> Reversal:
        """Gives back what a deduction took, all of it or a part, to the lots that it came from; once for each key."""
        body = given(amount=amount, idempotencyKey=idempotency_key, note=note)
        path = f"/deductions/{segment(ledger_id, 'ledger')}/reverse"
        return await self._post(path, Reversal, body, key=idempotency_key)

    async def deduct_batch(self, items: Iterable[Union[BatchItem, Mapping[str, Any]]]) -> list[BatchResult]:
        """Takes credits from up to 1,000 wallets; each item is applied or refused on its own. The results are in
        the items' order: deductions, and errors for what was refused. Users without a wallet get one. A dictionary
        with a `BatchItem`'s fields does as well.
        """
        return await self._batch(BatchItem, items)

    async def credit_batch(
        self, items: Iterable[Union[CreditItem, Mapping[str, Any]]]
    ) -> list[Union[Credit, ScripError]]:
        """Gives credits to up to 1,000 wallets, as `deduct_batch` takes them. Without a key each is a new grant."""
        return await self._batch(CreditItem, items)

    async def set_debt_limit(self, *, external_user_id: str, product_id: str, debt_limit: Optional[int]) -> Debt:
        """How much this user may owe of a product; None: as the product says. A user without a wallet gets one."""
        body = {"externalUserId": external_user_id, "productId": product_id, "debtLimit": debt_limit}
        return await self._post("/wallets/external/debt-limit", Debt, body, repeatable=True)

    async def forgive(
        self,
        *,
        external_user_id: str,
        product_id: str,
        note: str,
        amount: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Forgiveness:
        """Ends a debt, all of it or a part, once for each key."""
        key = idempotency_key or new_key()
        body = given(
            externalUserId=external_user_id, productId=product_id, note=note, amount=amount, idempotencyKey=key
        )
        own = idempotency_key is None and "forgiven"
        return await self._post("/wallets/external/forgive", Forgiveness, body, key=key, own=own)

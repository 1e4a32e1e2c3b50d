"""Everything that the client raises: one type, and types of its own for what is worth catching by itself."""

from typing import Any, Literal, Optional, Union

from .models import Limit, Price, ServiceErrorCode

ClientErrorCode = Literal[
    "invalid_options",
    "network_error",
    "timeout",
    "unexpected_response",
    "hold_replayed",
    "invalid_signature",
]
"""What fails on this side of the wire, or is no answer of the service.

`invalid_options`: the client was made or called wrongly, and nothing was sent. `network_error`: no answer
arrived. `timeout`: none in time. `unexpected_response`: an answer that the service does not give, a proxy's page
say. `hold_replayed`: a key under which work was done before, or is being done. `invalid_signature`: what arrived
is not what the service signed.
"""

ErrorCode = Union[ServiceErrorCode, ClientErrorCode, str]


class ScripError(Exception):
    """Why a call failed."""

    code: ErrorCode
    """What went wrong, as a program reads it: branch on it."""
    message: str
    """What went wrong, as a person reads it."""
    status: int
    """The HTTP status; 0 where no answer arrived."""
    request_id: Optional[str]
    """Names the request in the service's log."""
    param: Optional[str]
    """The one input at fault, as a path."""
    permission: Optional[str]
    """What a restricted key lacks, with `permission_missing`."""
    docs: Optional[str]
    """Where the service explains the code; relative to its address."""
    retry_after: Optional[float]
    """How many seconds to wait before trying again."""
    idempotency_key: Optional[str]
    """The key that the operation was sent under. Where it is not known whether the operation was done, the same
    call with this key finds out, and does it at most once.
    """
    body: dict[str, Any]
    """The whole refusal, with what its code adds."""

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        status: int = 0,
        request_id: Optional[str] = None,
        param: Optional[str] = None,
        retry_after: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        body: Optional[dict[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.body = body or {}
        self.request_id = request_id or text(self.body.get("requestId"))
        self.param = param or text(self.body.get("param"))
        self.permission = text(self.body.get("permission"))
        self.docs = text(self.body.get("docs"))
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        return f"{self.message} ({self.code})" + (f" [{self.request_id}]" if self.request_id else "")

    @property
    def passing(self) -> bool:
        """Whether it passes by itself, so that the same call may succeed later."""
        return self.code in ("network_error", "timeout") or self.status == 429 or self.status >= 500


class InsufficientCreditsError(ScripError):
    """The wallet has fewer credits that can be spent than were asked for. The call used up no key."""

    balance: int
    """Credits that can be spent now."""
    requested: int
    """Credits that were asked for."""
    shortfall: int
    """Credits that are missing."""
    product_id: Optional[str]
    """The product whose balance fell short."""
    prices: list[Price]
    """Active prices that would cover it."""
    credit_available: Optional[int]
    """Where a debt limit has no room for the hold's `max_overrun`: what it has room for."""


class LimitExceededError(ScripError):
    """A limit of the wallet has less left than was asked for. The call used up no key; it is not made again."""

    limit: Limit
    """The limit, with what it counts; `resets_at` is when its next window begins."""
    requested: int
    """How much was asked for."""


class SignatureError(ScripError):
    """A webhook that the service did not sign with this secret, or not within the last minutes."""


class UnsettledError(ScripError):
    """Work under a hold was done, and could not be paid for. Keep what is here, or call `resume`."""

    hold_id: str
    """The hold, which returns what was not drawn when it expires."""
    key: str
    """The key under which the hold was placed."""
    cost: Optional[int]
    """What the work cost, draws included; None where a rate card prices it."""
    value: Any
    """What the work made, if it was kept in `hold.value`."""

    def __init__(self, cause: ScripError, *, hold_id: str, key: str, cost: Optional[int], value: Any) -> None:
        super().__init__(
            cause.code,
            f"The hold {hold_id} could not be settled for {'what was used' if cost is None else cost}: {cause.message}",
            status=cause.status,
            request_id=cause.request_id,
            retry_after=cause.retry_after,
            idempotency_key=key,
            body=cause.body,
        )
        self.__cause__ = cause
        self.hold_id = hold_id
        self.key = key
        self.cost = cost
        self.value = value


def text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None

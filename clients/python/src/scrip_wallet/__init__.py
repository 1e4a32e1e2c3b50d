"""Prepaid credits from Python, with Scrip. `Scrip` and `AsyncScrip` are where to begin."""

from . import models
from ._async.client import AsyncScrip
from ._async.hold import AsyncRunningHold, AsyncSettlementError
from ._sync.client import Scrip
from ._sync.hold import RunningHold, SettlementError
from ._types import (
    Ability,
    BatchItem,
    BatchResult,
    CreditItem,
    HoldItem,
    Interval,
    LedgerReason,
    NewLimit,
    OnShortfall,
    Outcome,
    Page,
    SettleItem,
    UsageFormat,
)
from ._version import VERSION as __version__
from .errors import ErrorCode, InsufficientCreditsError, LimitExceededError, ScripError, SignatureError, UnsettledError
from .events import Event
from .webhooks import sign_event, sign_webhook, verify_webhook

__all__ = [
    "Ability",
    "AsyncRunningHold",
    "AsyncScrip",
    "AsyncSettlementError",
    "BatchItem",
    "BatchResult",
    "CreditItem",
    "ErrorCode",
    "Event",
    "HoldItem",
    "InsufficientCreditsError",
    "Interval",
    "LedgerReason",
    "LimitExceededError",
    "NewLimit",
    "OnShortfall",
    "Outcome",
    "Page",
    "RunningHold",
    "Scrip",
    "ScripError",
    "SettleItem",
    "SettlementError",
    "SignatureError",
    "UnsettledError",
    "UsageFormat",
    "__version__",
    "models",
    "sign_event",
    "sign_webhook",
    "verify_webhook",
]

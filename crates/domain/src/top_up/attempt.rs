//! Attempts to top up, what comes of them, and what suspends further ones.

use serde::{Deserialize, Serialize};

use super::{
    card::{Decline, DeclineCode, DeclineKind, OwnCode, SavedCard},
    rule::TopUpRule,
};
use crate::{
    id::{OrderId, OrderSerial, WalletKey},
    text::{CardId, CustomerId, PageUrl},
    time::Timestamp,
};

/// Why a top-up is suspended: until another card, a payment by the buyer, or the rule is set again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Suspension {
    /// The card was declined [`MAX_FAILURES`] times in a row.
    Declined,
    /// A decline that is final by the rules of card networks.
    CardUnusable,
    /// The bank wants the buyer, who can pay on a page.
    ActionRequired(Box<ActionPage>),
    /// The buyer's bank disputes a top-up.
    Disputed,
    /// The price is not the one that the buyer agreed to.
    PriceChanged,
    /// No card is on file.
    CardMissing,
}

/// The page on which the buyer pays what the card alone could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub struct ActionPage {
    pub order: OrderSerial,
    pub url: PageUrl,
}

impl Suspension {
    /// What an interface calls it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Declined => "declined",
            Self::CardUnusable => "card_unusable",
            Self::ActionRequired(_) => "action_required",
            Self::Disputed => "disputed",
            Self::PriceChanged => "price_changed",
            Self::CardMissing => "card_missing",
        }
    }
}

/// One charge of the card, from its decision to its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUpAttempt {
    /// Counts the wallet's attempts; with the wallet it names the charge at the provider.
    pub number: u64,
    /// The order that it pays.
    pub order: OrderSerial,
    /// What is charged, in the currency's minor unit.
    pub cents: i64,
    /// The card that is charged, and whose it is, even if another is on file since.
    pub card: CardId,
    /// The provider's customer whose card it is.
    pub customer: CustomerId,
    /// When it was decided.
    pub at: Timestamp,
}

impl TopUpAttempt {
    /// The name of its charge at the provider: unlike the number alone, it is new also after an older backup is restored.
    pub fn name(&self, wallet: WalletKey) -> String {
        let serial = self.order;
        format!("top_up/{}/{}", self.number, OrderId { serial, wallet })
    }
}

/// Why a charge of the card brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeFailure {
    /// The card was declined.
    Declined(Decline),
    /// It was declined because the bank wants the buyer, who can pay on this page.
    ActionRequired(Decline, ActionPage),
    /// Nothing was charged, because the price is not the one that the buyer agreed to.
    PriceChanged,
    /// The provider certainly never took the charge.
    NeverCharged,
}

impl ChargeFailure {
    /// The provider says that the payment is over.
    pub(crate) fn canceled() -> Self {
        Self::Declined(Decline {
            code: DeclineCode::of(OwnCode::Canceled),
            kind: DeclineKind::Retryable,
        })
    }

    /// As an attempt keeps it.
    pub(crate) fn decline(&self) -> Decline {
        let own = |code, kind| Decline {
            code: DeclineCode::of(code),
            kind,
        };
        match self {
            Self::Declined(decline) | Self::ActionRequired(decline, _) => decline.clone(),
            Self::PriceChanged => own(OwnCode::PriceChanged, DeclineKind::Final),
            Self::NeverCharged => own(OwnCode::NeverCharged, DeclineKind::Retryable),
        }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttemptOutcome {
    /// It was paid.
    Succeeded,
    /// It was certainly not.
    Failed(Decline),
}

/// One change of a wallet's card or automatic top-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TopUpChange {
    /// A card was put on file, or another one.
    CardSaved(SavedCard),
    /// The card is forgotten.
    CardRemoved,
    /// The rule was set; `None`: switched off.
    Set(Option<Box<TopUpRule>>),
    /// An attempt was decided; its order was placed.
    Begun(TopUpAttempt),
    /// An attempt ended.
    Ended(u64, AttemptOutcome),
    /// A top-up was paid, for so much, that is not the open attempt.
    Charged(i64),
    /// A needed attempt has to wait until then; `None`: it is not needed any more.
    Waits(Option<Timestamp>),
    /// It is suspended.
    Suspended(Suspension),
    /// It is not suspended any more.
    Resumed,
}

//! Why a wallet refuses a command. A refused command changes nothing.

use crate::{
    id::ProductId, limit::ExceededLimit, rate_card::Unrated, text::FreezeReason,
    wallet::OpenInvoice,
};

/// Why a command is refused. The first reason that applies wins: an unknown id, a reused key, a conflicting state,
/// missing funds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Rejection {
    /// No such wallet in this project.
    #[error("No such wallet.")]
    WalletNotFound,
    /// No such hold in this project.
    #[error("No such hold.")]
    HoldNotFound,
    /// No such order in this project.
    #[error("No such order.")]
    OrderNotFound,
    /// The wallet has no such subscription.
    #[error("No such subscription.")]
    SubscriptionNotFound,
    /// The wallet has several subscriptions to the product, and one has to be named by its id.
    #[error("Name the subscription by its id: several to this product go on.")]
    SubscriptionAmbiguous,
    /// No product was named and the project does not have exactly one that holds credits. Checked after the replay, so
    /// that adding a product breaks no retry.
    #[error("Name the product: this project does not have exactly one that holds credits.")]
    ProductRequired,
    /// The key was used for the same operation with another product, order or amount.
    #[error("This idempotency key was used before with another product, order or amount.")]
    KeyReused,
    /// The wallet is a user's: no recovery code opens it.
    #[error("This wallet is opened by its user's id: it has no recovery code.")]
    NoRecoveryCode,
    /// The wallet's ledger has no such deduction.
    #[error("No such deduction.")]
    DeductionNotFound,
    /// A draw of a hold that is still open: settling the hold decides what is charged.
    #[error("The hold of this deduction is open: settle it for what the work cost.")]
    HoldOpen,
    /// A reversal asks for more than is left of the deduction.
    #[error("{reversible} credits of this deduction are left to reverse.")]
    AlreadyReversed { reversible: i64 },
    /// What was used has no cost by the rate card that the request names. Checked after the replay, so that a repeat
    /// outlives the price.
    #[error(transparent)]
    Unrated(Unrated),
    /// The wallet is frozen: its credits cannot be used.
    #[error("This wallet is frozen.")]
    Frozen { reason: Option<FreezeReason> },
    /// The hold was closed before, with another outcome.
    #[error("This hold is already closed with another outcome.")]
    HoldClosed,
    /// A refund asks for more than is left of the order.
    #[error("This order has {refundable_cents} left to refund, in the currency's minor unit.")]
    AlreadyRefunded { refundable_cents: i64 },
    /// The wallet has a subscription to the product already.
    #[error("This wallet is already subscribed to the product.")]
    AlreadySubscribed {
        /// Its open invoice, if any.
        open_invoice: Option<Box<OpenInvoice>>,
    },
    /// The wallet owns every feature of the price, and the price brings nothing else.
    #[error("This wallet has bought all of this already.")]
    AlreadyOwned,
    /// The price recurs, and the wallet's customer has a subscription, or an open checkout of one, in another currency.
    #[error("This wallet's subscriptions are charged in {currency}.")]
    CurrencyMismatch { currency: Box<str> },
    /// The wallet has [`crate::wallet::place_order::MAX_PENDING`] pending orders.
    #[error("Too many orders of this wallet are pending.")]
    TooManyPending,
    /// The wallet has as many open holds as it may.
    #[error("Too many holds of this wallet are open.")]
    TooManyHolds,
    /// The wallet has [`crate::wallet::credit::MAX_LOTS`] lots of the product, and a manual grant would be one more.
    #[error("This wallet has too many grants of this product that expire at different times.")]
    TooManyLots,
    /// The wallet has no completed purchase: the provider does not know its owner.
    #[error(
        "This wallet has no completed purchase, or its customer was deleted at the payment provider."
    )]
    NoPurchase,
    /// The balance would pass [`crate::MAX_CREDITS`].
    #[error("The balance would pass 9007199254740991 credits.")]
    BalanceLimit,
    /// The granted credits would have expired already. Checked after the replay, so that a grant made in time can be
    /// repeated.
    #[error("expiresAt must be in the future.")]
    ExpiryPast,
    /// The note, merged with that of its hold, is too large. Checked after the replay.
    #[error("meta is a JSON object of at most 4 KiB, together with that of the hold.")]
    MetaTooLarge,
    /// Not enough credits that can be spent now.
    #[error("Not enough credits: {balance} available, {requested} requested.")]
    Insufficient {
        product: ProductId,
        balance: i64,
        requested: i64,
        shortfall: i64,
    },
    /// A limit has no room for all of it.
    #[error("A limit has no room for this.")]
    LimitExceeded(Box<ExceededLimit>),
    /// An automatic top-up cannot be set like this.
    #[error("{field} {problem}.")]
    TopUpRule {
        field: &'static str,
        problem: &'static str,
    },
    /// No card is on file.
    #[error("This wallet has no card on file.")]
    CardRequired,
    /// Who raises what may be charged has to enter the card again first.
    #[error("Enter the card again before more may be charged to it.")]
    CardConfirmationRequired,
    /// The wallet counts for as many members, features and keys as it may.
    #[error("This wallet counts for too many members, features and keys.")]
    TooManyScopes,
    /// The debt limit has no room for what a hold may owe.
    #[error("Not enough credit: {available} may still be owed, {requested} requested.")]
    NoCredit {
        product: ProductId,
        balance: i64,
        requested: i64,
        available: i64,
    },
}

//! From the refusals of wallets, payments and the catalog to those of the HTTP interface.

use catalog::ProjectCatalog;
use domain::{
    Rejection,
    catalog::Refusal,
    limit::ExceededLimit,
    rate_card::{RateError, Unrated},
};

use super::{code::ErrorCode, error::Error, view};

impl Error {
    /// The refusal for a wallet's error.
    #[must_use]
    pub fn from_wallet(error: actors::Error, project: &ProjectCatalog) -> Self {
        use actors::Error as Wallet;
        match error {
            Wallet::Rejected(rejection) => Self::from_rejection(rejection, project),
            Wallet::SecretKeyRequired => Self::new(ErrorCode::SecretKeyRequired),
            Wallet::SessionExpired => Self::new(ErrorCode::SessionExpired),
            Wallet::Overloaded => Self::new(ErrorCode::Overloaded),
            Wallet::Unavailable => Self::new(ErrorCode::Unavailable),
            Wallet::TooLarge => Self::new(ErrorCode::BodyTooLarge),
        }
    }

    /// The refusal for a checkout or a portal that did not open.
    #[must_use]
    pub fn from_payments(error: payments::Error, project: &ProjectCatalog) -> Self {
        match error {
            payments::Error::NotConfigured => Self::new(ErrorCode::ProviderNotConfigured),
            payments::Error::Offline => Self::new(ErrorCode::ProviderNotConfigured)
                .saying("This server runs offline, for a drill: it asks no payment provider."),
            payments::Error::Changing => Self::new(ErrorCode::Overloaded).saying(
                "This project's payment provider is being changed. Nothing was done; try again soon.",
            ),
            payments::Error::Provider(payments_port::Error::InvalidDiscountCode(words)) => {
                let refusal = Self::about("discountCode", ErrorCode::InvalidDiscountCode);
                match words {
                    Some(words) => refusal.saying(format!(
                        "The payment provider refuses this discount code: {words}"
                    )),
                    None => refusal,
                }
            }
            // The provider does not name the currency in a form that can be relied on.
            payments::Error::Provider(payments_port::Error::CurrencyMismatch(_)) => {
                Self::about("priceId", ErrorCode::CurrencyMismatch)
            }
            payments::Error::RefundRefused {
                reason,
                given_cents,
                refundable_cents,
            } => Self::already_refunded(refundable_cents).saying(refund_refused(
                &reason,
                given_cents,
                refundable_cents,
            )),
            payments::Error::Wallet(error) => Self::from_wallet(error, project),
            payments::Error::Provider(error) => {
                tracing::warn!(%error, project = %project.project.id, "The payment provider failed");
                let refusal = Self::new(ErrorCode::ProviderError);
                match error.nothing_was_done() {
                    true => refusal.undone(),
                    false => refusal,
                }
            }
            payments::Error::NoSuchPayment => Self::new(ErrorCode::PaymentNotFound),
            payments::Error::Decided => Self::new(ErrorCode::PaymentAlreadyResolved),
            payments::Error::NoSuchPrice => Self::about("priceId", ErrorCode::PriceNotFound),
            payments::Error::NoCycle => Self::invalid(
                "priceId",
                "This payment belongs to no subscription: choose a price that is paid once.",
            ),
            payments::Error::OtherTerms(how) => {
                Self::invalid("priceId", format!("The provider charges {how}."))
            }
            payments::Error::TooManyUnfulfilled | payments::Error::TooEarly | payments::Error::PaymentProcessing => {
                Self::new(ErrorCode::InternalError)
            }
            payments::Error::Defect(what) => {
                tracing::error!(what, project = %project.project.id, "A purchase could not be started");
                Self::new(ErrorCode::InternalError)
            }
        }
    }

    /// The refusal for a refund, a cancellation or a resumption that the provider did not do.
    #[must_use]
    pub fn from_instruction(error: payments::Error, project: &ProjectCatalog) -> Self {
        let refusal = Self::from_payments(error, project);
        match refusal.code() {
            ErrorCode::ProviderError => refusal.saying(
                "The payment provider failed, or has not finished yet. Try again with the same key.",
            ),
            _ => refusal,
        }
    }

    /// `already_refunded`, with what can still be refunded, in the currency's minor unit.
    fn already_refunded(refundable_cents: i64) -> Self {
        Self::new(ErrorCode::AlreadyRefunded)
            .with(|more| more.refundable_cents = Some(refundable_cents))
    }

    fn from_rejection(rejection: Rejection, project: &ProjectCatalog) -> Self {
        match rejection {
            Rejection::WalletNotFound => Self::new(ErrorCode::WalletNotFound),
            Rejection::HoldNotFound => Self::new(ErrorCode::HoldNotFound),
            Rejection::ProductRequired => Self::about("productId", ErrorCode::ProductRequired),
            Rejection::KeyReused => Self::new(ErrorCode::IdempotencyKeyReused),
            Rejection::OrderNotFound => Self::new(ErrorCode::OrderNotFound),
            Rejection::SubscriptionNotFound => Self::new(ErrorCode::SubscriptionNotFound),
            Rejection::SubscriptionAmbiguous => Self::new(ErrorCode::SubscriptionAmbiguous),
            Rejection::AlreadyRefunded {
                refundable_cents: 0,
            } => Self::already_refunded(0).saying(
                "There is nothing to refund: nothing was paid for this order, or all of it was refunded.",
            ),
            Rejection::AlreadyRefunded { refundable_cents } => {
                Self::already_refunded(refundable_cents)
            }
            Rejection::DeductionNotFound => Self::new(ErrorCode::DeductionNotFound),
            Rejection::HoldOpen => Self::new(ErrorCode::HoldOpen),
            Rejection::AlreadyReversed { reversible } => {
                Self::new(ErrorCode::AlreadyReversed).with(|more| more.reversible = Some(reversible))
            }
            Rejection::Unrated(unrated) => unrated.into(),
            Rejection::NoRecoveryCode => Self::new(ErrorCode::NoRecoveryCode),
            Rejection::Frozen { reason } => Self::new(ErrorCode::WalletFrozen)
                .with(|more| more.reason = reason.map(|it| it.as_str().to_owned())),
            Rejection::HoldClosed => Self::new(ErrorCode::HoldClosed),
            Rejection::AlreadySubscribed { open_invoice } => {
                Self::new(ErrorCode::AlreadySubscribed)
                    .with(|more| more.open_invoice = open_invoice.as_deref().map(view::open_invoice))
            }
            Rejection::AlreadyOwned => Self::new(ErrorCode::AlreadyOwned),
            Rejection::NoPurchase => Self::new(ErrorCode::NoPurchase),
            Rejection::TooManyPending => Self::new(ErrorCode::TooManyPendingOrders),
            Rejection::CurrencyMismatch { currency } => {
                Self::about("priceId", ErrorCode::CurrencyMismatch)
                    .with(|more| more.currency = Some(currency.into()))
            }
            Rejection::BalanceLimit => Self::new(ErrorCode::BalanceLimit),
            Rejection::TooManyHolds => Self::new(ErrorCode::TooManyHolds),
            Rejection::ExpiryPast => Self::invalid("expiresAt", rejection.to_string()),
            Rejection::MetaTooLarge => Self::invalid("meta", rejection.to_string()),
            Rejection::TooManyLots => Self::new(ErrorCode::TooManyLots),
            Rejection::Insufficient {
                product,
                balance,
                requested,
                shortfall,
            } => {
                let words = format!("Not enough credits: {balance} available, {requested} requested.");
                Self::new(ErrorCode::InsufficientCredits).saying(words).with(|more| {
                    more.balance = Some(balance);
                    more.requested = Some(requested);
                    more.shortfall = Some(shortfall);
                    more.product_id = Some(product.to_string());
                    more.prices = Some(view::prices_covering(project, product, shortfall));
                })
            }
            Rejection::LimitExceeded(exceeded) => {
                let ExceededLimit { state, requested, .. } = *exceeded;
                let words = format!(
                    "The limit of {} per {} for {} has {} left, {requested} requested.",
                    state.limit.amount, state.limit.window.name(), state.limit.scope, state.remaining()
                );
                Self::new(ErrorCode::LimitExceeded).saying(words).with(|more| {
                    more.requested = Some(requested);
                    more.limit = Some(Box::new(view::limit_state(&state)));
                })
            }
            Rejection::TooManyScopes => Self::new(ErrorCode::TooManyScopes),
            Rejection::TopUpRule { field, .. } => Self::invalid(field, rejection.to_string()),
            Rejection::CardRequired => Self::new(ErrorCode::PaymentMethodRequired),
            Rejection::CardConfirmationRequired => {
                Self::new(ErrorCode::PaymentMethodConfirmationRequired)
            }
            Rejection::NoCredit {
                product,
                balance,
                requested,
                available,
            } => {
                let words = format!("Not enough credit: {available} may still be owed, {requested} requested.");
                let refusal = Self::about("maxOverrun", ErrorCode::InsufficientCredits);
                refusal.saying(words).with(|more| {
                    more.balance = Some(balance);
                    more.requested = Some(requested);
                    more.shortfall = Some(requested.saturating_sub(available));
                    more.product_id = Some(product.to_string());
                    more.prices = Some(Vec::new());
                    more.credit_available = Some(available);
                })
            }
        }
    }
}

/// What a refusal by the provider leaves of a refund, in the currency's minor unit.
fn refund_refused(reason: &str, given_cents: i64, refundable_cents: i64) -> String {
    let given = match given_cents {
        0 => "Nothing was refunded".to_owned(),
        _ => format!("{given_cents} (minor unit) was refunded, and the rest was not"),
    };
    let left = match refundable_cents {
        0 => "Nothing more can be refunded now".to_owned(),
        _ => format!("{refundable_cents} can be refunded"),
    };
    format!("{given}: {reason}. {left}.")
}

impl From<Unrated> for Error {
    fn from(unrated: Unrated) -> Self {
        let message = unrated.to_string();
        match unrated {
            Unrated::NoCard => Self::new(ErrorCode::RateCardNotFound),
            Unrated::Rate(RateError::TooMuch) => Self::invalid("quantities", message),
            Unrated::Rate(_) => Self::new(ErrorCode::RateNotFound).saying(message),
            Unrated::OtherProduct => Self::invalid("rateCard", message),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid { param, message } => Self::invalid(param, message),
            Refusal::ProjectNotFound(_) => Self::new(ErrorCode::ProjectNotFound),
            Refusal::KeyNotFound(_) => Self::new(ErrorCode::KeyNotFound),
            Refusal::ProductNotFound(_) => Self::new(ErrorCode::ProductNotFound),
            Refusal::PriceNotFound(_) => Self::new(ErrorCode::PriceNotFound),
            Refusal::EndpointNotFound(_) => Self::new(ErrorCode::WebhookNotFound),
            Refusal::RateCardNotFound => Self::new(ErrorCode::RateCardNotFound),
            Refusal::NoSandbox => Self::new(ErrorCode::ProviderNotConfigured)
                .saying("This project's payment provider is not the sandbox."),
        }
    }
}

impl From<catalog::Error> for Error {
    fn from(error: catalog::Error) -> Self {
        use catalog::Error as Catalog;
        match error {
            Catalog::Refused(refusal) => refusal.into(),
            Catalog::Wallets(actors::Error::Overloaded) => Self::new(ErrorCode::Overloaded),
            // Whether the change was logged is not known.
            Catalog::Wallets(_) => Self::new(ErrorCode::Unavailable),
            Catalog::Randomness(_)
            | Catalog::Damaged(_)
            | Catalog::Stored(_)
            | Catalog::Notes(_)
            | Catalog::OtherCell { .. } => {
                tracing::error!(error = %error, "The catalog could not be changed");
                Self::new(ErrorCode::InternalError)
            }
        }
    }
}

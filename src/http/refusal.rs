//! What wallets, payments and the catalog refuse, in the words of the HTTP interface.

use domain::{Rejection, catalog::Refusal};

use super::{code::Code, error::Error, view::Price};
use crate::{
    catalog::{self, ProjectCatalog},
    outbound::webhooks,
    payments,
    providers::ChangeError,
};

impl Error {
    /// What a wallet answered instead of doing what it was asked.
    #[must_use]
    pub fn from_wallet(error: actors::Error, project: &ProjectCatalog) -> Self {
        use actors::Error as Wallet;
        match error {
            Wallet::Rejected(rejection) => Self::from_rejection(rejection, project),
            Wallet::SecretKeyRequired => Self::new(Code::SecretKeyRequired),
            Wallet::Overloaded => Self::new(Code::Overloaded),
            Wallet::Unavailable => Self::new(Code::Unavailable),
            Wallet::TooLarge => Self::new(Code::BodyTooLarge),
        }
    }

    /// What a checkout or a portal came to instead of opening.
    #[must_use]
    pub fn from_payments(error: payments::Error, project: &ProjectCatalog) -> Self {
        match error {
            payments::Error::NotConfigured => Self::new(Code::ProviderNotConfigured),
            payments::Error::Changing => Self::new(Code::Overloaded).saying(
                "This project's payment provider is being changed. Nothing was done; try again soon.",
            ),
            payments::Error::Provider(port::Error::InvalidDiscountCode) => {
                Self::about("discountCode", Code::InvalidDiscountCode)
            }
            // The provider does not name it in a form that can be relied on.
            payments::Error::Provider(port::Error::CurrencyMismatch(_)) => Self::currency(None),
            payments::Error::Wallet(error) => Self::from_wallet(error, project),
            payments::Error::Provider(error) => {
                tracing::warn!(%error, project = %project.project.id, "The payment provider failed");
                Self::new(Code::ProviderError)
            }
            payments::Error::NoSuchPayment => Self::new(Code::PaymentNotFound),
            payments::Error::Decided => Self::new(Code::PaymentSettled),
            payments::Error::NoSuchPrice => Self::about("priceId", Code::PriceNotFound),
            payments::Error::NoCycle => Self::invalid(
                "priceId",
                "This payment is of no subscription: choose a price that is paid once.",
            ),
            payments::Error::OtherTerms(how) => {
                Self::invalid("priceId", format!("The provider charges {how}."))
            }
            payments::Error::TooManyUnfulfilled | payments::Error::TooEarly | payments::Error::OnItsWay => {
                Self::new(Code::InternalError)
            }
            payments::Error::Defect(what) => {
                tracing::error!(what, project = %project.project.id, "A purchase could not be begun");
                Self::new(Code::InternalError)
            }
        }
    }

    /// What became of something that the provider was to do on the caller's word.
    #[must_use]
    pub fn from_instruction(error: payments::Error, project: &ProjectCatalog) -> Self {
        let refusal = Self::from_payments(error, project);
        match refusal.code() {
            Code::ProviderError => refusal.saying(
                "The payment provider did not do it, or not yet: try again with the same key.",
            ),
            _ => refusal,
        }
    }

    fn from_rejection(rejection: Rejection, project: &ProjectCatalog) -> Self {
        match rejection {
            Rejection::WalletNotFound => Self::new(Code::WalletNotFound),
            Rejection::HoldNotFound => Self::new(Code::HoldNotFound),
            Rejection::ProductRequired => Self::about("productId", Code::ProductRequired),
            Rejection::KeyReused => Self::new(Code::IdempotencyKeyReused),
            Rejection::OrderNotFound => Self::new(Code::OrderNotFound),
            Rejection::SubscriptionNotFound => Self::new(Code::SubscriptionNotFound),
            Rejection::AlreadyRefunded { refundable_cents } => {
                Self::already_refunded(refundable_cents)
            }
            Rejection::HoldClosed => Self::new(Code::HoldClosed),
            Rejection::AlreadySubscribed => Self::new(Code::AlreadySubscribed),
            Rejection::AlreadyOwned => Self::new(Code::AlreadyOwned),
            Rejection::NoPurchase => Self::new(Code::NoPurchase),
            Rejection::TooManyPending => Self::new(Code::TooManyPendingOrders),
            Rejection::CurrencyMismatch { currency } => Self::currency(Some(currency.into())),
            Rejection::BalanceLimit => Self::new(Code::BalanceLimit),
            Rejection::TooManyHolds => Self::new(Code::TooManyHolds),
            Rejection::ExpiryPast => Self::invalid("expiresAt", rejection.to_string()),
            Rejection::TooManyLots => Self::new(Code::TooManyLots),
            Rejection::Insufficient {
                product,
                balance,
                requested,
                shortfall,
            } => {
                let prices = Price::covering(project, product, shortfall);
                Self::insufficient(balance, requested, shortfall, product, prices)
            }
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid { param, message } => Self::invalid(param, message),
            Refusal::ProjectNotFound(_) => Self::new(Code::ProjectNotFound),
            Refusal::KeyNotFound(_) => Self::new(Code::KeyNotFound),
            Refusal::ProductNotFound(_) => Self::new(Code::ProductNotFound),
            Refusal::PriceNotFound(_) => Self::new(Code::PriceNotFound),
            Refusal::EndpointNotFound(_) => Self::new(Code::WebhookNotFound),
            Refusal::NoSandbox => Self::new(Code::ProviderNotConfigured)
                .saying("This project's payment provider is not the sandbox."),
        }
    }
}

impl From<ChangeError> for Error {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Key(words) => {
                let message = format!("The payment provider does not take this key: {words}");
                Self::invalid("provider.secretKey", message)
            }
            ChangeError::InUse => Self::about("provider", Code::ProviderInUse),
            ChangeError::Catalog(error) => error.into(),
            ChangeError::Payments(error) => {
                tracing::error!(%error, "A payment provider could not be set");
                Self::new(Code::Unavailable)
            }
        }
    }
}

impl From<webhooks::Error> for Error {
    fn from(error: webhooks::Error) -> Self {
        match error {
            webhooks::Error::UnknownDelivery => Self::new(Code::DeliveryNotFound),
            webhooks::Error::UnknownEvent => Self::new(Code::EventNotFound),
            webhooks::Error::Overloaded => Self::new(Code::Overloaded),
            webhooks::Error::Unavailable => Self::new(Code::Unavailable),
        }
    }
}

impl From<catalog::Error> for Error {
    fn from(error: catalog::Error) -> Self {
        use catalog::Error as Catalog;
        match error {
            Catalog::Refused(refusal) => refusal.into(),
            Catalog::Wallets(actors::Error::Overloaded) => Self::new(Code::Overloaded),
            // Whether it was logged is not known.
            Catalog::Wallets(_) => Self::new(Code::Unavailable),
            Catalog::Randomness(_) | Catalog::Damaged(_) | Catalog::Stored(_) => {
                tracing::error!(error = %error, "the catalog could not be changed");
                Self::new(Code::InternalError)
            }
        }
    }
}

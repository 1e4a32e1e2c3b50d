//! Why a request to payments failed, or an event could not be processed.

/// Why a request to payments failed. A failed request has no visible effect.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The project has no payment provider.
    #[error("the project has no payment provider")]
    NotConfigured,
    /// The server runs offline and calls no provider.
    #[error("this server runs offline: it asks no payment provider")]
    Offline,
    /// The project's provider is changing: orders and subscriptions of the former one have to end first.
    #[error("the project's payment provider is being changed")]
    Changing,
    /// The provider refused or failed.
    #[error(transparent)]
    Provider(#[from] payments_port::Error),
    /// The provider refuses permanently to refund an order, or the rest of it.
    #[error("{reason}")]
    RefundRefused {
        /// Why, in the provider's words.
        reason: String,
        /// What it refunded before, in the currency's minor unit.
        given_cents: i64,
        /// What can still be refunded, in the same unit.
        refundable_cents: i64,
    },
    /// The wallet refused the request, or could not be reached.
    #[error(transparent)]
    Wallet(#[from] actors::Error),
    /// A payment was refunded or disputed before its order is known.
    #[error("the payment was refunded or disputed, and its order is not known yet")]
    TooEarly,
    /// The buyer has finished the checkout, and the payment is processing.
    #[error("the payment has not settled yet")]
    PaymentProcessing,
    /// No such payment is on the list of unfulfilled payments.
    #[error("no such unfulfilled payment")]
    NoSuchPayment,
    /// An earlier decision about the payment differs.
    #[error("an earlier decision about the payment differs")]
    Decided,
    /// A payment is to be assigned to a price that does not exist.
    #[error("no such price")]
    NoSuchPrice,
    /// A subscription's billing terms differ from those of the price that it is to be imported under; the text names
    /// both.
    #[error("the provider charges {0}")]
    OtherTerms(String),
    /// A payment for no subscription is to be assigned to a subscription's price.
    #[error("the payment is not for a subscription")]
    NoCycle,
    /// The list of payments that lead to no order is full.
    #[error("too many payments lead to no order")]
    TooManyUnfulfilled,
    /// Something that has to exist does not.
    #[error("{0}")]
    Defect(&'static str),
}

impl Error {
    /// Whether every request for this project would fail the same way now.
    pub(super) const fn is_about_the_account(&self) -> bool {
        matches!(
            self,
            Self::NotConfigured
                | Self::Offline
                | Self::Changing
                | Self::Wallet(actors::Error::Overloaded | actors::Error::Unavailable)
                | Self::Provider(payments_port::Error::Key(_))
        )
    }

    /// Whether the provider gave no answer.
    pub(super) const fn is_unanswered(&self) -> bool {
        matches!(self, Self::Provider(error) if error.is_unanswered())
    }

    /// Whether the wallet, the catalog or the provider refuse to open a checkout, and would again.
    pub(super) const fn opens_no_page(&self) -> bool {
        match self {
            Self::Wallet(error) => matches!(error, actors::Error::Rejected(_)),
            Self::Provider(error) => error.is_refusal(),
            Self::Defect(_) => true,
            _ => false,
        }
    }

    /// Whether a retry may succeed: decisions of wallets and operators stay.
    pub(super) const fn is_passing(&self) -> bool {
        match self {
            Self::Wallet(error) => {
                matches!(
                    error,
                    actors::Error::Overloaded | actors::Error::Unavailable
                )
            }
            Self::RefundRefused { .. }
            | Self::NoSuchPayment
            | Self::Decided
            | Self::NoSuchPrice
            | Self::OtherTerms(_)
            | Self::NoCycle => false,
            // A corrected key may make missing objects appear.
            _ => true,
        }
    }
}

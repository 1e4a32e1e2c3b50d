//! Why a checkout or a portal could not be opened, or a report not be worked off.

/// Nothing is visible of what failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The project has no payment provider.
    #[error("the project has no payment provider")]
    NotConfigured,
    /// The project's provider is being changed: what was begun with the one before has to end first.
    #[error("the project's payment provider is being changed")]
    Changing,
    /// The provider refused or failed.
    #[error(transparent)]
    Provider(#[from] port::Error),
    /// The wallet refused, or could not be asked.
    #[error(transparent)]
    Wallet(#[from] actors::Error),
    /// Money went back for an order that is not known yet.
    #[error("money went back for an order that is not known yet")]
    TooEarly,
    /// The buyer is done, and the money is on its way.
    #[error("the money is on its way")]
    OnItsWay,
    /// No such payment waits for somebody to decide about it.
    #[error("no such unfulfilled payment")]
    NoSuchPayment,
    /// Something else was decided about a payment.
    #[error("something else was decided about the payment")]
    Decided,
    /// A payment is to become an order of a price that is not there.
    #[error("no such price")]
    NoSuchPrice,
    /// What a subscription is billed by is not what the price that is to be its own charges; both in words.
    #[error("the provider charges {0}")]
    OtherTerms(String),
    /// A payment of no subscription is to become an order of one.
    #[error("the payment is of no subscription")]
    NoCycle,
    /// More payments lead to no order than are kept.
    #[error("too many payments lead to no order")]
    TooManyUnfulfilled,
    /// Something of ours that has to be there is not.
    #[error("{0}")]
    Defect(&'static str),
}

impl Error {
    /// Whether everything that is asked would fail alike now.
    pub(super) const fn is_about_the_account(&self) -> bool {
        matches!(
            self,
            Self::NotConfigured
                | Self::Changing
                | Self::Wallet(actors::Error::Overloaded | actors::Error::Unavailable)
                | Self::Provider(port::Error::Key(_))
        )
    }

    /// Whether the provider gave no answer to what was asked.
    pub(super) const fn is_silence(&self) -> bool {
        matches!(self, Self::Provider(error) if error.is_silence())
    }

    /// Whether the same may succeed later: what a wallet or a person decided stays decided.
    pub(super) const fn is_passing(&self) -> bool {
        match self {
            Self::Wallet(error) => {
                matches!(
                    error,
                    actors::Error::Overloaded | actors::Error::Unavailable
                )
            }
            Self::NoSuchPayment
            | Self::Decided
            | Self::NoSuchPrice
            | Self::OtherTerms(_)
            | Self::NoCycle => false,
            // An account's key may be put right, and with it what the account knows.
            _ => true,
        }
    }
}

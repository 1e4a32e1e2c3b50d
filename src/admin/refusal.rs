//! What the catalog refuses, in the words of the HTTP interface.

use domain::catalog::Refusal;

use crate::{
    api::{Code, Error},
    catalog,
};

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid { param, message } => Self::invalid(param, message),
            Refusal::ProjectNotFound(_) => Self::new(Code::ProjectNotFound),
            Refusal::KeyNotFound(_) => Self::new(Code::KeyNotFound),
            Refusal::ProductNotFound(_) => Self::new(Code::ProductNotFound),
            Refusal::PriceNotFound(_) => Self::new(Code::PriceNotFound),
            Refusal::NoSandbox => Self::new(Code::ProviderNotConfigured)
                .saying("This project's payment provider is not the sandbox."),
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

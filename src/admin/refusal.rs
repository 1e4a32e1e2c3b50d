//! What the catalog refuses, in the words of the HTTP interface.

use crate::{
    api::{Code, Error},
    catalog,
};

impl From<catalog::Error> for Error {
    fn from(error: catalog::Error) -> Self {
        use catalog::Error as Catalog;
        match error {
            Catalog::Invalid { param, message } => Self::invalid(param, message),
            Catalog::ProjectNotFound(_) => Self::new(Code::ProjectNotFound),
            Catalog::KeyNotFound(_) => Self::new(Code::KeyNotFound),
            Catalog::ProductNotFound(_) => Self::new(Code::ProductNotFound),
            Catalog::PriceNotFound(_) => Self::new(Code::PriceNotFound),
            Catalog::NoSandbox => Self::new(Code::ProviderNotConfigured)
                .saying("This project's payment provider is not the sandbox."),
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

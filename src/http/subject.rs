//! What a request is about: a wallet named in the body, a product named or left out.

use actors::Address;
use domain::{code::Code as RecoveryCode, id::ProductId, text::ExternalUserId, wallet::ProductRef};

use super::{code::Code, error::Error, field::Text};
use crate::catalog::ProjectCatalog;

const USER: &str = "externalUserId";

/// A wallet as a body names it. A code may still turn out not to be one: that is a 404, which
/// everything that is wrong with the body precedes.
#[derive(Debug)]
pub(crate) enum Named {
    User(ExternalUserId),
    Code(Option<RecoveryCode>),
}

/// The wallet that exactly one of the two fields names; `None` when neither does.
pub(crate) fn wallet(
    user: Option<&Text<'_>>,
    code: Option<&Text<'_>>,
) -> Result<Option<Named>, Error> {
    match (user, code) {
        (Some(_), Some(_)) => Err(Error::new(Code::ConflictingWallet)),
        (Some(user), None) => external_user(Some(user)).map(|user| Some(Named::User(user))),
        (None, Some(code)) => Ok(Some(Named::Code(RecoveryCode::parse(code.as_str())))),
        (None, None) => Ok(None),
    }
}

impl Named {
    /// The wallet's address, or that there can be no such wallet.
    pub(crate) fn address(self) -> Result<Address, Error> {
        match self {
            Self::User(user) => Ok(Address::External(user)),
            Self::Code(Some(code)) => Ok(Address::Code(code)),
            Self::Code(None) => Err(Error::new(Code::WalletNotFound)),
        }
    }
}

/// The user that a required field names.
pub(crate) fn external_user(field: Option<&Text<'_>>) -> Result<ExternalUserId, Error> {
    let text = field.ok_or_else(|| Error::missing(USER))?;
    ExternalUserId::new(text.as_str()).map_err(|error| Error::text(USER, error))
}

/// A product that has to be named; active or not.
pub(crate) fn product(field: &Text<'_>, project: &ProjectCatalog) -> Result<ProductId, Error> {
    let known = field
        .as_str()
        .parse()
        .ok()
        .and_then(|id| project.product(&id));
    known
        .map(|product| product.id)
        .ok_or_else(|| Error::new(Code::ProductNotFound))
}

/// A product that may be left out. Whether that is enough is decided after a replay is recognised.
pub(crate) fn product_or_only(
    field: Option<&Text<'_>>,
    project: &ProjectCatalog,
) -> Result<ProductRef, Error> {
    match field {
        Some(field) => product(field, project).map(ProductRef::Named),
        None => Ok(ProductRef::Only(project.only_credit_product())),
    }
}

/// A field that has to be there.
pub(crate) fn required<T>(field: Option<T>, name: &'static str) -> Result<T, Error> {
    field.ok_or_else(|| Error::missing(name))
}

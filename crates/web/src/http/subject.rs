//! The wallet that a request is about: named by a code in the path, or by a user or a code in the
//! body or the query.

mod choice;

use std::sync::Arc;

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    code::RecoveryCode,
    id::ProductId,
    session::WalletSession,
    text::ExternalUserId,
    wallet::{NamedSubscription, ProductRef},
};
use wire::{
    code::ErrorCode,
    error::Error,
    field::{CodeText, MalformedCode, ProductName, SubscriptionName, Text, UserText},
};

use super::code_path::CodePath;

pub(crate) use choice::{SubscriptionChoice, WalletChoice};

/// A wallet as a body names it. The code may be malformed: that is a 404, which is reported only
/// when the rest of the body is valid.
#[derive(Debug)]
pub(crate) enum NamedWallet {
    User(ExternalUserId),
    Code(Result<RecoveryCode, MalformedCode>),
    /// The caller's own, by their session.
    Own(Arc<WalletSession>),
}

impl NamedWallet {
    /// The wallet that one of the two fields names; `None` when neither does.
    pub(crate) fn of(
        user: Option<UserText>,
        code: Option<CodeText>,
    ) -> Result<Option<Self>, Error> {
        match (user, code) {
            (Some(_), Some(_)) => Err(Error::new(ErrorCode::ConflictingWallet)),
            (Some(Text(user)), None) => Ok(Some(Self::User(user))),
            (None, Some(Text(typed))) => Ok(Some(Self::Code(typed.0))),
            (None, None) => Ok(None),
        }
    }

    /// The wallet that exactly one of the two fields has to name.
    pub(crate) fn one_of(user: Option<UserText>, code: Option<CodeText>) -> Result<Self, Error> {
        Self::of(user, code)?.ok_or_else(|| Error::new(ErrorCode::ConflictingWallet))
    }

    /// The wallet that a caller means. A session opens only its own wallet, which the request may but need not name.
    /// Called once the body was found valid.
    pub(crate) fn for_caller(
        named: Option<Self>,
        session: Option<&Arc<WalletSession>>,
    ) -> Result<Option<Self>, Error> {
        let Some(session) = session else {
            return Ok(named);
        };
        let is_own = match &named {
            None | Some(Self::Own(_)) => true,
            Some(Self::User(user)) => session.user() == Some(user),
            Some(Self::Code(code)) => code.as_ref().is_ok_and(|code| session.code() == Some(code)),
        };
        match is_own {
            true => Ok(Some(Self::Own(Arc::clone(session)))),
            false => Err(Error::new(ErrorCode::SessionForbidden)),
        }
    }

    /// The same for a request that has to name its wallet, unless the caller has a session.
    pub(crate) fn needed_by(
        named: Option<Self>,
        session: Option<&Arc<WalletSession>>,
    ) -> Result<Self, Error> {
        let named = Self::for_caller(named, session)?;
        named.ok_or_else(|| Error::new(ErrorCode::ConflictingWallet))
    }

    /// The wallet's address; `wallet_not_found` for a malformed code.
    pub(crate) fn address(self) -> Result<Address, Error> {
        match self {
            Self::User(user) => Ok(Address::External(user)),
            Self::Code(Ok(code)) => Ok(Address::Code(code)),
            Self::Code(Err(_)) => Err(Error::new(ErrorCode::WalletNotFound)),
            Self::Own(session) => Ok(Address::Session(session)),
        }
    }
}

/// The address of a user's wallet: the one that the request names, or the session's own.
pub(crate) fn users_wallet(
    named: Option<UserText>,
    session: Option<&Arc<WalletSession>>,
) -> Result<Address, Error> {
    let Some(session) = session else {
        let Text(user) = named.ok_or_else(|| Error::missing("externalUserId"))?;
        return Ok(Address::External(user));
    };
    let own = session.user();
    if own.is_none() || named.is_some_and(|Text(user)| own != Some(&user)) {
        return Err(Error::new(ErrorCode::SessionForbidden));
    }
    Ok(Address::Session(Arc::clone(session)))
}

/// The wallet that a command is about, whichever way it was named. A code in the path that opens nothing
/// counts as a miss.
#[derive(Debug)]
pub(crate) enum Subject {
    /// Named by its code in the path.
    Code(CodePath),
    /// Named by its user.
    User(Address),
}

impl From<Address> for Subject {
    fn from(of_a_user: Address) -> Self {
        Self::User(of_a_user)
    }
}

impl From<CodePath> for Subject {
    fn from(code: CodePath) -> Self {
        Self::Code(code)
    }
}

impl From<ExternalUserId> for Subject {
    fn from(user: ExternalUserId) -> Self {
        Self::User(Address::External(user))
    }
}

impl Subject {
    /// The wallet's address. Called last, when the rest of the request was found valid.
    pub(crate) fn address(&self) -> Result<&Address, Error> {
        match self {
            Self::Code(code) => code.address(),
            Self::User(address) => Ok(address),
        }
    }

    /// The caller's error for a wallet's.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match self {
            Self::Code(code) => code.refused(error, project),
            Self::User(_) => Error::from_wallet(error, project),
        }
    }
}

/// The named product, active or not; `product_not_found` if the project does not have it.
pub(crate) fn product(name: &ProductName, project: &ProjectCatalog) -> Result<ProductId, Error> {
    let named = name.0.0.and_then(|id| project.product(&id));
    named
        .map(|product| product.id)
        .ok_or_else(|| name.0.refused(ErrorCode::ProductNotFound))
}

/// The subscription that a product names, or an identifier; `product_not_found` if the project does not have it.
pub(crate) fn subscription(
    product_id: Option<&ProductName>,
    subscription_id: Option<&SubscriptionName>,
    project: &ProjectCatalog,
) -> Result<NamedSubscription, Error> {
    let of = |name| product(name, project);
    match (subscription_id, product_id) {
        (Some(name), product_id) => {
            let unknown = || Error::new(ErrorCode::SubscriptionNotFound);
            let id = name.0.0.ok_or_else(unknown);
            Ok(NamedSubscription::Id(id?, product_id.map(of).transpose()?))
        }
        (None, Some(product_id)) => of(product_id).map(NamedSubscription::Of),
        (None, None) => Err(Error::missing("productId")),
    }
}

/// The named product, or the only one with credits. That there is exactly one is checked only after
/// a replay is recognised.
pub(crate) fn product_or_only(
    name: Option<&ProductName>,
    project: &ProjectCatalog,
) -> Result<ProductRef, Error> {
    match name {
        Some(name) => product(name, project).map(ProductRef::Named),
        None => Ok(ProductRef::Only(project.only_credit_product())),
    }
}

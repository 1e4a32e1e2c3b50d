//! The wallet that a request is about: named by a code in the path, or by a user or a code in the
//! body or the query.

mod choice;

use std::sync::Arc;

use actors::Address;
use catalog::ProjectCatalog;
use domain::{
    id::ProductId,
    session::WalletSession,
    text::ExternalUserId,
    wallet::{NamedSubscription, ProductRef},
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use wire::{
    code::ErrorCode,
    error::Error,
    field::{CodeText, MalformedCode, ProductName, SubscriptionName, Text, TypedCode, UserText},
};

use super::code_path::CodePath;

pub(crate) use choice::{FieldChoice, Needing, SubscriptionChoice, WalletChoice, Ways, refer};

/// A field that this route does not have, though others do: it is passed over like any unknown one.
#[derive(Debug, Default)]
pub(crate) struct Unknown;

impl<'de> Deserialize<'de> for Unknown {
    /// Every value is ignored, `null` as well, so that strict parsing refuses it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// The wallet that a request names.
#[derive(Debug)]
pub(crate) enum NamedWallet {
    /// By its user or its code in the body or the query, or the caller's own by their session.
    At(Address),
    /// By a malformed code in the body. That is a 404, which is reported only when the rest of the request is valid.
    Malformed(MalformedCode),
    /// By its code in the path. One that opens nothing counts as a miss.
    Path(CodePath),
}

impl NamedWallet {
    /// The wallet that one of the two fields names; `None` when neither does.
    pub(crate) fn of(
        user: Option<UserText>,
        code: Option<CodeText>,
    ) -> Result<Option<Self>, Error> {
        match (user, code) {
            (Some(_), Some(_)) => Err(Error::new(ErrorCode::ConflictingWallet)),
            (Some(Text(user)), None) => Ok(Some(user.into())),
            (None, Some(Text(typed))) => Ok(Some(typed.into())),
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
            None | Some(Self::At(Address::Session(_))) => true,
            Some(Self::At(Address::External(user))) => session.user() == Some(user),
            Some(Self::At(Address::Code(code))) => session.code() == Some(code),
            Some(_) => false,
        };
        match is_own {
            true => Ok(Some(Self::At(Address::Session(Arc::clone(session))))),
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

    /// The wallet's address; `wallet_not_found` for a malformed code. Called last, when the rest of the request was
    /// found valid.
    pub(crate) fn address(&self) -> Result<&Address, Error> {
        match self {
            Self::At(address) => Ok(address),
            Self::Malformed(_) => Err(Error::new(ErrorCode::WalletNotFound)),
            Self::Path(code) => code.address(),
        }
    }

    /// The same, to keep.
    pub(crate) fn into_address(self) -> Result<Address, Error> {
        match self {
            Self::At(address) => Ok(address),
            other => other.address().cloned(),
        }
    }

    /// The caller's error for a wallet's.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match self {
            Self::Path(code) => code.refused(error, project),
            Self::At(_) | Self::Malformed(_) => Error::from_wallet(error, project),
        }
    }
}

impl From<Address> for NamedWallet {
    fn from(address: Address) -> Self {
        Self::At(address)
    }
}

impl From<CodePath> for NamedWallet {
    fn from(code: CodePath) -> Self {
        Self::Path(code)
    }
}

impl From<ExternalUserId> for NamedWallet {
    fn from(user: ExternalUserId) -> Self {
        Self::At(Address::External(user))
    }
}

impl From<TypedCode> for NamedWallet {
    fn from(TypedCode(code): TypedCode) -> Self {
        code.map_or_else(Self::Malformed, |code| Self::At(Address::Code(code)))
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

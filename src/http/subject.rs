//! The wallet that a request is about: named by a code in the path, or by a user or a code in the
//! body or the query. The command and its fields are the same whichever way.

mod aside;
mod describe;

use actors::Address;
use domain::{code::RecoveryCode, id::ProductId, text::ExternalUserId, wallet::ProductRef};
use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    code::ErrorCode,
    code_path::CodePath,
    error::Error,
    field::{CodeText, MalformedCode, ProductName, Text, UserText},
};
use crate::catalog::ProjectCatalog;
use aside::Slot;

const USER: &str = "externalUserId";
const CODE: &str = "code";
const PRODUCT: &str = "productId";

/// A command, and the user whose wallet it is about.
#[derive(Debug)]
pub(crate) struct ForUser<T> {
    pub(crate) user: ExternalUserId,
    pub(crate) command: T,
}

/// A command, and the wallet that it is about, named by a user or by a code. With `NEEDED` one of them
/// has to be there; otherwise the caller decides what it means that none is.
#[derive(Debug)]
pub(crate) struct ForWallet<T, const NEEDED: bool = true> {
    user: Option<ExternalUserId>,
    code: Option<Result<RecoveryCode, MalformedCode>>,
    pub(crate) command: T,
}

/// A command whose product has to be named.
#[derive(Debug)]
pub(crate) struct WithProduct<T>(pub(crate) T);

/// A command that may leave its product out.
pub(crate) trait MayNameProduct {
    /// Whether the request names a product.
    fn names_product(&self) -> bool;
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ForUser<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut user = Slot::<UserText>::new(USER);
        let command = aside::read(deserializer, &mut user)?;
        let Text(user) = user.found.ok_or_else(|| D::Error::missing_field(USER))?;
        Ok(Self { user, command })
    }
}

impl<'de, T: Deserialize<'de>, const NEEDED: bool> Deserialize<'de> for ForWallet<T, NEEDED> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut user = Slot::<Option<UserText>>::new(USER);
        let mut code = Slot::<Option<CodeText>>::new(CODE);
        let command = aside::read(deserializer, &mut (&mut user, &mut code))?;
        Ok(Self {
            user: user.found.flatten().map(|Text(user)| user),
            code: code.found.flatten().map(|Text(typed)| typed.0),
            command,
        })
    }
}

impl<'de, T: Deserialize<'de> + MayNameProduct> Deserialize<'de> for WithProduct<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let command = T::deserialize(deserializer)?;
        if command.names_product() {
            return Ok(Self(command));
        }
        Err(D::Error::missing_field(PRODUCT))
    }
}

/// A wallet as a body names it. The code may be malformed: that is a 404, which is reported only
/// when the rest of the body is valid.
#[derive(Debug)]
pub(crate) enum NamedWallet {
    User(ExternalUserId),
    Code(Result<RecoveryCode, MalformedCode>),
}

impl<T, const NEEDED: bool> ForWallet<T, NEEDED> {
    /// The command, and the wallet that one of the two fields names; `None` when neither does.
    pub(crate) fn split(self) -> Result<(Option<NamedWallet>, T), Error> {
        let wallet = match (self.user, self.code) {
            (Some(_), Some(_)) => return Err(Error::new(ErrorCode::ConflictingWallet)),
            (Some(user), None) => Some(NamedWallet::User(user)),
            (None, Some(code)) => Some(NamedWallet::Code(code)),
            (None, None) => None,
        };
        Ok((wallet, self.command))
    }

    /// Whether a code is to be looked up.
    pub(crate) const fn has_code(&self) -> bool {
        self.code.is_some()
    }
}

impl<T> ForWallet<T> {
    /// The command, and the wallet that exactly one of the two fields has to name.
    pub(crate) fn named(self) -> Result<(NamedWallet, T), Error> {
        let (wallet, command) = self.split()?;
        let wallet = wallet.ok_or_else(|| Error::new(ErrorCode::ConflictingWallet))?;
        Ok((wallet, command))
    }
}

impl NamedWallet {
    /// The wallet's address; `wallet_not_found` for a malformed code.
    pub(crate) fn address(self) -> Result<Address, Error> {
        match self {
            Self::User(user) => Ok(Address::External(user)),
            Self::Code(Ok(code)) => Ok(Address::Code(code)),
            Self::Code(Err(_)) => Err(Error::new(ErrorCode::WalletNotFound)),
        }
    }
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
    let known = name.0.0.and_then(|id| project.product(&id));
    known
        .map(|product| product.id)
        .ok_or_else(|| Error::new(ErrorCode::ProductNotFound))
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

#[cfg(test)]
mod tests;

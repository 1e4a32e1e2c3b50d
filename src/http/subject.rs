//! What a request is about. A wallet is named by a code in the path, or in the body or the query by a
//! user or a code; what is asked of it is the same verb, with the same fields, whichever way.

mod aside;
mod describe;

use actors::Address;
use domain::{code::Code as RecoveryCode, id::ProductId, text::ExternalUserId, wallet::ProductRef};
use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    code::Code,
    code_path::CodePath,
    error::Error,
    field::{CodeText, Malformed, ProductName, Text, UserText},
};
use crate::catalog::ProjectCatalog;
use aside::Slot;

const USER: &str = "externalUserId";
const CODE: &str = "code";
const PRODUCT: &str = "productId";

/// A verb, and the user whose wallet it is about.
#[derive(Debug)]
pub(crate) struct OfUser<T> {
    pub(crate) user: ExternalUserId,
    pub(crate) verb: T,
}

/// A verb, and the wallet that it is about, named by a user or by a code. With `NEEDED` one of them
/// has to be there; who reads it says what is answered where none is.
#[derive(Debug)]
pub(crate) struct OfEither<T, const NEEDED: bool = true> {
    user: Option<ExternalUserId>,
    code: Option<Result<RecoveryCode, Malformed>>,
    pub(crate) verb: T,
}

/// A verb whose product has to be named.
#[derive(Debug)]
pub(crate) struct OfProduct<T>(pub(crate) T);

/// A verb that may leave its product out.
pub(crate) trait MayNameProduct {
    /// Whether it names one.
    fn names_product(&self) -> bool;
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OfUser<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut user = Slot::<UserText>::new(USER);
        let verb = aside::read(deserializer, &mut user)?;
        let Text(user) = user.found.ok_or_else(|| D::Error::missing_field(USER))?;
        Ok(Self { user, verb })
    }
}

impl<'de, T: Deserialize<'de>, const NEEDED: bool> Deserialize<'de> for OfEither<T, NEEDED> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut user = Slot::<Option<UserText>>::new(USER);
        let mut code = Slot::<Option<CodeText>>::new(CODE);
        let verb = aside::read(deserializer, &mut (&mut user, &mut code))?;
        Ok(Self {
            user: user.found.flatten().map(|Text(user)| user),
            code: code.found.flatten().map(|Text(typed)| typed.0),
            verb,
        })
    }
}

impl<'de, T: Deserialize<'de> + MayNameProduct> Deserialize<'de> for OfProduct<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let verb = T::deserialize(deserializer)?;
        if verb.names_product() {
            return Ok(Self(verb));
        }
        Err(D::Error::missing_field(PRODUCT))
    }
}

/// A wallet as a body names it. A code may still turn out not to be one: that is a 404, which
/// everything that is wrong with the body precedes.
#[derive(Debug)]
pub(crate) enum Named {
    User(ExternalUserId),
    Code(Result<RecoveryCode, Malformed>),
}

impl<T, const NEEDED: bool> OfEither<T, NEEDED> {
    /// The verb, and the wallet that one of the two fields names; `None` when neither does.
    pub(crate) fn split(self) -> Result<(Option<Named>, T), Error> {
        let wallet = match (self.user, self.code) {
            (Some(_), Some(_)) => return Err(Error::new(Code::ConflictingWallet)),
            (Some(user), None) => Some(Named::User(user)),
            (None, Some(code)) => Some(Named::Code(code)),
            (None, None) => None,
        };
        Ok((wallet, self.verb))
    }

    /// Whether a code is to be looked up.
    pub(crate) const fn has_code(&self) -> bool {
        self.code.is_some()
    }
}

impl<T> OfEither<T> {
    /// The verb, and the wallet that exactly one of the two fields has to name.
    pub(crate) fn named(self) -> Result<(Named, T), Error> {
        let (wallet, verb) = self.split()?;
        let wallet = wallet.ok_or_else(|| Error::new(Code::ConflictingWallet))?;
        Ok((wallet, verb))
    }
}

impl Named {
    /// The wallet's address, or that there can be no such wallet.
    pub(crate) fn address(self) -> Result<Address, Error> {
        match self {
            Self::User(user) => Ok(Address::External(user)),
            Self::Code(Ok(code)) => Ok(Address::Code(code)),
            Self::Code(Err(_)) => Err(Error::new(Code::WalletNotFound)),
        }
    }
}

/// The wallet that a verb is about, whichever way it was named. What is answered to a code that opens
/// nothing counts as a guess.
#[derive(Debug)]
pub(crate) enum Subject {
    /// By its code in the path.
    Code(CodePath),
    /// By its user.
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
    /// The wallet to ask. Asked for when nothing is left to be found wrong with the request.
    pub(crate) fn address(&self) -> Result<&Address, Error> {
        match self {
            Self::Code(code) => code.address(),
            Self::User(address) => Ok(address),
        }
    }

    /// What the caller is told when the wallet refused.
    pub(crate) fn refused(&self, error: actors::Error, project: &ProjectCatalog) -> Error {
        match self {
            Self::Code(code) => code.refused(error, project),
            Self::User(_) => Error::from_wallet(error, project),
        }
    }
}

/// A product that has to be known; active or not.
pub(crate) fn product(name: &ProductName, project: &ProjectCatalog) -> Result<ProductId, Error> {
    let known = name.0.0.and_then(|id| project.product(&id));
    known
        .map(|product| product.id)
        .ok_or_else(|| Error::new(Code::ProductNotFound))
}

/// A product that may be left out. Whether that is enough is decided after a replay is recognised.
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

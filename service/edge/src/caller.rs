//! Who may call a handler, visible in its signature: [`SecretKey`], [`AnyKey`], and both with a wallet's session that
//! may do something, as in `AnyKeyOr<MayRead>`. [`Allowed::of`] is the one place that decides it; which wallet a
//! session opens is decided where wallets are named.

use std::{marker::PhantomData, ops::Deref, sync::Arc};

use axum::{extract::FromRequestParts, http::request::Parts};
use catalog::{Authenticated, ProjectCatalog};
use domain::{
    catalog::KeyKind,
    session::{Permission, WalletSession},
};
use wire::{code::ErrorCode, error::Error};

use super::context::{Anonymous, Context};

/// Who sent a request: whoever has a key, or a session.
#[derive(Debug, Clone)]
pub struct Caller {
    /// With a session, a publishable key that stands for it: a session is limited as such a key is, and sees what
    /// such a key sees.
    key: Authenticated,
    session: Option<Arc<WalletSession>>,
}

impl Caller {
    pub(crate) const fn with_key(key: Authenticated) -> Self {
        let session = None;
        Self { key, session }
    }

    pub(crate) const fn with_session(like: Authenticated, session: Arc<WalletSession>) -> Self {
        Self {
            key: like,
            session: Some(session),
        }
    }

    /// The key and its project.
    #[must_use]
    pub const fn key(&self) -> &Authenticated {
        &self.key
    }

    /// The session, if it is not a key that was sent.
    #[must_use]
    pub const fn session(&self) -> Option<&Arc<WalletSession>> {
        self.session.as_ref()
    }
}

/// What a session must be allowed to do to be let in.
pub trait Permits: Send + Sync {
    /// The permission; `None` lets no session in.
    const PERMISSION: Option<Permission>;
}

macro_rules! permits {
    ($($(#[$doc:meta])* $name:ident: $permission:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Permits for $name {
            const PERMISSION: Option<Permission> = $permission;
        }
    )* };
}

permits! {
    /// No session is let in.
    NoSession: None;
    /// Sessions that may read.
    MayRead: Some(Permission::Read);
    /// Sessions that may start checkouts.
    MayCheckout: Some(Permission::Checkout);
    /// Sessions that may open the portal.
    MayPortal: Some(Permission::Portal);
    /// Sessions that may change subscriptions.
    MaySubscriptions: Some(Permission::Subscriptions);
}

/// A caller who was let in: with a secret key, with a publishable one if `PUBLISHABLE`, or with a session that may do
/// what `P` says.
#[derive(Debug, Clone)]
pub struct Allowed<const PUBLISHABLE: bool, P = NoSession> {
    caller: Caller,
    permits: PhantomData<P>,
}

/// A valid key of either kind.
pub type AnyKey = Allowed<true>;
/// A valid secret key.
pub type SecretKey = Allowed<false>;
/// A valid key of either kind, or such a session.
pub type AnyKeyOr<P> = Allowed<true, P>;
/// A valid secret key, or such a session.
pub type SecretKeyOr<P> = Allowed<false, P>;

impl<const PUBLISHABLE: bool, P: Permits> Allowed<PUBLISHABLE, P> {
    /// Lets in the caller that the edge authenticated, or not.
    ///
    /// # Errors
    ///
    /// Nothing was sent that works; it is a publishable key where none is taken; it is a session that may not do this.
    pub fn of(caller: Result<Caller, Anonymous>) -> Result<Self, Error> {
        let caller = caller?;
        let refusal = match (&caller.session, caller.key.kind) {
            (Some(session), _) => {
                let may = P::PERMISSION.is_some_and(|one| session.can.include(one));
                (!may).then_some(ErrorCode::SessionForbidden)
            }
            (None, KeyKind::Publishable) => (!PUBLISHABLE).then_some(ErrorCode::SecretKeyRequired),
            (None, KeyKind::Secret) => None,
        };
        match refusal {
            Some(code) => Err(Error::new(code)),
            None => Ok(Self {
                caller,
                permits: PhantomData,
            }),
        }
    }
}

impl<const PUBLISHABLE: bool, P> Allowed<PUBLISHABLE, P> {
    /// Who it is.
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// As what the caller is treated; a session as a publishable key.
    #[must_use]
    pub const fn kind(&self) -> KeyKind {
        self.caller.key.kind
    }

    /// The session, if it is not a key that was sent.
    #[must_use]
    pub const fn session(&self) -> Option<&Arc<WalletSession>> {
        self.caller.session()
    }
}

impl<const PUBLISHABLE: bool, P> Deref for Allowed<PUBLISHABLE, P> {
    type Target = Arc<ProjectCatalog>;

    /// The caller's project.
    fn deref(&self) -> &Self::Target {
        &self.caller.key.project
    }
}

impl<S: Sync, const PUBLISHABLE: bool, P: Permits> FromRequestParts<S> for Allowed<PUBLISHABLE, P> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Self::of(Context::of(parts)?.caller.clone())
    }
}

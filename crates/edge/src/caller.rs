//! Extractors that show in a handler's signature who may call it: [`SecretKey`], [`AnyKey`], or one of these or a
//! wallet session with a permission, as in `AnyKeyOr<MayRead>`. [`Allowed::of`] is the one place that decides it; which
//! wallet a session opens is decided where the request names its wallet.

use std::{marker::PhantomData, ops::Deref, sync::Arc};

use axum::{extract::FromRequestParts, http::request::Parts};
use catalog::{Authenticated, ProjectCatalog};
use domain::{
    catalog::KeyKind,
    session::{Permission, WalletSession},
};
use wire::{code::ErrorCode, error::Error};

use super::context::{Anonymous, Context};
use crate::BehindEdge;

/// The holder of the key or session that a request carries.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The key; for a session, a made-up publishable key, since a session has the rate limit and the view of one.
    key: Authenticated,
    session: Option<Arc<WalletSession>>,
}

impl Caller {
    pub(crate) const fn with_key(key: Authenticated) -> Self {
        let session = None;
        Self { key, session }
    }

    pub(crate) const fn with_session(key: Authenticated, session: Arc<WalletSession>) -> Self {
        Self {
            key,
            session: Some(session),
        }
    }

    /// The key and its project.
    pub const fn key(&self) -> &Authenticated {
        &self.key
    }

    /// The session, if one was sent instead of a key.
    pub const fn session(&self) -> Option<&Arc<WalletSession>> {
        self.session.as_ref()
    }

    /// Whether it is one of the project's own servers, which are no clients of it.
    pub fn is_server(&self) -> bool {
        self.key.kind == KeyKind::Secret && self.session.is_none()
    }
}

/// The permission that a session needs to be let in.
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

/// A caller who was let in: with a secret key, with a publishable one if `PUBLISHABLE`, or with a session that has the
/// permission `P`.
#[derive(Debug, Clone)]
pub struct Allowed<const PUBLISHABLE: bool, P = NoSession> {
    caller: Caller,
    permits: PhantomData<P>,
}

/// A valid key of either kind.
pub type AnyKey = Allowed<true>;
/// A valid secret key.
pub type SecretKey = Allowed<false>;
/// A valid key of either kind, or a session with the permission.
pub type AnyKeyOr<P> = Allowed<true, P>;
/// A valid secret key, or a session with the permission.
pub type SecretKeyOr<P> = Allowed<false, P>;

impl<const PUBLISHABLE: bool, P: Permits> Allowed<PUBLISHABLE, P> {
    /// Lets in a caller that the edge authenticated, if they may call this.
    /// # Errors
    /// The request carries no valid key or session; it carries a publishable key, and a secret one is required; its
    /// session lacks the permission.
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
    /// The caller, with a key or a session.
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The kind of key that the caller is treated by: of a session, a publishable one.
    pub const fn kind(&self) -> KeyKind {
        self.caller.key.kind
    }

    /// The session, if one was sent instead of a key.
    pub const fn session(&self) -> Option<&Arc<WalletSession>> {
        self.caller.session()
    }

    /// To be called before anything is sold or spent: fails if the project is archived.
    /// # Errors
    /// `project_archived`.
    pub fn require_not_archived(&self) -> Result<(), Error> {
        if self.caller.key.project.project.archived {
            return Err(Error::new(ErrorCode::ProjectArchived));
        }
        Ok(())
    }
}

impl<const PUBLISHABLE: bool, P> Deref for Allowed<PUBLISHABLE, P> {
    type Target = Arc<ProjectCatalog>;

    /// The caller's project.
    fn deref(&self) -> &Self::Target {
        &self.caller.key.project
    }
}

impl<S: BehindEdge, const PUBLISHABLE: bool, P: Permits> FromRequestParts<S>
    for Allowed<PUBLISHABLE, P>
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let allowed = Self::of(Context::of(parts)?.caller.clone())?;
        state.edge().parameters.check(parts)?;
        Ok(allowed)
    }
}

//! Extractors that show in a handler's signature who may call it: which kinds of key, and what a restricted key or a
//! wallet session needs, as in `AnyKey<MayRead>`. [`Allowed::of`] is the one place that decides it; which wallet a
//! session opens is decided where the request names its wallet.

use std::{marker::PhantomData, ops::Deref, sync::Arc};

use axum::{extract::FromRequestParts, http::request::Parts};
use catalog::{Authenticated, ProjectCatalog};
use domain::{
    catalog::{Ability, KeyKind},
    id::KeyId,
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

/// What a restricted key and a session need to be let in.
pub trait Permits: Send + Sync {
    /// What a restricted key needs; `None` lets each in.
    const ABILITY: Option<Ability>;
    /// What a session needs; `None` lets none in.
    const PERMISSION: Option<Permission>;
}

macro_rules! permits {
    ($($(#[$doc:meta])* $name:ident: $ability:expr, $permission:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl Permits for $name {
            const ABILITY: Option<Ability> = $ability;
            const PERMISSION: Option<Permission> = $permission;
        }
    )* };
}

permits! {
    /// To ask what the credential itself is.
    MayIdentify: None, Some(Permission::Read);
    /// To read what also the owner of a wallet may.
    MayRead: Some(Ability::Read), Some(Permission::Read);
    /// To read what is the project's alone, and to open wallets of users.
    MayReadAll: Some(Ability::Read), None;
    /// To read orders.
    MayReadOrders: Some(Ability::Orders), Some(Permission::Read);
    /// To start checkouts.
    MayCheckout: Some(Ability::Checkout), Some(Permission::Checkout);
    /// To create wallets that buyers fill.
    MayCreate: Some(Ability::Checkout), None;
    /// To open the portal.
    MayPortal: Some(Ability::Checkout), Some(Permission::Portal);
    /// To change subscriptions.
    MaySubscriptions: Some(Ability::Subscriptions), Some(Permission::Subscriptions);
    /// To use credits.
    MayDeduct: Some(Ability::Deduct), None;
    /// To give credits.
    MayGrant: Some(Ability::Grant), None;
    /// To reverse deductions.
    MayReverse: Some(Ability::Reverse), None;
    /// To refund orders.
    MayRefund: Some(Ability::Refund), None;
    /// To give access to a wallet.
    MaySessions: Some(Ability::Sessions), None;
    /// To grant and take features.
    MayFeatures: Some(Ability::Features), None;
    /// To say how much may be used of a wallet.
    MayLimits: Some(Ability::Limits), None;
}

/// A caller who was let in: with a secret key, with a publishable one if `PUBLISHABLE`, or with a restricted key or a
/// session that has what `P` needs. A restricted key needs its ability also where a publishable key is let in.
#[derive(Debug, Clone)]
pub struct Allowed<const PUBLISHABLE: bool, P> {
    caller: Caller,
    permits: PhantomData<P>,
}

/// A valid key of any kind, or a session, as far as `P` lets them in.
pub type AnyKey<P> = Allowed<true, P>;
/// A valid key for servers, or a session, as far as `P` lets them in.
pub type SecretKey<P> = Allowed<false, P>;

impl<const PUBLISHABLE: bool, P: Permits> Allowed<PUBLISHABLE, P> {
    /// Lets in a caller that the edge authenticated, if they may call this.
    /// # Errors
    /// The request carries no valid key or session; it carries a publishable key, and a secret one is required; its
    /// restricted key or session lacks what is needed.
    pub fn of(caller: Result<Caller, Anonymous>) -> Result<Self, Error> {
        let caller = caller?;
        if let Some(lacking) = P::ABILITY.filter(|ability| !caller.key.may(*ability)) {
            return Err(Error::lacking(lacking));
        }
        let refusal = match (&caller.session, caller.key.kind) {
            (Some(session), _) => {
                let may = P::PERMISSION.is_some_and(|one| session.can.include(one));
                (!may).then_some(ErrorCode::SessionForbidden)
            }
            (None, KeyKind::Publishable) => (!PUBLISHABLE).then_some(ErrorCode::SecretKeyRequired),
            (None, KeyKind::Secret | KeyKind::Restricted) => None,
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

    /// Whether the caller may read recovery codes that others know: they open a wallet, as sessions do.
    pub fn sees_codes(&self) -> bool {
        self.kind() == KeyKind::Secret && self.caller.key.may(Ability::Sessions)
    }

    /// The kind of key that the caller is treated by: of a restricted key, a secret one; of a session, a publishable one.
    pub const fn kind(&self) -> KeyKind {
        self.caller.key.kind
    }

    /// The key, if no session was sent instead.
    pub fn key_id(&self) -> Option<KeyId> {
        let is_key = self.caller.session.is_none();
        is_key.then_some(self.caller.key.key)
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

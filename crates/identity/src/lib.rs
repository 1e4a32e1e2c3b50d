//! Who works with the dashboard and the admin API: users with their roles, passwords and second factors, and the
//! sessions that they begin. What a role allows is one pure function ([`Authority::check`]). Everything is kept as notes in
//! the journal and in memory; it is durable before it is answered. No secret is kept in the clear.

#![allow(missing_docs, reason = "what a name says is not said again")]

mod allowance;
mod approval;
mod authority;
mod bound_identity;
mod change;
mod crypto;
mod error;
pub mod oidc;
mod outgoing_value;
mod password;
mod provider_sign_in;
mod second_factor;
mod session;
mod sessions;
mod sign_in;
mod store;
mod user;

pub use allowance::DayCountNote;
pub use approval::{AnswerInProgress, Approval, ApprovalNote};
pub use authority::{Authority, Denial, Holder, Privilege, ProjectScope, Role};
pub use bound_identity::BoundIdentity;
pub use change::{Action, CatalogChange, KeyTerms};
pub use error::Error;
pub use outgoing_value::{OutgoingValue, Recipient};
pub use password::{MIN_PASSWORD, Queued};
pub use provider_sign_in::ProviderSignIn;
pub use second_factor::{CODE_DIGITS, RecoveryCodes, TotpSecret};
pub use session::{NewKey, Origin, SessionView, ValidSession};
pub use sessions::{SESSION_SECONDS, SessionNote, Sessions};
pub use sign_in::{KNOWN_BROWSER_SECONDS, SignIn};
pub use store::{Invited, People};
pub use user::{NewUser, User, UserChange, UserNote, UserState};

/// The kinds of notes that are kept here.
pub const NOTE_KINDS: [actors::notes::ErasedKind; 4] = [
    actors::notes::ErasedKind::of::<UserNote>(),
    actors::notes::ErasedKind::of::<SessionNote>(),
    actors::notes::ErasedKind::of::<DayCountNote>(),
    actors::notes::ErasedKind::of::<ApprovalNote>(),
];

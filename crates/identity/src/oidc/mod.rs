//! OpenID Connect sign-in: the authorization code flow with PKCE, by the provider's discovery document. It identifies a
//! person, and does not decide whether they may sign in.
//!
//! Between the two steps nothing is kept for each sign-in: the browser carries what the second step needs, encrypted.

mod attempt;
mod error;
mod exchange;
mod provider;
mod settings;
mod sign_in;

pub use error::Error;
pub use provider::discover;
pub use settings::{ClientSecret, OidcSettings};
pub use sign_in::{BegunSignIn, Identity, Oidc, ProviderAnswer};

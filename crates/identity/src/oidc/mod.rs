//! Who somebody is, by the word of an OpenID Connect provider: the authorization code flow with PKCE, with what the
//! provider's discovery document says about it. Whether that person may come in is not decided here.
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

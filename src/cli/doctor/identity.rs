//! Checks that the identity provider can be reached and has what is needed.

use super::Finding;
use crate::{compose, config::Config};

const CHECK: &str = "identity provider";

/// Nothing where none is set.
pub(super) async fn examine(config: &Config) -> Option<Finding> {
    if !config.oidc.is_set() {
        return None;
    }
    let issuer = &config.oidc.issuer;
    Some(match identity::oidc::discover(&config.oidc).await {
        Ok(()) => {
            let callback = compose::oidc_callback(config);
            let message = format!("{issuer} answers; it must send browsers back to {callback}");
            Finding::ok(CHECK, message)
        }
        Err(error) => Finding::failure(
            CHECK,
            format!("{issuer}: {error}"),
            "Correct oidc.issuer, or bring the provider back: until then no one can sign in with it",
        ),
    })
}

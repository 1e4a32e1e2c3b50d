//! How the certificate of a leader is judged.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::Verifier;

/// Trusts this machine's certificate authorities. Reads files: not for a task of the server.
/// # Errors
/// There are none.
pub fn trusting_system() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(Arc::clone(&provider))?;
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    // The verifier is the platform's own: nothing is left out.
    let config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(config.with_no_client_auth())
}

/// Trusts no certificate but those of `authorities`: of none, where the processes do not speak TLS.
pub(super) fn trusting(authorities: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config
        .with_root_certificates(authorities)
        .with_no_client_auth())
}

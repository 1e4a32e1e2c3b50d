//! How the certificate of a leader is judged.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use rustls_platform_verifier::Verifier;

/// Why leaders that speak TLS cannot be trusted as configured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of certificate authorities cannot be used.
    #[error("{}: {why}", path.display())]
    Authorities {
        /// The file that cannot be used.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// This machine has no certificate authorities.
    #[error(transparent)]
    System(#[from] rustls::Error),
}

/// Trusts this machine's certificate authorities, and those in a PEM file. Reads files: not for a task of the server.
/// # Errors
/// The file cannot be read or has no certificate in it, or there are no authorities at all.
pub fn trusting(authorities: Option<&Path>) -> Result<ClientConfig, Error> {
    let more = authorities.map(read).transpose()?.unwrap_or_default();
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new_with_extra_roots(more, Arc::clone(&provider))?;
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    // The verifier is the platform's own: nothing is left out.
    let config = config
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(config.with_no_client_auth())
}

/// Trusts no certificate: for a cluster whose processes do not speak TLS.
pub(super) fn trusting_nobody() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(config
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}

fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let error = |why: String| Error::Authorities {
        path: path.to_owned(),
        why,
    };
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|why| error(why.to_string()))?;
    if read.is_empty() {
        return Err(error("it has no certificate in it".into()));
    }
    Ok(read)
}

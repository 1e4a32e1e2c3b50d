//! Where the database is and how it is reached, from its URL: what the client knows, and TLS, which it does not.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use persistence::Error;
use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer};
use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::Url;

use super::client::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, with_cause};

/// Reads a URL: what to connect to, and by which TLS, if by any.
pub(super) fn read(url: &str) -> Result<(Config, Option<MakeRustlsConnect>), Error> {
    let (plain, mode, authorities) = split(url)?;
    let mut config: Config = plain.parse().map_err(|error: tokio_postgres::Error| {
        Error::Unusable(format!("storage.url: {}", with_cause(&error)))
    })?;
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => matches!(&**name, "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    };
    let speaks_tls = match mode.as_deref() {
        None => !config.get_hosts().iter().all(is_here),
        Some("disable") => false,
        Some("require" | "verify-ca" | "verify-full") => true,
        Some(other) => {
            return Err(Error::Unusable(format!(
                "storage.url: sslmode is \"disable\", \"require\" or \"verify-full\", not {other:?}"
            )));
        }
    };
    config
        .ssl_mode(if speaks_tls {
            SslMode::Require
        } else {
            SslMode::Disable
        })
        .target_session_attrs(TargetSessionAttrs::ReadWrite)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_user_timeout(ANSWER_TIMEOUT)
        .keepalives_idle(Duration::from_secs(5))
        .keepalives_interval(Duration::from_secs(2))
        .keepalives_retries(3);
    if config.get_application_name().is_none() {
        config.application_name("scrip");
    }
    let tls = speaks_tls.then(|| tls(authorities)).transpose()?;
    Ok((config, tls))
}

/// Takes what the client does not know out of a URL: the URL, its `sslmode` and its `sslrootcert`.
fn split(url: &str) -> Result<(String, Option<String>, Option<PathBuf>), Error> {
    let unreadable = |why: String| Error::Unusable(format!("storage.url: {why}"));
    let Some((before, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), None, None));
    };
    // Only the query: several hosts are no URL in the sense of the crate.
    let parsed = Url::parse(&format!("postgres://host/?{query}"))
        .map_err(|error| unreadable(error.to_string()))?;
    let (mut mode, mut authorities) = (None, None);
    let mut rest = url::form_urlencoded::Serializer::new(String::new());
    for (key, value) in parsed.query_pairs() {
        match &*key {
            "sslmode" => mode = Some(value.into_owned()),
            "sslrootcert" => authorities = Some(PathBuf::from(value.into_owned())),
            _ => drop(rest.append_pair(&key, &value)),
        }
    }
    let rest = rest.finish();
    let plain = match rest.is_empty() {
        true => before.to_owned(),
        false => format!("{before}?{rest}"),
    };
    Ok((plain, mode, authorities))
}

fn tls(authorities: Option<PathBuf>) -> Result<MakeRustlsConnect, Error> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            let unreadable =
                |why: &dyn fmt::Display| Error::Unusable(format!("{}: {why}", path.display()));
            let pem = std::fs::read(&path).map_err(|error| unreadable(&error))?;
            let all =
                <CertificateDer<'_> as rustls::pki_types::pem::PemObject>::pem_slice_iter(&pem);
            for certificate in all {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
            if roots.is_empty() {
                return Err(unreadable(&"it has no certificate"));
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Unusable(format!("TLS to the database: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_certificates_need_is_taken_out_of_the_url() {
        let (plain, mode, authorities) = split(
            "postgres://u:p%40@a:1,b:2/scrip?sslmode=verify-full&application_name=shop&sslrootcert=%2Fetc%2Fca.pem",
        )
        .unwrap();
        assert_eq!(
            plain,
            "postgres://u:p%40@a:1,b:2/scrip?application_name=shop"
        );
        assert_eq!(mode.as_deref(), Some("verify-full"));
        assert_eq!(authorities, Some("/etc/ca.pem".into()));
    }

    #[test]
    fn another_machine_must_speak_tls_unless_the_address_says_otherwise() {
        let mode = |url: &str| read(url).ok().unwrap().0.get_ssl_mode();
        assert_eq!(mode("postgres://u@127.0.0.1/scrip"), SslMode::Disable);
        assert_eq!(mode("postgres://u@db.example.com/scrip"), SslMode::Require);
        assert_eq!(
            mode("postgres://u@db.example.com/scrip?sslmode=disable"),
            SslMode::Disable
        );
        let unknown = read("postgres://u@h/scrip?sslmode=prefer").err().unwrap();
        assert!(unknown.to_string().contains("sslmode"), "{unknown}");
    }
}

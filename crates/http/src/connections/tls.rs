//! TLS without a proxy: a certificate chain and its key, in two files that may be replaced while
//! the server runs. Files that do not work change nothing: the ones before stay in use.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::time::MissedTickBehavior;
use tokio_rustls::TlsAcceptor;

const LOOK_EVERY: Duration = Duration::from_secs(1);
const HTTP_1_1: &[u8] = b"http/1.1";

/// Why TLS cannot be used; says nothing of the key.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct Error {
    path: PathBuf,
    why: String,
}

impl Error {
    fn new(path: &Path, why: String) -> Self {
        let path = path.to_owned();
        Self { path, why }
    }
}

/// The configuration in use, and the files that it came from.
pub struct Tls {
    files: Files,
    /// The files' marks before they were read at the start: a file that is replaced after that is
    /// new, however late the watch begins.
    read: [Option<Mark>; 2],
    config: ArcSwap<ServerConfig>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls(..)")
    }
}

/// The files with the certificates and the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The server's certificate, then those between it and an authority; PEM.
    pub cert: PathBuf,
    /// The server's key; PEM.
    pub key: PathBuf,
}

/// Tells a file from the one before: device, inode, modification time and size.
type Mark = (u64, u64, i64, i64, u64);

impl Tls {
    /// Reads both files.
    /// # Errors
    /// One of them cannot be read, or they do not fit each other.
    pub fn open(files: Files) -> Result<Self, Error> {
        let read = files.look();
        let config = ArcSwap::new(Arc::new(files.read()?));
        Ok(Self {
            files,
            read,
            config,
        })
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.load_full())
    }

    /// Looks at the files for as long as it is polled, and puts new ones that work into use.
    pub async fn watch(&self) {
        let mut known = self.read;
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let marks = self.files.marks().await;
            if marks == known {
                continue;
            }
            known = marks;
            let files = self.files.clone();
            let read = tokio::task::spawn_blocking(move || files.read()).await;
            match read {
                Ok(Ok(config)) => {
                    self.config.store(Arc::new(config));
                    tracing::info!("New TLS certificates are in use");
                }
                Ok(Err(error)) => {
                    tracing::error!(%error, "New TLS files do not work; the ones before stay in use");
                }
                Err(_) => tracing::error!("New TLS files could not be read"),
            }
        }
    }
}

impl Files {
    /// The certificates, the server's own first.
    /// # Errors
    /// They cannot be read, or there is none.
    pub fn chain(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let chain = CertificateDer::pem_file_iter(&self.cert)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|why| Error::new(&self.cert, why.to_string()))?;
        if chain.is_empty() {
            return Err(Error::new(&self.cert, "it has no certificate in it".into()));
        }
        Ok(chain)
    }

    fn read(&self) -> Result<ServerConfig, Error> {
        let error = Error::new;
        let chain = self.chain()?;
        // The library's error about a key is not repeated.
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|_| error(&self.key, "it cannot be read, or has no key in it".into()))?;
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|why| error(&self.cert, why.to_string()))?;
        let mut config = builder
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|why| error(&self.cert, format!("it does not fit its key: {why}")))?;
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(config)
    }

    /// `None` where a file is not there, as it may be for a moment while it is replaced.
    async fn marks(&self) -> [Option<Mark>; 2] {
        let files = self.clone();
        let looked = tokio::task::spawn_blocking(move || files.look());
        looked.await.unwrap_or_default()
    }

    fn look(&self) -> [Option<Mark>; 2] {
        [&self.cert, &self.key].map(|path| mark(path).ok())
    }
}

fn mark(path: &Path) -> io::Result<Mark> {
    // Links are followed: some change where one leads.
    let known = fs::metadata(path)?;
    Ok((
        known.dev(),
        known.ino(),
        known.mtime(),
        known.mtime_nsec(),
        known.size(),
    ))
}

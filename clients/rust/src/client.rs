//! The client: one server, one key, shared connections.

use crate::{
    batches::{Batches, Charged},
    call::{self, Call, Head},
    error::{Error, ErrorKind},
    gather::Gatherer,
    retry,
};
use api_types::{Credited, Deducted, Identity, PlacedHold, Product};
use reqwest::{Body, Url, header::CONTENT_TYPE};
use rustls_platform_verifier::BuilderVerifierExt;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(15);
const RETRIES: u32 = 3;

/// Calls one Scrip server with one key. Clones share connections, so create one and clone it.
#[derive(Clone)]
pub struct Scrip {
    pub(crate) http: Arc<Http>,
    /// None where calls are not gathered.
    pub(crate) gatherers: Option<Arc<Gatherers>>,
}

/// One gatherer for each kind of calls that have batches.
pub(crate) struct Gatherers {
    pub(crate) deductions: Arc<Gatherer<Batches<Deducted>>>,
    pub(crate) grants: Arc<Gatherer<Batches<Credited>>>,
    pub(crate) holds: Arc<Gatherer<Batches<PlacedHold>>>,
    /// Settlements and draws.
    pub(crate) charges: Arc<Gatherer<Batches<Charged>>>,
}

/// What makes the requests: one server, one key.
pub(crate) struct Http {
    client: reqwest::Client,
    base: Url,
    key: SecretString,
    retries: u32,
}

/// Options of a client, where the defaults do not fit.
pub struct Builder {
    base: String,
    key: SecretString,
    timeout: Duration,
    retries: u32,
    gather: bool,
    http: Option<reqwest::Client>,
}

impl fmt::Debug for Scrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.http.base.as_str();
        f.debug_struct("Scrip")
            .field("base", &base)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl Scrip {
    /// A client for the server at `base` (`https://credits.example`) with a key: a secret one
    /// (`pay_sk_…`) for everything, a restricted one (`pay_rk_…`) for what it can, a publishable one (`pay_pk_…`) or a session (`pay_ws_…`) for what a browser may do.
    /// # Errors
    /// [`ErrorKind::Misused`] where `base` is not an address or `key` is not a key.
    pub fn new(base: impl Into<String>, key: impl Into<String>) -> Result<Self, Error> {
        Self::builder(base, key).build()
    }

    /// A builder, to set options first.
    pub fn builder(base: impl Into<String>, key: impl Into<String>) -> Builder {
        Builder {
            base: base.into(),
            key: SecretString::from(key.into()),
            timeout: TIMEOUT,
            retries: RETRIES,
            gather: true,
            http: None,
        }
    }

    /// The project that the key belongs to.
    /// # Errors
    /// `invalid_api_key`, and the errors of any call.
    pub async fn me(&self) -> Result<Identity, Error> {
        self.call(Call::get(["me"])).await
    }

    /// Active products with their active prices.
    /// # Errors
    /// The errors of any call.
    pub async fn products(&self) -> Result<Vec<Product>, Error> {
        #[derive(Deserialize)]
        struct Products {
            products: Vec<Product>,
        }
        let found: Products = self.call(Call::get(["products"])).await?;
        Ok(found.products)
    }

    /// Waits until all calls that were gathered have their answers; later ones go by themselves. Call it before the
    /// program ends.
    pub async fn close(&self) {
        if let Some(gatherers) = &self.gatherers {
            gatherers.deductions.close().await;
            gatherers.grants.close().await;
            gatherers.holds.close().await;
            gatherers.charges.close().await;
        }
    }

    /// Makes a call, and repeats it where that is safe and may help.
    pub(crate) async fn call<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        self.http.answer(call).await.map(|(body, _)| body)
    }
}

impl Http {
    /// Makes a call, and repeats it where that is safe and may help.
    pub(crate) async fn answer<T: DeserializeOwned>(&self, call: Call) -> Result<(T, Head), Error> {
        let mut attempt = 0;
        loop {
            let kind = match self.once(&call).await {
                Ok(answer) => return Ok(answer),
                Err(kind) => kind,
            };
            match retry::next(&kind, call.repeatable, attempt, self.retries) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => return Err(Error::new(kind, call.key)),
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// Makes one attempt.
    pub(crate) async fn once<T: DeserializeOwned>(
        &self,
        call: &Call,
    ) -> Result<(T, Head), ErrorKind> {
        let body = Some(&call.body).filter(|body| !body.is_empty());
        let body = body.map(serde_json::to_vec).transpose();
        let body = body.map_err(|error| ErrorKind::Misused(error.to_string()))?;
        self.send(call, body.map(Body::from)).await
    }

    /// The same, with another body, as JSON.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        call: &Call,
        body: Option<Body>,
    ) -> Result<(T, Head), ErrorKind> {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["api", "v1"]).extend(&call.path);
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let mut request = self
            .client
            .request(call.method.clone(), url)
            .bearer_auth(self.key.expose_secret());
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        // The URL may contain a recovery code, and errors are printed.
        let sent = request.send().await;
        let response = sent.map_err(|error| ErrorKind::unanswered(error.without_url()))?;
        call::read(response).await
    }
}

impl Builder {
    /// Sets how long one attempt may take; 15 s by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how often a call is repeated at most; 3 by default. A call that had no effect (429, `overloaded`,
    /// no connection) is repeated; one that may be done twice without harm (a read, or one with an idempotency
    /// key) also where no response came. `Retry-After` is honoured up to 30 s; a longer one is returned as an
    /// error.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets whether deductions, grants, holds and charges of holds that are made while others are under way go together,
    /// as batches; with a secret key they do by default.
    #[must_use]
    pub fn gather(mut self, gather: bool) -> Self {
        self.gather = gather;
        self
    }

    /// Uses another HTTP client, with its own timeout, proxy and certificates.
    #[must_use]
    pub fn http(mut self, http: reqwest::Client) -> Self {
        self.http = Some(http);
        self
    }

    /// Builds the client.
    /// # Errors
    /// [`ErrorKind::Misused`] where the base is not an `http` or `https` address, the key is not one of
    /// Scrip's, or the system's certificates cannot be loaded.
    pub fn build(self) -> Result<Scrip, Error> {
        let base = Url::parse(&self.base).ok();
        let base = base.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let base = base.ok_or_else(|| {
            Error::misused(format!("{} is no address of a Scrip server", self.base))
        })?;
        let key = self.key.expose_secret();
        if !["pay_sk_", "pay_rk_", "pay_pk_", "pay_ws_"]
            .iter()
            .any(|kind| key.starts_with(kind))
        {
            return Err(Error::misused(
                "a key begins with pay_sk_ (secret), pay_rk_ (restricted), pay_pk_ (publishable) or pay_ws_ (a session)",
            ));
        }
        let is_servers = ["pay_sk_", "pay_rk_"].iter().any(|it| key.starts_with(it));
        let gathers = self.gather && is_servers;
        let client = match self.http {
            Some(client) => client,
            None => http(&base, self.timeout)?,
        };
        let http = Arc::new(Http {
            client,
            base,
            key: self.key,
            retries: self.retries,
        });
        let (retries, timeout) = (self.retries, self.timeout);
        let gatherers = || Gatherers {
            deductions: gatherer(&http, "deductions", retries, timeout),
            grants: gatherer(&http, "credit", retries, timeout),
            holds: gatherer(&http, "holds", retries, timeout),
            charges: gatherer(&http, "settlements", retries, timeout),
        };
        Ok(Scrip {
            gatherers: gathers.then(gatherers).map(Arc::new),
            http,
        })
    }
}

fn gatherer<T: DeserializeOwned + Send + 'static>(
    http: &Arc<Http>,
    name: &'static str,
    retries: u32,
    timeout: Duration,
) -> Arc<Gatherer<Batches<T>>> {
    let batches = Batches::new(Arc::clone(http), name);
    Arc::new(Gatherer::new(batches, retries, timeout))
}

/// Follows no redirects, which would pass the key on, and uses no proxy to this machine, which would see the
/// key without need.
fn http(base: &Url, timeout: Duration) -> Result<reqwest::Client, Error> {
    let mut client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls(base)?)
        .redirect(reqwest::redirect::Policy::none())
        .timeout(timeout);
    if is_loopback(base) {
        client = client.no_proxy();
    }
    client
        .build()
        .map_err(|error| Error::misused(format!("no HTTP client can be made: {error}")))
}

fn is_loopback(base: &Url) -> bool {
    base.host_str().is_some_and(|host| {
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    })
}

/// Trusts the certificates that the system trusts. Without TLS none are loaded, so a system without any will
/// do.
fn tls(base: &Url) -> Result<rustls::ClientConfig, Error> {
    let wrong = |error| Error::misused(format!("TLS cannot be set up: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    if base.scheme() == "http" {
        let none = rustls::RootCertStore::empty();
        return Ok(config.with_root_certificates(none).with_no_client_auth());
    }
    let config = config.with_platform_verifier().map_err(wrong)?;
    Ok(config.with_no_client_auth())
}

//! One request to the provider: no redirects, ten seconds, a bounded answer, and only over the kind of connection that
//! the issuer's address implies.

use std::{future::Future, pin::Pin, time::Duration};

use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse, http};
use scrip_http::client::{AddressKind, root_cause};
use url::Url;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of an answer: a key set has a few kilobytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Why a request was not answered. The address is not part of it: a code may be in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    #[error("its answer has more than 256 KiB")]
    TooLarge,
    #[error("an endpoint is reached neither over TLS nor on this machine, as the issuer is")]
    Elsewhere,
    #[error("{0}")]
    Failed(String),
}

impl From<reqwest::Error> for ExchangeError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        match error.is_timeout() {
            true => Self::Failed("it did not answer in time".into()),
            false => Self::Failed(root_cause(&error).to_string()),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ProviderClient {
    http: reqwest::Client,
    kind: AddressKind,
}

impl ProviderClient {
    pub(crate) fn new(issuer: &Url) -> Result<Self, ExchangeError> {
        let kind = AddressKind::of(issuer);
        let builder = kind
            .client()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT);
        let builder = builder.user_agent(concat!("scrip/", env!("CARGO_PKG_VERSION")));
        let http = builder.build()?;
        Ok(Self { http, kind })
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, ExchangeError> {
        let request = reqwest::Request::try_from(request)?;
        if AddressKind::of(request.url()) != self.kind {
            return Err(ExchangeError::Elsewhere);
        }
        let mut answer = self.http.execute(request).await?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len().saturating_add(chunk.len()) > MAX_ANSWER_BYTES {
                return Err(ExchangeError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        let mut response = http::Response::new(body);
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        Ok(response)
    }
}

impl<'c> AsyncHttpClient<'c> for ProviderClient {
    type Error = ExchangeError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, ExchangeError>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.exchange(request))
    }
}

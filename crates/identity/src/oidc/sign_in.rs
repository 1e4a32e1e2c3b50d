//! The two steps: to the provider, and back from it.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use actors::{Cipher, Shares};
use domain::Timestamp;
use openidconnect::{
    AuthorizationCode, ClaimsVerificationError, CsrfToken, Nonce, OAuth2TokenResponse as _,
    PkceCodeChallenge, PkceCodeVerifier, RequestTokenError, Scope, SignatureVerificationError,
    SubjectIdentifier, TokenResponse as _,
    core::{
        CoreAuthenticationFlow, CoreIdTokenClaims, CoreJwsSigningAlgorithm, CoreTokenResponse,
        CoreUserInfoClaims,
    },
};
use tokio::sync::{Mutex, Semaphore};
use url::Url;

use crate::oidc::{
    Error, OidcSettings,
    attempt::{ATTEMPT_SECONDS, Attempt, Attempts},
    provider::{Provider, unavailable},
};

/// How long a discovery document and its keys are believed.
const KEEP_SECONDS: i64 = 3600;
/// How long a provider that failed is not asked again, and how often its keys are read for a token with another one.
const PAUSE_SECONDS: i64 = 10;
/// The most sign-ins that are begun at once: they wait only for the discovery document.
const BEGUN_AT_ONCE: usize = 16;
/// The most answers that are checked at once, of which each client has its share.
const CHECKED_AT_ONCE: usize = 64;
/// A client may have one checked of so many that are left.
const CLIENT_PART: usize = 8;
/// How far the provider's clock may be ahead of this one.
const SLACK_SECONDS: i64 = 300;
/// What ID tokens may be signed with: keys of which only the provider has the private half.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// A provider, or why there is none.
type KnownProvider = Result<Arc<Provider>, Error>;

pub struct Oidc {
    settings: OidcSettings,
    redirect: Url,
    attempts: Attempts,
    /// The discovery document, and when it was read.
    known: Mutex<Option<(KnownProvider, Timestamp)>>,
    begun: Semaphore,
    checked: Shares<()>,
}

/// A sign-in that goes on at the provider.
#[derive(Debug)]
pub struct BegunSignIn {
    /// Where the browser goes.
    pub url: Url,
    /// What it keeps until it is back, encrypted.
    pub sealed: String,
    pub seconds: i64,
}

/// The parameters of the callback.
#[derive(Debug, Clone, Copy)]
pub struct ProviderAnswer<'a> {
    /// Which sign-in it is about.
    pub state: &'a str,
    /// What tokens are given for; none, where it refused.
    pub code: Option<&'a str>,
    /// The issuer, if it is sent (RFC 9207).
    pub issuer: Option<&'a str>,
    pub client: IpAddr,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The address of the provider.
    pub issuer: String,
    /// Their permanent identifier there.
    pub subject: String,
    /// Their e-mail address, if the provider has verified it.
    pub email: Option<String>,
}

impl Oidc {
    /// For a provider that sends browsers back to an address.
    pub fn new(settings: OidcSettings, redirect: Url, cipher: Cipher) -> Self {
        Self {
            settings,
            redirect,
            attempts: Attempts::new(cipher),
            known: Mutex::default(),
            begun: Semaphore::new(BEGUN_AT_ONCE),
            checked: Shares::new(CHECKED_AT_ONCE).with_client_part(CLIENT_PART),
        }
    }

    /// What pages call the provider.
    pub fn name(&self) -> String {
        let host = || {
            self.settings
                .issuer
                .parse::<Url>()
                .ok()?
                .host_str()
                .map(str::to_owned)
        };
        match self.settings.name.is_empty() {
            true => host().unwrap_or_default(),
            false => self.settings.name.clone(),
        }
    }

    /// The provider's address.
    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// The first step: where the browser goes, and what it keeps. `next` comes back with the second. `now` is the
    /// machine's time in both, as the provider's clock is compared with it.
    /// # Errors
    /// The provider cannot be asked, or is not fit; too many wait for that.
    pub async fn begin(&self, next: Option<&str>, now: Timestamp) -> Result<BegunSignIn, Error> {
        let _place = self.begun.try_acquire().map_err(|_| Error::Busy)?;
        let provider = self.provider(KEEP_SECONDS, now).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = provider
            .client
            .authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let (url, state, nonce) = request
            .add_scope(Scope::new("email".into()))
            .set_pkce_challenge(challenge)
            .url();
        let attempt = Attempt {
            state: state.secret().clone(),
            nonce: nonce.secret().clone(),
            verifier: verifier.secret().clone(),
            next: next.map(str::to_owned),
            until: now.plus_seconds(ATTEMPT_SECONDS).0,
        };
        let sealed = self.attempts.seal(&attempt);
        let seconds = ATTEMPT_SECONDS;
        Ok(BegunSignIn {
            url,
            sealed,
            seconds,
        })
    }

    /// The second step: who it is, and the `next` of the first step. The e-mail address is only asked for where the
    /// subject is not `is_known`. An attempt is used up, also by a failure.
    /// # Errors
    /// The answer is not to what this browser began, or was given before; the provider cannot be asked, refuses, or
    /// its answer is not valid; too many are being checked.
    pub async fn finish(
        &self,
        sealed: &str,
        answer: ProviderAnswer<'_>,
        is_known: impl Fn(&str) -> bool + Send,
        now: Timestamp,
    ) -> Result<(Identity, Option<String>), Error> {
        let attempt = self.attempts.take(sealed, answer.state, now)?;
        if answer
            .issuer
            .is_some_and(|issuer| issuer != self.settings.issuer)
        {
            return Err(Error::Untrusted("another issuer sent the browser back"));
        }
        let code = answer.code.ok_or(Error::Denied)?.to_owned();
        let place = self.checked.take((), Some(answer.client));
        let _place = place.ok_or(Error::Busy)?;
        let provider = self.provider(KEEP_SECONDS, now).await?;
        let request = provider.client.exchange_code(AuthorizationCode::new(code));
        let request = request.map_err(|_| Error::Unfit("it names no token endpoint".into()))?;
        let verifier = PkceCodeVerifier::new(attempt.verifier);
        let tokens = request
            .set_pkce_verifier(verifier)
            .request_async(&provider.http);
        let tokens = tokens.await.map_err(|error| match error {
            RequestTokenError::Request(error) => unavailable(error),
            RequestTokenError::ServerResponse(_) => Error::Denied,
            _ => Error::Untrusted("the answer of its token endpoint cannot be read"),
        })?;
        let nonce = Nonce::new(attempt.nonce);
        let claims = match verified(&provider, &tokens, &nonce, now) {
            Err((_, true)) => {
                // Its keys may be newer than what is known of it.
                let provider = self.provider(PAUSE_SECONDS, now).await?;
                verified(&provider, &tokens, &nonce, now)
            }
            claims => claims,
        };
        let claims = claims.map_err(|(error, _)| error)?;
        let subject = claims.subject().as_str().to_owned();
        let email = match claims.email() {
            _ if is_known(&subject) => None,
            Some(email) => (claims.email_verified() == Some(true)).then(|| email.to_string()),
            None => asked_for_email(&provider, &tokens, claims.subject()).await?,
        };
        let identity = Identity {
            issuer: self.settings.issuer.clone(),
            subject,
            email,
        };
        Ok((identity, attempt.next))
    }

    /// The provider, if what is known of it is not older than this; else it is asked again.
    async fn provider(&self, seconds: i64, now: Timestamp) -> KnownProvider {
        let mut known = self.known.lock().await;
        if let Some((result, at)) = &*known {
            let seconds = match result {
                Ok(_) => seconds,
                Err(_) => PAUSE_SECONDS,
            };
            if at.plus_seconds(seconds) > now {
                return result.clone();
            }
        }
        let found = Provider::discover(&self.settings, self.redirect.clone()).await;
        let found = found.map(Arc::new);
        if let Err(error) = &found {
            tracing::warn!(%error, "Nobody can sign in by the identity provider");
        }
        *known = Some((found.clone(), now));
        found
    }
}

/// The claims of a valid ID token; else why it is not, and whether other keys of the provider may help.
fn verified<'t>(
    provider: &Provider,
    tokens: &'t CoreTokenResponse,
    nonce: &Nonce,
    now: Timestamp,
) -> Result<&'t CoreIdTokenClaims, (Error, bool)> {
    use ClaimsVerificationError as Wrong;
    let at = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    let at = UNIX_EPOCH.checked_add(at).unwrap_or(UNIX_EPOCH);
    let latest = now.plus_seconds(SLACK_SECONDS).0;
    let verifier = provider
        .client
        .id_token_verifier()
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || at.into())
        .set_issue_time_verifier_fn(move |issued| match issued.timestamp_millis() <= latest {
            true => Ok(()),
            false => Err("issued in the future".into()),
        });
    let token = tokens.id_token();
    let token = token.ok_or((Error::Untrusted("it has no ID token"), false))?;
    token.claims(&verifier, nonce).map_err(|wrong| {
        let is_new_key = matches!(
            wrong,
            Wrong::SignatureVerification(SignatureVerificationError::NoMatchingKey)
        );
        let why = match wrong {
            Wrong::Expired(_) => "its ID token has expired, or is of a clock that is ahead",
            Wrong::InvalidAudience(_) => "its ID token is for another client",
            Wrong::InvalidIssuer(_) => "its ID token is of another issuer",
            Wrong::InvalidNonce(_) => "its ID token is of another sign-in",
            Wrong::InvalidSubject(_) => "its ID token names nobody",
            Wrong::SignatureVerification(_) => "its ID token is not signed with one of its keys",
            _ => "its ID token is not one of OpenID Connect",
        };
        (Error::Untrusted(why), is_new_key)
    })
}

/// The verified e-mail address that the provider's endpoint for it has.
async fn asked_for_email(
    provider: &Provider,
    tokens: &CoreTokenResponse,
    subject: &SubjectIdentifier,
) -> Result<Option<String>, Error> {
    let token = tokens.access_token().clone();
    let Ok(request) = provider.client.user_info(token, Some(subject.clone())) else {
        return Ok(None);
    };
    let claims = request.request_async(&provider.http).await;
    let claims: CoreUserInfoClaims = claims.map_err(|error| match error {
        openidconnect::UserInfoError::Request(error) => unavailable(error),
        _ => Error::Untrusted("what it says of the person cannot be read, or is of another one"),
    })?;
    let email = claims
        .email()
        .filter(|_| claims.email_verified() == Some(true));
    Ok(email.map(|email| email.to_string()))
}

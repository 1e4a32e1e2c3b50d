//! The provider's discovery document: its endpoints and its keys.

use openidconnect::{
    AuthType, ClientId, DiscoveryError, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl,
    RedirectUrl,
    core::{CoreClient, CoreClientAuthMethod, CoreProviderMetadata},
};
use url::Url;

use crate::oidc::{
    Error, OidcSettings,
    exchange::{ExchangeError, ProviderClient},
};

/// A client with the endpoints of a discovery document.
type KnownClient = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// A provider as its discovery document describes it.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) client: KnownClient,
    pub(crate) http: ProviderClient,
}

impl Provider {
    /// Reads the provider's discovery document and its keys.
    pub(crate) async fn discover(settings: &OidcSettings, redirect: Url) -> Result<Self, Error> {
        let unfit = |why: &str| Error::Unfit(why.to_owned());
        let address: Url = settings
            .issuer
            .parse()
            .map_err(|_| unfit("the issuer is no address"))?;
        let http = ProviderClient::new(&address).map_err(unavailable)?;
        let issuer = IssuerUrl::new(settings.issuer.clone());
        let issuer = issuer.map_err(|_| unfit("the issuer is no address"))?;
        let metadata = CoreProviderMetadata::discover_async(issuer, &http).await;
        let metadata = metadata.map_err(refused)?;
        if metadata.token_endpoint().is_none() {
            return Err(unfit("it names no token endpoint"));
        }
        let methods = metadata.token_endpoint_auth_methods_supported();
        // The default is Basic.
        let in_body = methods.is_some_and(|methods| {
            !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
                && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
        });
        let secret = settings.client_secret.reveal().to_owned();
        let secret = Some(openidconnect::ClientSecret::new(secret));
        let id = ClientId::new(settings.client_id.clone());
        let client = CoreClient::from_provider_metadata(metadata, id, secret)
            .set_redirect_uri(RedirectUrl::from_url(redirect))
            .set_auth_type(match in_body {
                true => AuthType::RequestBody,
                false => AuthType::BasicAuth,
            });
        Ok(Self { client, http })
    }
}

pub(crate) fn unavailable(error: ExchangeError) -> Error {
    match error {
        ExchangeError::Elsewhere => Error::Unfit(error.to_string()),
        ExchangeError::TooLarge | ExchangeError::Failed(_) => Error::Unavailable(error.to_string()),
    }
}

fn refused(error: DiscoveryError<ExchangeError>) -> Error {
    match error {
        DiscoveryError::Request(error) => unavailable(error),
        DiscoveryError::Response(status, ..) if !status.is_success() => {
            Error::Unavailable(format!("it answered {status}"))
        }
        DiscoveryError::Validation(_) => {
            Error::Unfit("it names another issuer than oidc.issuer, to the letter".into())
        }
        DiscoveryError::Parse(error) => {
            Error::Unfit(format!("{} is missing or wrong", error.path()))
        }
        _ => Error::Unfit("it is not JSON as OpenID Connect Discovery has it".into()),
    }
}

/// Whether the provider can be reached and used, for the operator who set it up.
/// # Errors
/// [`Error::Unavailable`] and [`Error::Unfit`], with the reason.
pub async fn discover(settings: &OidcSettings) -> Result<(), Error> {
    let here = Url::parse("http://localhost/");
    let here = here.map_err(|_| Error::Unavailable("no address".into()))?;
    Provider::discover(settings, here).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_never_answers_times_out() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = OidcSettings {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            client_id: "scrip".into(),
            client_secret: "secret".into(),
            name: String::new(),
        };
        let begun = tokio::time::Instant::now();
        let refused = discover(&settings).await;
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        assert!(begun.elapsed().as_secs() <= 10, "{:?}", begun.elapsed());
        drop(listener);
        let nobody = discover(&settings).await;
        assert!(matches!(nobody, Err(Error::Unavailable(_))), "{nobody:?}");
    }
}

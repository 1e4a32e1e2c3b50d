//! Webhook endpoints of a project: creating, changing, deleting, rotating secrets. A secret is in the clear only in the
//! response that returns it and during signing.

use data_encoding::BASE64;
use domain::{
    catalog::{
        Ciphertext, Document, Endpoint, EndpointChange, EndpointStatus, MAX_ENDPOINTS, NewEndpoint,
        Refusal,
    },
    id::{EndpointId, ProjectId},
};

use super::{CatalogStore, Error, ProjectCatalog, keys::Minted, new_id, store::find};

/// Prefix of a Standard Webhooks secret as people see it.
const PREFIX: &str = "whsec_";
/// Standard Webhooks allows 24 to 64.
const SECRET_BYTES: usize = 32;

/// A webhook endpoint with its new secret.
pub type MintedEndpoint = Minted<Endpoint>;

fn draw() -> Result<[u8; SECRET_BYTES], Error> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Error::Randomness(error.to_string()))?;
    Ok(bytes)
}

fn plain(secret: &[u8]) -> String {
    format!("{PREFIX}{}", BASE64.encode(secret))
}

impl CatalogStore {
    /// Creates a webhook endpoint. It receives every event from now on.
    /// # Errors
    /// [`Refusal::Invalid`] when an input breaks a rule or the project has as many endpoints as it may have;
    /// [`Refusal::ProjectNotFound`].
    pub async fn create_endpoint(
        &self,
        project: ProjectId,
        new: NewEndpoint,
    ) -> Result<MintedEndpoint, Error> {
        let secret = draw()?;
        let shared = self.shared.clone();
        self.change(move |catalog, now| {
            let sealed = Ciphertext(shared.cipher.seal(&secret));
            let of = (project, EndpointId(new_id()));
            let endpoint = new.decide(of, sealed, shared.handle.last_event_number(), now)?;
            if find(catalog, project)?.endpoints().count() >= MAX_ENDPOINTS {
                let message = format!("A project has at most {MAX_ENDPOINTS} webhook endpoints.");
                return Err(Refusal::invalid("url", message).into());
            }
            let minted = MintedEndpoint {
                stored: endpoint.clone(),
                plain: plain(&secret),
            };
            Ok((vec![Document::Endpoint(endpoint)], minted))
        })
        .await
    }

    /// Changes a webhook endpoint.
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn update_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
        change: EndpointChange,
    ) -> Result<Endpoint, Error> {
        self.replace(project, Document::Endpoint, known(id), move |old, _| {
            change.decide(old)
        })
        .await
    }

    /// Disables a webhook endpoint for this reason, unless it is disabled already.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn disable_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
        why: EndpointStatus,
    ) -> Result<Endpoint, Error> {
        let disabled =
            move |old: &Endpoint, _| Ok(old.disabled(why).unwrap_or_else(|| old.clone()));
        self.replace(project, Document::Endpoint, known(id), disabled)
            .await
    }

    /// Gives a webhook endpoint a new secret. The former one also signs deliveries for another day.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn rotate_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
    ) -> Result<MintedEndpoint, Error> {
        let secret = draw()?;
        let cipher = self.shared.cipher.clone();
        let rotate = move |old: &Endpoint, now| {
            let sealed = Ciphertext(cipher.seal(&secret));
            Ok(old.rotated(sealed, now))
        };
        Ok(MintedEndpoint {
            stored: self
                .replace(project, Document::Endpoint, known(id), rotate)
                .await?,
            plain: plain(&secret),
        })
    }

    /// Deletes a webhook endpoint.
    /// # Errors
    /// [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn delete_endpoint(&self, project: ProjectId, id: EndpointId) -> Result<(), Error> {
        let deleted = self.replace(project, Document::Endpoint, known(id), |old, _| {
            Ok(old.deleted())
        });
        deleted.await.map(drop)
    }

    /// The secrets that sign an endpoint's deliveries at this instant, newest first. Secrets that
    /// were encrypted under another server key are left out.
    pub fn signing_secrets(&self, endpoint: &Endpoint, now: domain::Timestamp) -> Vec<Vec<u8>> {
        let secrets = endpoint.secrets.iter();
        let valid = secrets.filter(|secret| secret.until.is_none_or(|until| now < until));
        valid
            .filter_map(|secret| self.shared.cipher.open(&secret.secret.0))
            .collect()
    }
}

fn known(id: EndpointId) -> impl FnOnce(&ProjectCatalog) -> Result<&Endpoint, Refusal> {
    move |catalog| catalog.endpoint(&id).ok_or(Refusal::EndpointNotFound(id))
}

//! Where a project's own servers are told what happens: made, changed, given new secrets, deleted. A
//! secret exists in the clear once, in the answer that hands it out, and when something is signed.

use std::fmt;

use data_encoding::BASE64;
use domain::{
    catalog::{
        Document, Endpoint, EndpointChange, EndpointStatus, MAX_ENDPOINTS, NewEndpoint, Refusal,
        Sealed,
    },
    id::{EndpointId, ProjectId},
};

use super::{CatalogStore, Error, new_id, store::find};

/// What a secret of Standard Webhooks begins with, as people see it.
const PREFIX: &str = "whsec_";
/// 24 to 64 are allowed.
const SECRET_BYTES: usize = 32;

/// An endpoint with a secret that was just drawn.
#[derive(Clone)]
pub struct MintedEndpoint {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The secret, to be shown once.
    pub plain: String,
}

impl fmt::Debug for MintedEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MintedEndpoint")
            .field("id", &self.endpoint.id)
            .finish_non_exhaustive()
    }
}

fn draw() -> Result<[u8; SECRET_BYTES], Error> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| Error::Randomness(error.to_string()))?;
    Ok(bytes)
}

fn plain(secret: &[u8]) -> String {
    format!("{PREFIX}{}", BASE64.encode(secret))
}

impl CatalogStore {
    /// Makes a webhook endpoint. It is told of all that happens from now on.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] for an input that breaks a rule, also where there are as many as a project
    /// may have; [`Refusal::ProjectNotFound`].
    pub async fn create_endpoint(
        &self,
        project: ProjectId,
        new: NewEndpoint,
    ) -> Result<MintedEndpoint, Error> {
        let secret = draw()?;
        let shared = self.shared.clone();
        self.change(move |catalog, now| {
            let sealed = Sealed(shared.seal.seal(&secret));
            let of = (project, EndpointId(new_id()));
            let endpoint = new.decide(of, sealed, shared.handle.last_told(), now)?;
            if find(catalog, project)?.endpoints().count() >= MAX_ENDPOINTS {
                let message = format!("A project has at most {MAX_ENDPOINTS} webhook endpoints.");
                return Err(Refusal::invalid("url", message).into());
            }
            let minted = MintedEndpoint {
                endpoint: endpoint.clone(),
                plain: plain(&secret),
            };
            Ok((vec![Document::Endpoint(endpoint)], minted))
        })
        .await
    }

    /// Changes a webhook endpoint.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`], [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn update_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
        change: EndpointChange,
    ) -> Result<Endpoint, Error> {
        self.with_endpoint(project, id, move |old, _| change.decide(old))
            .await
    }

    /// Switches a webhook endpoint off for this reason, unless it is off already.
    ///
    /// # Errors
    ///
    /// [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn disable_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
        why: EndpointStatus,
    ) -> Result<Endpoint, Error> {
        let disabled =
            move |old: &Endpoint, _| Ok(old.disabled(why).unwrap_or_else(|| old.clone()));
        self.with_endpoint(project, id, disabled).await
    }

    /// Gives a webhook endpoint a new secret. The one before signs beside it for a day more.
    ///
    /// # Errors
    ///
    /// [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn rotate_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
    ) -> Result<MintedEndpoint, Error> {
        let secret = draw()?;
        let seal = self.shared.seal.clone();
        let rotate = move |old: &Endpoint, now| {
            let sealed = Sealed(seal.seal(&secret));
            Ok(old.rotated(sealed, now))
        };
        let endpoint = self.with_endpoint(project, id, rotate).await?;
        Ok(MintedEndpoint {
            endpoint,
            plain: plain(&secret),
        })
    }

    /// Deletes a webhook endpoint.
    ///
    /// # Errors
    ///
    /// [`Refusal::ProjectNotFound`], [`Refusal::EndpointNotFound`].
    pub async fn delete_endpoint(&self, project: ProjectId, id: EndpointId) -> Result<(), Error> {
        let deleted = self.with_endpoint(project, id, |old, _| Ok(old.deleted()));
        deleted.await.map(drop)
    }

    async fn with_endpoint(
        &self,
        project: ProjectId,
        id: EndpointId,
        change: impl FnOnce(&Endpoint, domain::Timestamp) -> Result<Endpoint, Refusal> + Send + 'static,
    ) -> Result<Endpoint, Error> {
        self.change(move |catalog, now| {
            let old = find(catalog, project)?.endpoint(&id);
            let old = old.ok_or(Refusal::EndpointNotFound(id))?;
            let endpoint = change(old, now)?;
            if endpoint == *old {
                return Ok((Vec::new(), endpoint));
            }
            Ok((vec![Document::Endpoint(endpoint.clone())], endpoint))
        })
        .await
    }

    /// What an endpoint's deliveries are signed with at this instant, the newest first. One that was
    /// written under another server key is left out.
    #[must_use]
    pub fn signing_secrets(&self, endpoint: &Endpoint, now: domain::Timestamp) -> Vec<Vec<u8>> {
        let known = endpoint.secrets.iter();
        let valid = known.filter(|known| known.until.is_none_or(|until| now < until));
        valid
            .filter_map(|known| self.shared.seal.open(&known.secret.0))
            .collect()
    }
}

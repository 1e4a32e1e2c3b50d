//! Webhook endpoints at Stripe, made and looked after by Scrip where it has a public `https` address.
//! A shortcut, not a need: where the key may not, or Stripe does not answer, the account's list of
//! events says the same a little later.

use std::{sync::Arc, time::Duration};

use catalog::ProjectCatalog;
use domain::{
    catalog::{Account, Stripe},
    id::ProjectId,
};
use payments::Error;
use tokio::task::AbortHandle;

use super::Accounts;

/// How often endpoints are looked at; a project that is new or changed is seen within a minute.
const LOOK: Duration = Duration::from_secs(60);
const EVERY: u32 = 60;

/// What was done about an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// There is nothing to do: no public address, another provider, or an endpoint that somebody else
    /// looks after.
    NotOurs,
    /// It is there and well.
    Well,
    /// It was there, disabled or not sent everything.
    Repaired,
    /// It was not there, or its secret was lost.
    Made,
}

/// Looks after endpoints until it is dropped.
#[derive(Debug)]
pub struct Endpoints(AbortHandle);

impl Drop for Endpoints {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Accounts {
    /// Looks after all projects' endpoints from now on.
    #[must_use]
    pub fn keep_endpoints(self: &Arc<Self>) -> Endpoints {
        let accounts = Arc::clone(self);
        let task = tokio::spawn(async move {
            let mut interval = tokio::time::interval(LOOK);
            let mut known = std::collections::HashMap::new();
            let mut round = 0_u32;
            loop {
                interval.tick().await;
                let all = round.is_multiple_of(EVERY);
                round = round.wrapping_add(1);
                let projects: Vec<_> = accounts.catalog().current().projects().cloned().collect();
                for project in projects {
                    let id = project.project.id;
                    let provider = project.provider().cloned();
                    if !all && known.get(&id) == Some(&provider) {
                        continue;
                    }
                    match accounts.keep_endpoint(&project).await {
                        Ok(Endpoint::NotOurs | Endpoint::Well) => {}
                        Ok(done) => {
                            tracing::info!(project = %id, ?done, "The webhook endpoint at Stripe was looked after");
                        }
                        Err(error) => {
                            let is_final =
                                matches!(&error, Error::Provider(error) if error.is_a_no());
                            tracing::warn!(%error, project = %id, "The webhook endpoint at Stripe cannot be looked after; the list of events is read instead");
                            if !is_final {
                                // Again within a minute.
                                known.remove(&id);
                                continue;
                            }
                        }
                    }
                    // As it is by now: making one adds its secret.
                    let now = accounts.catalog().project(id).ok();
                    known.insert(id, now.and_then(|now| now.provider().cloned()));
                }
            }
        });
        Endpoints(task.abort_handle())
    }

    /// Makes a project's endpoint, or repairs it.
    ///
    /// # Errors
    ///
    /// [`Error::Provider`] where Stripe refuses or does not answer.
    pub async fn keep_endpoint(&self, project: &ProjectCatalog) -> Result<Endpoint, Error> {
        let id = project.project.id;
        let Some(Account::Stripe(account)) = project.provider().map(|p| &p.account) else {
            return Ok(Endpoint::NotOurs);
        };
        if !self.place().public_url.starts_with("https://") {
            return Ok(Endpoint::NotOurs);
        }
        let client = self.stripe_client(account)?;
        let url = self.webhook_url(id);
        let listed = client
            .webhook_endpoints()
            .await
            .map_err(port::Error::from)?;
        let here = listed.iter().filter(|endpoint| endpoint.url == url);
        let (ours, others): (Vec<_>, Vec<_>) =
            here.partition(|endpoint| endpoint.metadata.project == Some(id));
        if ours.is_empty() && !others.is_empty() {
            return Ok(Endpoint::NotOurs);
        }
        // Its secret is told once: one whose secret is not here is of no use.
        let known = !account.webhook_secrets.is_empty();
        if let Some(endpoint) = ours.first().filter(|_| known) {
            if endpoint.is_whole() {
                return Ok(Endpoint::Well);
            }
            let repaired = client.repair_webhook_endpoint(&endpoint.id).await;
            repaired.map_err(port::Error::from)?;
            return Ok(Endpoint::Repaired);
        }
        for endpoint in ours {
            let deleted = client.delete_webhook_endpoint(&endpoint.id).await;
            deleted.map_err(port::Error::from)?;
        }
        let made = client.create_webhook_endpoint(id, &url).await;
        let secret = made.map_err(port::Error::from)?.secret;
        let secret = secret.ok_or(Error::Defect(
            "a webhook endpoint was made without a secret",
        ))?;
        // Of this account only: the project may have left it meanwhile.
        let tenure = project.tenure().number;
        let set = self.catalog().add_webhook_secret(id, tenure, secret.into());
        set.await.map_err(|error| {
            tracing::error!(%error, "A webhook endpoint's secret could not be kept; it is made anew");
            Error::Wallet(actors::Error::Unavailable)
        })?;
        Ok(Endpoint::Made)
    }

    /// Deletes a project's endpoint at an account that it left, if that can be done: what is sent there
    /// is not believed any more, and Stripe would try for days.
    pub(super) fn take_endpoint_away(&self, id: ProjectId, former: &Stripe) {
        if !self.place().public_url.starts_with("https://") {
            return;
        }
        let Ok(client) = self.stripe_client(former) else {
            return;
        };
        tokio::spawn(async move {
            let listed = client.webhook_endpoints().await.unwrap_or_default();
            let ours = |metadata: Option<ProjectId>| metadata == Some(id);
            for endpoint in listed.iter().filter(|it| ours(it.metadata.project)) {
                if let Err(error) = client.delete_webhook_endpoint(&endpoint.id).await {
                    tracing::warn!(%error, project = %id, "The webhook endpoint at the former account could not be deleted");
                }
            }
        });
    }
}

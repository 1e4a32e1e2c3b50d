//! Webhook endpoints at Stripe, created and repaired by Scrip if it has a public `https` address. They only save time:
//! without one, the account's event list reports the same a little later.

use std::{sync::Arc, time::Duration};

use catalog::ProjectCatalog;
use domain::{
    catalog::{Account, Stripe},
    id::ProjectId,
};
use payments::Error;
use tokio::task::AbortHandle;

use super::Accounts;

/// How often endpoints are checked: new and changed projects each time, all projects each of so many rounds.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);
const FULL_CHECK_ROUNDS: u32 = 60;

/// What was done about an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointOutcome {
    /// Nothing to do: no public address, another provider, or an endpoint managed by others.
    NotOurs,
    /// It exists and is in order.
    Well,
    /// It was disabled or not sent everything, and was repaired.
    Repaired,
    /// It did not exist, or its secret was lost: a new one was made.
    Made,
}

/// Keeps endpoints in order until it is dropped.
#[derive(Debug)]
pub struct Endpoints(AbortHandle);

impl Drop for Endpoints {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Accounts {
    /// Keeps all projects' endpoints in order from now on.
    pub fn maintain_endpoints(self: &Arc<Self>) -> Endpoints {
        let accounts = Arc::clone(self);
        let task = tokio::spawn(async move {
            let mut interval = tokio::time::interval(CHECK_INTERVAL);
            let mut known = std::collections::HashMap::new();
            let mut round = 0_u32;
            loop {
                interval.tick().await;
                let all = round.is_multiple_of(FULL_CHECK_ROUNDS);
                round = round.wrapping_add(1);
                let projects: Vec<_> = accounts.catalog().current().projects().cloned().collect();
                for project in projects {
                    let id = project.project.id;
                    let provider = project.provider().cloned();
                    if !all && known.get(&id) == Some(&provider) {
                        continue;
                    }
                    match accounts.maintain_endpoint(&project).await {
                        Ok(EndpointOutcome::NotOurs | EndpointOutcome::Well) => {}
                        Ok(done) => {
                            tracing::info!(project = %id, ?done, "The webhook endpoint at Stripe was made or repaired");
                        }
                        Err(error) => {
                            let is_final = matches!(&error, Error::Provider(error) if error.nothing_was_done());
                            tracing::warn!(%error, project = %id, "The webhook endpoint at Stripe cannot be kept in order; the list of events is read instead");
                            if !is_final {
                                known.remove(&id);
                                continue;
                            }
                        }
                    }
                    // Read again, because creating an endpoint adds its secret.
                    let now = accounts.catalog().project(id).ok();
                    known.insert(id, now.and_then(|now| now.provider().cloned()));
                }
            }
        });
        Endpoints(task.abort_handle())
    }

    /// Makes a project's endpoint, or repairs it.
    /// # Errors
    /// [`Error::Provider`] where Stripe refuses or does not answer.
    pub async fn maintain_endpoint(
        &self,
        project: &ProjectCatalog,
    ) -> Result<EndpointOutcome, Error> {
        let id = project.project.id;
        let Some(Account::Stripe(account)) = project.provider().map(|p| &p.account) else {
            return Ok(EndpointOutcome::NotOurs);
        };
        if !self.place().public_url.starts_with("https://") {
            return Ok(EndpointOutcome::NotOurs);
        }
        let client = self.stripe_client(account)?;
        let url = self.webhook_url(id);
        let listed = client
            .webhook_endpoints()
            .await
            .map_err(payments_port::Error::from)?;
        let at_url = listed.iter().filter(|endpoint| endpoint.url == url);
        let (ours, others): (Vec<_>, Vec<_>) =
            at_url.partition(|endpoint| endpoint.metadata.project == Some(id));
        if ours.is_empty() && !others.is_empty() {
            return Ok(EndpointOutcome::NotOurs);
        }
        // Stripe shows a secret once: an endpoint without a stored secret is useless.
        let known = !account.webhook_secrets.is_empty();
        if let Some(endpoint) = ours.first().filter(|_| known) {
            if endpoint.is_whole() {
                return Ok(EndpointOutcome::Well);
            }
            let repaired = client.repair_webhook_endpoint(&endpoint.id).await;
            repaired.map_err(payments_port::Error::from)?;
            return Ok(EndpointOutcome::Repaired);
        }
        for endpoint in ours {
            let deleted = client.delete_webhook_endpoint(&endpoint.id).await;
            deleted.map_err(payments_port::Error::from)?;
        }
        let made = client.create_webhook_endpoint(id, &url).await;
        let secret = made.map_err(payments_port::Error::from)?.secret;
        let secret = secret.ok_or(Error::Defect(
            "a webhook endpoint was made without a secret",
        ))?;
        // Only for this account, which the project may have left.
        let epoch = project.epoch().number;
        let set = self.catalog().add_webhook_secret(id, epoch, secret.into());
        set.await.map_err(|error| {
            tracing::error!(%error, "A webhook endpoint's secret could not be stored; another endpoint will be made");
            Error::Wallet(actors::Error::Unavailable)
        })?;
        Ok(EndpointOutcome::Made)
    }

    /// Deletes a project's endpoint at an account that it left, if possible: Stripe would retry its refused webhooks
    /// for days.
    pub(super) fn delete_former_endpoint(&self, id: ProjectId, former: &Stripe) {
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

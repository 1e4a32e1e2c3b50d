//! What a service does besides answering: the rounds of payments, provider endpoints, backups, webhooks.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::app::AppState;

/// What a service does besides answering.
pub(super) struct Background {
    rounds: payments::Scheduler,
    endpoints: accounts::Endpoints,
    scheduled: Option<JoinHandle<()>>,
    deliveries: outbound::webhooks::Running,
    outstanding: JoinHandle<()>,
}

impl Background {
    pub(super) fn start(app: &AppState) -> Self {
        Self {
            rounds: app.payments.start(),
            endpoints: app.accounts.maintain_endpoints(),
            scheduled: app.backups.keep_schedule(),
            deliveries: app.webhooks.start(),
            outstanding: app.outstanding.keep_counting(),
        }
    }

    pub(super) async fn stop(self, app: &AppState, grace: Duration) {
        drop((self.rounds, self.endpoints));
        self.outstanding.abort();
        tokio::join!(self.deliveries.stop(grace), app.mailer.shut_down(grace));
        if let Some(scheduled) = self.scheduled {
            scheduled.abort();
        }
    }
}

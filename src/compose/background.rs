//! What a service does besides answering: the rounds of payments, provider endpoints, backups, webhooks.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::app::AppState;

/// What a service does besides answering.
pub(super) struct Background {
    rounds: Option<(payments::Scheduler, accounts::Endpoints)>,
    scheduled: Option<JoinHandle<()>>,
    deliveries: Option<outbound::webhooks::Running>,
    outstanding: JoinHandle<()>,
    key_uses: JoinHandle<()>,
}

impl Background {
    pub(super) fn start(app: &AppState) -> Self {
        let online = !app.config.offline;
        Self {
            rounds: online.then(|| (app.payments.start(), app.accounts.maintain_endpoints())),
            scheduled: online.then(|| app.backups.keep_schedule()).flatten(),
            deliveries: online.then(|| app.webhooks.start()),
            outstanding: app.outstanding.keep_counting(),
            key_uses: app.catalog.keep_writing_key_uses(),
        }
    }

    pub(super) async fn stop(self, app: &AppState, grace: Duration) {
        self.outstanding.abort();
        self.key_uses.abort();
        drop(self.rounds);
        let delivered = async {
            if let Some(deliveries) = self.deliveries {
                deliveries.stop(grace).await;
            }
        };
        tokio::join!(delivered, app.mailer.shut_down(grace));
        app.catalog.write_key_uses().await;
        if let Some(scheduled) = self.scheduled {
            scheduled.abort();
        }
    }
}

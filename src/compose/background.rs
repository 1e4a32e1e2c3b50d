//! What a service does besides answering: the rounds of payments, provider endpoints, backups, webhooks, mails.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::app::AppState;

/// What a service does besides answering.
pub(super) struct Background {
    rounds: Option<(payments::Scheduler, accounts::Endpoints)>,
    scheduled: Option<JoinHandle<()>>,
    deliveries: Option<outbound::webhooks::Running>,
    mails: Option<outbound::customer_mail::Sending>,
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
            mails: online.then(|| app.mails.start()),
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
        let mailed = async {
            if let Some(mails) = self.mails {
                mails.stop(grace).await;
            }
        };
        tokio::join!(delivered, mailed, app.mailer.shut_down(grace));
        app.catalog.write_key_uses().await;
        if let Some(scheduled) = self.scheduled {
            scheduled.abort();
        }
    }
}

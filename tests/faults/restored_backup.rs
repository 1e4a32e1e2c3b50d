//! A restored backup: purchases since then are found at the provider.

use crate::{
    crash_point,
    purchases::{COMPLETED, StripeServer, seconds},
};
use kit::{deadline, tool};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

impl StripeServer {
    /// Opens a checkout and pays it; only the provider's list has the event.
    async fn pays_without_webhook(&self, user: &str, event: &str) -> Value {
        let checkout = self.checkout(user).await.expect("it lives");
        let session = self.stripe.pay(checkout["checkoutId"].as_str().unwrap());
        self.stripe.list(event, COMPLETED, &session, seconds());
        session
    }

    /// Makes a backup of the running server.
    async fn back_up(&mut self) -> PathBuf {
        let data = self.server.data_dir();
        let to = data.with_file_name("backups");
        let mut command = self.server.launch_settings().command("backup", data);
        command.arg("--url").arg(self.server.instance().base());
        command.arg("--with-server-key").arg("--to").arg(&to);
        let output = tokio::task::spawn_blocking(move || tool::run(&mut command));
        output.await.unwrap();
        to
    }

    /// Continues from the backup, on an empty disk.
    async fn put_back(&mut self, backup: &Path) {
        let status = self.server.terminate().await;
        assert!(status.success(), "{status}");
        let data = self.server.data_dir().to_owned();
        fs::remove_dir_all(&data).unwrap();
        let mut command = self.server.launch_settings().command("restore", &data);
        tool::run(command.arg("--from").arg(backup));
        self.server.verify();
        self.server.start_again().await;
    }

    /// Waits until there are this many orders, all paid.
    async fn has_paid(&self, count: usize) {
        deadline::answered(
            &format!("{count} paid orders"),
            deadline::SOON,
            async || {
                let orders = self.orders().await;
                let paid = orders.iter().filter(|order| order["status"] == "paid");
                ((paid.count(), orders.len()) == (count, count)).then_some(())
            },
        )
        .await;
    }
}

#[tokio::test]
async fn purchases_after_a_backup_are_there_when_it_is_restored() {
    let mut shop = StripeServer::open().await;
    let first = shop.pays_without_webhook("ann", "evt_1").await;
    shop.has_paid(1).await;

    let backup = shop.back_up().await;

    // One by a wallet that is in the backup, one by a wallet that is not.
    shop.pays_without_webhook("ann", "evt_2").await;
    shop.pays_without_webhook("bea", "evt_3").await;
    shop.has_paid(3).await;

    shop.put_back(&backup).await;
    shop.has_paid(3).await;
    assert_eq!(shop.report(&first).await, Some(200), "reported again");
    for (user, balance) in [("ann", 200), ("bea", 100)] {
        assert_eq!(shop.server.balance(user).await.balance, balance, "{user}");
        let path = format!("/api/v1/wallets/external/ledger?externalUserId={user}");
        let ledger = shop.server.client().get(&path).await.expect(200);
        let entries = ledger["entries"].as_array().unwrap();
        assert!(entries.iter().all(|entry| entry["delta"] == 100), "{user}");
    }
    crash_point::close(shop.server).await;
}

#[tokio::test]
async fn a_refund_that_a_backup_does_not_know_is_not_made_again() {
    let mut shop = StripeServer::open().await;
    let order = shop.sell().await;
    let backup = shop.back_up().await;
    let (status, _) = shop.refund(&order, "k").await.expect("it lives");
    assert_eq!(status, 200);
    shop.put_back(&backup).await;
    let (status, refunded) = shop.refund(&order, "k").await.expect("it lives");
    assert_eq!((status, &refunded["refundedCents"]), (200, &json!(300)));
    assert_eq!(shop.refunds_asked(), 1, "it was found by its name");
    crash_point::close(shop.server).await;
}

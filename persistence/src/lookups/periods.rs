//! Subscriptions found without their wallets, by when their periods end: those whose next period was not reported are
//! found here, to ask the provider about them.

use domain::{
    id::{OrderSerial, ProjectId, WalletKey},
    text::SubscriptionId,
    wallet::{Change, Event},
};

use super::{
    orders::{hash, place_key},
    spec::{LookUpSpec, Put, joined, nothing_moves},
};

/// Key: project, the period's end, hash of the subscription. Value: wallet.
pub(super) const PERIODS: LookUpSpec = LookUpSpec {
    name: "periods",
    key: 40,
    value: 16,
    changes: periods,
    moves: nothing_moves,
};

fn periods(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    let Change::SubscriptionChanged(changed) = &event.change else {
        return;
    };
    let (project, subscription) = (changed.project, &changed.subscription);
    let place = |at| place_key(project, at, serial(project, &subscription.id));
    if let Some(former) = changed.former_end {
        put(place(former), None);
    }
    if subscription.is_current() {
        let end = subscription.current_period_end;
        put(place(end), Some(joined(&[&wallet.0])));
    }
}

fn serial(project: ProjectId, subscription: &SubscriptionId) -> OrderSerial {
    OrderSerial(u128::from_be_bytes(hash(
        b"subscription",
        project,
        subscription.as_str(),
    )))
}

//! What one event of a wallet puts into look-ups or takes out of them.

use domain::{
    id::{PublicSubscriptionId, WalletKey},
    wallet::{Change, Event, OrderKind, Owner, event::OrderPaid},
};

use super::{
    keys::{
        buyer_key, day_key, due_key, joined, period_key, rank_key, top_up_keys, user_key,
        wallet_order_key,
    },
    list_change::{ListChange, OrderChange},
    provider_ids::ProviderId,
    spec::{Key, LookUp, LookUpChange, Value},
};

/// Adds what an event of a wallet changes in all look-ups, and what it moved in lists.
pub(crate) fn of(
    wallet: &WalletKey,
    event: &Event,
    moved: Option<&ListChange>,
    into: &mut Vec<LookUpChange>,
) {
    of_event(wallet, event, into);
    if let Some(moved) = moved {
        of_orders(wallet, moved, into);
        of_wallets(wallet, moved, into);
    }
}

pub(crate) fn of_event(wallet: &WalletKey, event: &Event, into: &mut Vec<LookUpChange>) {
    let put = &mut |look_up, key, value| add(into, look_up, key, value);
    let owner = || -> Option<Value> { Some(wallet.0.into()) };
    match &event.change {
        Change::Created(created) => {
            put(LookUp::Ids, created.id.0.to_be_bytes().into(), owner());
            match &created.owner {
                Owner::Code { hash, .. } if hash.0 != wallet.0 => {
                    put(LookUp::Codes, hash.0.into(), owner());
                }
                Owner::External(user) => {
                    let key = user_key(created.project, user.as_str(), wallet);
                    put(LookUp::Users, key, nothing());
                }
                Owner::Code { .. } | Owner::Order => {}
            }
        }
        Change::CodeRotated { hash, former, .. } => {
            if let Some(former) = former {
                put(LookUp::Codes, former.0.into(), None);
                put(LookUp::FormerCodes, former.0.into(), owner());
            }
            if hash.0 != wallet.0 {
                put(LookUp::Codes, hash.0.into(), owner());
            }
        }
        Change::OrderPlaced(order) => {
            if let Some(checkout) = &order.checkout {
                let name = ProviderId::Checkout(checkout).hash(order.project);
                let serial = Some(order.order.0.to_be_bytes().into());
                put(LookUp::ProviderIds, joined(&[&name, &wallet.0]), serial);
            }
            let due = due_key(order.project, order.expires_at, order.order);
            put(LookUp::Due, due, owner());
            let placed = wallet_order_key(*wallet, event.at, order.order);
            put(LookUp::WalletOrders, placed, nothing());
        }
        Change::OrderPaid(paid) => {
            for name in names(paid) {
                let serial = Some(paid.order.0.to_be_bytes().into());
                put(LookUp::ProviderIds, joined(&[&name, &wallet.0]), serial);
            }
            let due = due_key(paid.project, paid.expires_at, paid.order);
            put(LookUp::Due, due, None);
            if let Some(email) = &paid.email {
                let address = buyer_key(paid.project, email);
                put(LookUp::Buyers, joined(&[&address, &wallet.0]), nothing());
            }
        }
        Change::OrderFailed(closed) | Change::OrderExpired(closed) => {
            let due = due_key(closed.project, closed.expires_at, closed.order);
            put(LookUp::Due, due, None);
        }
        Change::OrderErased(erased) => {
            if let Some(email) = &erased.email {
                let address = buyer_key(erased.project, email);
                put(LookUp::Buyers, joined(&[&address, &wallet.0]), None);
            }
        }
        Change::SubscriptionChanged(changed) => {
            let subscription = &changed.subscription;
            let ends = |at| period_key(changed.project, at, &subscription.id);
            if let Some(former) = changed.former_end {
                put(LookUp::Periods, ends(former), None);
            }
            if subscription.is_current() {
                let end = ends(subscription.current_period_end);
                put(LookUp::Periods, end, owner());
            }
        }
        _ => {}
    }
}

fn names(paid: &OrderPaid) -> impl Iterator<Item = [u8; 16]> {
    let project = paid.project;
    let names = [
        paid.payment.as_ref().map(ProviderId::Payment),
        paid.invoice.as_ref().map(ProviderId::Invoice),
        paid.customer.as_ref().map(ProviderId::Customer),
    ];
    let names = names.into_iter().flatten().map(move |it| it.hash(project));
    let subscription = paid.subscription.as_ref().into_iter().flat_map(move |id| {
        let public = PublicSubscriptionId::of(project, id);
        let both = [
            ProviderId::Subscription(id),
            ProviderId::PublicSubscription(public),
        ];
        both.map(|name| match paid.kind {
            OrderKind::Checkout | OrderKind::TopUp => Some(name.hash(project)),
            OrderKind::Renewal | OrderKind::Switch => name.billed(project),
        })
    });
    names.chain(subscription.flatten())
}

/// Adds what an event moved in lists of orders and of top-ups that are due. These have to show it before it is applied; lists of wallets would make
/// busy wallets pay for that.
pub(crate) fn of_orders(wallet: &WalletKey, moved: &ListChange, into: &mut Vec<LookUpChange>) {
    if let Some((before, now)) = moved.top_up {
        for (place, value) in [(before, None), (now, nothing())] {
            for key in top_up_keys(moved.project, place, wallet) {
                add(into, LookUp::TopUps, key, value.clone());
            }
        }
    }
    let Some(OrderChange {
        serial,
        before,
        after,
    }) = &moved.order
    else {
        return;
    };
    if let Some(before) = before {
        before.each_key(moved.project, *serial, &mut |key| {
            add(into, LookUp::Orders, key, None);
        });
    }
    if let Some(after) = after {
        let value = after.summary.write(wallet);
        after.each_key(moved.project, *serial, &mut |key| {
            add(into, LookUp::Orders, key, Some(value.clone()));
        });
    }
}

fn of_wallets(wallet: &WalletKey, moved: &ListChange, into: &mut Vec<LookUpChange>) {
    if let Some((before, now)) = moved.day {
        for (day, value) in [(before, None), (now, nothing())] {
            if let Some(day) = day {
                let key = day_key(moved.project, day, wallet);
                add(into, LookUp::LastUsed, key, value);
            }
        }
    }
    for (product, before, now) in &moved.ranks {
        for (rank, value) in [(*before, None), (Some(*now), nothing())] {
            if let Some(rank) = rank {
                let key = rank_key(*product, rank, wallet);
                add(into, LookUp::Balances, key, value);
            }
        }
    }
}

fn add(into: &mut Vec<LookUpChange>, look_up: LookUp, key: Key, value: Option<Value>) {
    into.push(LookUpChange {
        look_up,
        key,
        value,
    });
}

/// The value of an entry whose key says everything.
fn nothing() -> Option<Value> {
    Some(Box::default())
}

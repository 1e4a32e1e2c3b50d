//! Orders found without their wallets. For now by looking at every stored wallet.

use domain::{
    id::{OrderId, OrderSerial, ProjectId, WalletKey},
    text::{CheckoutId, Email},
    time::Timestamp,
    wallet::{OrderStatus, Wallet},
};

use super::{
    store::{Store, io},
    wallet_record::WalletRecord,
};
use crate::contract::{Error, OrderPlace};

fn wallets(store: &Store, project: ProjectId) -> Result<Vec<Wallet>, Error> {
    let mut all = Vec::new();
    for key in store.wallets.iter().keys() {
        let Some(key) = key
            .map_err(io)?
            .first_chunk::<16>()
            .map(|key| WalletKey(*key))
        else {
            continue;
        };
        let record = WalletRecord::read(store, &key)?;
        let wallet = record
            .map(|record| record.wallet(store, &key))
            .transpose()?;
        all.extend(wallet.flatten().filter(|wallet| wallet.project == project));
    }
    Ok(all)
}

pub(super) fn orders(
    store: &Store,
    project: ProjectId,
    before: Option<(Timestamp, OrderSerial)>,
    limit: usize,
) -> Result<Vec<OrderPlace>, Error> {
    let mut places = Vec::new();
    for wallet in wallets(store, project)? {
        places.extend(wallet.orders().map(|(serial, order)| OrderPlace {
            at: order.created_at,
            order: OrderId {
                serial,
                wallet: wallet.key,
            },
        }));
    }
    places.retain(|place| before.is_none_or(|before| place.place() < before));
    places.sort_unstable_by_key(|place| std::cmp::Reverse(place.place()));
    places.truncate(limit);
    Ok(places)
}

pub(super) fn checkout(
    store: &Store,
    project: ProjectId,
    checkout: &CheckoutId,
) -> Result<Option<OrderId>, Error> {
    for wallet in wallets(store, project)? {
        let mut orders = wallet.orders();
        if let Some((serial, _)) =
            orders.find(|(_, order)| order.checkout.as_ref() == Some(checkout))
        {
            return Ok(Some(OrderId {
                serial,
                wallet: wallet.key,
            }));
        }
    }
    Ok(None)
}

pub(super) fn due(
    store: &Store,
    project: ProjectId,
    after: Option<(Timestamp, OrderSerial)>,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<OrderPlace>, Error> {
    let mut places = Vec::new();
    for wallet in wallets(store, project)? {
        let pending = wallet
            .orders()
            .filter(|(_, order)| order.status() == OrderStatus::Pending);
        places.extend(pending.map(|(serial, order)| OrderPlace {
            at: order.expires_at,
            order: OrderId {
                serial,
                wallet: wallet.key,
            },
        }));
    }
    places.retain(|place| after.is_none_or(|after| place.place() > after) && place.at <= until);
    places.sort_unstable_by_key(OrderPlace::place);
    places.truncate(limit);
    Ok(places)
}

pub(super) fn buyers(
    store: &Store,
    project: ProjectId,
    email: &Email,
    limit: usize,
) -> Result<Vec<WalletKey>, Error> {
    let email = email.as_str().to_lowercase();
    let same = |other: &Email| other.as_str().to_lowercase() == email;
    let bought = wallets(store, project)?
        .into_iter()
        .filter(|wallet| wallet.paid_emails().any(same));
    Ok(bought.map(|wallet| wallet.key).take(limit).collect())
}

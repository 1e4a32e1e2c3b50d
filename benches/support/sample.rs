//! Sample data that all benchmarks use.
#![allow(dead_code, reason = "each benchmark uses a part")]

use std::time::Duration;

use criterion::Criterion;
use domain::{
    Amount, Timestamp,
    history::{Entry, Reason, Record, RecordContent},
    id::{ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, IdempotencyKey, Meta},
    wallet::{
        Change, Created, Decision, Event, Owner, ProductRef, Wallet, credit::Credit,
        deduct::Deduct, shortfall::OnShortfall,
    },
};
use persistence::LogEvent;

pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000);
pub(crate) const PRODUCT: ProductId = ProductId(1);

/// Criterion with short samples: enough to see a trend.
pub(crate) fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
}

pub(crate) fn key(number: u64) -> IdempotencyKey {
    IdempotencyKey::new(format!("k0000000000000_0_000_{number:010x}")).unwrap()
}

pub(crate) fn user(number: u64) -> ExternalUserId {
    ExternalUserId::new(format!("user_{number:07}")).unwrap()
}

pub(crate) fn deduct(number: u64) -> Deduct {
    let meta = Some(Meta::new(r#"{"feature":"image"}"#).unwrap());
    let amount = Amount::new(1).unwrap();
    Deduct {
        product: ProductRef::Named(PRODUCT),
        cost: amount.into(),
        key: key(number),
        meta,
        on_shortfall: OnShortfall::Refuse,
        by: domain::limit::Spender::default(),
    }
}

pub(crate) fn credit(number: u64) -> Credit {
    let amount = Amount::new(1_000_000_000_000).unwrap();
    Credit {
        product: PRODUCT,
        amount,
        expires_at: None,
        key: key(number),
        meta: None,
    }
}

pub(crate) fn created(number: u64) -> Created {
    let (id, project) = (WalletId(u128::from(number)), ProjectId(1));
    Created {
        id,
        project,
        owner: Owner::External(user(number)),
    }
}

/// A wallet with enough credits to deduct from.
pub(crate) fn funded_wallet() -> Wallet {
    let mut wallet = Wallet::born(WalletKey([1; 16]), NOW, created(1));
    if let Decision::Accept(change) = wallet.credit(credit(0), None, NOW).unwrap() {
        wallet.apply(Event { at: NOW, change }).unwrap();
    }
    wallet
}

/// A deduction as the log stores it.
pub(crate) fn log_event(wallet: WalletKey, version: u64) -> LogEvent {
    let Deduct { key, meta, .. } = deduct(version);
    let entry = Entry {
        product: PRODUCT,
        delta: -1,
        balance_after: 1_000_000,
        reason: Reason::Deduction,
        order: None,
        key: Some(key.clone()),
        meta: meta.clone(),
        expires_at: None,
        rate: None,
        counted: None,
    };
    let change = Change::Deducted {
        product: PRODUCT,
        amount: 1,
        key,
        meta,
        rate: None,
        counted: None,
    };
    LogEvent::Wallet {
        key: wallet,
        version,
        event: Event { at: NOW, change },
        record: Some(Record {
            seq: version,
            at: NOW,
            fact: RecordContent::Entry(entry),
        }),
        moved: None,
    }
}

//! Events for the examples.

use domain::{
    Amount, Timestamp,
    id::{ProductId, ProjectId, WalletId, WalletKey},
    text::{ExternalUserId, IdempotencyKey},
    wallet::{Change, Created, Event, Owner, Wallet},
};
use persistence::{Append, ListChange, LogEvent};

pub(crate) fn wallet_key(number: u64) -> WalletKey {
    WalletKey(spread(number).to_be_bytes())
}

fn spread(number: u64) -> u128 {
    u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835)
}

/// A wallet's next event, applied.
pub(crate) fn next(number: u64, wallet: &mut Option<Wallet>, sent: u64) -> Option<Append> {
    let id = wallet_key(number);
    let text = format!("{sent:08x}-9c4e-4c52-8a5e-{number:012x}");
    let change = match wallet {
        None => Change::Created(Box::new(Created {
            id: WalletId(spread(number)),
            project: ProjectId(1),
            owner: Owner::External(ExternalUserId::new("user").ok()?),
        })),
        Some(_) => Change::Granted {
            product: ProductId(0x0190_1234_5678_7abc_8def_0123_4567_89ab),
            amount: Amount::new(1)?,
            expires_at: None,
            key: IdempotencyKey::new(text).ok()?,
            meta: None,
        },
    };
    let event = Event {
        at: Timestamp(1_760_000_000_000),
        change,
    };
    let (now, applied) = Wallet::replay(wallet, id, event.clone()).ok()?;
    let (version, moved) = (now.version, ListChange::of(now, &applied));
    Append::one(&LogEvent::Wallet {
        key: id,
        version,
        event,
        record: applied.record,
        moved,
    })
    .ok()
}

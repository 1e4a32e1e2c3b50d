//! What each command does, and which refusal wins. Commands go through [`driver::Driver`], which takes the place of
//! the wallet's actor.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "small numbers made up by tests; an overflow panics, which fails the test"
)]

mod bill;
mod burn;
mod converge;
mod credit;
mod crowd;
mod cycles;
mod debt;
mod deduct;
mod dispute;
mod draw;
mod driver;
mod erase;
mod expiry;
mod feature;
mod free_grant;
mod freeze;
mod hold;
mod instruction;
mod leave;
mod limit;
mod limits;
mod loss;
mod many_orders;
mod metered;
mod order;
mod pay;
mod project_events;
mod property;
mod prorations;
mod refund;
mod refusal;
mod renewal;
mod replay;
mod session;
mod shop;
mod stored;
mod subscription;
mod switch;
mod top_up;

use super::{
    ProductRef,
    credit::Credit,
    deduct::Deduct,
    hold::{MAX_OPEN_HOLDS, PlaceHold},
    shortfall::OnShortfall,
};
use crate::{
    Amount, Timestamp,
    id::{HoldId, ProductId, WalletKey},
    limit::Spender,
    text::IdempotencyKey,
};

const KEY: WalletKey = WalletKey([9; 16]);
const GOLD: ProductId = ProductId(1);
const TIN: ProductId = ProductId(2);

fn credits(amount: i64) -> Amount {
    Amount::new(amount).unwrap()
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::new(text).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn hold_id(serial: u128) -> HoldId {
    HoldId {
        serial,
        wallet: KEY,
    }
}

fn deduct(name: &str, amount: i64) -> Deduct {
    Deduct {
        product: ProductRef::Named(GOLD),
        cost: credits(amount).into(),
        key: key(name),
        meta: None,
        on_shortfall: OnShortfall::Refuse,
        by: Spender::default(),
    }
}

fn credit(name: &str, amount: i64, expires_at: Option<Timestamp>) -> Credit {
    Credit {
        product: GOLD,
        amount: credits(amount),
        expires_at,
        key: key(name),
        meta: None,
    }
}

/// A hold whose key is its serial number.
fn hold(serial: u128, amount: i64, expires_at: Timestamp) -> PlaceHold {
    PlaceHold {
        id: hold_id(serial),
        product: ProductRef::Named(GOLD),
        cost: credits(amount).into(),
        expires_at,
        key: key(&serial.to_string()),
        meta: None,
        publishable: false,
        max_open: MAX_OPEN_HOLDS,
        max_overrun: 0,
        by: Spender::default(),
    }
}

//! Random commands and steps of time. Instants lie on a coarse grid, so that they often coincide with each other
//! and with midnight.

use proptest::prelude::*;

use super::{
    instructions::{InstructionCommand, instruction_command},
    purchase::{RandomPurchase, purchase},
};
use crate::{time::Period, wallet::shortfall::OnShortfall};

/// Milliseconds between two instants of the grid: a quarter of a day.
pub(super) const QUARTER: i64 = 6 * 3_600_000;

/// Products by index, holds by the order in which they were tried, times in quarters of a day.
#[derive(Debug, Clone)]
pub(super) enum Command {
    Credit {
        product: usize,
        coins: i64,
        lifetime: Option<i64>,
        key: u16,
    },
    Deduct {
        product: Option<usize>,
        coins: i64,
        key: u16,
        short: OnShortfall,
    },
    Place {
        product: Option<usize>,
        coins: i64,
        lifetime: i64,
        key: u16,
        overrun: i64,
    },
    Settle {
        hold: u128,
        coins: i64,
        short: OnShortfall,
    },
    Draw {
        hold: u128,
        coins: i64,
        key: u16,
    },
    Forgive {
        product: usize,
        coins: Option<i64>,
        key: u16,
    },
    /// A limit of debt: the wallet's own, or the product's.
    Limit {
        product: usize,
        coins: Option<i64>,
        own: bool,
    },
    Release {
        hold: u128,
    },
    Extend {
        hold: u128,
        lifetime: i64,
    },
    Feature {
        slug: u8,
        grant: bool,
    },
    Freeze {
        frozen: bool,
    },
    /// Of the deduction that many deductions ago.
    Reverse {
        back: usize,
        coins: Option<i64>,
        key: u16,
    },
    Wait {
        quarters: i64,
    },
    Offer {
        product: usize,
        free: Option<(i64, Period)>,
    },
    AddProduct,
    Buy(RandomPurchase),
    Instruct(InstructionCommand),
    /// A retry of the command that many commands ago.
    Again {
        back: usize,
    },
}

pub(super) fn command(most: i64) -> impl Strategy<Value = Command> {
    let product = 0..3_usize;
    let named = prop_oneof![3 => (0..3_usize).prop_map(Some), 2 => Just(None)];
    let coins = 1..=most;
    // Few keys, so that they are used again; a few amounts, so that it is often the same.
    let key = 0..8_u16;
    let hold = 0..12_u128;
    let period = prop::sample::select(vec![
        Period::Once,
        Period::Daily,
        Period::Weekly,
        Period::Monthly,
        Period::Yearly,
    ]);
    let free = proptest::option::weighted(0.8, (1..=most, period));
    let quarters = prop_oneof![
        6 => 0..6_i64,
        3 => 6..40_i64,
        1 => 40..1600_i64,
        2 => -8..0_i64,
    ];
    let short = shortfall();
    let overrun = prop_oneof![2 => Just(0), 1 => 0..=most];
    let credit_key = 0..30_u16;
    // A grant may already be past its end when it is made.
    let lifetime = proptest::option::weighted(0.7, -1..16_i64);
    prop_oneof![
        5 => (product.clone(), coins.clone(), lifetime, credit_key).prop_map(
            |(product, coins, lifetime, key)| Command::Credit { product, coins, lifetime, key }
        ),
        4 => (named.clone(), coins.clone(), key.clone(), short.clone())
            .prop_map(|(product, coins, key, short)| Command::Deduct { product, coins, key, short }),
        5 => (named, coins.clone(), 0..12_i64, key.clone(), overrun).prop_map(
            |(product, coins, lifetime, key, overrun)| {
                Command::Place { product, coins, lifetime, key, overrun }
            }
        ),
        4 => (hold.clone(), 0..=most, short)
            .prop_map(|(hold, coins, short)| Command::Settle { hold, coins, short }),
        4 => (hold.clone(), coins.clone(), key.clone())
            .prop_map(|(hold, coins, key)| Command::Draw { hold, coins, key }),
        4 => reversal(most),
        2 => (product.clone(), proptest::option::of(coins), key)
            .prop_map(|(product, coins, key)| Command::Forgive { product, coins, key }),
        2 => (product.clone(), proptest::option::weighted(0.8, 0..=most), any::<bool>())
            .prop_map(|(product, coins, own)| Command::Limit { product, coins, own }),
        2 => hold.clone().prop_map(|hold| Command::Release { hold }),
        1 => (hold, 0..16_i64).prop_map(|(hold, lifetime)| Command::Extend { hold, lifetime }),
        1 => (0..3_u8, any::<bool>()).prop_map(|(slug, grant)| Command::Feature { slug, grant }),
        2 => proptest::bool::weighted(0.3).prop_map(|frozen| Command::Freeze { frozen }),
        6 => quarters.prop_map(|quarters| Command::Wait { quarters }),
        1 => (product, free).prop_map(|(product, free)| Command::Offer { product, free }),
        1 => Just(Command::AddProduct),
        24 => purchase(most).prop_map(Command::Buy),
        7 => instruction_command().prop_map(Command::Instruct),
        3 => (1..8_usize).prop_map(|back| Command::Again { back }),
    ]
}

fn reversal(most: i64) -> impl Strategy<Value = Command> {
    let coins = proptest::option::weighted(0.7, 1..=most);
    (1..8_usize, coins, 0..200_u16).prop_map(|(back, coins, key)| Command::Reverse {
        back,
        coins,
        key,
    })
}

fn shortfall() -> impl Strategy<Value = OnShortfall> + Clone {
    let owe = OnShortfall::Owe;
    prop::sample::select(vec![OnShortfall::Refuse, OnShortfall::Drain, owe, owe])
}

/// Commands about one product's credits, of which there are few: holds that last, many draws, debts.
pub(super) fn of_debts() -> impl Strategy<Value = Command> {
    let (product, named) = (0, Some(0));
    let (coins, key, hold) = (1..=6_i64, 0..200_u16, 0..12_u128);
    prop_oneof![
        4 => (coins.clone(), key.clone()).prop_map(move |(coins, key)| {
            Command::Credit { product, coins, lifetime: None, key }
        }),
        4 => (coins.clone(), key.clone(), shortfall()).prop_map(move |(coins, key, short)| {
            Command::Deduct { product: named, coins, key, short }
        }),
        6 => (coins.clone(), 1..40_i64, key.clone(), 0..4_i64).prop_map(
            move |(coins, lifetime, key, overrun)| {
                Command::Place { product: named, coins, lifetime, key, overrun }
            }
        ),
        5 => (hold.clone(), 0..=9_i64, shortfall())
            .prop_map(|(hold, coins, short)| Command::Settle { hold, coins, short }),
        1 => hold.clone().prop_map(|hold| Command::Release { hold }),
        12 => (hold, 1..=4_i64, key.clone())
            .prop_map(|(hold, coins, key)| Command::Draw { hold, coins, key }),
        4 => reversal(4),
        1 => (proptest::option::of(coins), key)
            .prop_map(move |(coins, key)| Command::Forgive { product, coins, key }),
        1 => (proptest::option::weighted(0.8, 0..=12_i64), any::<bool>())
            .prop_map(move |(coins, own)| Command::Limit { product, coins, own }),
        1 => proptest::bool::weighted(0.3).prop_map(|frozen| Command::Freeze { frozen }),
        2 => (0..6_i64).prop_map(|quarters| Command::Wait { quarters }),
        2 => (1..8_usize).prop_map(|back| Command::Again { back }),
    ]
}

/// Commands about one product's lots: credits and orders of many ends, refunds in between, holds that end late, days
/// that pass at once.
pub(super) fn of_lots() -> impl Strategy<Value = Command> {
    let (product, named) = (0, Some(0));
    let (coins, hold) = (1..=9_i64, 0..24_u128);
    // Few orders, so that most reports are about one that there is.
    let order = 0..30_u128;
    let days = proptest::option::weighted(0.8, 1..12_i64);
    let away = prop_oneof![Just(0), 1..=9_i64];
    prop_oneof![
        4 => (coins.clone(), proptest::option::weighted(0.8, 1..30_i64), any::<u16>()).prop_map(
            move |(coins, lifetime, key)| Command::Credit { product, coins, lifetime, key }
        ),
        6 => (order.clone(), coins.clone(), days).prop_map(move |(order, coins, days)| {
            Command::Buy(RandomPurchase::Order { order, product, coins, days, feature: false })
        }),
        8 => (order.clone(), coins.clone())
            .prop_map(|(order, cents)| Command::Buy(RandomPurchase::Pay { order, cents })),
        5 => (order, away.clone(), away).prop_map(|(order, refunded, disputed)| {
            Command::Buy(RandomPurchase::Reverse { order, refunded, disputed, age: 0 })
        }),
        8 => (coins.clone(), any::<u16>(), shortfall()).prop_map(move |(coins, key, short)| {
            Command::Deduct { product: named, coins, key, short }
        }),
        6 => (coins.clone(), 1..60_i64, any::<u16>(), 0..3_i64).prop_map(
            move |(coins, lifetime, key, overrun)| {
                Command::Place { product: named, coins, lifetime, key, overrun }
            }
        ),
        4 => (hold.clone(), coins.clone(), any::<u16>())
            .prop_map(|(hold, coins, key)| Command::Draw { hold, coins, key }),
        5 => (hold.clone(), 0..=12_i64, shortfall())
            .prop_map(|(hold, coins, short)| Command::Settle { hold, coins, short }),
        2 => hold.prop_map(|hold| Command::Release { hold }),
        3 => reversal(9),
        1 => (proptest::option::of(coins), any::<u16>())
            .prop_map(move |(coins, key)| Command::Forgive { product, coins, key }),
        1 => (proptest::option::weighted(0.8, 0..=12_i64), any::<bool>())
            .prop_map(move |(coins, own)| Command::Limit { product, coins, own }),
        6 => prop_oneof![8 => 0..16_i64, 1 => -4..0_i64, 1 => 16..80_i64]
            .prop_map(|quarters| Command::Wait { quarters }),
    ]
}

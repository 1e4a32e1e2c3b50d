//! A wallet: balances per product in lots, holds, manual features, purchases that can still change. Commands are
//! decided in `decide`, one file each, from `state`; only `apply` changes anything.
#![warn(clippy::arithmetic_side_effects)]

mod apply;
mod decide;
pub(crate) mod state;
#[cfg(test)]
mod tests;

pub use apply::{AccountCredits, Applied, TopUpEvent};
pub use decide::{
    Coverage, Decision, FreeGrantRule, ProductRef, UseRules, bill, catch_up, credit, debt_limit,
    deduct, draw, feature, forgive, freeze, hold,
    instruction::InstructionDecision,
    lapse, limits, loss, pay, place_order, purchase, refund, reverse, reverse_deduction, settle,
    shortfall,
    subscription_instruction::{SubscriptionAction, SubscriptionInstruction},
    switch, top_up, update_subscription,
};
pub use state::{
    Account, Archive, ArchivedOrder, Change, Charged, Corrupt, Created, Currency, CycleTag, Debt,
    DeductionReversed, Dispute, DisputeReason, Event, Freeze, Hold, Instruction, InstructionRecord,
    InstructionStage, LastFreeGrant, LastTier, Lot, LotPrice, NamedSubscription, NextExpiry,
    OpenInvoice, Order, OrderKind, OrderStatus, Owner, PendingRefunds, ProviderKind, Receipt,
    RefundPart, Reversal, Stage, Step, Subscription, SubscriptionOver, SubscriptionStatus,
    TakenLot, TierSwitch, Wallet, account, archive, dispute, event, instruction, order,
    outstanding, subscription, taken,
};

//! What callers see of a ledger.

use actors::{LedgerLine, LedgerPage};
use catalog::ProjectCatalog;
use domain::history;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::{Instant, wallet::credit_unit};
use crate::{
    cursor::LedgerCursor,
    field::{KeyText, MetaObject, ReasonText},
};

/// One change of a balance. An entry never changes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LedgerEntry<'a> {
    /// The entry's identifier: `led_…`
    id: String,
    /// Credits added (positive) or removed (negative).
    delta: i64,
    #[schema(value_type = ReasonText)]
    reason: history::Reason,
    product_id: String,
    credit_unit: Option<String>,
    /// The sum of all deltas of this product up to and with this one: credits that can be spent and
    /// those that are held, less those that are owed.
    balance_after: i64,
    created_at: Instant,
    /// The order behind the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    /// The deduction that the credits were taken by, of a reversal by hand: `led_…`
    #[serde(skip_serializing_if = "Option::is_none")]
    reverses: Option<String>,
    /// The key that the caller gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<KeyText>)]
    idempotency_key: Option<&'a str>,
    /// The caller's note.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<MetaObject>)]
    meta: Option<Box<RawValue>>,
    /// When the granted credits expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Instant>,
}

impl<'a> LedgerEntry<'a> {
    pub(super) fn of(line: &'a LedgerLine, project: &ProjectCatalog) -> Self {
        let entry = &line.entry;
        let raw = |text: &str| RawValue::from_string(text.to_owned()).ok();
        Self {
            id: line.id.to_string(),
            delta: entry.delta,
            reason: entry.reason,
            product_id: entry.product.to_string(),
            credit_unit: credit_unit(project, entry.product),
            balance_after: entry.balance_after,
            created_at: Instant(line.at),
            order_id: line.order.map(|order| order.to_string()),
            reverses: line.reverses.map(|id| id.to_string()),
            idempotency_key: entry.key.as_ref().map(|key| key.as_str()),
            meta: entry.meta.as_ref().and_then(|meta| raw(meta.as_str())),
            expires_at: entry.expires_at.map(Instant),
        }
    }
}

/// A page of a ledger, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ledger<'a> {
    entries: Vec<LedgerEntry<'a>>,
    /// Pass as `cursor` for the next page; null on the last one.
    next_cursor: Option<String>,
}

impl<'a> Ledger<'a> {
    /// A page as the wallet answered it.
    pub fn of(page: &'a LedgerPage, project: &ProjectCatalog) -> Self {
        Self {
            entries: page
                .lines
                .iter()
                .map(|line| LedgerEntry::of(line, project))
                .collect(),
            next_cursor: page.next.map(|before| LedgerCursor(before).to_string()),
        }
    }
}

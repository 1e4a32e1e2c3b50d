//! `POST /deductions/batch`: many deductions in one request, each applied or refused on its own. A
//! malformed item refuses the whole request.

use actors::Address;
use api_types::ErrorBody;
use axum::{extract::State, response::Response};
use catalog::ProjectCatalog;
use domain::{text::IdempotencyKey, wallet::deduct::Deduct};
use edge::{SecretKey, body::BatchBody};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::{
    Error,
    field::{CodeText, Object, ProductName, UserText},
    respond,
    view::{self, Deducted},
};

use crate::{
    api::{App, deduct::Deduction},
    http::{
        idempotency,
        subject::{NamedWallet, WalletChoice, product_or_only},
    },
};

const MAX_ITEMS: usize = 1000;
/// Bytes of a result as JSON, roughly.
const RESULT_BYTES: usize = 48;

/// Deductions, 1 to 1,000.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeductBatch)]
pub(super) struct Request {
    #[schema(value_type = Vec<ItemSchema>, min_items = 1, max_items = 1000)]
    items: Vec<Object<Item>>,
}

type Item = Deduction<Option<ProductName>, Option<UserText>, Option<CodeText>>;

/// The schema of an item: one of two fields names the wallet.
type ItemSchema = WalletChoice<Item>;

/// The result of each item, in their order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeductBatchResults)]
pub(super) struct Results {
    results: Vec<ItemResult>,
}

/// The result of an item: either a deduction or its refusal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = DeductBatchResult)]
enum ItemResult {
    /// Done, now or before.
    Done(Deducted),
    /// Refused; nothing changed.
    Refused { error: Box<ErrorBody> },
}

pub(super) async fn deduct_batch(
    State(app): State<App>,
    key: SecretKey,
    body: BatchBody,
) -> Result<Response, Error> {
    by_list(&app, &key, &body).await
}

/// A batch, for the router and for the fast path.
pub(crate) async fn by_list(
    app: &App,
    key: &SecretKey,
    body: &BatchBody,
) -> Result<Response, Error> {
    let Request { items } = body.parse()?;
    key.require_not_archived()?;
    if !(1..=MAX_ITEMS).contains(&items.len()) {
        return Err(Error::invalid("items", "items takes 1 to 1000 items."));
    }
    let CheckedItems {
        sent,
        costs,
        refused,
    } = read(items, key)?;
    let outcomes = app.handle.deduct_batch(&key.scope, sent).await;
    let outcomes = outcomes.map_err(|error| Error::from_wallet(error, key))?;
    let outcomes = outcomes.into_iter().zip(costs);
    let results = results(refused, outcomes, |(outcome, (cost, is_reported))| {
        app.edge.metrics.deducted(outcome.as_ref());
        outcome
            .map(|applied| view::deducted(&applied, cost, is_reported))
            .map_err(|error| Error::from_wallet(error, key))
    });
    let bytes = results.len().saturating_mul(RESULT_BYTES);
    let results = results.into_iter().map(ItemResult::of).collect();
    respond::json_with_capacity(&Results { results }, bytes)
}

impl ItemResult {
    fn of(outcome: Result<Deducted, Error>) -> Self {
        match outcome {
            Ok(deducted) => Self::Done(deducted),
            Err(error) => Self::Refused {
                error: Box::new(error.body(None)),
            },
        }
    }
}

/// Items that were checked.
struct CheckedItems {
    /// Deductions for the wallets to decide.
    sent: Vec<(Address, Deduct)>,
    /// What each of them costs, and whether it says what to do with a shortfall.
    costs: Vec<(i64, bool)>,
    /// Items that name an unknown wallet or product, by their index in the list.
    refused: Vec<(usize, Error)>,
}

/// Checks every item. An error refuses the batch.
fn read(items: Vec<Object<Item>>, project: &ProjectCatalog) -> Result<CheckedItems, Error> {
    let mut sent = Vec::with_capacity(items.len());
    let mut costs = Vec::with_capacity(items.len());
    let mut refused = Vec::new();
    for (place, Object(mut item)) in items.into_iter().enumerate() {
        let (wallet, key) =
            names(&mut item).map_err(|error| error.within(&format!("items[{place}]")))?;
        let cost = (item.amount.0.get(), item.on_shortfall.is_some());
        let product = product_or_only(item.product_id.as_ref(), project);
        let command = product.map(|product| item.command(key, product).0);
        match command.and_then(|command| Ok((wallet.into_address()?, command))) {
            Ok(command) => {
                sent.push(command);
                costs.push(cost);
            }
            Err(error) => refused.push((place, error)),
        }
    }
    Ok(CheckedItems {
        sent,
        costs,
        refused,
    })
}

/// One result for each item, in their order: the items that were refused here, and the wallets'
/// results.
fn results<T>(
    refused: Vec<(usize, Error)>,
    outcomes: impl ExactSizeIterator<Item = T>,
    result: impl Fn(T) -> Result<Deducted, Error>,
) -> Vec<Result<Deducted, Error>> {
    let mut results = Vec::with_capacity(refused.len().saturating_add(outcomes.len()));
    let mut refused = refused.into_iter().peekable();
    for outcome in outcomes {
        while let Some((_, error)) = refused.next_if(|(place, _)| *place == results.len()) {
            results.push(Err(error));
        }
        results.push(result(outcome));
    }
    results.extend(refused.map(|(_, error)| Err(error)));
    results
}

/// The wallet and the key, which every item has to name.
fn names(item: &mut Item) -> Result<(NamedWallet, IdempotencyKey), Error> {
    let wallet = NamedWallet::of(item.external_user_id.take(), item.code.take())?;
    let wallet = wallet.ok_or_else(|| Error::missing("externalUserId"))?;
    let key = idempotency::required(item.idempotency_key.take())?;
    Ok((wallet, key))
}

//! `POST /deductions/batch`: many deductions in one request, each applied or refused on its own. An
//! ill-shaped item refuses them all.

use actors::Address;
use axum::{extract::State, response::Response};
use domain::{text::IdempotencyKey, wallet::deduct::Deduct as Command};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::deduct::Deduct;
use crate::{
    catalog::ProjectCatalog,
    http::{
        Error, Object, SecretKey,
        body::BatchBody,
        error::ErrorBody,
        idempotency, respond,
        subject::{Named, OfEither},
        view::Deducted,
    },
    state::App,
};

const MAX_ITEMS: usize = 1000;
/// Bytes of a result, roughly.
const RESULT_BYTES: usize = 48;

/// Deductions, 1 to 1,000.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeductBatch)]
struct Request {
    #[schema(value_type = Vec<Item>, min_items = 1, max_items = 1000)]
    items: Vec<Object<Item>>,
}

/// A deduction; its key is in it.
type Item = OfEither<Deduct>;

/// What came of each item, in their order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeductBatchResults)]
pub(super) struct Results<'a> {
    #[schema(value_type = Vec<ItemResult>)]
    results: Vec<ItemResult<'a>>,
}

/// What came of an item: either a deduction or its refusal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = DeductBatchResult)]
pub(super) enum ItemResult<'a> {
    /// Done, now or before.
    Done(Deducted),
    /// Refused; nothing changed.
    Refused {
        #[schema(value_type = ErrorBody)]
        error: ErrorBody<'a>,
    },
}

/// Deduct from many wallets
///
/// Each item is applied or refused on its own, those of one wallet in list order, and all that were
/// applied are durable before the answer. An ill-shaped item refuses the whole batch, with
/// `param` naming it (`items[3].amount`).
#[utoipa::path(
    post,
    path = "/api/v1/deductions/batch",
    tag = "Wallets of both kinds",
    request_body = Request,
    responses((status = 200, description = "What came of each", body = Results)),
    security(("secret" = [])),
    extensions(("x-errors" = json!(["conflicting_wallet"]))),
)]
pub(super) async fn deduct_batch(
    State(app): State<App>,
    key: SecretKey,
    body: BatchBody,
) -> Result<Response, Error> {
    by_list(&app, &key, &body).await
}

/// The same for whoever knows the route already.
pub(crate) async fn by_list(
    app: &App,
    key: &SecretKey,
    body: &BatchBody,
) -> Result<Response, Error> {
    let Request { items } = body.parse()?;
    if !(1..=MAX_ITEMS).contains(&items.len()) {
        return Err(Error::invalid("items", "items has 1 to 1000 items."));
    }
    let Read { sent, refused } = read(items, key)?;
    let outcomes = app.handle.deduct_batch(&key.scope, sent).await;
    let outcomes = outcomes.map_err(|error| Error::from_wallet(error, key))?;
    let results = results(refused, outcomes.into_iter(), |outcome| {
        app.metrics.deducted(outcome.as_ref());
        outcome
            .map(Deducted::from)
            .map_err(|error| Error::from_wallet(error, key))
    });
    let bytes = results.len().saturating_mul(RESULT_BYTES);
    let results = results.iter().map(ItemResult::of).collect();
    respond::json_with_capacity(&Results { results }, bytes)
}

impl<'a> ItemResult<'a> {
    fn of(outcome: &'a Result<Deducted, Error>) -> Self {
        match outcome {
            Ok(Deducted { balance, deducted }) => Self::Done(Deducted {
                balance: *balance,
                deducted: *deducted,
            }),
            Err(error) => Self::Refused {
                error: error.body(None),
            },
        }
    }
}

/// Items that were checked.
struct Read {
    /// For the wallets to decide.
    sent: Vec<(Address, Command)>,
    /// What cannot be found, by its place in the list.
    refused: Vec<(usize, Error)>,
}

/// Checks every item. An error refuses the batch.
fn read(items: Vec<Object<Item>>, project: &ProjectCatalog) -> Result<Read, Error> {
    let mut sent = Vec::with_capacity(items.len());
    let mut refused = Vec::new();
    for (place, Object(item)) in items.into_iter().enumerate() {
        let shape = shape(item).map_err(|error| error.within(&format!("items[{place}]")))?;
        match resolve(shape, project) {
            Ok(command) => sent.push(command),
            Err(error) => refused.push((place, error)),
        }
    }
    Ok(Read { sent, refused })
}

/// One result for each item, in their order: what was refused here among what the wallets said.
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

/// What an item says, nothing of it looked up yet.
struct Shape {
    wallet: Named,
    key: IdempotencyKey,
    verb: Deduct,
}

fn shape(item: Item) -> Result<Shape, Error> {
    let (wallet, mut verb) = item.split()?;
    let wallet = wallet.ok_or_else(|| Error::missing("externalUserId"))?;
    let key = idempotency::required(verb.take_key())?;
    Ok(Shape { wallet, key, verb })
}

fn resolve(shape: Shape, project: &ProjectCatalog) -> Result<(Address, Command), Error> {
    let Shape { wallet, key, verb } = shape;
    let command = verb.command(key, project)?;
    Ok((wallet.address()?, command))
}

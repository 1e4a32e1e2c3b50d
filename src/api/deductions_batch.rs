//! `POST /deductions/batch`: many deductions in one request, each applied or refused on its own. An
//! ill-shaped item refuses them all.

use actors::Address;
use axum::{extract::State, response::Response};
use domain::wallet::deduct::Deduct;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    catalog::ProjectCatalog,
    http::{
        auth::SecretKey,
        body::BatchBody,
        error::{Error, ErrorBody},
        field::{Object, Positive, Text},
        idempotency, meta, respond,
        subject::{self, Named, required},
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
pub(crate) struct Request<'a> {
    #[serde(borrow)]
    #[schema(value_type = Vec<Item>, required, nullable = false, min_items = 1, max_items = 1000)]
    items: Option<Vec<Object<Item<'a>>>>,
}

/// A deduction. The wallet is named by exactly one of `externalUserId` and `code`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeductBatchItem)]
pub(crate) struct Item<'a> {
    /// The caller's own user id.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    external_user_id: Option<Text<'a>>,
    /// A recovery code.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    code: Option<Text<'a>>,
    /// Whose credits; may be left out where the project has exactly one product that holds credits.
    #[serde(borrow)]
    #[schema(value_type = Option<String>)]
    product_id: Option<Text<'a>>,
    #[schema(value_type = i64, required, nullable = false, minimum = 1, maximum = 9007199254740991_i64)]
    amount: Option<Positive>,
    /// Names the operation: it is applied once.
    #[serde(borrow)]
    #[schema(value_type = String, required, nullable = false, min_length = 1, max_length = 255)]
    idempotency_key: Option<Text<'a>>,
    /// A note for the ledger: at most 4 KiB.
    #[serde(borrow)]
    #[schema(value_type = Option<Object>)]
    meta: Option<&'a RawValue>,
}

/// What came of each item, in their order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeductBatchResults)]
pub(crate) struct Results<'a> {
    #[schema(value_type = Vec<ItemResult>)]
    results: Vec<ItemResult<'a>>,
}

/// What came of an item: either a deduction or its refusal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = DeductBatchResult)]
pub(crate) enum ItemResult<'a> {
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
pub(crate) async fn deduct_batch(
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
    let items = required(items, "items")?;
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
    sent: Vec<(Address, Deduct)>,
    /// What cannot be found, by its place in the list.
    refused: Vec<(usize, Error)>,
}

/// Checks every item. An error refuses the batch.
fn read(items: Vec<Object<Item<'_>>>, project: &ProjectCatalog) -> Result<Read, Error> {
    let mut sent = Vec::with_capacity(items.len());
    let mut refused = Vec::new();
    for (place, Object(item)) in items.into_iter().enumerate() {
        let shape = shape(&item).map_err(|error| error.within(&format!("items[{place}]")))?;
        match resolve(shape, &item, project) {
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

/// What an item says, its product not looked up yet.
struct Shape {
    wallet: Named,
    amount: domain::Amount,
    key: domain::text::IdempotencyKey,
    meta: Option<domain::text::Meta>,
}

fn shape(item: &Item<'_>) -> Result<Shape, Error> {
    let wallet = subject::wallet(item.external_user_id.as_ref(), item.code.as_ref())?;
    let wallet = required(wallet, "externalUserId")?;
    let Positive(amount) = required(item.amount, "amount")?;
    let key = idempotency::required(item.idempotency_key.as_ref())?;
    Ok(Shape {
        wallet,
        amount,
        key,
        meta: meta::parse(item.meta)?,
    })
}

fn resolve(
    shape: Shape,
    item: &Item<'_>,
    project: &ProjectCatalog,
) -> Result<(Address, Deduct), Error> {
    let Shape {
        wallet,
        amount,
        key,
        meta,
    } = shape;
    let product = subject::product_or_only(item.product_id.as_ref(), project)?;
    Ok((
        wallet.address()?,
        Deduct {
            product,
            amount,
            key,
            meta,
        },
    ))
}

//! Batches: many operations of one kind in one request, each applied or refused on its own. A malformed item refuses
//! the whole request.

use std::borrow::Cow;

use actors::{BatchAnswer, Scope};
use api_types::ErrorBody;
use axum::response::Response;
use domain::text::IdempotencyKey;
use edge::{
    body::BatchBody,
    caller::{Permits, SecretKey},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema, schema::OneOfBuilder},
};
use wire::{
    Error,
    field::{CodeText, KeyText, Object, UserText},
    respond,
};

use crate::{
    api::App,
    http::{
        idempotency,
        subject::{NamedWallet, refer},
    },
};

const MAX_ITEMS: usize = 1000;
/// Bytes of a result as JSON, roughly.
const RESULT_BYTES: usize = 48;

/// An item of a batch: the request of one operation.
pub(super) trait BatchItem: DeserializeOwned {
    /// What the names of the batch's schemas begin with, and the name of the item's own.
    const NAMES: (&str, &str);
    /// Whether an archived project still takes it.
    const IN_ARCHIVED: bool = false;
    type Schema: ToSchema;
    /// What a restricted key needs.
    type Needs: Permits;
    /// What the wallets decide.
    type Command: Send;
    /// What the result says of the request.
    type Note: Send;
    type Answer: Send;
    type Done: Serialize + ToSchema;

    /// Checks the item. An error refuses the batch; one within, the item.
    fn check(self, app: &App, project: &SecretKey<Self::Needs>) -> Result<Checked<Self>, Error>;

    /// Sends the items to their wallets.
    fn send(
        app: &App,
        scope: &Scope,
        items: Vec<Self::Command>,
    ) -> impl Future<Output = BatchAnswer<Self::Answer>> + Send;

    /// What the result says, and metrics count.
    fn done(
        app: &App,
        outcome: Result<Self::Answer, actors::Error>,
        note: Self::Note,
    ) -> Result<Self::Done, actors::Error>;
}

/// An item that was checked, or why it is refused.
pub(super) type Checked<I> = Result<(<I as BatchItem>::Command, <I as BatchItem>::Note), Error>;

/// The items of a batch.
#[derive(Debug, Deserialize)]
pub(super) struct Request<I> {
    items: Vec<Object<I>>,
}

/// The result of each item, in their order.
#[derive(Debug, Serialize)]
#[serde(bound = "")]
pub(super) struct Results<I: BatchItem> {
    results: Vec<ItemResult<I::Done>>,
}

/// The result of an item: what was done, now or before, or its refusal.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ItemResult<T> {
    Done(T),
    Refused { error: Box<ErrorBody> },
}

/// Answers a batch.
pub(super) async fn answer<I: BatchItem>(
    app: &App,
    key: &SecretKey<I::Needs>,
    body: &BatchBody,
) -> Result<Response, Error> {
    let Request::<I> { items } = body.parse()?;
    if !I::IN_ARCHIVED {
        key.require_not_archived()?;
    }
    if !(1..=MAX_ITEMS).contains(&items.len()) {
        return Err(Error::invalid("items", "items takes 1 to 1000 items."));
    }
    let mut sent = Vec::with_capacity(items.len());
    let mut notes = Vec::with_capacity(items.len());
    // Items that are refused before a wallet decides, by their index in the list.
    let mut refused = Vec::new();
    for (place, Object(item)) in items.into_iter().enumerate() {
        let checked = item.check(app, key);
        match checked.map_err(|error| error.within(&format!("items[{place}]")))? {
            Ok((command, note)) => {
                sent.push(command);
                notes.push(note);
            }
            Err(error) => refused.push((place, error)),
        }
    }
    let outcomes = I::send(app, &key.scope, sent).await;
    let outcomes = outcomes.map_err(|error| Error::from_wallet(error, key))?;
    let outcomes = outcomes.into_iter().zip(notes);
    let results = results(refused, outcomes, |(outcome, note)| {
        I::done(app, outcome, note).map_err(|error| Error::from_wallet(error, key))
    });
    let bytes = results.len().saturating_mul(RESULT_BYTES);
    let results = results.into_iter().map(ItemResult::of).collect();
    respond::json_with_capacity(&Results::<I> { results }, bytes)
}

impl<T> ItemResult<T> {
    fn of(outcome: Result<T, Error>) -> Self {
        match outcome {
            Ok(done) => Self::Done(done),
            Err(error) => Self::Refused {
                error: Box::new(error.body(None)),
            },
        }
    }
}

/// One result for each item, in their order: the items that were refused here, and the wallets'
/// results.
fn results<T, D>(
    refused: Vec<(usize, Error)>,
    outcomes: impl ExactSizeIterator<Item = T>,
    result: impl Fn(T) -> Result<D, Error>,
) -> Vec<Result<D, Error>> {
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

/// The wallet and the key, which an item has to name.
pub(super) fn named(
    (user, code): (Option<UserText>, Option<CodeText>),
    key: Option<KeyText>,
) -> Result<(NamedWallet, IdempotencyKey), Error> {
    let wallet = NamedWallet::of(user, code)?;
    let wallet = wallet.ok_or_else(|| Error::missing("externalUserId"))?;
    Ok((wallet, idempotency::required(key)?))
}

impl<I: BatchItem> PartialSchema for Request<I> {
    fn schema() -> RefOr<Schema> {
        let items = ArrayBuilder::new().items(Ref::from_schema_name(I::NAMES.1));
        let items = items.min_items(Some(1)).max_items(Some(MAX_ITEMS));
        ObjectBuilder::new()
            .description(Some("The items, 1 to 1,000."))
            .property("items", items)
            .required("items")
            .into()
    }
}

impl<I: BatchItem> ToSchema for Request<I> {
    fn name() -> Cow<'static, str> {
        format!("{}Batch", I::NAMES.0).into()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        components.push((I::NAMES.1.into(), I::Schema::schema()));
        I::Schema::schemas(components);
    }
}

impl<I: BatchItem> PartialSchema for Results<I> {
    fn schema() -> RefOr<Schema> {
        let result = Ref::from_schema_name(format!("{}BatchResult", I::NAMES.0));
        ObjectBuilder::new()
            .description(Some("The result of each item, in their order."))
            .property("results", ArrayBuilder::new().items(result))
            .required("results")
            .into()
    }
}

impl<I: BatchItem> ToSchema for Results<I> {
    fn name() -> Cow<'static, str> {
        format!("{}BatchResults", I::NAMES.0).into()
    }

    fn schemas(components: &mut Vec<(String, RefOr<Schema>)>) {
        let refused = ObjectBuilder::new()
            .description(Some("Refused; nothing changed."))
            .property("error", refer::<ErrorBody>())
            .required("error");
        let result = OneOfBuilder::new()
            .description(Some(
                "The result of an item: what was done, now or before, or its refusal.",
            ))
            .item(refer::<I::Done>())
            .item(refused);
        let name = format!("{}BatchResult", I::NAMES.0);
        components.push((name, result.into()));
        components.push((I::Done::name().into_owned(), I::Done::schema()));
        I::Done::schemas(components);
    }
}

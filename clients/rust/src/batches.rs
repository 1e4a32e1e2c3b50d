//! Batches: up to 1,000 operations in one request, each applied or refused independently.

use crate::{
    call::Call,
    client::{Http, Scrip},
    credits::Credit,
    error::{Error, ErrorKind, status},
    gather::{Endpoint, Outcome},
    holds::{Draw, PlaceHold, Settle},
    wallet_view::WalletView,
    wallets::Wallet,
};
use api_types::{Credited, Deducted, DrawnHold, ErrorBody, PlacedHold};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, marker::PhantomData, sync::Arc};

/// What work cost that a hold was placed for.
#[derive(Debug, Clone)]
pub enum Charge {
    /// In all: the hold is closed.
    Settle(Settle),
    /// So far: the hold stays open.
    Draw(Draw),
}

/// The result of a [`Charge`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Charged {
    /// Of a draw.
    Drawn(DrawnHold),
    /// Of a settlement.
    Settled(Deducted),
}

impl From<Settle> for Charge {
    fn from(settle: Settle) -> Self {
        Self::Settle(settle)
    }
}

impl From<Draw> for Charge {
    fn from(draw: Draw) -> Self {
        Self::Draw(draw)
    }
}

/// The response to a batch.
#[derive(Deserialize)]
struct Answer<T> {
    results: Vec<Done<T>>,
}

/// The result of an item.
#[derive(Deserialize)]
#[serde(untagged)]
enum Done<T> {
    Refused { error: Box<ErrorBody> },
    Done(T),
}

/// The requests of calls of one kind that are gathered.
pub(crate) struct Batches<T> {
    http: Arc<Http>,
    name: &'static str,
    answer: PhantomData<fn() -> T>,
}

impl<T> Batches<T> {
    pub(crate) fn new(http: Arc<Http>, name: &'static str) -> Self {
        Self {
            http,
            name,
            answer: PhantomData,
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> Endpoint for Batches<T> {
    type Answer = T;

    async fn single(&self, call: &Call) -> Outcome<T> {
        Ok(self.http.once(call).await?.0)
    }

    async fn batch(&self, items: &[&str]) -> Outcome<Vec<Outcome<T>>> {
        let call = Call::post([self.name, "batch"]);
        let body = format!(r#"{{"items":[{}]}}"#, items.join(","));
        let (answer, head) = self.http.send(&call, Some(body.into())).await?;
        let Answer { results } = answer;
        if results.len() != items.len() {
            return Err(ErrorKind::Unreadable {
                status: 200,
                problem: format!("{} results for {} items", results.len(), items.len()),
            });
        }
        let results = results.into_iter().map(|done| match done {
            Done::Done(done) => Ok(done),
            Done::Refused { mut error } => {
                error.status = status(&error.code);
                error.request_id.clone_from(&head.request_id);
                Err(ErrorKind::Refused(error))
            }
        });
        Ok(results.collect())
    }

    async fn open_wallet(&self, user: &str) -> Result<(), Error> {
        let opened = self.http.answer(Call::open_wallet(user)).await;
        opened.map(|(WalletView { .. }, _)| ())
    }
}

/// The fields of an item.
pub(crate) type Item = Map<String, Value>;

/// The result of each item, in their order.
type Results<T> = Vec<Result<T, Box<ErrorBody>>>;

impl Scrip {
    /// Grants credits to up to 1,000 wallets, each independently; returns the results in order. Users without a wallet
    /// get one.
    /// # Errors
    /// `invalid_request` names a malformed item, and then nothing is granted; the errors of any call.
    pub async fn credit_batch(
        &self,
        items: Vec<(Wallet, Credit)>,
    ) -> Result<Results<Credited>, Error> {
        let items = items.iter().map(|(wallet, credit)| {
            let item = Call::post(["credit"]).of(wallet).body(credit)?;
            Ok(item.keyed().body)
        });
        self.batch("credit", items.collect::<Result<_, Error>>()?)
            .await
    }

    /// Places up to 1,000 holds, each independently; returns the results in order. Several holds of one wallet are
    /// placed in order.
    /// # Errors
    /// `invalid_request` names a malformed item, and then nothing is held; the errors of any call.
    pub async fn hold_batch(
        &self,
        items: Vec<(Wallet, PlaceHold)>,
    ) -> Result<Results<PlacedHold>, Error> {
        let items = items.iter().map(|(wallet, hold)| {
            let item = Call::post(["holds"]).of(wallet).body(hold)?;
            Ok(item.keyed().body)
        });
        self.batch("holds", items.collect::<Result<_, Error>>()?)
            .await
    }

    /// Settles and draws from up to 1,000 holds, named by their ids, each independently; returns the results in order.
    /// Those of one wallet are made in order.
    /// # Errors
    /// `invalid_request` names a malformed item, and then nothing is charged; the errors of any call.
    pub async fn settle_batch(
        &self,
        items: Vec<(String, Charge)>,
    ) -> Result<Results<Charged>, Error> {
        let items = items.into_iter().map(|(hold, charge)| {
            let item = Call::post(["settlements"]);
            let item = match &charge {
                Charge::Settle(settle) => item.body(settle)?,
                Charge::Draw(draw) => item.body(draw)?.keyed().with("keepOpen", true),
            };
            Ok(item.with("holdId", hold).body)
        });
        self.batch("settlements", items.collect::<Result<_, Error>>()?)
            .await
    }

    /// The results of the batch of this name. Users without a wallet get one.
    pub(crate) async fn batch<T: DeserializeOwned>(
        &self,
        name: &str,
        items: Vec<Item>,
    ) -> Result<Results<T>, Error> {
        let ask = async |some: &[Item]| -> Result<Results<T>, Error> {
            let call = Call::post([name, "batch"]).body(&json!({"items": some}))?;
            let answer: Answer<T> = self.call(call.repeatable()).await?;
            let results = answer.results.into_iter().map(|done| match done {
                Done::Done(done) => Ok(done),
                Done::Refused { error } => Err(error),
            });
            Ok(results.collect())
        };
        let mut results = ask(&items).await?;
        // What was refused for want of a wallet is sent again once there is one. No item is applied twice: a key or its
        // hold names it.
        let mut lacking = Vec::new();
        let mut again = Vec::new();
        let mut made = BTreeSet::new();
        for (at, (result, item)) in results.iter().zip(items).enumerate() {
            let (Err(error), Some(Value::String(user))) = (result, item.get("externalUserId"))
            else {
                continue;
            };
            if error.code != "wallet_not_found" {
                continue;
            }
            if made.insert(user.clone()) {
                self.open_wallet(user.as_str()).await?;
            }
            lacking.push(at);
            again.push(item);
        }
        if !again.is_empty() {
            for (at, result) in lacking.into_iter().zip(ask(&again).await?) {
                if let Some(place) = results.get_mut(at) {
                    *place = result;
                }
            }
        }
        Ok(results)
    }
}

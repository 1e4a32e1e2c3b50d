//! Holds, for work whose cost is known only afterwards.

use crate::{
    call::{Call, key_or_new},
    client::Scrip,
    credits::object,
    error::Error,
    types::{Deducted, Hold, PlacedHold},
    wallets::Wallet,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// Credits to set aside.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceHold {
    #[serde(skip_serializing_if = "Option::is_none")]
    product_id: Option<String>,
    amount: u64,
    idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

/// What work under a hold cost, and what it made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent<T> {
    /// Credits used: at most what is held, or a little more where the balance has it.
    pub credits: u64,
    /// What came of it.
    pub made: T,
}

/// How long a hold lasts where nobody says otherwise.
const DEFAULT: Duration = Duration::from_secs(900);

impl PlaceHold {
    /// At most so many credits, for a quarter of an hour.
    #[must_use]
    pub fn new(amount: u64) -> Self {
        Self {
            product_id: None,
            amount,
            idempotency_key: None,
            expires_in_seconds: None,
            meta: None,
        }
    }

    /// Of which product: needed where a project has several, and for anonymous wallets.
    #[must_use]
    pub fn product(mut self, product: impl Into<String>) -> Self {
        self.product_id = Some(product.into());
        self
    }

    /// What it belongs to: placing it again with the same key answers the same hold.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// When it gives the credits back by itself; in whole seconds, at most a day.
    #[must_use]
    pub fn expires_in(mut self, after: Duration) -> Self {
        self.expires_in_seconds = Some(after.as_secs());
        self
    }

    /// A note in the ledger: a JSON object of at most 4 KiB. Usage is told apart by its `feature`.
    #[must_use]
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl Scrip {
    /// Sets credits aside: nobody else can spend them until it is settled, released or over.
    ///
    /// # Errors
    ///
    /// `insufficient_credits`, `wallet_not_found`, `too_many_holds`, and what any call may answer.
    pub async fn hold(&self, wallet: &Wallet, mut hold: PlaceHold) -> Result<PlacedHold, Error> {
        let key = key_or_new(hold.idempotency_key.take());
        hold.idempotency_key = Some(key.clone());
        let call = wallet.post("holds", object(&hold)?)?;
        self.call(call.keyed(&key)).await
    }

    /// How a hold stands.
    ///
    /// # Errors
    ///
    /// `hold_not_found`, and what any call may answer.
    pub async fn read_hold(&self, hold: &str) -> Result<Hold, Error> {
        self.call(Call::get(["holds", hold])).await
    }

    /// Takes what was used and gives the rest back; doing it again takes nothing more.
    ///
    /// # Errors
    ///
    /// `hold_closed` where it was released, expired or settled otherwise; `insufficient_credits` for
    /// more than was held, and then it stays open; `hold_not_found`; what any call may answer.
    pub async fn settle(&self, hold: &str, amount: u64) -> Result<Deducted, Error> {
        let call = Call::post(["holds", hold, "settle"]).body(&json!({"amount": amount}))?;
        self.call(call.repeatable()).await
    }

    /// Gives all of it back; what can be spent now.
    ///
    /// # Errors
    ///
    /// `hold_closed`, `hold_not_found`, and what any call may answer.
    pub async fn release(&self, hold: &str) -> Result<i64, Error> {
        #[derive(Deserialize)]
        struct Released {
            balance: i64,
        }
        let call = Call::post(["holds", hold, "release"]);
        let released: Released = self.call(call.repeatable()).await?;
        Ok(released.balance)
    }

    /// Lets it last so long from now on; in whole seconds, at most a day.
    ///
    /// # Errors
    ///
    /// `hold_closed`, `hold_not_found`, and what any call may answer.
    pub async fn extend(&self, hold: &str, by: Duration) -> Result<Hold, Error> {
        let body = json!({"expiresInSeconds": by.as_secs()});
        let call = Call::post(["holds", hold, "extend"]).body(&body)?;
        self.call(call.repeatable()).await
    }

    /// Works under a hold: places it, extends it for as long as the work goes on, settles it for what the
    /// work says it cost, and releases it where the work fails, panics or is dropped.
    ///
    /// # Errors
    ///
    /// What placing and settling may answer, as the work's own error type. Work that cost more than was
    /// held and than the balance has takes all that was held, and is `insufficient_credits`. A hold that
    /// could not be settled for another reason stays open until it expires: settle it by its id.
    pub async fn with_hold<T, E: From<Error>>(
        &self,
        wallet: &Wallet,
        hold: PlaceHold,
        work: impl AsyncFnOnce(&PlacedHold) -> Result<Spent<T>, E>,
    ) -> Result<T, E> {
        let lasts = hold.expires_in_seconds.map_or(DEFAULT, Duration::from_secs);
        let placed = self.hold(wallet, hold).await?;
        let mut open = Open {
            scrip: self,
            hold: Some(&placed.hold_id),
        };
        let spent = {
            let mut work = std::pin::pin!(work(&placed));
            let mut renew = tokio::time::interval(between_renewals(lasts));
            renew.tick().await;
            loop {
                tokio::select! {
                    spent = &mut work => break spent,
                    _ = renew.tick() => {
                        // Should it be over after all, settling says so.
                        let _ = self.extend(&placed.hold_id, lasts).await;
                    }
                }
            }
        };
        let Spent { credits, made } = match spent {
            Ok(spent) => spent,
            Err(error) => {
                open.hold = None;
                // What cannot be released now gives itself back; the work's error says more.
                let _ = self.release(&placed.hold_id).await;
                return Err(error);
            }
        };
        open.hold = None;
        match self.settle(&placed.hold_id, credits).await {
            Ok(_) => Ok(made),
            Err(error) => {
                let held = u64::try_from(placed.amount).unwrap_or(0);
                if error.code() == Some("insufficient_credits") && credits > held {
                    self.settle(&placed.hold_id, held).await?;
                }
                Err(error.into())
            }
        }
    }
}

/// A third of its life, so that a call or two may fail.
fn between_renewals(lasts: Duration) -> Duration {
    let third = lasts.checked_div(3).unwrap_or_default();
    third.max(Duration::from_millis(100))
}

/// Releases a hold whose work was dropped or panicked.
struct Open<'a> {
    scrip: &'a Scrip,
    hold: Option<&'a str>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let (Some(hold), Ok(runtime)) = (self.hold, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (scrip, hold) = (self.scrip.clone(), hold.to_owned());
        runtime.spawn(async move { scrip.release(&hold).await });
    }
}

//! Holds, for work whose cost is known only afterwards.

use crate::{
    call::{Call, key_or_new},
    client::Scrip,
    credits::{OnShortfall, object},
    error::Error,
    types::{Deducted, DrawnHold, Hold, PlacedHold},
    wallets::Wallet,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// A hold to be placed.
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
    max_overrun: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

/// The result of work under a hold, and its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent<T> {
    /// Credits used: at most what is held, or more where the balance covers it.
    pub credits: u64,
    /// The work's result.
    pub made: T,
}

/// Default lifetime of a hold.
const DEFAULT: Duration = Duration::from_secs(900);

impl PlaceHold {
    /// Holds at most `amount` credits, for a quarter of an hour.
    #[must_use]
    pub fn new(amount: u64) -> Self {
        Self {
            product_id: None,
            amount,
            idempotency_key: None,
            expires_in_seconds: None,
            max_overrun: None,
            meta: None,
        }
    }

    /// Sets the product: required where a project has several, and for anonymous wallets.
    #[must_use]
    pub fn product(mut self, product: impl Into<String>) -> Self {
        self.product_id = Some(product.into());
        self
    }

    /// Sets the idempotency key: a repetition with the same key returns the same hold. A new one is used by
    /// default.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Sets after how long the hold expires and its credits are returned; in whole seconds, at most a day.
    #[must_use]
    pub fn expires_in(mut self, after: Duration) -> Self {
        self.expires_in_seconds = Some(after.as_secs());
        self
    }

    /// Reserves so much of the limit of debt for what the work may cost beyond the hold and the balance.
    #[must_use]
    pub fn max_overrun(mut self, credits: u64) -> Self {
        self.max_overrun = Some(credits);
        self
    }

    /// Sets a note for the ledger: a JSON object of at most 4 KiB. Its `feature` divides usage.
    #[must_use]
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl Scrip {
    /// Sets credits aside: nobody else can spend them until the hold is settled, released or expired.
    ///
    /// # Errors
    ///
    /// `insufficient_credits`, `wallet_not_found`, `too_many_holds`, and the errors of any call.
    pub async fn hold(&self, wallet: &Wallet, mut hold: PlaceHold) -> Result<PlacedHold, Error> {
        let key = key_or_new(hold.idempotency_key.take());
        hold.idempotency_key = Some(key.clone());
        let call = wallet.post("holds", object(&hold)?)?;
        self.spend(wallet, call.keyed(&key)).await
    }

    /// Reads a hold.
    ///
    /// # Errors
    ///
    /// `hold_not_found`, and the errors of any call.
    pub async fn read_hold(&self, hold: &str) -> Result<Hold, Error> {
        self.call(Call::get(["holds", hold])).await
    }

    /// Deducts what was used and returns the rest; a repetition deducts nothing more.
    ///
    /// # Errors
    ///
    /// `hold_closed` where it was released, expired or settled with another amount; `insufficient_credits` for
    /// more than was held, and then it stays open; `hold_not_found`; the errors of any call.
    pub async fn settle(&self, hold: &str, amount: u64) -> Result<Deducted, Error> {
        let call = Call::post(["holds", hold, "settle"]).body(&json!({"amount": amount}))?;
        self.call(call.repeatable()).await
    }

    /// Deducts what was used, as far as it can be: never refused for want of credits with [`OnShortfall::Drain`] or
    /// [`OnShortfall::Owe`], also where the hold has expired meanwhile.
    ///
    /// # Errors
    ///
    /// `hold_closed` where it was released or settled with another amount; `idempotency_key_reused` where it had
    /// expired and was settled with another amount; `hold_not_found`; the errors of any call.
    pub async fn settle_as_far(
        &self,
        hold: &str,
        amount: u64,
        on_shortfall: OnShortfall,
    ) -> Result<Deducted, Error> {
        let body = json!({"amount": amount, "onShortfall": on_shortfall});
        let call = Call::post(["holds", hold, "settle"]).body(&body)?;
        self.call(call.repeatable()).await
    }

    /// Charges a part of an open hold while the work goes on; it stays charged however the hold ends. Without an
    /// idempotency key a new one is used.
    ///
    /// # Errors
    ///
    /// `insufficient_credits` past what is held and the balance, `hold_closed`, `idempotency_key_reused`,
    /// `hold_not_found`, and the errors of any call.
    pub async fn draw(
        &self,
        hold: &str,
        amount: u64,
        idempotency_key: Option<String>,
    ) -> Result<DrawnHold, Error> {
        let key = key_or_new(idempotency_key);
        let body = json!({"amount": amount, "idempotencyKey": key});
        let call = Call::post(["holds", hold, "draw"]).body(&body)?;
        self.call(call.keyed(&key)).await
    }

    /// Returns all held credits but those that were drawn; the result is the balance that can be spent now.
    ///
    /// # Errors
    ///
    /// `hold_closed`, `hold_not_found`, and the errors of any call.
    pub async fn release(&self, hold: &str) -> Result<i64, Error> {
        #[derive(Deserialize)]
        struct Released {
            balance: i64,
        }
        let call = Call::post(["holds", hold, "release"]);
        let released: Released = self.call(call.repeatable()).await?;
        Ok(released.balance)
    }

    /// Sets the hold's remaining lifetime, counted from now; in whole seconds, at most a day.
    ///
    /// # Errors
    ///
    /// `hold_closed`, `hold_not_found`, and the errors of any call.
    pub async fn extend(&self, hold: &str, by: Duration) -> Result<Hold, Error> {
        let body = json!({"expiresInSeconds": by.as_secs()});
        let call = Call::post(["holds", hold, "extend"]).body(&body)?;
        self.call(call.repeatable()).await
    }

    /// Runs work under a hold: places it, extends it as long as the work runs, settles it for the cost that the
    /// work returns, and releases it where the work fails, panics or is dropped.
    ///
    /// # Errors
    ///
    /// The errors of placing and settling, as the work's own error type. Where the cost exceeds both the hold
    /// and the balance, all that was held is deducted and the error is `insufficient_credits`. A hold that
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
                        // If the hold has expired after all, settling fails and says so.
                        let _ = self.extend(&placed.hold_id, lasts).await;
                    }
                }
            }
        };
        let Spent { credits, made } = match spent {
            Ok(spent) => spent,
            Err(error) => {
                open.hold = None;
                // A hold that cannot be released now expires by itself; the work's error is more useful.
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

/// A third of the lifetime, so that a call or two may fail.
fn between_renewals(lasts: Duration) -> Duration {
    let third = lasts.checked_div(3).unwrap_or_default();
    third.max(Duration::from_millis(100))
}

/// Releases a hold on drop, when its work was dropped or panicked.
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

//! Holds, for work whose cost is known only afterwards.

use crate::{
    batches::Charged,
    call::{Call, setters},
    client::Scrip,
    credits::OnShortfall,
    error::{Error, ErrorKind},
    gather::Item,
    rate_cards::{Cost, Metered},
    wallets::Wallet,
};
use api_types::{Deducted, DrawnHold, Hold, PlacedHold};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A hold to be placed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceHold {
    product_id: Option<String>,
    #[serde(flatten)]
    cost: Cost,
    idempotency_key: Option<String>,
    expires_in_seconds: Option<u64>,
    max_overrun: Option<u64>,
    meta: Option<Value>,
    member: Option<String>,
    #[serde(skip)]
    resume: bool,
}

/// What is charged of an open hold, once per key. A number is an amount under a new key.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Draw {
    #[serde(flatten)]
    cost: Cost,
    idempotency_key: Option<String>,
    meta: Option<Value>,
}

/// What work under a hold cost in all. A number is an amount that is refused where it is not there.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settle {
    #[serde(flatten)]
    cost: Cost,
    on_shortfall: Option<OnShortfall>,
    meta: Option<Value>,
}

/// The result of work under a hold, and its cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spent<T> {
    /// Credits used: at most what is held, or more where the balance covers it.
    pub credits: u64,
    /// The work's result.
    pub made: T,
    /// A note for the ledger, over that of the hold.
    pub meta: Option<Value>,
}

/// Default lifetime of a hold.
const DEFAULT: Duration = Duration::from_secs(900);
/// How often work may be begun under a key, while none of its holds is charged.
const MAX_TRIES: u32 = 20;

impl Draw {
    /// Charges `amount` credits.
    #[must_use]
    pub fn new(amount: u64) -> Self {
        Self {
            cost: Cost::Credits { amount },
            idempotency_key: None,
            meta: None,
        }
    }

    /// Charges what was used costs by its rate card.
    #[must_use]
    pub fn of(used: Metered) -> Self {
        Self {
            cost: Cost::Metered(used),
            ..Self::new(0)
        }
    }
}

setters! { Draw {
    /// Sets the idempotency key: a repetition with the same key charges nothing. A new one is used by default.
    key(impl Into<String>) -> idempotency_key,
    /// Sets a note for the ledger: it is laid over that of the hold, whose other keys stay.
    meta(Value) -> meta,
} }

impl From<u64> for Draw {
    fn from(amount: u64) -> Self {
        Self::new(amount)
    }
}

impl Settle {
    /// Charges `amount` credits in all, draws included.
    #[must_use]
    pub fn new(amount: u64) -> Self {
        Self {
            cost: Cost::Credits { amount },
            on_shortfall: None,
            meta: None,
        }
    }

    /// Charges what all of the work used costs by its rate card.
    #[must_use]
    pub fn of(used: Metered) -> Self {
        Self {
            cost: Cost::Metered(used),
            ..Self::new(0)
        }
    }
}

setters! { Settle {
    /// Sets what becomes of what neither the hold nor the balance covers: refused by default. With
    /// [`OnShortfall::Drain`] or [`OnShortfall::Owe`] a hold that has ended is settled, too.
    on_shortfall(OnShortfall) -> on_shortfall,
    /// Sets a note for the ledger: it is laid over that of the hold, whose other keys stay.
    meta(Value) -> meta,
} }

impl From<u64> for Settle {
    fn from(amount: u64) -> Self {
        Self::new(amount)
    }
}

impl<T> Spent<T> {
    /// The work's result and the credits that it cost.
    pub fn new(credits: u64, made: T) -> Self {
        Self {
            credits,
            made,
            meta: None,
        }
    }

    /// Sets a note for the ledger: it is laid over that of the hold, whose other keys stay.
    #[must_use]
    pub fn meta(mut self, meta: Value) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl PlaceHold {
    /// Holds at most `amount` credits, for a quarter of an hour.
    #[must_use]
    pub fn new(amount: u64) -> Self {
        Self {
            product_id: None,
            cost: Cost::Credits { amount },
            idempotency_key: None,
            expires_in_seconds: None,
            max_overrun: None,
            meta: None,
            member: None,
            resume: false,
        }
    }

    /// Holds what a use costs by its rate card, rounded up.
    #[must_use]
    pub fn of(used: Metered) -> Self {
        Self {
            cost: Cost::Metered(used),
            ..Self::new(0)
        }
    }

    /// Sets after how long the hold expires and its credits are returned; in whole seconds, at most a day.
    #[must_use]
    pub fn expires_in(mut self, after: Duration) -> Self {
        self.expires_in_seconds = Some(after.as_secs());
        self
    }

    /// Has [`Scrip::with_hold`] go on with an open hold that an earlier run placed under this key, as a queue does that
    /// gives a job out again after a crash.
    #[must_use]
    pub fn resume(mut self) -> Self {
        self.resume = true;
        self
    }
}

setters! { PlaceHold {
    /// Sets the product: required where a project has several, and for anonymous wallets.
    product(impl Into<String>) -> product_id,
    /// Sets the idempotency key: a repetition with the same key returns the same hold. A new one is used by
    /// default.
    key(impl Into<String>) -> idempotency_key,
    /// Sets which of those who share the wallet uses them: limits count it.
    member(impl Into<String>) -> member,
    /// Reserves so much of the limit of debt for what the work may cost beyond the hold and the balance.
    max_overrun(u64) -> max_overrun,
    /// Sets a note for the ledger: a JSON object of at most 4 KiB. Its `feature` divides usage.
    meta(Value) -> meta,
} }

impl Scrip {
    /// Sets credits aside: nothing else can spend them until the hold is settled, released or expired.
    /// # Errors
    /// `insufficient_credits`, `limit_exceeded`, `too_many_scopes`, `wallet_not_found`, `too_many_holds`, and the errors of any call.
    pub async fn hold(&self, wallet: &Wallet, hold: PlaceHold) -> Result<PlacedHold, Error> {
        match &self.gatherers {
            Some(of) if of.holds.is_open() => {
                let call = wallet.post("holds").body(&hold)?.keyed();
                of.holds.call(Item::of_wallet(wallet, call)?).await
            }
            _ => Ok(self.place(wallet, hold).await?.0),
        }
    }

    /// The hold, and whether it was there before.
    async fn place(&self, wallet: &Wallet, hold: PlaceHold) -> Result<(PlacedHold, bool), Error> {
        let call = wallet.post("holds").body(&hold)?.keyed();
        let (placed, head) = self.spend(wallet, call).await?;
        Ok((placed, head.replayed))
    }

    /// Reads a hold.
    /// # Errors
    /// `hold_not_found`, and the errors of any call.
    pub async fn read_hold(&self, hold: &str) -> Result<Hold, Error> {
        self.call(Call::get(["holds", hold])).await
    }

    /// Deducts what was used and returns the rest; a repetition deducts nothing more.
    /// # Errors
    /// `hold_closed` where it was released, expired or settled with another amount; `insufficient_credits` for
    /// more than was held, and then it stays open; neither for what ended, or is not there, with
    /// [`Settle::on_shortfall`]; `idempotency_key_reused` where it ended and was settled with another amount;
    /// `hold_not_found`; the errors of any call.
    pub async fn settle(&self, hold: &str, cost: impl Into<Settle>) -> Result<Deducted, Error> {
        let call = Call::post(["holds", hold, "settle"]).body(&cost.into())?;
        match self.charge(hold, false, call.repeatable()).await? {
            Charged::Settled(settled) => Ok(settled),
            Charged::Drawn(_) => Err(Error::misread("a settlement was answered as a draw")),
        }
    }

    /// Charges a part of an open hold while the work goes on; it stays charged however the hold ends.
    /// # Errors
    /// `insufficient_credits` past what is held and the balance, `hold_closed`, `idempotency_key_reused`,
    /// `hold_not_found`, and the errors of any call.
    pub async fn draw(&self, hold: &str, part: impl Into<Draw>) -> Result<DrawnHold, Error> {
        let call = Call::post(["holds", hold, "draw"]).body(&part.into())?;
        match self.charge(hold, true, call.keyed()).await? {
            Charged::Drawn(drawn) => Ok(drawn),
            Charged::Settled(_) => Err(Error::misread("a draw was answered as a settlement")),
        }
    }

    async fn charge(&self, hold: &str, keep_open: bool, call: Call) -> Result<Charged, Error> {
        match &self.gatherers {
            Some(of) if of.charges.is_open() => {
                of.charges.call(Item::of_hold(hold, keep_open, call)?).await
            }
            _ => self.call(call).await,
        }
    }

    /// Returns all held credits but those that were drawn; the result is the balance that can be spent now.
    /// # Errors
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
    /// # Errors
    /// `hold_closed`, `hold_not_found`, and the errors of any call.
    pub async fn extend(&self, hold: &str, by: Duration) -> Result<Hold, Error> {
        let call = Call::post(["holds", hold, "extend"]).with("expiresInSeconds", by.as_secs());
        self.call(call.repeatable()).await
    }

    /// Runs work under a hold: places it, extends it as long as the work runs, settles it for the cost that the
    /// work returns, and releases it where the work fails, panics or is dropped.
    ///
    /// With a key of your own work is begun once; [`PlaceHold::resume`] takes up an open hold of an earlier run, and
    /// leaves it open where the work fails, as that run may work against it. A key whose hold ended without a charge
    /// may be used again: the next hold is placed under `key#2`, `key#3` and so on, at most 20.
    /// # Errors
    /// [`ErrorKind::Begun`] where another run is charged for the work of this key, or was. The errors of placing and settling, as the work's own error type. Where the cost exceeds both the hold
    /// and the balance, all that was held is deducted and the error is `insufficient_credits`. A hold that
    /// could not be settled for another reason stays open until it expires: settle it by its id.
    pub async fn with_hold<T, E: From<Error>>(
        &self,
        wallet: &Wallet,
        hold: PlaceHold,
        work: impl AsyncFnOnce(&PlacedHold) -> Result<Spent<T>, E>,
    ) -> Result<T, E> {
        let lasts = hold.expires_in_seconds.map_or(DEFAULT, Duration::from_secs);
        let (placed, is_own) = self.begin(wallet, hold).await?;
        let mut open = Open {
            scrip: self,
            hold: is_own.then_some(placed.hold_id.as_str()),
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
        let own = open.hold.take();
        let Spent {
            credits,
            made,
            meta,
        } = match spent {
            Ok(spent) => spent,
            Err(error) => {
                if let Some(own) = own {
                    // A hold that cannot be released now expires by itself; the work's error is more useful.
                    let _ = self.release(own).await;
                }
                return Err(error);
            }
        };
        let cost = |amount| Settle {
            meta: meta.clone(),
            ..Settle::new(amount)
        };
        match self.settle(&placed.hold_id, cost(credits)).await {
            Ok(_) => Ok(made),
            Err(error) => {
                let held = u64::try_from(placed.amount).unwrap_or(0);
                if error.code() == Some("insufficient_credits") && credits > held {
                    self.settle(&placed.hold_id, cost(held)).await?;
                }
                Err(error.into())
            }
        }
    }

    /// The hold to work against, and whether it is this run's to give back.
    async fn begin(&self, wallet: &Wallet, hold: PlaceHold) -> Result<(PlacedHold, bool), Error> {
        let mut key = hold.idempotency_key.clone();
        let mut tries: u32 = 1;
        loop {
            let next = PlaceHold {
                idempotency_key: key.clone(),
                ..hold.clone()
            };
            let (placed, replayed) = self.place(wallet, next).await?;
            // A replay under a new key is that of this very call.
            let (Some(named), true) = (&hold.idempotency_key, replayed) else {
                return Ok((placed, true));
            };
            let found = self.read_hold(&placed.hold_id).await?;
            let ended = matches!(found.status.as_str(), "released" | "expired");
            let unpaid = ended && found.settled_amount == 0 && found.drawn == 0;
            if unpaid && tries < MAX_TRIES {
                tries = tries.saturating_add(1);
                key = Some(format!("{named}#{tries}"));
            } else if hold.resume && found.status == "open" {
                return Ok((placed, false));
            } else {
                return Err(Error::new(ErrorKind::Begun, key));
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

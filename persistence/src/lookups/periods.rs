//! Subscriptions found without their wallets, by when their periods end: those whose next period nobody reported are
//! found here, to ask the provider about them.

use domain::{
    id::{OrderSerial, ProjectId, WalletKey},
    text::SubscriptionId,
    time::Timestamp,
    wallet::{Change, Event},
};

use super::{
    LookUp, LookUpRange, LookUpSpec, Put, joined,
    orders::{first_after, hash, place_key, read_place},
};
use crate::contract::{Books, Error};

/// Key: project, the period's end, hash of the subscription. Value: wallet.
pub(super) const PERIODS: LookUpSpec = LookUpSpec {
    name: "periods",
    key: 40,
    value: 16,
    changes: periods,
};

fn periods(wallet: &WalletKey, event: &Event, put: &mut Put<'_>) {
    let Change::SubscriptionChanged(changed) = &event.change else {
        return;
    };
    let (project, subscription) = (changed.project, &changed.subscription);
    let place = |at| place_key(project, at, serial(project, &subscription.id));
    if let Some(former) = changed.former_end {
        put(place(former), None);
    }
    if subscription.is_current() {
        let end = subscription.current_period_end;
        put(place(end), Some(joined(&[&wallet.0])));
    }
}

/// The end of a subscription's period in a project's list of them, which is in order of `(at, tie)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodEnd {
    /// When the period ends.
    pub at: Timestamp,
    /// Tells ends at the same instant apart: a hash of the subscription.
    pub tie: u128,
    /// The wallet that has the subscription.
    pub wallet: WalletKey,
}

impl PeriodEnd {
    /// The cursor for the next page.
    #[must_use]
    pub const fn place(&self) -> (Timestamp, u128) {
        (self.at, self.tie)
    }
}

impl dyn Books + '_ {
    /// At most `limit` period ends of a project's subscriptions that are not over, at `until` or earlier, the soonest
    /// first: those strictly after the place `after`, or from the first. Fewer than `limit`: there are no more.
    ///
    /// # Errors
    ///
    /// The books cannot be read.
    pub fn periods(
        &self,
        project: ProjectId,
        after: Option<(Timestamp, u128)>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<PeriodEnd>, Error> {
        let after = after.map(|(at, tie)| (at, OrderSerial(tie)));
        let from = LookUpRange::From(first_after(project, after));
        let found = self.stretch(LookUp::Periods, &from, limit)?;
        let project = project.0.to_be_bytes();
        let own = found
            .iter()
            .take_while(|(key, _)| key.starts_with(&project));
        let ends = own.map(|(key, value)| {
            let place = read_place(key, value)?;
            Ok(PeriodEnd {
                at: place.at,
                tie: place.order.serial.0,
                wallet: place.order.wallet,
            })
        });
        let mut ends = ends.collect::<Result<Vec<_>, Error>>()?;
        ends.retain(|end| end.at <= until);
        Ok(ends)
    }
}

fn serial(project: ProjectId, subscription: &SubscriptionId) -> OrderSerial {
    OrderSerial(u128::from_be_bytes(hash(
        b"subscription",
        project,
        subscription.as_str(),
    )))
}

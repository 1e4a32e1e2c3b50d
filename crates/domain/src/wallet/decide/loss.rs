//! What a wallet would lose by a cancellation or a refund, to be shown beforehand. Nothing is decided here.

use std::collections::BTreeSet;

use crate::{
    id::{OrderSerial, ProductId},
    text::{Feature, SubscriptionId},
    time::Timestamp,
    wallet::state::{Wallet, archive::Archive, event::Change, lots::CycleTag, order::Reversal},
};

/// What a wallet loses with a subscription or an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loss {
    /// Credits. Of a subscription: what is left of its cycle unless it rolls over; it expires at once, or when the
    /// holds on it are closed. Of an order: what a refund can take.
    pub credits: Vec<(ProductId, i64)>,
    /// Features that nothing else unlocks.
    pub features: Vec<String>,
}

impl Wallet {
    /// What the wallet loses if this subscription ends now; nothing if it is over already.
    pub fn loss_by_cancellation(&self, id: &SubscriptionId, now: Timestamp) -> Loss {
        let Some(subscription) = self.subscription(id) else {
            return Loss::default();
        };
        let cycle = CycleTag::of(&self.key, id);
        let accounts = self.accounts.iter();
        let credits = accounts.map(|account| (account.product, account.left_of(cycle)));
        let others = self.subscriptions().filter(|other| other.id != *id);
        let mut remaining: BTreeSet<&Feature> =
            others.flat_map(|other| other.features(now)).collect();
        remaining.extend(&self.features);
        remaining.extend(self.unlocked_by_orders());
        let features = subscription.features(now);
        let features = features.filter(|feature| !remaining.contains(feature));
        Loss {
            credits: credits.filter(|(_, left)| *left > 0).collect(),
            features: features
                .map(|feature| feature.as_str().to_owned())
                .collect(),
        }
    }

    /// What the wallet loses if this much more of an order's payment is refunded now.
    pub fn loss_by_refund(
        &self,
        order: OrderSerial,
        cents: i64,
        archived: Archive<'_>,
        now: Timestamp,
    ) -> Loss {
        let Some(paid) = self.any_order(order, archived) else {
            return Loss::default();
        };
        let refunded_cents = paid.reversal.refunded_cents.saturating_add(cents);
        let reversal = Reversal {
            refunded_cents,
            as_of: now,
            ..paid.reversal
        };
        let events = self
            .reverse(order, reversal, archived, now)
            .unwrap_or_default();
        let (mut after, mut taken) = (self.clone(), 0_i64);
        for event in events {
            if let Change::OrderReversed { credits, .. } = &event.change {
                taken = credits.saturating_neg();
            }
            let _ = after.apply(event);
        }
        let left = after.features(now);
        let features = self.features(now).into_iter();
        let lost = features.filter(|feature| !left.contains(feature));
        Loss {
            credits: Vec::from_iter((taken > 0).then_some((paid.terms.fills, taken))),
            features: lost.map(str::to_owned).collect(),
        }
    }
}

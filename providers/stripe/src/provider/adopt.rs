//! Taking over a subscription that was not begun here: from then on it is known by its order, and by what is
//! written on it and on its price, as any of ours.

use domain::{
    text::SubscriptionId,
    wallet::pay::{Billing, Payment},
};
use port::{PaidOrder, Reference};

use super::{
    Stripe, key,
    look::{first_billing, instant},
};

impl Stripe {
    /// Writes our price on its own, and answers for it as for an order that was paid with nothing: what runs
    /// was paid before. Its newest bill is that order's, so that it brings nothing once more.
    pub(super) async fn take_over(
        &self,
        id: &SubscriptionId,
        reference: &Reference,
    ) -> Result<PaidOrder, port::Error> {
        let subscription = self.client.subscription(id).await?;
        let refused = |why: &str| port::Error::Refused(why.to_owned());
        let [item] = subscription.items() else {
            return Err(refused("the subscription has not exactly one price"));
        };
        let elsewhere = subscription.metadata.project;
        if elsewhere.is_some_and(|project| project != self.project) {
            return Err(refused("the subscription is another project's"));
        }
        let theirs = item.price.id.clone();
        match self.our_price(&theirs).await? {
            Some(known) if known != reference.price => {
                return Err(refused("its price is written down as another one of ours"));
            }
            Some(_) => {}
            None => {
                let name = format!("mark/{}/{}", theirs.as_str(), reference.price);
                let ours = reference.price;
                self.client.mark_price(&theirs, ours, &key(&name)?).await?;
                self.shared
                    .ours
                    .insert((self.project, theirs), Some(reference.price));
            }
        }
        let (now, _) = self.now(reference.order, &subscription).await?;
        let newest = subscription.latest_invoice.as_ref();
        let invoice = newest.map(|invoice| crate::expand::Expandable::id(invoice).clone());
        let period_end = subscription.period_end(Some(item));
        let billing = first_billing(&now, &subscription, None).map(|billing| Billing {
            invoice: invoice.clone(),
            // Bills of cycles before this one bring nothing.
            cycle_start: period_end.map_or(billing.cycle_start, |end| {
                instant(subscription.start_of(Some(item), end))
            }),
            ..billing
        });
        Ok(PaidOrder {
            order: reference.order,
            price: Some(reference.price),
            user: reference.user.clone(),
            quantity: now.quantity,
            amount_cents: Some(0),
            currency: None,
            payment: Payment {
                amount_cents: 0,
                payment: None,
                invoice,
                customer: Some(subscription.customer.clone()),
                email: None,
                receipt: self.receipt(),
            },
            billing,
            subscription: Some(now),
        })
    }
}

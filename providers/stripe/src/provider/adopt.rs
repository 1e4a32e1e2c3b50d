//! Taking over a subscription that was not begun here: from then on it is known by its order, and by what is
//! written on it and on its price, as any of ours.

use domain::{
    text::SubscriptionId,
    wallet::{
        Currency,
        pay::{Billing, Payment},
    },
};
use port::{BillingTerms, PaidOrder, Reference, RunningSubscription};

use super::{
    Stripe,
    bills::name_of,
    look::{first_billing, instant},
};
use crate::{
    Error, Form, key, metadata,
    object::{Customer, Expandable},
    subscriptions::{Subscription, SubscriptionStatus},
};

/// A page of them: each may be of some kilobytes.
const PAGE: u32 = 20;

impl Stripe {
    /// Subscriptions under a price that are not over, newest first, from behind one on.
    pub(super) async fn all_running(
        &self,
        price: &str,
        after: Option<&str>,
    ) -> Result<(Vec<RunningSubscription>, Option<String>), Error> {
        let query = Form::new()
            .with("price", price)
            .with("limit", PAGE)
            .with_some("starting_after", after);
        let with = ["data.customer"];
        let page = self.client.list::<SubscriptionId>(&query, &with).await?;
        let found = page.data.into_iter().filter_map(neutral);
        Ok((found.collect(), page.next))
    }

    pub(super) async fn one_running(
        &self,
        id: &SubscriptionId,
    ) -> Result<Option<RunningSubscription>, Error> {
        let with = ["latest_invoice"];
        Ok(neutral(self.client.read_with(id, &with).await?))
    }

    /// Writes our price on its own, and answers for it as for an order that was paid with nothing: what runs
    /// was paid before. Its newest bill is that order's, so that it brings nothing once more.
    pub(super) async fn take_over(
        &self,
        id: &SubscriptionId,
        reference: &Reference,
    ) -> Result<PaidOrder, Error> {
        let subscription = self.client.read(id).await?;
        let refused = |why: &str| Error::from(port::Error::Refused(why.to_owned()));
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
                let ours = format!("metadata[{}]", metadata::PRICE);
                let form = Form::new().with(ours, reference.price);
                let path = ["prices", theirs.as_str()];
                self.change(&path, &form, &key::operation(name)?).await?;
                self.shared
                    .ours
                    .insert((self.project, theirs), Some(reference.price));
            }
        }
        let (now, _) = self.now(reference.order, &subscription).await?;
        let newest = subscription.latest_invoice.as_ref();
        let invoice = newest.map(|invoice| invoice.id().clone());
        let billing = first_billing(&now, &subscription, None).map(|billing| Billing {
            invoice: invoice.clone(),
            // Bills of cycles before this one bring nothing.
            cycle_start: item.current_period_end.map_or(billing.cycle_start, |end| {
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
                customer: Some(subscription.customer.id().clone()),
                email: None,
                receipt: self.receipt(),
            },
            billing,
            subscription: Some(now),
        })
    }
}

/// As a person knows it; `None`: it is billed by nothing.
fn neutral(subscription: Subscription) -> Option<RunningSubscription> {
    let items = subscription.items();
    let price = items.first()?.price.id.as_str().to_owned();
    let ends = items
        .iter()
        .filter_map(|item| item.current_period_end)
        .max();
    let customer = subscription.customer.object();
    let newest = subscription.latest_invoice.as_ref();
    Some(RunningSubscription {
        customer: subscription.customer.id().clone(),
        email: customer.and_then(Customer::email),
        price,
        charged: charged(&subscription),
        runs: matches!(
            subscription.status,
            SubscriptionStatus::Active | SubscriptionStatus::Trialing
        ),
        created: instant(subscription.created),
        newest: newest.and_then(Expandable::object).map(name_of),
        current_period_end: ends.map(instant),
        customer_metadata: customer.map(|it| it.metadata.clone()).unwrap_or_default(),
        metadata: subscription.metadata.all,
        id: subscription.id,
    })
}

/// What it is billed by, where that is one price a month or a year.
fn charged(subscription: &Subscription) -> Option<BillingTerms> {
    let [item] = subscription.items() else {
        return None;
    };
    Some(BillingTerms {
        amount_cents: item.price.unit_amount?,
        currency: Currency::new(subscription.currency.as_deref()?)?,
        interval: item.price.interval()?,
    })
}

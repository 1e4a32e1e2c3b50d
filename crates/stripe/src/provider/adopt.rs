//! Imports a subscription that did not begin through Scrip. From then on its order, and the metadata on it and its
//! price, identify it like any other.

use domain::{
    text::SubscriptionId,
    wallet::{
        Currency, OrderKind,
        pay::{PaidCycle, Payment},
    },
};
use payments_port::{BillingTerms, ImportableSubscription, ListPage, OrderReference, PaidOrder};

use super::{Stripe, bills::name_of, fetch::first_billing, tier::instant};
use crate::{
    Error, Form, key, metadata,
    object::{Customer, Expandable},
    subscriptions::{Subscription, SubscriptionStatus},
};

/// Small pages: a subscription may have some kilobytes.
const PAGE_SIZE: u32 = 20;

impl Stripe {
    /// A page of the running subscriptions to a price, newest first, after the cursor `after`.
    pub(super) async fn all_running(
        &self,
        price: &str,
        after: Option<&str>,
    ) -> Result<ListPage<ImportableSubscription>, Error> {
        let query = Form::new()
            .with("price", price)
            .with("limit", PAGE_SIZE)
            .with_some("starting_after", after);
        let with = ["data.customer"];
        let page = self.client.list::<SubscriptionId>(&query, &with).await?;
        Ok(ListPage {
            items: page.data.into_iter().filter_map(neutral).collect(),
            next: page.next,
        })
    }

    pub(super) async fn one_running(
        &self,
        id: &SubscriptionId,
    ) -> Result<Option<ImportableSubscription>, Error> {
        let with = ["latest_invoice"];
        Ok(neutral(self.client.read_with(id, &with).await?))
    }

    /// Writes our price's id on Stripe's price, and reports the subscription as an order paid with 0: its running cycle
    /// was paid before. Its newest invoice belongs to that order, so that it grants nothing again.
    pub(super) async fn take_over(
        &self,
        id: &SubscriptionId,
        reference: &OrderReference,
    ) -> Result<PaidOrder, Error> {
        let subscription = self.client.read(id).await?;
        let refused = |why: &str| Error::from(payments_port::Error::Refused(why.to_owned()));
        let [item] = subscription.items() else {
            return Err(refused("the subscription does not have exactly one price"));
        };
        let marked = subscription.metadata.project;
        if marked.is_some_and(|project| project != self.project) {
            return Err(refused("the subscription belongs to another project"));
        }
        let theirs = item.price.id.clone();
        match self.our_price(&theirs).await? {
            Some(linked) if linked != reference.price => {
                return Err(refused("its price is already linked to another price"));
            }
            Some(_) => {}
            None => {
                let key = key::unique(format_args!("mark/{}", theirs.as_str()))?;
                let ours = format!("metadata[{}]", metadata::PRICE);
                let form = Form::new().with(ours, reference.price);
                let path = ["prices", theirs.as_str()];
                self.change(&path, &form, &key).await?;
                self.shared
                    .ours
                    .insert((self.project, theirs), Some(reference.price));
            }
        }
        let (state, _) = self
            .subscription_state(reference.order, &subscription)
            .await?;
        let newest = subscription.latest_invoice.as_ref();
        let invoice = newest.map(|invoice| invoice.id().clone());
        let billing = first_billing(&state, &subscription, None).map(|billing| PaidCycle {
            invoice: invoice.clone(),
            // Invoices of earlier cycles grant nothing.
            cycle_start: item.current_period_end.map_or(billing.cycle_start, |end| {
                instant(subscription.start_of(Some(item), end))
            }),
            ..billing
        });
        Ok(PaidOrder {
            order: reference.order,
            kind: OrderKind::Checkout,
            price: Some(reference.price),
            user: reference.user.clone(),
            quantity: state.quantity,
            payment: Payment {
                amount_cents: 0,
                payment: None,
                invoice,
                customer: Some(subscription.customer.id().clone()),
                email: None,
                receipt: self.receipt(),
            },
            currency: None,
            billing,
            subscription: Some(state),
            saved_card: None,
        })
    }
}

/// The subscription in the port's terms; `None` without items.
fn neutral(subscription: Subscription) -> Option<ImportableSubscription> {
    let items = subscription.items();
    let price = items.first()?.price.id.as_str().to_owned();
    let ends = items
        .iter()
        .filter_map(|item| item.current_period_end)
        .max();
    let customer = subscription.customer.object();
    let newest = subscription.latest_invoice.as_ref();
    Some(ImportableSubscription {
        customer: subscription.customer.id().clone(),
        email: customer.and_then(Customer::email),
        price,
        terms: billing_terms(&subscription),
        is_running: matches!(
            subscription.status,
            SubscriptionStatus::Active | SubscriptionStatus::Trialing
        ),
        created: instant(subscription.created),
        newest_invoice: newest.and_then(Expandable::object).map(name_of),
        current_period_end: ends.map(instant),
        customer_metadata: customer
            .map(|customer| customer.metadata.clone())
            .unwrap_or_default(),
        metadata: subscription.metadata.all,
        id: subscription.id,
    })
}

/// Its billing terms, if it has a single monthly or yearly price.
fn billing_terms(subscription: &Subscription) -> Option<BillingTerms> {
    let [item] = subscription.items() else {
        return None;
    };
    Some(BillingTerms {
        amount_cents: item.price.unit_amount?,
        currency: Currency::new(subscription.currency.as_deref()?)?,
        interval: item.price.interval()?,
    })
}

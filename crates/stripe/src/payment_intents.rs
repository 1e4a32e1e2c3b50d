//! Payment intents: the way from a session, or from a card on file, to its charge.

use domain::time::Timestamp;
use payments_port::{CardCharge, Operation};
use serde::Deserialize;

use super::{
    client::Client,
    declines::CardError,
    error::Error,
    form::Form,
    id::{CardId, ChargeId, CustomerId, PaymentId},
    metadata::{self, Metadata, OPERATION},
    object::{Expandable, PAGE_SIZE, object},
};

/// By how many seconds Stripe's clock may be behind ours.
const CLOCK_DIFFERENCE: i64 = 3600;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PaymentIntent {
    pub id: PaymentId,
    pub amount_received: i64,
    /// Its status, for example `processing`.
    pub status: Option<String>,
    pub latest_charge: Option<Expandable<ChargeId>>,
    pub currency: Option<String>,
    pub customer: Option<CustomerId>,
    pub payment_method: Option<Expandable<CardId>>,
    /// `off_session` if the payment saves the card for payments without the buyer.
    pub setup_future_usage: Option<String>,
    pub last_payment_error: Option<CardError>,
    #[serde(default)]
    pub metadata: Metadata,
}

object!(PaymentId => PaymentIntent, "payment_intents", ["latest_charge"]);

/// The form of a payment by a card on file. It is confirmed at once, and nobody can be asked anything.
pub(super) fn form(charge: &CardCharge) -> Form {
    let form = Form::new()
        .with("amount", charge.amount_cents)
        .with("currency", charge.currency.to_string().to_ascii_lowercase())
        .with("customer", &charge.customer)
        .with("payment_method", &charge.card)
        .with("allowed_payment_method_types[0]", "card")
        .with("confirm", true)
        .with("off_session", true)
        .with("description", &charge.description);
    let form = metadata::put(&charge.reference, form, "metadata");
    form.with(format!("metadata[{OPERATION}]"), charge.operation.as_str())
}

impl PaymentIntent {
    /// Whether Scrip made it, by a card on file: payments of checkouts name no operation.
    pub(super) fn is_card_charge(&self) -> bool {
        self.metadata.operation.is_some()
    }

    fn has_status(&self, status: &str) -> bool {
        self.status.as_deref() == Some(status)
    }

    pub(super) fn is_paid(&self) -> bool {
        self.has_status("succeeded")
    }

    /// Whether the bank has not answered yet.
    pub(super) fn is_processing(&self) -> bool {
        self.has_status("processing") || self.has_status("requires_capture")
    }
}

impl Client {
    /// A customer's payment that names an operation: if there are several, one that is paid, or may be.
    pub(super) async fn find_card_charge(
        &self,
        customer: &CustomerId,
        operation: &Operation,
        since: Timestamp,
    ) -> Result<Option<PaymentIntent>, Error> {
        let since = since.0.div_euclid(1000).saturating_sub(CLOCK_DIFFERENCE);
        let (mut found, mut after) = (None::<PaymentIntent>, None::<String>);
        loop {
            let query = Form::new()
                .with("customer", customer)
                .with("created[gte]", since.max(0))
                .with("limit", PAGE_SIZE)
                .with_some("starting_after", after);
            let page = self
                .list::<PaymentId>(&query, &["data.latest_charge"])
                .await?;
            let is_named = |intent: &PaymentIntent| {
                intent.metadata.operation.as_deref() == Some(operation.as_str())
            };
            let named = page.data.into_iter().filter(is_named);
            let rank = |intent: &PaymentIntent| (intent.is_paid(), intent.is_processing());
            found = found.into_iter().chain(named).max_by_key(rank);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        Quantity,
        id::{OrderId, OrderSerial, PriceId, ProjectId, WalletKey},
        text::ExternalUserId,
        wallet::Currency,
    };
    use payments_port::OrderReference;

    use super::*;
    use crate::form::lines;

    #[test]
    fn a_card_on_file_is_charged_at_once_and_names_its_order() {
        let order = OrderId {
            serial: OrderSerial(2),
            wallet: WalletKey([0; 16]),
        };
        let charge = CardCharge {
            reference: OrderReference {
                project: ProjectId(1),
                order,
                price: PriceId(3),
                user: ExternalUserId::new("ann").ok(),
                quantity: Quantity::new(2).unwrap(),
            },
            customer: CustomerId::new("cus_1").unwrap(),
            card: CardId::new("pm_1").unwrap(),
            amount_cents: 1000,
            currency: Currency::new("EUR").unwrap(),
            description: "1,000 credits".into(),
            operation: Operation::new(format!("top_up/{order}")).unwrap(),
            since: Timestamp(0),
        };
        assert_eq!(
            lines(&form(&charge)),
            [
                "amount=1000",
                "currency=eur",
                "customer=cus_1",
                "payment_method=pm_1",
                "allowed_payment_method_types[0]=card",
                "confirm=true",
                "off_session=true",
                "description=1,000 credits",
                "metadata[scrip_project_id]=proj_00000000000000000000000001",
                &format!("metadata[scrip_order_id]={order}"),
                "metadata[scrip_price_id]=price_00000000000000000000000003",
                "metadata[scrip_external_user_id]=ann",
                "metadata[scrip_quantity]=2",
                &format!("metadata[scrip_operation]=top_up/{order}"),
            ]
        );
    }

    #[test]
    fn the_charge_is_found() {
        let json = r#"{"id":"pi_1","object":"payment_intent","amount_received":500,
            "latest_charge":"ch_1","customer":"cus_1","metadata":{},"status":"succeeded"}"#;
        let intent: PaymentIntent = serde_json::from_str(json).unwrap();
        let charge = intent.latest_charge.as_ref().map(Expandable::id);
        assert_eq!(charge, ChargeId::new("ch_1").as_ref().ok());
    }
}

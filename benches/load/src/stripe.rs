//! As much of Stripe as selling takes: it makes checkout sessions at once, has them paid, and signs
//! what it reports. It runs in this process, so that no network's delay is measured.

use std::{collections::HashMap, net::SocketAddr, sync::Arc};

use axum::{Json, Router, body::Bytes, extract::State, routing::post};
use domain::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use super::error::{Needed, Result};
use stripe::signature::{self, SigningSecret};

/// The account's key.
pub(crate) const SECRET_KEY: &str = "sk_test_bench";
/// What its webhooks are signed with.
pub(crate) const WEBHOOK_SECRET: &str = "whsec_bench";

/// Open sessions by name.
type Sessions = Arc<Mutex<HashMap<String, Map<String, Value>>>>;

/// The double; it ends with its runtime.
pub(crate) struct Stripe {
    address: SocketAddr,
    sessions: Sessions,
    secret: SigningSecret,
}

/// A webhook as it is sent.
pub(crate) struct Webhook {
    pub(crate) body: String,
    pub(crate) signature: String,
}

impl Stripe {
    pub(crate) fn start(runtime: &Runtime) -> Result<Self> {
        let sessions = Sessions::default();
        let router = Router::new()
            .route("/v1/checkout/sessions", post(create))
            .with_state(Arc::clone(&sessions));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(Self {
            address,
            sessions,
            secret: SigningSecret::new(WEBHOOK_SECRET).needed("a webhook secret")?,
        })
    }

    /// Where its API is.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The buyer pays; what is reported of it.
    pub(crate) fn pay(&self, checkout: &str, now: Timestamp) -> Result<Webhook> {
        let session = self.sessions.lock().remove(checkout);
        let mut session = session.needed("a checkout session")?;
        let number = checkout.trim_start_matches("cs_test_");
        if session.get("customer") == Some(&Value::Null) {
            session.insert("customer".into(), json!(format!("cus_{number}")));
        }
        for (name, value) in [
            ("status", json!("complete")),
            ("payment_status", json!("paid")),
            ("payment_intent", json!(format!("pi_{number}"))),
            (
                "customer_details",
                json!({"email": format!("buyer{number}@mail.example")}),
            ),
            ("url", Value::Null),
        ] {
            session.insert(name.into(), value);
        }
        let body = json!({
            "id": format!("evt_{number}"), "object": "event", "type": "checkout.session.completed",
            "created": now.0 / 1000, "livemode": false, "data": {"object": session},
        })
        .to_string();
        let signature = signature::sign(&self.secret, body.as_bytes(), now);
        Ok(Webhook { body, signature })
    }
}

async fn create(State(sessions): State<Sessions>, body: Bytes) -> Json<Value> {
    let form: HashMap<String, String> = url::form_urlencoded::parse(&body).into_owned().collect();
    let number = |name: &str| form.get(name).and_then(|text| text.parse::<i64>().ok());
    let metadata: Map<String, Value> = form
        .iter()
        .filter_map(|(name, value)| {
            let name = name.strip_prefix("metadata[")?.strip_suffix(']')?;
            Some((name.to_owned(), json!(value)))
        })
        .collect();
    let mut sessions = sessions.lock();
    // Names of sessions are not given twice, also on the data of an earlier run.
    let id = format!("cs_test_{}", uuid::Uuid::now_v7().simple());
    let made = json!({
        "id": id, "object": "checkout.session", "status": "open", "payment_status": "unpaid",
        "mode": form.get("mode"), "url": format!("https://pay.example/{id}"), "currency": "eur",
        "amount_total": number("line_items[0][price_data][unit_amount]"),
        "customer": form.get("customer"), "expires_at": number("expires_at"),
        "client_reference_id": form.get("client_reference_id"), "metadata": metadata,
    });
    sessions.extend(made.as_object().map(|session| (id, session.clone())));
    Json(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripe::event::{Event, Payload};

    #[test]
    fn what_is_reported_is_signed_and_a_paid_session() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let stripe = Stripe::start(&runtime).unwrap();
        let form = "mode=payment&line_items%5B0%5D%5Bprice_data%5D%5Bunit_amount%5D=500\
                    &metadata%5Bscrip_order_id%5D=ord_1";
        let made = create(State(Arc::clone(&stripe.sessions)), Bytes::from(form));
        let made = runtime.block_on(made).0;
        assert_eq!(made["metadata"]["scrip_order_id"], "ord_1");
        let now = Timestamp(1_800_000_000_000);
        let webhook = stripe.pay(made["id"].as_str().unwrap(), now).unwrap();
        let (body, header) = (webhook.body.as_bytes(), webhook.signature.as_bytes());
        let secrets = [stripe.secret.clone()];
        assert_eq!(signature::verify(header, body, &secrets, now), Ok(()));
        let Payload::CheckoutCompleted(session) = Event::parse(body).unwrap().payload else {
            panic!("a completed checkout")
        };
        assert!(session.is_paid());
        assert_eq!(session.amount_total, Some(500));
        assert!(stripe.pay(made["id"].as_str().unwrap(), now).is_err());
    }
}

//! What a restricted key has to be allowed: every call of this crate, with the permission that Stripe
//! wants for it. From this one list come the link by which such a key is made, the page that explains it,
//! and what is tried when a key is set. A call that is not in it fails every test that makes it.
//!
//! Stripe names permissions `rak_<resource>_<read|write>`; to write includes to read, and prices go by their
//! old name, plans. Source: its refusals ("Having the 'rak_…' permission would allow this request") and
//! "Restricted API keys".

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{client::Client, error::Error, form::Form, key};

/// What a permission is about, as Stripe writes it, and how much of Scrip is without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// As in `rak_<name>_read`.
    pub name: &'static str,
    /// As the row of Stripe's form is called.
    pub row: &'static str,
    /// What it is asked for.
    pub purpose: &'static str,
    /// How much is without it.
    pub need: Need,
}

/// How much of Scrip is without a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing can be sold, or handed over once it is paid: such a key is not taken.
    Sale,
    /// One kind of question goes unanswered, and the rest goes on: it is shown.
    Part,
    /// Something is done in another way.
    Convenience,
}

/// One of Stripe's endpoints that is called.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// How.
    pub method: Method,
    /// Below `/v1/`; `{}` stands for an identifier.
    pub path: &'static str,
    /// What has to be allowed.
    pub of: &'static Resource,
    /// Whether it is called to find out whether it may be: else another call of the same permission says it.
    is_tried: bool,
}

macro_rules! resources {
    ($($resource:ident: $need:ident, $name:literal, $row:literal, $purpose:literal;)*) => {
        $(static $resource: Resource = Resource {
            name: $name,
            row: $row,
            purpose: $purpose,
            need: Need::$need,
        };)*
    };
}

resources! {
    CHECKOUTS: Sale, "checkout_session", "Checkout Sessions", "the pages that people pay on";
    PRICES: Sale, "plan", "Prices", "tiers of subscriptions, made the first time that they are bought";
    PRODUCTS: Sale, "product", "Products", "what those are tiers of";
    SUBSCRIPTIONS: Sale, "subscription", "Subscriptions", "renewals, switches, cancellations on your word";
    EVENTS: Sale, "event", "Events", "what happens in the account";
    PAYMENTS: Sale, "payment_intent", "PaymentIntents", "what was paid";
    INVOICES: Part, "invoice", "Invoices", "what a cycle or a switch cost";
    INVOICE_PAYMENTS: Part, "invoice_payment", "Invoice Payments", "which payment paid an invoice";
    CHARGES: Part, "charge", "Charges and Refunds", "receipts; refunds on your word";
    DISPUTES: Part, "dispute", "Disputes", "money that a bank took back";
    PORTAL: Part, "customer_portal", "Customer portal", "the portal and what it offers";
    SCHEDULES: Part, "subscription_schedule", "Subscription schedules", "to cancel what was to switch down";
    PROMOTIONS: Part, "promotion_code", "Promotion codes", "`discountCode`";
    CUSTOMERS: Convenience, "customer", "Customers",
        "optional: e-mail addresses and metadata where subscriptions are taken over";
    WEBHOOKS: Convenience, "webhook", "Webhook Endpoints", "optional: Scrip then makes and repairs its own";
    ACCOUNT: Convenience, "accounts_kyc_basic", "Accounts",
        "optional: tells one account from another when the key is changed";
}

const fn called(method: Method, path: &'static str, of: &'static Resource) -> Endpoint {
    Endpoint {
        method,
        path,
        of,
        is_tried: false,
    }
}

/// Every call that this crate makes.
pub static ENDPOINTS: &[Endpoint] = {
    const GET: Method = Method::GET;
    const POST: Method = Method::POST;
    const DELETE: Method = Method::DELETE;
    &[
        called(GET, "account", &ACCOUNT),
        called(GET, "billing_portal/configurations", &PORTAL),
        called(POST, "billing_portal/configurations", &PORTAL).tried(),
        called(POST, "billing_portal/sessions", &PORTAL).tried(),
        called(GET, "charges", &CHARGES),
        called(GET, "charges/{}", &CHARGES).tried(),
        called(POST, "checkout/sessions", &CHECKOUTS).tried(),
        called(GET, "checkout/sessions", &CHECKOUTS),
        called(GET, "checkout/sessions/{}", &CHECKOUTS).tried(),
        called(POST, "checkout/sessions/{}/expire", &CHECKOUTS),
        // As a part of what `subscriptions` answers.
        called(GET, "customers/{}", &CUSTOMERS).tried(),
        called(GET, "disputes", &DISPUTES).tried(),
        called(GET, "disputes/{}", &DISPUTES),
        called(GET, "events", &EVENTS).tried(),
        called(GET, "invoice_payments", &INVOICE_PAYMENTS).tried(),
        called(GET, "invoices", &INVOICES),
        called(GET, "invoices/{}", &INVOICES).tried(),
        called(GET, "invoices/{}/lines", &INVOICES),
        called(GET, "payment_intents/{}", &PAYMENTS).tried(),
        called(GET, "prices", &PRICES),
        called(POST, "prices", &PRICES).tried(),
        called(GET, "prices/{}", &PRICES).tried(),
        called(POST, "prices/{}", &PRICES),
        called(GET, "products/{}", &PRODUCTS).tried(),
        called(POST, "products", &PRODUCTS).tried(),
        called(GET, "promotion_codes", &PROMOTIONS).tried(),
        called(GET, "refunds", &CHARGES).tried(),
        called(GET, "refunds/{}", &CHARGES),
        called(POST, "refunds", &CHARGES).tried(),
        called(POST, "subscription_schedules/{}/release", &SCHEDULES).tried(),
        called(GET, "subscriptions", &SUBSCRIPTIONS),
        called(GET, "subscriptions/{}", &SUBSCRIPTIONS).tried(),
        called(POST, "subscriptions/{}", &SUBSCRIPTIONS).tried(),
        called(DELETE, "subscriptions/{}", &SUBSCRIPTIONS),
        called(POST, "subscriptions/{}/resume", &SUBSCRIPTIONS),
        called(GET, "webhook_endpoints", &WEBHOOKS).tried(),
        called(POST, "webhook_endpoints", &WEBHOOKS).tried(),
        called(POST, "webhook_endpoints/{}", &WEBHOOKS),
        called(DELETE, "webhook_endpoints/{}", &WEBHOOKS),
    ]
};

/// Something that a key has to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    /// What it is about.
    pub of: &'static Resource,
    /// Whether it is to write.
    pub writes: bool,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.writes { "write" } else { "read" };
        write!(f, "rak_{}_{way}", self.of.name)
    }
}

impl Endpoint {
    const fn tried(mut self) -> Self {
        self.is_tried = true;
        self
    }

    /// What it needs.
    #[must_use]
    pub fn permission(&self) -> Permission {
        Permission {
            of: self.of,
            writes: self.method != Method::GET,
        }
    }

    /// Whether this is the endpoint of a call; the path begins below `/v1/`.
    #[must_use]
    pub fn is(&self, method: &str, path: &str) -> bool {
        let mut parts = path.split('/');
        let same = |part: &str| parts.next().is_some_and(|at| part == "{}" || part == at);
        self.method == method && self.path.split('/').all(same) && parts.next().is_none()
    }
}

/// Every permission that is needed, each once: to write where anything is written.
#[must_use]
pub fn all() -> Vec<Permission> {
    let mut all: Vec<Permission> = Vec::new();
    for needed in ENDPOINTS.iter().map(Endpoint::permission) {
        match all.iter_mut().find(|known| known.of == needed.of) {
            Some(known) => known.writes |= needed.writes,
            None => all.push(needed),
        }
    }
    all
}

/// Stripe's form for a new restricted key with all of it filled in.
#[must_use]
pub fn link(test_mode: bool) -> String {
    let mode = if test_mode { "test/" } else { "" };
    let mut link = format!("https://dashboard.stripe.com/{mode}apikeys/create?name=Scrip");
    for permission in all() {
        link.push_str(&format!("&permissions[]={permission}"));
    }
    link
}

/// What a key may not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The permission, as Stripe names it.
    pub permission: String,
    /// How much is without it.
    pub need: Need,
    /// Stripe's own words.
    pub said: String,
}

impl Client {
    /// Calls every endpoint that will be asked, in ways that change nothing; what the key may not do.
    ///
    /// # Errors
    ///
    /// See [`Error`]: the key does not work at all, or Stripe does not answer.
    pub async fn try_key(&self) -> Result<Vec<Missing>, Error> {
        let tried = ENDPOINTS.iter().filter(|endpoint| endpoint.is_tried);
        // The one without which nothing is worth trying goes first.
        let (first, rest): (Vec<_>, Vec<_>) = tried.partition(|endpoint| endpoint.of == &EVENTS);
        let mut missing = Vec::new();
        for at_once in [first, rest] {
            let mut trials = JoinSet::new();
            for (at, endpoint) in at_once.into_iter().enumerate() {
                let client = self.clone();
                trials.spawn(async move { (at, client.try_endpoint(endpoint).await) });
            }
            let mut found = BTreeMap::new();
            while let Some(tried) = trials.join_next().await {
                let (at, tried) = tried.map_err(|error| Error::garbage(error.to_string()))?;
                found.insert(at, tried?);
            }
            missing.extend(found.into_values().flatten());
        }
        let mut names = BTreeSet::new();
        missing.retain(|missing: &Missing| names.insert(missing.permission.clone()));
        Ok(missing)
    }

    /// The name of the account that the key is of, `acct_…`.
    ///
    /// # Errors
    ///
    /// See [`Error`]; a restricted key may lack the permission.
    pub async fn account(&self) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Account {
            id: String,
        }
        let account: Account = self.get(&["account"], &Form::new(), false).await?;
        Ok(account.id)
    }

    /// Calls again what the key was last not allowed to call, in ways that change nothing.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn try_missing(&self) -> Result<(), Error> {
        let missing = self.missing_permissions();
        for endpoint in ENDPOINTS {
            if endpoint.is_tried && missing.contains(&endpoint.permission().to_string()) {
                self.try_endpoint(endpoint).await?;
            }
        }
        Ok(())
    }

    async fn try_endpoint(&self, endpoint: &Endpoint) -> Result<Option<Missing>, Error> {
        const NOBODY: &str = "scrip_permission_check";
        let parts = endpoint.path.split('/');
        let path: Vec<&str> = parts
            .map(|part| if part == "{}" { NOBODY } else { part })
            .collect();
        // A list of one; else by an object that is not there, or by a form that lacks what it has to have.
        let is_list = endpoint.method == Method::GET && !path.contains(&NOBODY);
        let form = Form::new().with_some("limit", is_list.then_some(1));
        // A double of Stripe knows by this name that it is meant to be refused.
        let key = key::anew("permission-check")?;
        let tried: Result<Value, Error> = match endpoint.method {
            Method::GET => self.get(&path, &form, false).await,
            Method::DELETE => self.delete(&path, &key).await,
            _ => self.post(&path, &form, &key).await,
        };
        match tried {
            Err(Error::Refused(refusal)) if refusal.status == 403 => {
                let declared = endpoint.permission().to_string();
                let named = refusal.permission();
                let named = named.filter(|name| name.starts_with("rak_"));
                Ok(Some(Missing {
                    permission: named.map_or(declared, ToOwned::to_owned),
                    need: endpoint.of.need,
                    said: refusal.message,
                }))
            }
            Err(Error::Refused(refusal)) if refusal.status == 401 => Err(Error::Refused(refusal)),
            Ok(_) | Err(Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_permission_is_asked_for_once_and_to_write_where_anything_is_written() {
        let link = link(false);
        assert!(link.starts_with(
            "https://dashboard.stripe.com/apikeys/create?name=Scrip&permissions[]=rak_"
        ));
        for (permission, wanted) in [
            ("rak_checkout_session_write", true),
            ("rak_plan_write", true),
            ("rak_subscription_schedule_write", true),
            ("rak_dispute_read", true),
            ("rak_payment_intent_read", true),
            ("rak_checkout_session_read", false),
            ("rak_payment_intent_write", false),
            ("rak_customer_write", false),
        ] {
            let times = link.matches(&format!("={permission}")).count();
            assert_eq!(times, usize::from(wanted), "{permission} in {link}");
        }
        assert!(super::link(true).contains("stripe.com/test/apikeys/create?name=Scrip&"));
    }

    #[test]
    fn every_permission_is_tried() {
        for permission in all() {
            let mut tried = ENDPOINTS.iter().filter(|endpoint| endpoint.is_tried);
            let tried = tried.any(|endpoint| endpoint.permission() == permission);
            assert!(tried || permission.of == &ACCOUNT, "{permission}");
        }
    }

    #[test]
    fn an_endpoint_is_told_by_its_verb_and_its_path() {
        let of = |verb: &str, path: &str| {
            let found = ENDPOINTS.iter().find(|endpoint| endpoint.is(verb, path));
            found.map(|endpoint| endpoint.permission().to_string())
        };
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(of("GET", "invoices/in_1/lines"), some("rak_invoice_read"));
        assert_eq!(
            of("DELETE", "subscriptions/sub_1"),
            some("rak_subscription_write")
        );
        assert_eq!(of("POST", "charges/ch_1"), None);
        assert_eq!(of("GET", "invoices/in_1/lines/more"), None);
    }
}

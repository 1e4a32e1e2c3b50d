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

use serde::Deserialize;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{client::Client, error::Error, form::Form, key};

/// How a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Nothing is changed.
    Get,
    /// Something is made or changed.
    Post,
    /// Something is ended.
    Delete,
}

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
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// How.
    pub verb: Verb,
    /// Below `/v1/`; `{}` stands for an identifier.
    pub path: &'static str,
    /// What has to be allowed.
    pub of: &'static Resource,
    trial: Trial,
}

/// How it is found out whether an endpoint may be called.
#[derive(Debug, Clone, Copy)]
enum Trial {
    /// A list of one.
    List,
    /// By an object that is not there.
    Nobody,
    /// By a form that lacks what it has to have.
    Blank,
    /// Another call of the same permission says it.
    Elsewhere,
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

const fn endpoint(verb: Verb, path: &'static str, of: &'static Resource, trial: Trial) -> Endpoint {
    Endpoint {
        verb,
        path,
        of,
        trial,
    }
}

/// Every call that this crate makes.
pub static ENDPOINTS: &[Endpoint] = {
    use Trial::{Blank, Elsewhere, List, Nobody};
    use Verb::{Delete, Get, Post};
    &[
        endpoint(Get, "account", &ACCOUNT, Elsewhere),
        endpoint(Get, "billing_portal/configurations", &PORTAL, Elsewhere),
        endpoint(Post, "billing_portal/configurations", &PORTAL, Blank),
        endpoint(Post, "billing_portal/sessions", &PORTAL, Blank),
        endpoint(Get, "charges", &CHARGES, Elsewhere),
        endpoint(Get, "charges/{}", &CHARGES, Nobody),
        endpoint(Post, "checkout/sessions", &CHECKOUTS, Blank),
        endpoint(Get, "checkout/sessions", &CHECKOUTS, Elsewhere),
        endpoint(Get, "checkout/sessions/{}", &CHECKOUTS, Nobody),
        endpoint(Post, "checkout/sessions/{}/expire", &CHECKOUTS, Elsewhere),
        // As a part of what `subscriptions` answers.
        endpoint(Get, "customers/{}", &CUSTOMERS, Nobody),
        endpoint(Get, "disputes", &DISPUTES, List),
        endpoint(Get, "disputes/{}", &DISPUTES, Elsewhere),
        endpoint(Get, "events", &EVENTS, List),
        endpoint(Get, "invoice_payments", &INVOICE_PAYMENTS, List),
        endpoint(Get, "invoices", &INVOICES, Elsewhere),
        endpoint(Get, "invoices/{}", &INVOICES, Nobody),
        endpoint(Get, "invoices/{}/lines", &INVOICES, Elsewhere),
        endpoint(Get, "payment_intents/{}", &PAYMENTS, Nobody),
        endpoint(Get, "prices", &PRICES, Elsewhere),
        endpoint(Post, "prices", &PRICES, Blank),
        endpoint(Get, "prices/{}", &PRICES, Nobody),
        endpoint(Post, "prices/{}", &PRICES, Elsewhere),
        endpoint(Get, "products/{}", &PRODUCTS, Nobody),
        endpoint(Post, "products", &PRODUCTS, Blank),
        endpoint(Get, "promotion_codes", &PROMOTIONS, List),
        endpoint(Get, "refunds", &CHARGES, List),
        endpoint(Get, "refunds/{}", &CHARGES, Elsewhere),
        endpoint(Post, "refunds", &CHARGES, Blank),
        endpoint(
            Post,
            "subscription_schedules/{}/release",
            &SCHEDULES,
            Nobody,
        ),
        endpoint(Get, "subscriptions", &SUBSCRIPTIONS, Elsewhere),
        endpoint(Get, "subscriptions/{}", &SUBSCRIPTIONS, Nobody),
        endpoint(Post, "subscriptions/{}", &SUBSCRIPTIONS, Nobody),
        endpoint(Delete, "subscriptions/{}", &SUBSCRIPTIONS, Elsewhere),
        endpoint(Post, "subscriptions/{}/resume", &SUBSCRIPTIONS, Elsewhere),
        endpoint(Get, "webhook_endpoints", &WEBHOOKS, List),
        endpoint(Post, "webhook_endpoints", &WEBHOOKS, Blank),
        endpoint(Post, "webhook_endpoints/{}", &WEBHOOKS, Elsewhere),
        endpoint(Delete, "webhook_endpoints/{}", &WEBHOOKS, Elsewhere),
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
    /// What it needs.
    #[must_use]
    pub fn permission(&self) -> Permission {
        Permission {
            of: self.of,
            writes: self.verb != Verb::Get,
        }
    }

    /// Whether this is the endpoint of a call; the path begins below `/v1/`.
    #[must_use]
    pub fn is(&self, method: &str, path: &str) -> bool {
        let verb = match self.verb {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Delete => "DELETE",
        };
        let mut parts = path.split('/');
        let same = |part: &str| parts.next().is_some_and(|at| part == "{}" || part == at);
        verb == method && self.path.split('/').all(same) && parts.next().is_none()
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
        let tried = |endpoint: &&Endpoint| !matches!(endpoint.trial, Trial::Elsewhere);
        // The one without which nothing is worth trying goes first.
        let (first, rest): (Vec<_>, Vec<_>) = ENDPOINTS
            .iter()
            .filter(tried)
            .partition(|endpoint| endpoint.of == &EVENTS);
        let mut missing = Vec::new();
        for endpoint in first {
            missing.extend(self.try_endpoint(endpoint).await?);
        }
        let mut trials = JoinSet::new();
        for (at, endpoint) in rest.into_iter().enumerate() {
            let client = self.clone();
            trials.spawn(async move { (at, client.try_endpoint(endpoint).await) });
        }
        let mut found = BTreeMap::new();
        while let Some(tried) = trials.join_next().await {
            let (at, tried) = tried.map_err(|error| Error::garbage(error.to_string()))?;
            found.insert(at, tried?);
        }
        missing.extend(found.into_values().flatten());
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
            let is_tried = !matches!(endpoint.trial, Trial::Elsewhere);
            if is_tried && missing.contains(&endpoint.permission().to_string()) {
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
        let form = match endpoint.trial {
            Trial::List => Form::new().with("limit", 1),
            _ => Form::new(),
        };
        // A double of Stripe knows by this name that it is meant to be refused.
        let key = key::anew("permission-check")?;
        let tried: Result<Value, Error> = match endpoint.verb {
            Verb::Get => self.get(&path, &form, false).await,
            Verb::Post => self.post(&path, &form, &key).await,
            Verb::Delete => self.delete(&path, &key).await,
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
            let tried = ENDPOINTS.iter().any(|endpoint| {
                endpoint.permission() == permission && !matches!(endpoint.trial, Trial::Elsewhere)
            });
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

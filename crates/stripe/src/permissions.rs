//! The permissions of a restricted key: every call of this crate with the permission that it needs. This list yields
//! the link to create such a key, the page that explains it, and the calls that check a key. A test fails when it calls
//! an endpoint that is not listed.
//!
//! Stripe names permissions `rak_<resource>_<read|write>`; write includes read, and prices go by their old name, plans.
//! Source: its refusals ("Having the 'rak_…' permission would allow this request") and "Restricted API keys".

use std::{collections::BTreeSet, fmt};

use futures_util::future::try_join_all;
use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{client::Client, error::Error, form::Form, key};

/// A resource with permissions, and how much Scrip needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// Stripe's name of it, as in `rak_<name>_read`.
    pub name: &'static str,
    /// Title of its row in Stripe's form for keys.
    pub row: &'static str,
    pub purpose: &'static str,
    pub need: PermissionNeed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionNeed {
    /// Required for selling or delivering: a key without it is refused.
    Sale,
    /// One function fails without it: it is shown as missing.
    Part,
    /// Optional: Scrip has another way.
    Convenience,
}

#[derive(Debug, Clone)]
pub struct StripeEndpoint {
    pub method: Method,
    /// Path below `/v1/`; `{}` in place of ids.
    pub path: &'static str,
    pub resource: &'static Resource,
    /// Whether checking a key calls it; otherwise another endpoint checks the same permission.
    is_tried: bool,
}

macro_rules! resources {
    ($($resource:ident: $need:ident, $name:literal, $row:literal, $purpose:literal;)*) => {
        $(static $resource: Resource = Resource {
            name: $name,
            row: $row,
            purpose: $purpose,
            need: PermissionNeed::$need,
        };)*
    };
}

resources! {
    CHECKOUTS: Sale, "checkout_session", "Checkout Sessions", "the pages that people pay on";
    PRICES: Sale, "plan", "Prices", "subscription tiers, created when they are first bought";
    PRODUCTS: Sale, "product", "Products", "the products of those tiers";
    SUBSCRIPTIONS: Sale, "subscription", "Subscriptions", "renewals, switches, cancellations at your request";
    EVENTS: Sale, "event", "Events", "what happens in the account";
    PAYMENTS: Sale, "payment_intent", "PaymentIntents", "what was paid; automatic top-up";
    CARD_PAYMENTS: Part, "payment_intent", "PaymentIntents", "automatic top-up";
    CARDS: Part, "payment_method", "PaymentMethods", "cards on file: to show and to forget them";
    CARD_SETUPS: Part, "setup_intent", "SetupIntents", "cards that are entered without a payment";
    INVOICES: Part, "invoice", "Invoices", "what a cycle or a switch cost";
    INVOICE_PAYMENTS: Part, "invoice_payment", "Invoice Payments", "which payment paid an invoice";
    CHARGES: Part, "charge", "Charges and Refunds", "receipts; refunds at your request";
    DISPUTES: Part, "dispute", "Disputes", "money that a bank took back";
    PORTAL: Part, "customer_portal", "Customer portal", "the portal and what it offers";
    SCHEDULES: Part, "subscription_schedule", "Subscription schedules", "to cancel a subscription with a scheduled downgrade";
    PROMOTIONS: Part, "promotion_code", "Promotion codes", "`discountCode`";
    CUSTOMERS: Convenience, "customer", "Customers",
        "optional: e-mail addresses and metadata where subscriptions are taken over";
    WEBHOOKS: Convenience, "webhook", "Webhook Endpoints", "optional: Scrip then makes and repairs its own";
    ACCOUNT: Convenience, "accounts_kyc_basic", "Accounts",
        "optional: tells one account from another when the key is changed";
}

macro_rules! endpoints {
    ($($resource:ident: $($tried:ident $tried_path:literal),* | $($method:ident $path:literal),*;)*) => {
        &[$(
            $(StripeEndpoint {
                method: Method::$tried,
                path: $tried_path,
                resource: &$resource,
                is_tried: true,
            },)*
            $(StripeEndpoint {
                method: Method::$method,
                path: $path,
                resource: &$resource,
                is_tried: false,
            },)*
        )*]
    };
}

/// Every call that this crate makes, by resource: first those that checking a key calls. Customers are expanded in answers
/// of `subscriptions`.
pub static ENDPOINTS: &[StripeEndpoint] = endpoints! {
    ACCOUNT: | GET "account";
    PORTAL: POST "billing_portal/configurations", POST "billing_portal/sessions"
        | GET "billing_portal/configurations";
    CHARGES: GET "charges/{}", GET "refunds", POST "refunds" | GET "charges", GET "refunds/{}";
    CHECKOUTS: POST "checkout/sessions", GET "checkout/sessions/{}"
        | GET "checkout/sessions", POST "checkout/sessions/{}/expire";
    CUSTOMERS: GET "customers/{}" |;
    DISPUTES: GET "disputes" | GET "disputes/{}";
    EVENTS: GET "events" |;
    INVOICE_PAYMENTS: GET "invoice_payments" |;
    INVOICES: GET "invoices/{}" | GET "invoices", GET "invoices/{}/lines";
    PAYMENTS: GET "payment_intents/{}" | GET "payment_intents";
    CARD_PAYMENTS: POST "payment_intents" | POST "payment_intents/{}/cancel";
    CARDS: GET "payment_methods/{}", POST "payment_methods/{}/detach" |;
    PRICES: POST "prices", GET "prices/{}" | GET "prices", POST "prices/{}";
    PRODUCTS: GET "products/{}", POST "products" |;
    PROMOTIONS: GET "promotion_codes" |;
    CARD_SETUPS: GET "setup_intents/{}" |;
    SCHEDULES: POST "subscription_schedules/{}/release" |;
    SUBSCRIPTIONS: GET "subscriptions/{}", POST "subscriptions/{}"
        | GET "subscriptions", DELETE "subscriptions/{}", POST "subscriptions/{}/resume";
    WEBHOOKS: GET "webhook_endpoints", POST "webhook_endpoints"
        | POST "webhook_endpoints/{}", DELETE "webhook_endpoints/{}";
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission {
    pub resource: &'static Resource,
    /// Whether it is to write, which includes reading.
    pub writes: bool,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.writes { "write" } else { "read" };
        write!(f, "rak_{}_{way}", self.resource.name)
    }
}

impl StripeEndpoint {
    pub fn permission(&self) -> Permission {
        Permission {
            resource: self.resource,
            writes: self.method != Method::GET,
        }
    }

    /// Whether a call goes to this endpoint; `path` is below `/v1/`.
    pub fn is(&self, method: &str, path: &str) -> bool {
        let mut parts = path.split('/');
        let same = |part: &str| parts.next().is_some_and(|at| part == "{}" || part == at);
        self.method == method && self.path.split('/').all(same) && parts.next().is_none()
    }
}

/// The permission needed for each resource, once: write where anything is written, else read. A resource whose writing is
/// needed less than its reading is two of the list, and one here.
pub fn all() -> Vec<Permission> {
    let mut all: Vec<Permission> = Vec::new();
    for needed in ENDPOINTS.iter().map(StripeEndpoint::permission) {
        match all
            .iter_mut()
            .find(|listed| listed.resource.name == needed.resource.name)
        {
            Some(listed) => listed.writes |= needed.writes,
            None => all.push(needed),
        }
    }
    all
}

/// Link to Stripe's form for a new restricted key, with all permissions filled in.
pub fn link(test_mode: bool) -> String {
    let mode = if test_mode { "test/" } else { "" };
    let mut link = format!("https://dashboard.stripe.com/{mode}apikeys/create?name=Scrip");
    for permission in all() {
        link.push_str(&format!("&permissions[]={permission}"));
    }
    link
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPermission {
    /// The permission, as Stripe names it.
    pub permission: String,
    pub need: PermissionNeed,
    pub message: String,
}

impl Client {
    /// Checks a key by calling the endpoints without changing anything; returns what it lacks.
    /// # Errors
    /// See [`Error`]: the key does not work at all, or Stripe does not answer.
    pub async fn try_key(&self) -> Result<Vec<MissingPermission>, Error> {
        let tried = ENDPOINTS.iter().filter(|endpoint| endpoint.is_tried);
        // Events go first: without them nothing else matters.
        let (first, rest): (Vec<_>, Vec<_>) =
            tried.partition(|endpoint| endpoint.resource == &EVENTS);
        let mut missing = Vec::new();
        for at_once in [first, rest] {
            let trials = at_once.into_iter();
            let trials = trials.map(|endpoint| self.probe_endpoint(endpoint));
            missing.extend(try_join_all(trials).await?.into_iter().flatten());
        }
        let mut names = BTreeSet::new();
        missing.retain(|missing: &MissingPermission| names.insert(missing.permission.clone()));
        Ok(missing)
    }

    /// The id of the key's account, `acct_…`.
    /// # Errors
    /// See [`Error`]; a restricted key may lack the permission.
    pub async fn account(&self) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Account {
            id: String,
        }
        let account: Account = self.get(&["account"], &Form::new(), false).await?;
        Ok(account.id)
    }

    /// Calls the endpoints again that last refused the key, without changing anything.
    /// # Errors
    /// See [`Error`].
    pub async fn retry_missing_permissions(&self) -> Result<(), Error> {
        let missing = self.missing_permissions();
        for endpoint in ENDPOINTS {
            if endpoint.is_tried && missing.contains(&endpoint.permission().to_string()) {
                self.probe_endpoint(endpoint).await?;
            }
        }
        Ok(())
    }

    async fn probe_endpoint(
        &self,
        endpoint: &StripeEndpoint,
    ) -> Result<Option<MissingPermission>, Error> {
        const NOBODY: &str = "scrip_permission_check";
        let parts = endpoint.path.split('/');
        let path: Vec<&str> = parts
            .map(|part| if part == "{}" { NOBODY } else { part })
            .collect();
        // Lists one object, names a missing one, or sends a form without its required fields.
        let is_list = endpoint.method == Method::GET && !path.contains(&NOBODY);
        let form = Form::new().with_some("limit", is_list.then_some(1));
        // The tests' Stripe double recognizes by this name that the call should be refused.
        let key = key::unique("permission-check")?;
        let answer: Result<Value, Error> = match endpoint.method {
            Method::GET => self.get(&path, &form, false).await,
            Method::DELETE => self.delete(&path, &key).await,
            _ => self.post(&path, &form, &key).await,
        };
        match answer {
            Err(Error::Refused(refusal)) if refusal.status == 403 => {
                let declared = endpoint.permission().to_string();
                let named = refusal.permission().filter(|name| name.starts_with("rak_"));
                Ok(Some(MissingPermission {
                    permission: named.map_or(declared, ToOwned::to_owned),
                    need: endpoint.resource.need,
                    message: refusal.message,
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
            ("rak_payment_intent_write", true),
            ("rak_payment_method_write", true),
            ("rak_setup_intent_read", true),
            ("rak_checkout_session_read", false),
            ("rak_payment_intent_read", false),
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
            let tried =
                tried.any(|endpoint| endpoint.permission().to_string() == permission.to_string());
            assert!(tried || permission.resource == &ACCOUNT, "{permission}");
        }
    }

    #[test]
    fn an_endpoint_is_recognised_by_method_and_path() {
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

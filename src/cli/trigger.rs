//! `scrip trigger`: triggers an event in a project that uses the sandbox, by pressing the buttons that a buyer would.
//! It refuses any other provider before it does anything.

use std::time::Duration;

use clap::{Args, ValueEnum};
use domain::id::ProjectId;
use reqwest::Method;
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use super::{
    Failure, print,
    project::ProjectArgs,
    remote::{self, ApiClient, KeyArgs, TIMEOUT},
    table::{field, list},
};

/// Which event to trigger, and for whom.
#[derive(Debug, Args)]
pub(super) struct TriggerArgs {
    /// The event to trigger.
    #[arg(value_enum)]
    event: Event,
    /// The external user id of the buyer [default: a new one].
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// The price to buy [default: the first that fits].
    #[arg(long, value_name = "PRICE_ID")]
    price: Option<String>,
    #[command(flatten)]
    key: KeyArgs,
    #[command(flatten)]
    project: ProjectArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Event {
    /// A purchase is paid.
    #[value(name = "order.paid")]
    Paid,
    /// A payment that was on its way fails.
    #[value(name = "order.failed")]
    Failed,
    /// A checkout expires unpaid.
    #[value(name = "order.expired")]
    Expired,
    /// A purchase is paid and refunded.
    #[value(name = "order.refunded")]
    Refunded,
    /// A purchase is paid and its money withdrawn by a dispute.
    #[value(name = "order.disputed", alias = "dispute")]
    Dispute,
    /// A subscription starts.
    #[value(name = "subscription.started")]
    Started,
    /// A subscription starts and renews. Advances the project's clock by a cycle.
    #[value(name = "subscription.renewed")]
    Renewed,
    /// A subscription starts, and the card declines the renewal. Advances the clock, too.
    #[value(name = "subscription.past_due")]
    PastDue,
    /// A subscription starts, is canceled and ends. Advances the clock, too.
    #[value(name = "subscription.canceled")]
    Canceled,
}

/// How often an order is read until it has the expected status.
const MAX_READS: u32 = 50;
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// A month or year, with some days for the hour in which an invoice is a draft.
const MONTH_SECONDS: u32 = 32 * 86_400;
const YEAR_SECONDS: u32 = 367 * 86_400;

pub(super) fn run(args: TriggerArgs) -> Result<(), Failure> {
    remote::wait(async {
        let trigger = Trigger::open(&args).await?;
        let fired = trigger.fire(&args).await;
        if let Some(key) = &trigger.own_key {
            let revoked = trigger
                .administration
                .open(Method::DELETE, key, None, TIMEOUT);
            revoked.await?;
        }
        fired
    })
}

struct Trigger {
    http: reqwest::Client,
    /// Base address of the sandbox's pages: the server's own, also where `public_url` is set.
    pages: Url,
    api: ApiClient,
    administration: ApiClient,
    project: ProjectId,
    user: String,
    /// The path of the key that was created for this run.
    own_key: Option<String>,
}

impl Trigger {
    async fn open(args: &TriggerArgs) -> Result<Self, Failure> {
        let place = &args.project.server.place;
        let administration = args.project.server.administration()?;
        let (api, project) = match args.project.is_named() {
            true => (None, args.project.open().await?.id),
            false => {
                let api = args.key.api(place)?;
                let me: Value = api.get("/me").await?;
                (Some(api), field(&me, "projectId"))
            }
        };
        let project = project.parse::<ProjectId>().map_err(|_| {
            Failure::new("the server does not say which project this key belongs to")
        })?;
        let path = format!("/projects/{project}");
        let answer: Value = administration.get(&path).await?;
        let provider = answer.get("provider").cloned().unwrap_or_default();
        if field(&provider, "kind") != "sandbox" {
            return Err(Failure::new(
                "this project does not use the sandbox: events can be triggered only there",
            ));
        }
        let new = || format!("trigger-{:08x}", Uuid::new_v4().as_fields().0);
        let pages = place.url()?;
        let http = remote::client(&pages).build().map_err(Failure::new)?;
        let (api, own_key) = match api {
            Some(api) => (api, None),
            None => {
                let keys = format!("{path}/keys");
                let body = json!({ "kind": "secret", "name": "scrip trigger" });
                let key: Value = administration.post(&keys, &body).await?;
                let api = ApiClient::public(place, field(&key, "key"))?;
                (api, Some(format!("{keys}/{}", field(&key, "id"))))
            }
        };
        Ok(Self {
            http,
            pages,
            api,
            administration,
            project,
            user: args.user.clone().unwrap_or_else(new),
            own_key,
        })
    }

    async fn fire(&self, args: &TriggerArgs) -> Result<(), Failure> {
        let event = args.event;
        let recurs = matches!(
            event,
            Event::Started | Event::Renewed | Event::PastDue | Event::Canceled
        );
        let (price, yearly) = self.price(args.price.as_deref(), recurs).await?;
        let body = json!({ "externalUserId": self.user, "priceId": price });
        let begun: Value = self.api.post("/checkout", &body).await?;
        let page = field(&begun, "url");
        let (buttons, status): (&[&str], &str) = match event {
            Event::Failed => (&["pay_later", "fail"], "failed"),
            Event::Expired => (&["expire"], "expired"),
            _ => (&["pay"], "paid"),
        };
        for button in buttons {
            self.press(&page, button, &json!({})).await?;
        }
        let order = field(&begun, "orderId");
        let mut reached = self.reached(&order, status).await?;
        let nothing = json!({});
        let declines = json!({ "declines": "true" });
        let pressed: Option<(&str, &Value)> = match event {
            Event::Refunded => Some(("refund", &nothing)),
            Event::Dispute => Some(("dispute", &nothing)),
            Event::PastDue => Some(("card", &declines)),
            Event::Canceled => Some(("cancel", &nothing)),
            _ => None,
        };
        if let Some((button, fields)) = pressed {
            let body = json!({ "externalUserId": self.user, "returnUrl": "http://localhost/" });
            let portal: Value = self.api.post("/wallets/external/portal", &body).await?;
            self.press(&field(&portal, "url"), button, fields).await?;
        }
        if matches!(event, Event::Refunded | Event::Dispute) {
            reached = self.reached(&order, "refunded").await?;
        }
        print::line(&format!("order {order} of user {} is {reached}", self.user));
        if matches!(event, Event::Renewed | Event::PastDue | Event::Canceled) {
            let cycle = if yearly { YEAR_SECONDS } else { MONTH_SECONDS };
            let path = format!("/projects/{}/sandbox/advance", self.project);
            let moved: Value = self
                .administration
                .post(&path, &json!({ "seconds": cycle }))
                .await?;
            print::line(&format!(
                "the project's clock was advanced to {}",
                field(&moved, "now")
            ));
        }
        Ok(())
    }

    /// A price to buy, and whether it is yearly.
    async fn price(&self, wanted: Option<&str>, recurs: bool) -> Result<(String, bool), Failure> {
        let all: Value = self.api.get("/products").await?;
        let prices = list(&all, "products")
            .iter()
            .flat_map(|product| list(product, "prices"));
        // Monthly prices before yearly ones.
        let rank = |price: &&Value| field(price, "interval") == "year";
        let mut fits: Vec<&Value> = prices
            .filter(|price| wanted.is_none_or(|wanted| field(price, "id") == wanted))
            .filter(|price| (field(price, "interval") != "one_time") == recurs)
            .collect();
        fits.sort_by_key(rank);
        let found = fits.first().map(|price| (field(price, "id"), rank(price)));
        found.ok_or_else(|| {
            let what = if recurs { "by subscription" } else { "once" };
            Failure(match wanted {
                Some(_) => format!("this project offers no such price {what}"),
                None => format!("this project sells nothing {what}"),
            })
        })
    }

    /// Presses a button of a sandbox page.
    async fn press(&self, page: &str, button: &str, fields: &Value) -> Result<(), Failure> {
        let page: Url = page
            .parse()
            .map_err(|_| Failure::new("the server returned no page to pay on"))?;
        let mut url = self.pages.clone();
        url.set_path(&format!("{}/{button}", page.path()));
        let answer = self.http.post(url).json(fields).send().await;
        let answer = answer.map_err(|error| {
            Failure(format!(
                "no answer from the sandbox: {}",
                remote::root(&error)
            ))
        })?;
        if answer.status().is_success() {
            return Ok(());
        }
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.unwrap_or_default();
        let why = super::table::plain(&field(&body, "message"));
        Err(Failure(format!(
            "the sandbox refused `{button}` ({status}): {why}"
        )))
    }

    /// Waits until an order has a status: the sandbox's webhooks take a moment.
    async fn reached(&self, order: &str, wanted: &str) -> Result<String, Failure> {
        let path = format!("/orders/{order}");
        for _ in 0..MAX_READS {
            let answer: Value = self.api.get(&path).await?;
            if field(&answer, "status") == wanted {
                return Ok(wanted.into());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(format!(
            "not {wanted} yet: the sandbox's webhooks are late or cannot be delivered"
        ))
    }
}

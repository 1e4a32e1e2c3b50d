//! `scrip listen`: a project's events as they come, and, on their way to a program of one's own, signed as
//! webhooks are. It asks for them with a secret key, so it needs no public address.

mod forward;

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use url::Url;

use super::{
    Failure, print,
    remote::{self, KeyArgs, PlaceArgs, Remote},
    table::{field, money, plain, when},
};
use crate::http::field::EVENT_TYPES;
use forward::Forward;

/// What to show, and where to send it.
#[derive(Debug, Args)]
pub(super) struct ListenArgs {
    /// Only these kinds, such as `order.paid,order.refunded`.
    #[arg(
        long,
        value_name = "TYPES",
        value_delimiter = ',',
        value_parser = clap::builder::PossibleValuesParser::new(EVENT_TYPES),
        hide_possible_values = true
    )]
    types: Vec<String>,
    /// Also sends each event there, signed as Standard Webhooks says, once: it is not tried again.
    #[arg(long, value_name = "URL")]
    forward_to: Option<Url>,
    /// What is sent there is signed with: `whsec_…` [default: a new one, which is printed].
    #[arg(
        long,
        value_name = "WHSEC",
        env = "SCRIP_WEBHOOK_SECRET",
        hide_env_values = true
    )]
    secret: Option<String>,
    /// Begins with the oldest event that is kept, rather than with the next one.
    #[arg(long)]
    from_start: bool,
    /// One event a line, as it came, for programs.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    key: KeyArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

/// An event as the server tells it.
#[derive(Debug, Deserialize, Serialize)]
struct Event {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    timestamp: String,
    /// None where the server is an older one.
    #[serde(
        rename = "recordedAt",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    recorded_at: Option<String>,
    /// Byte for byte: it is signed.
    data: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    events: Vec<Event>,
    next_cursor: Option<String>,
}

/// Events asked for at once.
const AT_ONCE: usize = 100;
/// How often the server is asked.
const EVERY: Duration = Duration::from_secs(1);
/// How long to wait at most before a server that does not answer is asked again.
const PATIENCE: Duration = Duration::from_secs(30);
/// A kind of which there are few: a page of it passes over thousands of others.
const RARE: &str = "subscription.past_due";

pub(super) fn run(args: ListenArgs) -> Result<(), Failure> {
    let forward = args
        .forward_to
        .clone()
        .map(|to| Forward::open(to, args.secret.as_deref()))
        .transpose()?;
    let api = args.key.api(&args.place)?;
    remote::wait(listen(&args, &api, forward.as_ref()))
}

async fn listen(args: &ListenArgs, api: &Remote, forward: Option<&Forward>) -> Result<(), Failure> {
    let mut after = match args.from_start {
        true => None,
        false => newest(api).await?,
    };
    if !args.json {
        print::line(&format!("listening to {}; Ctrl-C ends it", args.place.url));
    }
    let types = args.types.join(",");
    let mut pause = EVERY;
    loop {
        match page(api, after.as_deref(), &types).await {
            Ok(Page {
                events,
                next_cursor,
            }) => {
                pause = EVERY;
                for event in &events {
                    tell(event, args.json, forward).await;
                }
                after = next_cursor.or(after);
                if events.len() >= AT_ONCE {
                    continue;
                }
            }
            Err(error) if error.may_pass() => {
                print::error(&format!("scrip: {error} Trying on."));
                pause = pause.saturating_mul(2).min(PATIENCE);
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(pause).await;
    }
}

async fn page(api: &Remote, after: Option<&str>, types: &str) -> Result<Page, remote::Error> {
    let limit = AT_ONCE.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(after.map(|after| ("after", after)));
    query.extend((!types.is_empty()).then_some(("types", types)));
    api.get_with("/events", &query).await
}

/// The name of the last event by now; the server lists them from the oldest.
async fn newest(api: &Remote) -> Result<Option<String>, remote::Error> {
    let mut after = None;
    for types in [RARE, ""] {
        loop {
            let Page { next_cursor, .. } = page(api, after.as_deref(), types).await?;
            if next_cursor == after {
                break;
            }
            after = next_cursor;
        }
    }
    Ok(after)
}

async fn tell(event: &Event, json: bool, forward: Option<&Forward>) {
    if json {
        // It was read from JSON a moment ago.
        print::line(&serde_json::to_string(event).unwrap_or_default());
    } else {
        print::line(&plain(&told(event)));
    }
    let Some(forward) = forward else { return };
    let sent = forward.send(event).await;
    let line = format!("    -> {}", plain(&sent));
    match json {
        // Programs read the other output.
        true => print::error(&line),
        false => print::line(&line),
    }
}

/// A line about an event.
fn told(event: &Event) -> String {
    let data: Value = serde_json::from_str(event.data.get()).unwrap_or_default();
    let order = data.get("order").cloned().unwrap_or_default();
    let mut words = Vec::new();
    let mut say = |name: &str, of: &Value, key: &str| {
        let value = field(of, key);
        if !value.is_empty() {
            words.push(format!("{name}{value}"));
        }
    };
    say("", &order, "id");
    for of in [&order, &data] {
        say("user ", of, "externalUserId");
    }
    say("", &data, "delta");
    say("", &data, "reason");
    say("balance ", &data, "balance");
    let subscription = data.get("subscription").cloned().unwrap_or_default();
    say("tier ", &subscription, "label");
    say("", &subscription, "status");
    say("features ", &data, "features");
    words.extend(Some(money(&order, "amountCents")).filter(|amount| !amount.is_empty()));
    let stamp = Value::from_iter([("timestamp", event.timestamp.as_str())]);
    format!(
        "{}  {:<22} {}  {}",
        when(&stamp, "timestamp"),
        event.kind,
        event.id,
        words.join(" ")
    )
}

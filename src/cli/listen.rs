//! `scrip listen`: shows a project's events as they come, and can forward them, signed like webhooks, to a
//! local program. It polls for them with a secret key, so it needs no public address.

mod forward;

use std::time::Duration;

use clap::Args;
use forward::Forward;
use operations::data_dir::environment::secret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use url::Url;
use wire::field::EVENT_TYPES;

use super::{
    Failure, print,
    remote::{self, ApiClient, KeyArgs, ServerUrlArgs},
    table::{field, money, plain, when},
};

/// Which events to show, and where to forward them.
#[derive(Debug, Args)]
pub(super) struct ListenArgs {
    /// Only these types, such as `order.paid,order.refunded`.
    #[arg(
        long,
        value_name = "TYPES",
        value_delimiter = ',',
        value_parser = clap::builder::PossibleValuesParser::new(EVENT_TYPES),
        hide_possible_values = true
    )]
    types: Vec<String>,
    /// Also sends each event to this address, signed as in Standard Webhooks; once, without retries.
    #[arg(long, value_name = "URL", value_parser = remote::server_url)]
    forward_to: Option<Url>,
    /// The secret that signs forwarded events: `whsec_…` [default: SCRIP_WEBHOOK_SECRET, or the file that
    /// SCRIP_WEBHOOK_SECRET_FILE names, or a new one, which is printed].
    #[arg(long, value_name = "WHSEC")]
    secret: Option<String>,
    /// Begins with the oldest event that is stored, instead of the next one.
    #[arg(long)]
    from_start: bool,
    /// Prints one event per line as JSON, for programs.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    key: KeyArgs,
    #[command(flatten)]
    place: ServerUrlArgs,
}

/// An event as the API returns it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    timestamp: String,
    recorded_at: String,
    /// Kept byte for byte, as it is signed.
    data: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    events: Vec<Event>,
    next_cursor: Option<String>,
}

/// Events per request.
const PAGE_SIZE: usize = 100;
/// How often the server is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Longest pause before a server that does not answer is polled again.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// A rare type: one page of it skips thousands of other events.
const RARE: &str = "subscription.past_due";

pub(super) fn run(args: ListenArgs) -> Result<(), Failure> {
    let own = match &args.secret {
        Some(own) => Some(own.clone()),
        None => secret("SCRIP_WEBHOOK_SECRET").map_err(Failure::new)?,
    };
    let forward = args
        .forward_to
        .clone()
        .map(|to| Forward::open(to, own.as_deref()))
        .transpose()?;
    let api = args.key.api(&args.place)?;
    remote::wait(listen(&args, &api, forward.as_ref()))
}

async fn listen(
    args: &ListenArgs,
    api: &ApiClient,
    forward: Option<&Forward>,
) -> Result<(), Failure> {
    let mut after = match args.from_start {
        true => None,
        false => newest(api).await?,
    };
    if !args.json {
        print::line(&format!(
            "listening to {}; press Ctrl-C to end",
            args.place.url()?
        ));
    }
    let types = args.types.join(",");
    let mut pause = POLL_INTERVAL;
    loop {
        match page(api, after.as_deref(), &types).await {
            Ok(Page {
                events,
                next_cursor,
            }) => {
                pause = POLL_INTERVAL;
                for event in &events {
                    handle_event(event, args.json, forward).await;
                }
                after = next_cursor.or(after);
                if events.len() >= PAGE_SIZE {
                    continue;
                }
            }
            Err(error) if error.may_pass() => {
                print::error(&format!("scrip: {error} Trying again."));
                pause = pause.saturating_mul(2).min(MAX_PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(pause).await;
    }
}

async fn page(api: &ApiClient, after: Option<&str>, types: &str) -> Result<Page, remote::Error> {
    let limit = PAGE_SIZE.to_string();
    let mut query = vec![("limit", limit.as_str())];
    query.extend(after.map(|after| ("after", after)));
    query.extend((!types.is_empty()).then_some(("types", types)));
    api.get(&remote::with_query("/events", &query)).await
}

/// The id of the newest event. The API lists events from the oldest.
async fn newest(api: &ApiClient) -> Result<Option<String>, remote::Error> {
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

async fn handle_event(event: &Event, json: bool, forward: Option<&Forward>) {
    if json {
        // It was parsed from JSON a moment ago: serializing cannot fail.
        print::line(&serde_json::to_string(event).unwrap_or_default());
    } else {
        print::line(&plain(&describe(event)));
    }
    let Some(forward) = forward else { return };
    let sent = forward.send(event).await;
    let line = format!("    -> {}", plain(&sent));
    match json {
        // Programs read standard output.
        true => print::error(&line),
        false => print::line(&line),
    }
}

/// One line of text about an event.
fn describe(event: &Event) -> String {
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

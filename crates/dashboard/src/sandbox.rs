//! A form for the sandbox's switches, which scripts can set as well: how much it behaves like a real account.

use operator::SetFaultProfile;
use sandbox::fault_profile::{self, FaultProfile};
use serde_json::{Map, Value};

use super::prelude::*;

/// A switch: its name, label and hint.
type Switch = (&'static str, &'static str, &'static str);

/// The switches by group, as the page shows them.
const GROUPS: [(&str, &[Switch]); 3] = [
    (
        "Answers",
        &[
            ("indented", "Indented", ""),
            (
                "real_sizes",
                "Of real size",
                "An event has 8 KB, one of a subscription 11 KB.",
            ),
            (
                "lines_embedded",
                "Lines embedded in an invoice",
                "The rest has to be listed separately. 0: all.",
            ),
            (
                "items_in_front",
                "Pending items in front of a renewal's lines",
                "",
            ),
        ],
    ),
    (
        "Refusals",
        &[
            (
                "denied",
                "Permissions that the key lacks",
                "One per line, such as rak_dispute_read.",
            ),
            (
                "requests_per_endpoint",
                "Requests a second for one endpoint",
                "0: any number.",
            ),
            (
                "requests_per_account",
                "Requests a second for the account",
                "0: any number.",
            ),
        ],
    ),
    (
        "Failures",
        &[
            (
                "failed_posts",
                "POSTs that fail and replay the failure for their idempotency key",
                "",
            ),
            (
                "debits_fail_after_seconds",
                "Seconds until a debit fails",
                "0: payments are by card.",
            ),
            (
                "away",
                "Every response has this status",
                "500 to 599; 0: off.",
            ),
            (
                "broken",
                "Objects for which every request fails",
                "One per line: in_1=500; =0: no response.",
            ),
        ],
    ),
];

fn switches() -> impl Iterator<Item = &'static str> {
    let all = GROUPS.iter().flat_map(|(_, switches)| *switches);
    all.map(|(name, ..)| *name)
}

/// Refuses a project that does not use the sandbox.
fn check(request: &PageRequest) -> Result<(), Error> {
    let sandbox = request.project.sandbox();
    sandbox
        .map(drop)
        .ok_or_else(|| Error::new(ErrorCode::RouteNotFound))
}

pub(super) async fn show(request: PageRequest) -> PageResult {
    check(&request)?;
    let server = request.app.sandboxes.server();
    let fields = shown(&settings(&server.fault_profile(request.project.project.id)));
    Ok(page(&request, Form::new(&fields, None)))
}

pub(super) async fn save(request: FormPost<SetFaultProfile>) -> PageResult {
    check(&request)?;
    let wanted = match request.fields.text("preset") {
        "stripe" => Ok(FaultProfile::as_stripe()),
        "kind" => Ok(FaultProfile::default()),
        _ => FaultProfile::default().with(&parameters(&request.fields)),
    };
    match wanted {
        Ok(profile) => {
            let back = format!("{}/sandbox", base(&request.project));
            request.run(SetFaultProfile(profile), &back, "saved").await
        }
        Err((name, message)) => {
            let error = Error::invalid(name, message);
            Ok(page(&request, Form::new(&request.fields, Some(&error))))
        }
    }
}

fn settings(fault_profile: &FaultProfile) -> Map<String, Value> {
    match serde_json::to_value(fault_profile) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    }
}

fn shown(settings: &Map<String, Value>) -> Fields {
    let line = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let fields = settings.iter();
    fields.fold(Fields::default(), |fields, (name, value)| match value {
        Value::Bool(on) => fields.ticked(name, *on),
        Value::Array(values) => {
            let lines: Vec<String> = values.iter().map(line).collect();
            fields.with(name, lines.join("\n"))
        }
        Value::Object(values) => {
            let pairs = values.iter();
            let lines: Vec<String> = pairs.map(|(id, to)| format!("{id}={to}")).collect();
            fields.with(name, lines.join("\n"))
        }
        other => fields.with(name, other),
    })
}

/// The form's fields as the switches' form encoding, which scripts send.
fn parameters(fields: &Fields) -> fault_profile::Parameters {
    let mut form = fault_profile::Parameters::new();
    for (name, value) in settings(&FaultProfile::default()) {
        match value {
            Value::Bool(_) => {
                form.insert(name.clone(), fields.is_on(&name).to_string());
            }
            Value::Array(_) => form.extend(
                fields
                    .list(&name)
                    .into_iter()
                    .enumerate()
                    .map(|(place, text)| (format!("{name}[{place}]"), text)),
            ),
            Value::Object(_) => form.extend(fields.list(&name).into_iter().map(|line| {
                let (id, status) = line.split_once('=').unwrap_or((&line, "500"));
                (format!("{name}[{}]", id.trim()), status.trim().to_owned())
            })),
            _ => {
                let text = fields.some(&name).unwrap_or("0");
                form.insert(name.clone(), text.trim().to_owned());
            }
        }
    }
    form
}

fn page(request: &PageRequest, form: Form<'_>) -> Response {
    let kinds = settings(&FaultProfile::default());
    let shown: Vec<&str> = switches().collect();
    let switch = |(name, label, hint): &Switch| -> Markup {
        let label = FieldLabel(name, label, hint);
        match kinds.get(*name) {
            Some(Value::Bool(_)) => form.tick(&label),
            Some(Value::Number(_)) => form.number(&label),
            _ => form.area(&label),
        }
    };
    let body = html! {
        h1 { "Sandbox" }
        section.card {
            h2 { "Behave like a real account" }
            p.hint { "What a real Stripe account does to its callers. Kept in memory only: a restart resets it." }
            (form.alert(&shown))
            @let may = request.may(Privilege::Manage);
            (form::guarded(request, may, &format!("{}/sandbox", base(&request.project)), &html! {
                // The first button is what Enter presses.
                @if may { p {
                    button.primary type="submit" { "Save" }
                    " " button type="submit" name="preset" value="stripe" { "Like Stripe on an ordinary day" }
                    " " button type="submit" name="preset" value="kind" { "All off" }
                } }
                @for (group, switches) in GROUPS {
                    fieldset {
                        legend { (group) }
                        @for one in switches { (switch(one)) }
                    }
                }
                @if may { button.primary type="submit" { "Save" } }
            }))
        }
    };
    form.response(request.show("Sandbox", &body))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_switch_is_on_the_page_once_and_says_what_it_is() {
        let all = settings(&FaultProfile::default());
        let all: BTreeSet<&str> = all.keys().map(String::as_str).collect();
        let named: BTreeSet<&str> = switches().collect();
        assert_eq!(switches().count(), named.len());
        assert!(named.is_subset(&all), "{named:?}");
        let fault_profile = FaultProfile {
            denied: ["rak_dispute_read".to_owned()].into(),
            broken: [("in_1".to_owned(), 0)].into(),
            ..FaultProfile::as_stripe()
        };
        let form = parameters(&shown(&settings(&fault_profile)));
        assert_eq!(FaultProfile::default().with(&form), Ok(fault_profile));
    }
}

//! How unkind a project's sandbox is: what scripts switch, as a form.

use axum::{extract::State, response::Response};
use maud::{Markup, html};
use sandbox::unkind::{self, Unkindness};
use serde_json::{Map, Value};

use super::{
    audit::deed,
    fields::Fields,
    form::{self, Form, Label},
    projects::refused,
    shell::{self, At, Tab, base},
    visit::{Posted, Visit},
};
use crate::{
    catalog::ProjectCatalog,
    http::{Code, Error},
    state::App,
};

/// A switch by its name, what it is called, and what is said below it.
type Switch = (&'static str, &'static str, &'static str);

/// What stands together.
const GROUPS: [(&str, &[Switch]); 5] = [
    (
        "Answers",
        &[
            ("indented", "Indented", ""),
            (
                "real_sizes",
                "Of real size",
                "An event has 8 KB, a subscription's 11 KB.",
            ),
            (
                "lines_embedded",
                "Lines that an invoice embeds",
                "The rest is listed apart. 0: all.",
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
            ("unknown_locales_refused", "Unknown locales", ""),
            ("invalid_emails_refused", "Invalid e-mail addresses", ""),
            (
                "large_amounts_refused",
                "Amounts of more than eight digits",
                "",
            ),
            (
                "denied",
                "Permissions that the key lacks",
                "One a line, such as rak_dispute_read.",
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
        "Events",
        &[
            ("events_late_seconds", "Listed so many seconds late", ""),
            (
                "late_types",
                "Types that are late",
                "One a line. Empty: all, each by another time.",
            ),
            ("events_shuffled", "Those of one second in any order", ""),
            (
                "missing_reads",
                "Reads that find nothing of what was just told",
                "",
            ),
        ],
    ),
    (
        "The business of others",
        &[
            (
                "foreign_sales",
                "Sales of another product on the account",
                "",
            ),
            ("foreign_days", "Over so many days before", ""),
        ],
    ),
    (
        "Trouble",
        &[
            ("failed_posts", "POSTs that fail, kept under their keys", ""),
            (
                "debits_fail_after_seconds",
                "Debits come back after seconds",
                "0: cards.",
            ),
            (
                "away",
                "Every answer has this status",
                "500 to 599; 0: Stripe is there.",
            ),
            (
                "broken",
                "Objects about which every answer fails",
                "One a line: in_1=500; =0: no answer.",
            ),
        ],
    ),
];

fn switches() -> impl Iterator<Item = &'static str> {
    let all = GROUPS.iter().flat_map(|(_, switches)| *switches);
    all.map(|(name, ..)| *name)
}

/// A project that has one.
fn project(visit: &Visit, app: &App) -> Result<std::sync::Arc<ProjectCatalog>, Error> {
    let project = visit.project(app)?;
    match project.sandbox() {
        Some(_) => Ok(project),
        None => Err(Error::new(Code::RouteNotFound)),
    }
}

/// `GET …/sandbox`
pub(super) async fn show(visit: Visit, State(app): State<App>) -> Result<Response, Error> {
    let project = project(&visit, &app)?;
    let unkindness = app.sandboxes.server().unkindness(project.project.id);
    let fields = shown(&settings(&unkindness));
    Ok(page(&visit, &project, Form::new(&fields, None)))
}

/// `POST …/sandbox`
pub(super) async fn save(State(app): State<App>, posted: Posted) -> Result<Response, Error> {
    let Posted { visit, fields } = posted;
    let project = project(&visit, &app)?;
    let id = project.project.id;
    let wanted = match fields.text("preset") {
        "stripe" => Ok(Unkindness::as_stripe()),
        "kind" => Ok(Unkindness::default()),
        _ => Unkindness::default().with(&asked(&fields)),
    };
    match wanted {
        Ok(unkindness) => {
            app.sandboxes.server().set_unkindness(id, unkindness);
            let response = shell::done(&format!("{}/sandbox", base(&project)), "saved");
            let what = format!("Changed how unkind the sandbox of {id} is");
            Ok(deed(response, &visit.signed, what))
        }
        Err((name, message)) => {
            let error = Error::invalid(name, message);
            let page = page(&visit, &project, Form::new(&fields, Some(&error)));
            Ok(refused(&error, page))
        }
    }
}

/// The switches by their names.
fn settings(unkindness: &Unkindness) -> Map<String, Value> {
    match serde_json::to_value(unkindness) {
        Ok(Value::Object(settings)) => settings,
        _ => Map::new(),
    }
}

/// As a person reads them.
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

/// As a script would say it.
fn asked(fields: &Fields) -> unkind::Form {
    let mut form = unkind::Form::new();
    for (name, value) in settings(&Unkindness::default()) {
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

fn page(visit: &Visit, project: &ProjectCatalog, form: Form<'_>) -> Response {
    let kinds = settings(&Unkindness::default());
    let shown: Vec<&str> = switches().collect();
    let switch = |(name, label, hint): &Switch| -> Markup {
        let label = Label(name, label, hint);
        match kinds.get(*name) {
            Some(Value::Bool(_)) => form.tick(&label),
            Some(Value::Number(_)) => form.number(&label),
            _ => form.area(&label),
        }
    };
    let body = html! {
        h1 { "Sandbox" }
        section.card {
            h2 { "As unkind as Stripe" }
            p.hint { "What a real account does to its callers. Kept in memory alone: a server that starts anew is as it was started." }
            (form.alert(&shown))
            form method="post" action={ (base(project)) "/sandbox" } {
                (form::token(visit))
                // The first button is what Enter presses.
                p {
                    button.primary type="submit" { "Save" }
                    " " button type="submit" name="preset" value="stripe" { "As Stripe every day" }
                    " " button type="submit" name="preset" value="kind" { "All off" }
                }
                @for (group, switches) in GROUPS {
                    fieldset {
                        legend { (group) }
                        @for one in switches { (switch(one)) }
                    }
                }
                button.primary type="submit" { "Save" }
            }
        }
    };
    let at = At::Project(project, Tab::Settings);
    shell::page(visit, at, "Sandbox", &body)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_switch_is_on_the_page_once_and_says_what_it_is() {
        let all = settings(&Unkindness::default());
        assert_eq!(switches().count(), all.len());
        let named: BTreeSet<&str> = switches().collect();
        assert_eq!(named, all.keys().map(String::as_str).collect());
        let unkindness = Unkindness {
            denied: ["rak_dispute_read".to_owned()].into(),
            broken: [("in_1".to_owned(), 0)].into(),
            ..Unkindness::as_stripe()
        };
        let form = asked(&shown(&settings(&unkindness)));
        assert_eq!(Unkindness::default().with(&form), Ok(unkindness));
    }
}

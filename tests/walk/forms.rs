//! The forms of the dashboard as the pages have them: each signed-in person presses every button that they are
//! shown, with the values that the fields have, with more than they may give, and with what is no value at all.

use std::collections::{BTreeMap, BTreeSet};

use kit::dashboard_routes::routes;
use reqwest::Method;

use crate::{
    pages::{PAGES_OF_A_SHAPE, pages_of},
    secrets::keys,
    visitors::{Holder, Visitor},
    walk::{Answer, BEHIND_A_FORM, Walk},
    world::World,
};

/// Forms that would end the walk of the visitor that sends them.
const ENDS: [&str; 3] = [
    "/dashboard/sign-out",
    "/dashboard/account",
    "/dashboard/sign-in",
];
/// Forms that others' walks would end by, or that leave less to press: sent last.
const LAST: [&str; 5] = [
    "/people/",
    "/archive",
    "/settings",
    "/revoke",
    "/approvals/",
];

/// A form of a page, by one of its buttons.
#[derive(Debug, Clone)]
pub(crate) struct PageForm {
    pub(crate) action: String,
    /// Fields that are not typed into.
    fixed: Vec<(String, String)>,
    typed: Vec<(String, String)>,
}

/// The value of an attribute in a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    Some(unescaped(value))
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&lt;", "<");
    text.replace("&gt;", ">").replace("&amp;", "&")
}

/// All tags of a name, each with what follows it.
fn tags<'a>(html: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let begins = format!("<{name} ");
    let starts = html.match_indices(&begins).map(|(at, _)| &html[at..]);
    starts.filter_map(|rest| rest.split_once('>')).collect()
}

impl PageForm {
    /// All that a page has.
    pub(crate) fn all(html: &str) -> Vec<Self> {
        let mut all = Vec::new();
        for (tag, rest) in tags(html, "form") {
            let Some(action) = attribute(tag, "action").filter(|_| tag.contains("\"post\"")) else {
                continue;
            };
            let inner = rest.split("</form>").next().unwrap();
            let (mut fixed, mut typed) = (Vec::new(), Vec::new());
            for (tag, _) in tags(inner, "input") {
                let kind = attribute(tag, "type").unwrap_or_default();
                let Some(name) = attribute(tag, "name") else {
                    continue;
                };
                let value = attribute(tag, "value");
                match kind.as_str() {
                    "checkbox" | "radio" if !tag.contains(" checked") => {}
                    "checkbox" | "radio" | "hidden" => {
                        fixed.push((name, value.unwrap_or_else(|| "on".into())));
                    }
                    _ => typed.push((name, value.unwrap_or_default())),
                }
            }
            for (tag, rest) in tags(inner, "select") {
                let options = tags(rest.split("</select>").next().unwrap(), "option");
                let chosen = options.iter().find(|(tag, _)| tag.contains(" selected"));
                let value = chosen
                    .or(options.first())
                    .and_then(|(tag, _)| attribute(tag, "value"));
                fixed.extend(attribute(tag, "name").zip(value));
            }
            for (tag, rest) in tags(inner, "textarea") {
                let text = unescaped(rest.split("</textarea>").next().unwrap());
                typed.extend(attribute(tag, "name").map(|name| (name, text)));
            }
            let buttons = tags(inner, "button");
            let buttons = buttons
                .iter()
                .filter_map(|(tag, _)| attribute(tag, "name").zip(attribute(tag, "value")));
            let mut buttons: Vec<_> = buttons.map(Some).collect();
            if buttons.is_empty() {
                buttons.push(None);
            }
            for button in buttons {
                let fixed = fixed.iter().cloned().chain(button).collect();
                all.push(Self {
                    action: action.clone(),
                    fixed,
                    typed: typed.clone(),
                });
            }
        }
        all
    }

    /// The route that it is sent to.
    pub(crate) fn route(&self) -> String {
        let path = self.action.split('?').next().unwrap();
        let parts: Vec<_> = path.split('/').collect();
        let fits = |template: &str| {
            let wanted: Vec<_> = template.split('/').collect();
            wanted.len() == parts.len()
                && wanted
                    .iter()
                    .zip(&parts)
                    .all(|(wanted, part)| wanted.starts_with('{') || wanted == part)
        };
        let all = routes();
        let fitting = all.iter().filter(|route| route.writes && fits(&route.path));
        let exact = fitting.min_by_key(|route| route.path.matches('{').count());
        let exact = exact.unwrap_or_else(|| panic!("no route takes {}", self.action));
        format!("POST {}", exact.path)
    }

    /// What distinguishes it from others of its kind.
    fn shape(&self) -> String {
        let names = self.fixed.iter().chain(&self.typed).map(|(name, value)| {
            let is_button = ["action", "kind"].contains(&&**name);
            if is_button {
                format!("{name}={value}")
            } else {
                name.clone()
            }
        });
        format!("{} {}", self.route(), names.collect::<Vec<_>>().join(" "))
    }

    /// Its fields, with other values where one types.
    pub(crate) fn filled(&self, typed: impl Fn(&str, &str) -> String) -> Vec<(String, String)> {
        let typed = self
            .typed
            .iter()
            .map(|(name, value)| (name.clone(), typed(name, value)));
        let fixed = self.fixed.iter().cloned();
        // What an earlier button changed makes no later one stale.
        let fixed = fixed.filter(|(name, _)| name != "version");
        fixed.chain(typed).collect()
    }
}

/// The text for an empty field that has to be filled.
fn sensible(name: &str, value: &str) -> String {
    let typed = match name {
        _ if !value.is_empty() => value,
        "amount" | "amountCents" | "credits" | "creditsGranted" | "daily" => "1",
        "creditUnit" | "label" | "name" | "note" | "reason" | "text" => "Something",
        "currency" => "EUR",
        "feature" => "hd",
        "email" => "somebody.new@people.example",
        "query" => "ann",
        "url" => "http://127.0.0.1:9/",
        _ => "",
    };
    typed.to_owned()
}

/// As [`sensible`], but much of it.
fn large(name: &str, value: &str) -> String {
    match sensible(name, value) {
        text if text.parse::<u64>().is_ok() => "9000000".into(),
        text => text,
    }
}

/// Each person presses the buttons of their pages. Those who may most come last, as they end what others see.
pub(crate) async fn press_everything(walk: &Walk, world: &World) {
    let mut visitors: Vec<_> = world
        .visitors
        .iter()
        .filter(|it| it.is_signed_in())
        .collect();
    visitors.sort_by_key(|visitor| match visitor.holder {
        Holder::Owner => 1,
        Holder::Administrator => 2,
        _ => 0,
    });
    for visitor in visitors {
        let mut forms = forms_of(walk, visitor).await;
        let is_last = |form: &PageForm| LAST.iter().any(|part| form.action.contains(part));
        forms.sort_by_key(is_last);
        assert!(!forms.is_empty(), "{} has nothing to press", visitor.name);
        for form in &forms {
            let nothing = |_: &str, _: &str| "\u{a7}".repeat(3000);
            if !form.typed.is_empty() {
                send(walk, visitor, form, &form.filled(nothing)).await;
                send(walk, visitor, form, &form.filled(large)).await;
            }
            send(walk, visitor, form, &form.filled(sensible)).await;
        }
    }
}

/// Forms of all pages that links lead to, one or two of a kind.
async fn forms_of(walk: &Walk, visitor: &Visitor) -> Vec<PageForm> {
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut actions = BTreeSet::new();
    let mut forms = Vec::new();
    for page in pages_of(walk, visitor).await {
        for form in PageForm::all(&page.text) {
            let ends = ENDS.contains(&&*form.action);
            let count = shapes.entry(form.shape()).or_default();
            if ends
                || *count >= PAGES_OF_A_SHAPE
                || !actions.insert((form.action.clone(), form.shape()))
            {
                continue;
            }
            *count += 1;
            forms.push(form);
        }
    }
    forms
}

/// Sends a form, says yes where a page asks whether it is meant, and opens what the answer leads to.
async fn send(walk: &Walk, visitor: &Visitor, form: &PageForm, fields: &[(String, String)]) {
    let route = form.route();
    let answer = press(walk, visitor, &route, &form.action, fields).await;
    let asked = answer.text.contains("<title>Please confirm");
    let confirms = PageForm::all(&answer.text).into_iter();
    let mut confirms = confirms.filter(|it| asked && it.action == form.action);
    if let Some(sure) = confirms.next() {
        let fields = sure.filled(|_, value| value.to_owned());
        press(walk, visitor, &route, &sure.action, &fields).await;
    }
}

/// Sends fields, and opens where the answer leads.
pub(crate) async fn press(
    walk: &Walk,
    visitor: &Visitor,
    route: &str,
    path: &str,
    fields: &[(String, String)],
) -> Answer {
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let answer = walk.press(visitor, route, path, &fields).await;
    let Some(to) = answer
        .location
        .clone()
        .filter(|to| to.starts_with("/dashboard"))
    else {
        return answer;
    };
    let name = format!("{BEHIND_A_FORM}{route}");
    let page = walk.ask(visitor, &name, Method::GET, &to, None).await;
    // What is shown once is looked for from now on.
    for key in keys(&page.text) {
        walk.learn_once(&format!("a key of {route}"), key);
    }
    page
}

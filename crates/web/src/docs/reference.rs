//! The references of the API and of the administration for people, from the documents for programs.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::{
    frame,
    samples::samples,
    schema::{Document, object, prose, text},
};

/// A reference: where it is under `/docs`, and how its operations are called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// Prefix of all its paths.
    pub(super) base: &'static str,
    /// Where the document for programs is.
    document: &'static str,
    /// The environment variable that holds the key in samples.
    pub(super) token: &'static str,
}

pub(super) const REFERENCES: [Reference; 2] = [
    Reference {
        name: "api",
        title: "API reference",
        about: "every operation for your servers and pages, with requests and answers",
        base: "/api/v1",
        document: "/api/openapi.json",
        token: "SCRIP_SECRET_KEY",
    },
    Reference {
        name: "admin",
        title: "Admin API reference",
        about: "projects, keys, catalog, webhooks, wallets and users, as the dashboard has them",
        base: "/api/admin/v1",
        document: "/api/admin/v1/openapi.json",
        token: "SCRIP_ADMIN_TOKEN",
    },
];

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The whole page.
pub(super) fn render(reference: Reference, document: &Value) -> String {
    let operations = operations(document);
    let document = Document(document);
    let tags: BTreeSet<_> = operations.iter().map(DescribedOperation::tag).collect();
    let codes = operations.iter().map(|it| {
        it.refusals()
            .map(|(_, code, _)| code)
            .collect::<BTreeSet<_>>()
    });
    let common = codes.reduce(|one, other| &one & &other).unwrap_or_default();
    let shown = html! {
        @for tag in &tags {
            h2 id=(anchor(tag)) { (tag) }
            @for operation in operations.iter().filter(|operation| operation.tag() == *tag) {
                (operation.shown(reference, document, &common))
            }
        }
    };
    let shown = shown.into_string();
    let schemas = linked_schemas(document, &shown);
    let main = html! {
        h1 { (reference.title) }
        (prose(text(document.0.get("info"), "description")))
        p {
            "Paths begin with " code { (reference.base) } "; for programs there is " code { (reference.document) } ". In the "
            "samples " code { "SCRIP_URL" } " is your server's address and " code { (reference.token) } " the key. The "
            a href="/docs/clients" { "clients" } " retry, sign and parse for you; what each refusal means is on the page of "
            a href="/docs/errors" { "errors" } ". Any operation may be refused with "
            @for (position, code) in common.iter().enumerate() {
                @if position > 0 { ", " }
                a href={ "/docs/errors#" (code) } { code { (code) } }
            }
            "."
        }
        @for parameter in object(document.0.pointer("/components/parameters")).values() {
            p { "Operations with a body also take the header " code { (text(Some(parameter), "name")) } ":" }
            (prose(text(Some(parameter), "description")))
        }
        (PreEscaped(&shown))
        h2 #schemas { "Schemas" }
        @for (name, table) in &schemas { section id={ "schema-" (name) } { h3 { (name) } (table) } }
    };
    let menu = html! {
        ul {
            @for tag in &tags {
                li {
                    a href={ "#" (anchor(tag)) } { (tag) }
                    @let of_tag = operations.iter().filter(|operation| operation.tag() == *tag);
                    (frame::sections(of_tag.map(|it| (it.text("operationId"), it.text("summary")))))
                }
            }
            li { a href="#schemas" { "Schemas" } }
        }
    };
    frame::page(reference.title, reference.name, &menu, &main)
}

/// A name of the API as the terminal has it: `external-user-id`.
#[must_use]
pub fn kebab(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(match letter {
            '_' => '-',
            letter => letter.to_ascii_lowercase(),
        });
    }
    text
}

fn anchor(tag: &str) -> String {
    format!("tag-{}", tag.to_lowercase().replace(' ', "-"))
}

/// The schemas that the operations or each other lead to, by name.
fn linked_schemas<'a>(document: Document<'a>, shown: &str) -> Vec<(String, Markup)> {
    let linked = |html: &str| -> Vec<String> {
        let links = html.split("href=\"#schema-").skip(1);
        links
            .filter_map(|link| Some(link.split_once('"')?.0.to_owned()))
            .collect()
    };
    let mut waiting = linked(shown);
    let mut found: std::collections::BTreeMap<String, Markup> = Default::default();
    while let Some(name) = waiting.pop() {
        let Some(schema) = document
            .schema(&name)
            .filter(|_| !found.contains_key(&name))
        else {
            continue;
        };
        let table = html! { (prose(text(Some(schema), "description"))) (document.table(schema)) };
        waiting.extend(linked(&table.0));
        found.insert(name, table);
    }
    found.into_iter().collect()
}

/// An operation of a document.
#[derive(Debug, Clone, Copy)]
pub struct DescribedOperation<'a> {
    /// In lower case.
    pub method: &'a str,
    /// Below the server's prefix, with its parameters in braces.
    pub path: &'a str,
    value: &'a Value,
}

/// All operations of a document, in its order.
#[must_use]
pub fn operations(document: &Value) -> Vec<DescribedOperation<'_>> {
    let paths = object(document.get("paths")).iter();
    let all = paths.flat_map(|(path, item)| {
        let of_path = METHODS.into_iter();
        of_path.filter_map(move |method| {
            Some(DescribedOperation {
                method,
                path,
                value: item.get(method)?,
            })
        })
    });
    all.collect()
}

impl<'a> DescribedOperation<'a> {
    /// A text of it by its name: `operationId`, `summary` or `description`.
    #[must_use]
    pub fn text(&self, name: &str) -> &'a str {
        text(Some(self.value), name)
    }

    /// Its identifier as the terminal has it: `grant-credits`.
    #[must_use]
    pub fn verb(&self) -> String {
        kebab(self.text("operationId"))
    }

    /// Which part of the API it belongs to.
    #[must_use]
    pub fn tag(&self) -> &'a str {
        let tag = self.value.pointer("/tags/0").and_then(Value::as_str);
        tag.unwrap_or_default()
    }

    /// The schema of the body.
    #[must_use]
    pub fn body(&self) -> Option<&'a Value> {
        self.value
            .pointer("/requestBody/content/application~1json/schema")
    }

    /// The first answer that is no refusal and has a body.
    #[must_use]
    pub fn answer(&self) -> Option<(&'a str, &'a Value)> {
        let mut answers = object(self.value.get("responses")).iter();
        answers.find_map(|(status, answer)| {
            let schema = answer.pointer("/content/application~1json/schema")?;
            status.starts_with('2').then_some((status.as_str(), schema))
        })
    }

    /// The parameters that are this operation's own, required ones first.
    #[must_use]
    pub fn own_parameters(&self) -> Vec<&'a Value> {
        let parameters = self.value.get("parameters").and_then(Value::as_array);
        let own = parameters
            .into_iter()
            .flatten()
            .filter(|it| it.get("$ref").is_none());
        let mut own: Vec<_> = own.collect();
        own.sort_by_key(|parameter| !is_required(parameter));
        own
    }

    /// What an answer that is no refusal means, and whether it may be other than JSON.
    #[must_use]
    pub fn success(&self) -> (&'a str, bool) {
        let mut answers = object(self.value.get("responses")).iter();
        let answer = answers.find(|(status, _)| status.starts_with('2'));
        let answer = answer.map(|(_, answer)| answer);
        let kinds = object(answer.and_then(|answer| answer.get("content")));
        let is_text = kinds.keys().any(|kind| kind != "application/json");
        (text(answer, "description"), is_text)
    }

    /// Which keys it takes, in words.
    fn keys(&self) -> String {
        let keys = self.value.get("security").and_then(Value::as_array);
        let keys: Vec<&str> = keys
            .into_iter()
            .flatten()
            .filter_map(|key| Some(key.as_object()?.keys().next()?.as_str()))
            .map(|key| match key {
                "session" => "a wallet's session",
                "publishable" => "a publishable key",
                "secret" => "a secret key",
                _ => "the administrator's token",
            })
            .collect();
        match keys.split_last() {
            Some((last, [])) => format!("Takes {last}."),
            Some((last, others)) => format!("Takes {} or {last}.", others.join(", ")),
            None => "Takes no key.".to_owned(),
        }
    }

    fn shown(
        &self,
        reference: Reference,
        document: Document<'a>,
        common: &BTreeSet<&str>,
    ) -> Markup {
        let parameters = self.own_parameters();
        html! {
            section.operation id=(self.text("operationId")) {
                h3 { (self.text("summary")) }
                p.route { b { (self.method.to_uppercase()) } " " code { (self.path) } }
                div.about {
                    (prose(self.text("description")))
                    p.keys { (self.keys()) }
                    @if !parameters.is_empty() {
                        h4 { "Parameters" }
                        div.wide tabindex="0" {
                            table {
                                @for parameter in parameters { (shown_parameter(document, parameter)) }
                            }
                        }
                    }
                    @if let Some(body) = self.body() {
                        h4 { "Body" }
                        (prose(text(Some(document.resolve(body)), "description")))
                        (document.table(body))
                    }
                    (self.answers(document, common))
                }
                div.samples { (samples(reference, document, self)) }
            }
        }
    }

    /// Its refusals: status, code and message.
    fn refusals(&self) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let all = object(self.value.get("responses")).iter();
        all.flat_map(|(status, answer)| {
            let lines = text(Some(answer), "description").split("\n\n");
            lines.filter_map(move |line| {
                let (code, message) = line.strip_prefix('`')?.split_once("`: ")?;
                Some((status.as_str(), code, message))
            })
        })
    }

    /// What it answers; the refusals that not all operations have can be unfolded.
    fn answers(&self, document: Document<'a>, common: &BTreeSet<&str>) -> Markup {
        let done = object(self.value.get("responses")).iter();
        let done = done.filter(|(status, _)| status.starts_with('2'));
        let mut refusals = self
            .refusals()
            .filter(|(_, code, _)| !common.contains(code))
            .peekable();
        html! {
            h4 { "Answers" }
            @for (status, answer) in done {
                p {
                    b { (status) } ": " (text(Some(answer), "description"))
                    @if let Some(schema) = answer.pointer("/content/application~1json/schema") { " " (document.name(schema)) }
                }
            }
            @if refusals.peek().is_some() {
                details {
                    summary { "Refusals" }
                    ul {
                        @for (status, code, message) in refusals {
                            li { (status) " " a href={ "/docs/errors#" (code) } { code { (code) } } ": " (message) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a parameter is required.
#[must_use]
pub fn is_required(parameter: &Value) -> bool {
    parameter.get("required").is_some_and(|it| it == true)
}

fn shown_parameter<'a>(document: Document<'a>, parameter: &'a Value) -> Markup {
    let name = text(Some(parameter), "name");
    let schema = parameter.get("schema");
    let about = match text(Some(parameter), "description") {
        "" => text(schema, "description"),
        about => about,
    };
    html! {
        tr {
            th scope="row" {
                (name)
                @if is_required(parameter) { " " span.required { "required" } }
                " " span.place { "in the " (text(Some(parameter), "in")) }
            }
            td {
                @if let Some(schema) = schema { div.type { (document.name(schema)) } }
                (prose(about))
            }
        }
    }
}

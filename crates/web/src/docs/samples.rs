//! The request of an operation as a program sends it: by curl, in TypeScript, in Python and at the terminal.

use maud::{Markup, html};
use serde_json::Value;

use super::{
    example::Language,
    reference::{DescribedOperation, Reference, is_required, kebab},
    schema::{Document, text},
};

/// The samples of an operation, one of them shown at a time, and the answer.
pub(super) fn samples(
    reference: Reference,
    document: Document<'_>,
    operation: &DescribedOperation<'_>,
) -> Markup {
    let id = operation.text("operationId");
    let request = Request::new(reference, document, operation);
    let all = [
        ("curl", request.curl()),
        ("TypeScript", request.typescript()),
        ("Python", request.python()),
        ("Terminal", command(document, operation)),
    ];
    html! {
        div.tabs {
            @for (position, (language, _)) in all.iter().enumerate() {
                @let tab = format!("{id}-{language}");
                input #(tab) type="radio" name={ "sample-" (id) } value=(language) checked[position == 0];
                label for=(tab) { (language) }
            }
            @for (_, sample) in &all { pre tabindex="0" { code { (sample) } } }
        }
        @if let Some((status, answer)) = operation.answer() {
            h3 { "Answer " span.status { (status) } }
            pre tabindex="0" { code { (document.example(answer, Language::Json, 0)) } }
        }
    }
}

/// The operation as a command with what it requires. The terminal finds the project by itself.
#[must_use]
pub fn command<'a>(document: Document<'a>, operation: &DescribedOperation<'a>) -> String {
    let parameters = shown_parameters(operation).filter(|(name, ..)| *name != "projectId");
    let fields = operation.body().into_iter();
    let fields = fields.flat_map(|body| document.shown_members(body));
    let fields = fields.map(|(name, schema, _)| (name, schema));
    let mut text = format!("scrip api {}", operation.verb());
    for (name, schema) in parameters
        .map(|(name, _, schema)| (name, schema))
        .chain(fields)
    {
        let values = match document.named(name, schema) {
            Value::Array(items) if items.iter().all(|it| !it.is_object()) => items,
            value => vec![value],
        };
        for value in values {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
            let value = match value.chars().all(is_plain) {
                true => value,
                false => format!("'{value}'"),
            };
            text.push_str(&format!(" --{} {value}", kebab(name)));
        }
    }
    text
}

/// The parameters that an example has: name, place and schema.
fn shown_parameters<'a>(
    operation: &DescribedOperation<'a>,
) -> impl Iterator<Item = (&'a str, &'a str, &'a Value)> {
    // Only a session may leave the user out.
    let names_user = operation.path.starts_with("/wallets/external");
    let own = operation.own_parameters().into_iter();
    own.filter_map(move |parameter| {
        let name = text(Some(parameter), "name");
        let is_shown = is_required(parameter) || names_user && name == "externalUserId";
        let place = text(Some(parameter), "in");
        is_shown.then_some((name, place, parameter.get("schema")?))
    })
}

struct Request<'a> {
    document: Document<'a>,
    method: &'a str,
    /// The variable that holds the token.
    token: &'static str,
    /// From the server's root, with its required query.
    path: String,
    body: Option<&'a Value>,
}

impl<'a> Request<'a> {
    fn new(
        reference: Reference,
        document: Document<'a>,
        operation: &DescribedOperation<'a>,
    ) -> Self {
        let mut path = format!("{}{}", reference.base, operation.path);
        let mut query = Vec::new();
        for (name, place, schema) in shown_parameters(operation) {
            let value = document.parameter(name, schema);
            match place {
                "path" => path = path.replace(&format!("{{{name}}}"), &value),
                _ => query.push(format!("{name}={value}")),
            }
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        Self {
            document,
            method: operation.method,
            token: reference.token,
            path,
            body: operation.body(),
        }
    }

    fn curl(&self) -> String {
        let method = match self.method {
            "get" => String::new(),
            method => format!("-X {} ", method.to_uppercase()),
        };
        let mut lines = vec![
            format!("curl {method}\"$SCRIP_URL{}\"", self.path),
            format!("  -H \"Authorization: Bearer ${}\"", self.token),
        ];
        if let Some(body) = self.body {
            lines.push("  -H \"Content-Type: application/json\"".to_owned());
            lines.push(format!(
                "  -d '{}'",
                self.document.example(body, Language::Json, 0)
            ));
        }
        lines.join(" \\\n")
    }

    fn typescript(&self) -> String {
        let authorization = format!("Authorization: `Bearer ${{process.env.{}}}`", self.token);
        let (media, body) = match self.body {
            Some(body) => {
                let body = self.document.example(body, Language::TypeScript, 2);
                (
                    ", 'Content-Type': 'application/json'",
                    format!("  body: JSON.stringify({body}),\n"),
                )
            }
            None => ("", String::new()),
        };
        let method = match self.method {
            "get" => String::new(),
            method => format!("  method: '{}',\n", method.to_uppercase()),
        };
        format!(
            "const response = await fetch(`${{process.env.SCRIP_URL}}{}`, {{\n{method}  headers: {{ {authorization}{media} }},\n\
             {body}}});\nconst answer = await response.json();",
            self.path
        )
    }

    fn python(&self) -> String {
        let body = self
            .body
            .map(|body| self.document.example(body, Language::Python, 4));
        let body = body.map_or_else(String::new, |body| format!("    json={body},\n"));
        format!(
            "import os\nimport httpx\n\nresponse = httpx.{}(\n    os.environ[\"SCRIP_URL\"] + \"{}\",\n    headers={{\"Authorization\": \
             \"Bearer \" + os.environ[\"{}\"]}},\n{body})\nanswer = response.json()",
            self.method, self.path, self.token
        )
    }
}

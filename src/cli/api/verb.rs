//! One operation as a command: its options, the request, and what is printed of the answer.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgMatches, Args as _, Command, FromArgMatches as _};
use reqwest::{Method, header};
use serde_json::{Map, Value};
use url::form_urlencoded::byte_serialize;
use uuid::Uuid;
use web::docs::{DescribedOperation, Document, command, kebab};

use super::{
    answer,
    field::{Field, KEY, Location},
};
use crate::cli::{
    Failure, print,
    project::ProjectArgs,
    remote::{self, ApiClient, KeyArgs, STREAM_TIMEOUT, ServerArgs, ServerUrlArgs, TIMEOUT},
    table::{OutputArgs, field, list},
};

/// The parameter that `--project` is for.
const PROJECT: &str = "projectId";

/// Parts of a path that may be named otherwise than by their identifier: the parameter, how the identifier begins, and
/// the fields that may name it.
const NAMED: [(&str, &str, &[&str]); 6] = [
    (WALLET, "wref_", &["externalUserId", "walletId", "code"]),
    ("keyId", "key_", &["name", "last"]),
    ("userId", "usr_", &["email"]),
    ("productId", "prod_", &["name"]),
    ("priceId", "price_", &["label"]),
    ("webhookId", "wh_", &["url"]),
];
/// A wallet is found by a search, also by what it does not show, such as its code.
const WALLET: &str = "walletRef";

/// An operation of one of the APIs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verb {
    pub(super) document: Document<'static>,
    pub(super) operation: DescribedOperation<'static>,
    pub(super) is_admin: bool,
}

impl Verb {
    /// Its options, but for those of the connection and the project.
    fn fields(&self) -> Vec<Field> {
        let parameters = self.operation.own_parameters().into_iter();
        let parameters = parameters.map(|parameter| Field::parameter(self.document, parameter));
        let body = self.operation.body().into_iter();
        let body = body.flat_map(|body| self.document.members(body));
        let body = body.map(|(name, schema, is_required)| {
            Field::new(self.document, Location::Body, name, schema, is_required)
        });
        parameters
            .filter(|field| !is_project(field))
            .chain(body)
            .collect()
    }

    fn needs_project(&self) -> bool {
        let parameters = self.operation.own_parameters().into_iter();
        let mut parameters = parameters.map(|parameter| Field::parameter(self.document, parameter));
        parameters.any(|field| is_project(&field))
    }

    /// The operation as a subcommand of `path`.
    pub(super) fn command(&self, name: &str, path: &str) -> Command {
        let fields = self.fields();
        let DescribedOperation {
            method,
            path: route,
            ..
        } = self.operation;
        let about = self.operation.text("summary");
        let example = command(self.document, &self.operation);
        let example = example.replacen(
            &format!("scrip api {}", self.operation.verb()),
            &format!("{path} {name}"),
            1,
        );
        let mut built = Command::new(name.to_owned())
            .disable_version_flag(true)
            .after_help(format!(
                "{} {route}\n\nExamples:\n  {example}",
                method.to_uppercase()
            ))
            .args(fields.iter().map(|field| self.arg(field)));
        if self.operation.body().is_some() {
            let body = Arg::new("body")
                .long("body")
                .value_name("FILE")
                .value_parser(clap::value_parser!(PathBuf))
                .help("A file with the body as JSON, or - for standard input. Options replace fields of it");
            built = built.arg(body);
        }
        built = OutputArgs::augment_args(built).next_help_heading("Connection");
        built = match (self.is_admin, self.needs_project()) {
            (true, true) => ProjectArgs::augment_args(built)
                .mut_arg("project", |project| project.visible_alias("project-id")),
            (true, false) => ServerArgs::augment_args(built),
            (false, _) => KeyArgs::augment_args(ServerUrlArgs::augment_args(built)),
        };
        // The options of the connection have brought a description of their own.
        built = built
            .about(about)
            .long_about(format!("{about}\n\n{}", self.operation.text("description")));
        // A field's option has the name that its field has.
        match fields.iter().any(|field| field.name == "url") {
            true => built.mut_arg("url", |url| url.long("server-url")),
            false => built,
        }
    }

    /// The option of a field; that of a part of the path says what may name it.
    fn arg(&self, field: &Field) -> Arg {
        let arg = field.arg();
        let Some((parameter, prefix, names)) = self.named(field) else {
            return arg;
        };
        let names = names.iter().map(|name| kebab(name));
        let names: Vec<String> = names.collect();
        let arg = arg.help(format!("`{prefix}…`, or its {}", names.join(" or ")));
        match *parameter == WALLET {
            true => arg.visible_aliases(names),
            false => arg,
        }
    }

    fn named(
        &self,
        field: &Field,
    ) -> Option<&'static (&'static str, &'static str, &'static [&'static str])> {
        let is_named = self.is_admin && field.place == Location::Path;
        let mut all = NAMED.iter();
        all.find(|(parameter, ..)| is_named && *parameter == field.name)
    }

    /// Calls the operation and prints its answer.
    pub(super) async fn call(&self, matches: &ArgMatches) -> Result<(), Failure> {
        let output = OutputArgs::from_arg_matches(matches).map_err(Failure::new)?;
        let (client, project) = self.client(matches).await?;
        let mut path = self.operation.path.to_owned();
        let mut query = Vec::new();
        if let Some(id) = project {
            match path.contains("{projectId}") {
                true => path = path.replace("{projectId}", &id),
                false => query.push((PROJECT, id)),
            }
        }
        let mut body = match matches.try_get_one::<PathBuf>("body").ok().flatten() {
            Some(file) => read(file)?,
            None => Value::Object(Map::new()),
        };
        for field in self.fields() {
            let value = field.value(matches);
            let is_key = field.is_required && field.name == KEY && body.get(KEY).is_none();
            let value = value.or_else(|| is_key.then(|| Value::from(Uuid::new_v4().to_string())));
            let Some(value) = value else {
                continue;
            };
            match field.place {
                Location::Path => {
                    let id = self.id(&client, &path, &field, &text(&value)).await?;
                    // A space is not a plus in a path.
                    let id = byte_serialize(id.as_bytes())
                        .collect::<String>()
                        .replace('+', "%20");
                    path = path.replace(&format!("{{{}}}", field.name), &id);
                }
                Location::Query => query.push((field.name, text(&value))),
                Location::Body => {
                    let fields = body.as_object_mut();
                    let fields =
                        fields.ok_or_else(|| Failure::new("the body is not a JSON object"))?;
                    fields.insert(field.name.to_owned(), value);
                }
            }
        }
        let path = remote::with_query(&path, &query);
        let (success, is_text) = self.operation.success();
        let body = self.operation.body().map(|_| &body);
        let method = self.operation.method.to_uppercase().parse::<Method>();
        let method = method.map_err(Failure::new)?;
        let timeout = if is_text { STREAM_TIMEOUT } else { TIMEOUT };
        let response = client
            .open(method, &path, body, timeout)
            .await
            .map_err(|error| {
                let key = body.and_then(|body| body.get(KEY)?.as_str());
                match key.filter(|_| error.may_pass()) {
                    Some(key) => {
                        Failure(format!("{error}. Repeat it with --idempotency-key {key}"))
                    }
                    None => error.into(),
                }
            })?;
        let kind = response.headers().get(header::CONTENT_TYPE);
        match kind.map(|kind| kind.as_bytes().starts_with(b"application/json")) {
            None if output.json => {}
            None => print::line(success),
            Some(false) => return remote::print_text(response).await,
            Some(true) => {
                let answered = client.json(response).await?;
                let schema = self.operation.answer().map(|(_, schema)| schema);
                output.print(&answered, |answered| {
                    answer::print(self.document, schema, answered)
                });
            }
        }
        Ok(())
    }

    /// The client with the key that the operation takes, and the project that it is about.
    async fn client(&self, matches: &ArgMatches) -> Result<(ApiClient, Option<String>), Failure> {
        if !self.is_admin {
            let place = ServerUrlArgs::from_arg_matches(matches).map_err(Failure::new)?;
            let key = KeyArgs::from_arg_matches(matches).map_err(Failure::new)?;
            return Ok((key.api(&place)?, None));
        }
        if self.needs_project() {
            let project = ProjectArgs::from_arg_matches(matches).map_err(Failure::new)?;
            let project = project.open().await?;
            return Ok((project.remote, Some(project.id)));
        }
        let server = ServerArgs::from_arg_matches(matches).map_err(Failure::new)?;
        Ok((server.administration()?, None))
    }

    /// The identifier of what a text names in the path so far.
    async fn id(
        &self,
        client: &ApiClient,
        path: &str,
        of: &Field,
        text: &str,
    ) -> Result<String, Failure> {
        let named = self.named(of);
        let Some((parameter, _, fields)) = named.filter(|(_, prefix, _)| !text.starts_with(prefix))
        else {
            return Ok(text.to_owned());
        };
        let list_path = path.split_once(&format!("/{{{parameter}}}"));
        let (all, _) = list_path.unwrap_or_default();
        let (_, plural) = all.rsplit_once('/').unwrap_or_default();
        let is_wallet = *parameter == WALLET;
        let query = is_wallet.then_some(("query", text));
        let list_path = remote::with_query(all, query.as_slice());
        let found: Value = client.get(&list_path).await?;
        let found = list(&found, plural);
        let fits = |row: &&Value| fields.iter().any(|name| field(row, name) == text);
        let mut exact: Vec<&Value> = found.iter().filter(fits).collect();
        if exact.is_empty() {
            // Addresses are in lower case.
            let lower = text.to_lowercase();
            exact = found
                .iter()
                .filter(|row| is_wallet || field(row, "email") == lower)
                .collect();
        }
        let id = if is_wallet { "ref" } else { "id" };
        match exact.as_slice() {
            [only] => Ok(field(only, id)),
            [] => Err(Failure(format!(
                "none of the {plural} is called \"{text}\""
            ))),
            several => {
                let ids: Vec<_> = several.iter().map(|row| field(row, id)).collect();
                Err(Failure(format!(
                    "several {plural} are called \"{text}\": {}",
                    ids.join(", ")
                )))
            }
        }
    }
}

fn is_project(field: &Field) -> bool {
    field.name == PROJECT && field.is_required && field.place != Location::Body
}

/// A value in a path or a query.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A body out of a file or standard input.
fn read(file: &Path) -> Result<Value, Failure> {
    let named = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", file.display()));
    let mut text = String::new();
    crate::cli::open(file)
        .and_then(|mut input| input.read_to_string(&mut text))
        .map_err(|error| named(&error))?;
    serde_json::from_str(&text).map_err(|error| named(&format!("it is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use crate::cli::{api::verbs, help};

    #[test]
    fn every_operation_has_an_example_that_can_be_parsed() {
        let mut command = help::command();
        for verb in verbs() {
            let example = web::docs::command(verb.document, &verb.operation);
            // What is between quotes is one word.
            let parts = example.split('\'').enumerate();
            let words: Vec<&str> = parts
                .flat_map(|(at, part)| match at % 2 {
                    0 => part.split_whitespace().collect(),
                    _ => vec![part],
                })
                .collect();
            let parsed = command.try_get_matches_from_mut(words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }
}

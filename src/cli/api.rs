//! `scrip api`: one request to the admin API of a running server, and its answer as JSON.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use clap::Args;
use reqwest::Method;
use serde_json::{Map, Value};
use web::admin;

use super::{
    Failure,
    project::ProjectArgs,
    remote::{self, ApiClient},
    table,
};

/// The placeholder in a path for the id of the project that `--project` names.
const PROJECT: &str = "{project}";

/// One request to the admin API.
#[derive(Debug, Args)]
pub(super) struct ApiArgs {
    /// GET, POST, PATCH, PUT or DELETE.
    #[arg(value_parser = method)]
    method: Method,
    /// A path of the admin API, which `scrip openapi --admin` describes, such as /projects/{project}/orders. {project}
    /// becomes the id of the project that --project names.
    #[arg(value_parser = path)]
    path: String,
    /// Parameters of a GET or DELETE, or fields of the body: name=text, or name:=JSON.
    #[arg(value_name = "NAME=VALUE", value_parser = field)]
    fields: Vec<(String, Value)>,
    /// A file with the whole body as JSON, or - for standard input.
    #[arg(long, value_name = "FILE", conflicts_with = "fields")]
    input: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectArgs,
}

fn method(text: &str) -> Result<Method, &'static str> {
    let methods = [
        Method::GET,
        Method::POST,
        Method::PATCH,
        Method::PUT,
        Method::DELETE,
    ];
    let named = methods
        .into_iter()
        .find(|method| method.as_str().eq_ignore_ascii_case(text));
    named.ok_or("one of GET, POST, PATCH, PUT and DELETE is expected")
}

fn path(text: &str) -> Result<String, &'static str> {
    let path = text.strip_prefix(admin::PREFIX).unwrap_or(text);
    match path.starts_with('/') {
        true => Ok(path.to_owned()),
        false => Err("a path begins with a slash, like /projects"),
    }
}

fn field(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("it is neither name=text nor name:=JSON")?;
    match name.strip_suffix(':') {
        None => Ok((name.to_owned(), Value::from(value))),
        Some(name) => serde_json::from_str(value)
            .map(|value| (name.to_owned(), value))
            .map_err(|error| format!("what follows := is not JSON: {error}")),
    }
}

pub(super) fn run(args: ApiArgs) -> Result<(), Failure> {
    let body = args.input.as_deref().map(read).transpose()?;
    remote::wait(async {
        let (server, path) = args.resolve().await?;
        let (path, body) = match (&args.method, body) {
            (_, Some(body)) => (path, Some(body)),
            (&Method::GET | &Method::DELETE, None) => {
                let parameters: Vec<_> = args.fields.iter().map(parameter).collect();
                (remote::with_query(&path, &parameters), None)
            }
            (_, None) => (path, Some(Value::Object(Map::from_iter(args.fields)))),
        };
        let answer = server.call(args.method, &path, body.as_ref()).await?;
        if let Some(answer) = answer {
            table::json(&answer);
        }
        Ok(())
    })
}

impl ApiArgs {
    /// The server, and the path with the project's id in it. The server is asked for its projects only where the
    /// path needs one.
    async fn resolve(&self) -> Result<(ApiClient, String), Failure> {
        if !self.path.contains(PROJECT) {
            return Ok((self.project.server.administration()?, self.path.clone()));
        }
        let project = self.project.open().await?;
        let path = self.path.replace(PROJECT, &project.id);
        Ok((project.remote, path))
    }
}

/// A field as a parameter of a query.
fn parameter((name, value): &(String, Value)) -> (&str, String) {
    let text = value.as_str().map(str::to_owned);
    (name, text.unwrap_or_else(|| value.to_string()))
}

/// A body out of a file or standard input.
fn read(file: &Path) -> Result<Value, Failure> {
    let named = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", file.display()));
    let mut text = String::new();
    super::open(file)
        .and_then(|mut input| input.read_to_string(&mut text))
        .map_err(|error| named(&error))?;
    serde_json::from_str(&text).map_err(|error| named(&format!("it is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_text_unless_they_say_json() {
        let is = |text: &str, name: &str, value| {
            assert_eq!(field(text), Ok((name.to_owned(), value)), "{text}");
        };
        is("name=Shop", "name", json!("Shop"));
        is("amount:=5", "amount", json!(5));
        is("meta:={\"a\":[1]}", "meta", json!({"a": [1]}));
        is("a=b=c", "a", json!("b=c"));
        is("note=:=", "note", json!(":="));
        assert!(field("amount").is_err() && field("amount:=five").is_err());
    }

    #[test]
    fn parameters_are_escaped_and_follow_those_of_the_path() {
        let fields = ["query=a&b c", "limit:=5"].map(|text| field(text).unwrap());
        let parameters = fields.each_ref().map(parameter);
        let with = |path| remote::with_query(path, &parameters);
        assert_eq!(with("/w"), "/w?query=a%26b+c&limit=5");
        assert_eq!(with("/w?x=1"), "/w?x=1&query=a%26b+c&limit=5");
        assert_eq!(remote::with_query::<&str, &str>("/w", &[]), "/w");
    }

    #[test]
    fn paths_may_be_whole_or_of_the_admin_api() {
        assert_eq!(path("/projects").as_deref(), Ok("/projects"));
        let whole = format!("{}/projects", admin::PREFIX);
        assert_eq!(path(&whole).as_deref(), Ok("/projects"));
        assert!(path("projects").is_err() && path("https://example.com/").is_err());
    }
}

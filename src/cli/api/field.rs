//! An option made from a parameter, or from a field of a body: its help, and how its text becomes JSON.

use clap::{
    Arg, ArgAction, ArgMatches,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _, ValueParser},
};
use serde_json::Value;
use web::docs::{Document, is_required, kebab, parts, text};

use crate::cli::instant;

/// The field that makes a repeated request do nothing twice.
pub(super) const KEY: &str = "idempotencyKey";
/// The largest number that all programs read exactly.
const MAX: i64 = (1 << 53) - 1;

/// Where a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Location {
    Path,
    Query,
    Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    Instant,
    Boolean,
    Integer(i64, i64),
    Choice(Vec<&'static str>),
    /// A text, or true or false.
    Mixed,
    Json,
}

/// A parameter or a field.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) place: Location,
    pub(super) is_required: bool,
    help: String,
    kind: Kind,
    is_list: bool,
    is_nullable: bool,
}

impl Field {
    /// A parameter in a path or a query.
    pub(super) fn parameter(document: Document<'static>, parameter: &'static Value) -> Self {
        let parameter = document.resolve(parameter);
        let place = match text(Some(parameter), "in") {
            "path" => Location::Path,
            _ => Location::Query,
        };
        let name = text(Some(parameter), "name");
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        let mut field = Self::new(document, place, name, schema, is_required(parameter));
        let own = text(Some(parameter), "description");
        if !own.is_empty() {
            field.help = own.to_owned();
        }
        field
    }

    /// A field of a body, or, made of its schema, a parameter.
    pub(super) fn new(
        document: Document<'static>,
        place: Location,
        name: &'static str,
        schema: &'static Value,
        is_required: bool,
    ) -> Self {
        let (kind, is_list) = kind(document, schema);
        Self {
            name,
            place,
            is_required,
            help: document.about(schema).to_owned(),
            kind,
            is_list,
            is_nullable: is_nullable(document.resolve(schema)),
        }
    }

    /// The name of the option's value in what clap parsed. It cannot be that of an option of ours.
    fn id(&self) -> String {
        format!("api.{}", self.name)
    }

    /// The option. A required one may be in the whole body instead, if there is one.
    pub(super) fn arg(&self) -> Arg {
        let value = match &self.kind {
            Kind::Text | Kind::Mixed => "TEXT",
            Kind::Instant => "INSTANT",
            Kind::Boolean => "BOOL",
            Kind::Integer(..) => "NUMBER",
            Kind::Choice(_) => "CHOICE",
            Kind::Json => "JSON",
        };
        let arg = Arg::new(self.id())
            .long(kebab(self.name))
            .value_name(value)
            .value_parser(self.parser())
            .help(self.help())
            .action(match self.is_list {
                true => ArgAction::Append,
                false => ArgAction::Set,
            });
        let arg = match self.kind {
            Kind::Boolean => arg.num_args(0..=1).default_missing_value("true"),
            _ => arg,
        };
        match (self.is_required && self.name != KEY, self.place) {
            (false, _) => arg,
            (true, Location::Body) => arg.help_heading("Required").required_unless_present("body"),
            (true, _) => arg.help_heading("Required").required(true),
        }
    }

    fn help(&self) -> String {
        let mut help = self.help.split_whitespace().collect::<Vec<_>>().join(" ");
        match self.kind {
            Kind::Integer(0 | 1, MAX) => {}
            Kind::Integer(least, most) => help.push_str(&format!(" [{least} to {most}]")),
            _ => {}
        }
        if self.is_list {
            help.push_str(" [may be repeated]");
        }
        if self.is_nullable && self.place == Location::Body && !self.is_required {
            help.push_str(" ['': null]");
        }
        if self.is_required && self.name == KEY {
            help.push_str(" [default: a new one]");
        }
        help.trim().to_owned()
    }

    fn parser(&self) -> ValueParser {
        let choices = match &self.kind {
            Kind::Boolean => &vec!["true", "false"],
            Kind::Choice(choices) => choices,
            _ => {
                let field = self.clone();
                return ValueParser::new(move |text: &str| field.read(text));
            }
        };
        let choices = choices.iter().map(|choice| PossibleValue::new(*choice));
        let null = self.is_nullable.then(|| PossibleValue::new("").hide(true));
        let is_boolean = self.kind == Kind::Boolean;
        let all = PossibleValuesParser::new(choices.chain(null));
        ValueParser::new(all.map(move |text| match text.as_str() {
            "" => Value::Null,
            text if is_boolean => Value::Bool(text == "true"),
            text => Value::from(text),
        }))
    }

    /// A text as JSON.
    fn read(&self, text: &str) -> Result<Value, String> {
        match self.kind {
            _ if self.is_nullable && text.is_empty() => Ok(Value::Null),
            Kind::Integer(least, most) => match text.parse::<i64>() {
                Ok(number) if (least..=most).contains(&number) => Ok(number.into()),
                _ => Err(format!("a whole number from {least} to {most} is expected")),
            },
            Kind::Json => {
                serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))
            }
            Kind::Mixed => Ok(text
                .parse::<bool>()
                .map_or_else(|_| Value::from(text), Value::from)),
            Kind::Instant => instant(text)
                .map(Value::from)
                .map_err(|error| error.to_string()),
            _ => Ok(Value::from(text)),
        }
    }

    /// The value that the command line has for it.
    pub(super) fn value(&self, matches: &ArgMatches) -> Option<Value> {
        let mut values = matches.get_many::<Value>(&self.id())?.cloned();
        match self.is_list {
            false => values.next(),
            true => {
                let values: Vec<Value> = values.collect();
                Some(match values.as_slice() {
                    [Value::Null] => Value::Null,
                    _ => Value::Array(values),
                })
            }
        }
    }
}

/// What a schema takes, and whether it takes a list of it.
fn kind(document: Document<'static>, schema: &'static Value) -> (Kind, bool) {
    let schema = document.resolve(schema);
    if let Some((parts, _)) = parts(schema) {
        let kinds: Vec<_> = parts.into_iter().map(|part| kind(document, part)).collect();
        return match kinds.as_slice() {
            [only] => only.clone(),
            all if all
                .iter()
                .any(|(kind, is_list)| *is_list || *kind == Kind::Json) =>
            {
                (Kind::Json, false)
            }
            _ => (Kind::Mixed, false),
        };
    }
    let bound = |name, or| schema.get(name).and_then(Value::as_i64).unwrap_or(or);
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return (
            Kind::Choice(choices.iter().filter_map(Value::as_str).collect()),
            false,
        );
    }
    let kinds = schema.get("type");
    let is = |name: &str| {
        kinds.is_some_and(|kinds| {
            kinds == name
                || kinds
                    .as_array()
                    .is_some_and(|all| all.iter().any(|kind| kind == name))
        })
    };
    let is_instant = schema
        .get("format")
        .is_some_and(|format| format == "date-time");
    if is("array") {
        let items = schema.get("items").unwrap_or(&Value::Null);
        return match kind(document, items) {
            (Kind::Json, _) | (_, true) => (Kind::Json, false),
            (kind, false) => (kind, true),
        };
    }
    let kind = match () {
        () if is("object") => Kind::Json,
        () if is("integer") => Kind::Integer(bound("minimum", -MAX), bound("maximum", MAX)),
        () if is("boolean") => Kind::Boolean,
        () if is_instant => Kind::Instant,
        () => Kind::Text,
    };
    (kind, false)
}

fn is_nullable(schema: &Value) -> bool {
    let kinds = schema.get("type").and_then(Value::as_array);
    let parts = schema.get("oneOf").and_then(Value::as_array);
    kinds.is_some_and(|all| all.iter().any(|kind| kind == "null"))
        || parts.is_some_and(|all| all.iter().any(|part| text(Some(part), "type") == "null"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: Value, words: &[&str]) -> Result<Value, String> {
        let (empty, schema) = (Box::leak(Box::default()), Box::leak(Box::new(schema)));
        let field = Field::new(Document(empty), Location::Body, "some", schema, false);
        let command = clap::Command::new("x").arg(field.arg());
        let matches = command.try_get_matches_from([&["x"], words].concat());
        let matches = matches.map_err(|error| error.to_string())?;
        Ok(field.value(&matches).expect("a value"))
    }

    #[test]
    fn a_text_becomes_what_its_schema_says() {
        let whole = json!({ "type": ["integer", "null"], "minimum": 1, "maximum": 9 });
        let is = |schema: &Value, words: &[&str], value: Value| {
            assert_eq!(read(schema.clone(), words), Ok(value), "{words:?}");
        };
        is(&whole, &["--some", "9"], json!(9));
        is(&whole, &["--some", ""], Value::Null);
        for wrong in ["0", "10", "1.5", "x"] {
            let refused = read(whole.clone(), &["--some", wrong]).unwrap_err();
            assert!(refused.contains("a whole number from 1 to 9"), "{refused}");
        }
        let switch = json!({ "type": "boolean" });
        is(&switch, &["--some"], json!(true));
        is(&switch, &["--some", "false"], json!(false));
        let choice = json!({ "enum": ["a", "b"] });
        is(&choice, &["--some", "b"], json!("b"));
        assert!(
            read(choice.clone(), &["--some", "c"])
                .unwrap_err()
                .contains("possible values: a, b")
        );
        let list = json!({ "type": "array", "items": choice });
        is(&list, &["--some", "b", "--some", "a"], json!(["b", "a"]));
        let day = json!({ "type": "string", "format": "date-time" });
        is(
            &day,
            &["--some", "2099-12-31"],
            json!("2099-12-31T00:00:00Z"),
        );
        let object = json!({ "type": "object" });
        is(&object, &["--some", r#"{"a":[1]}"#], json!({ "a": [1] }));
        assert!(
            read(object, &["--some", "{"])
                .unwrap_err()
                .contains("it is not JSON")
        );
        let mixed =
            json!({ "oneOf": [{ "type": "boolean" }, { "type": "string" }, { "type": "null" }] });
        is(&mixed, &["--some", "true"], json!(true));
        is(
            &mixed,
            &["--some", "ann@shop.example"],
            json!("ann@shop.example"),
        );
    }
}

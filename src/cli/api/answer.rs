//! An answer for people: its fields, and its lists as tables with the first columns that have something in them.

use serde_json::{Map, Value};
use web::docs::Document;

use crate::cli::{
    print,
    table::{Table, field, list, money, when},
};

/// The most columns of a table: `--json` has all.
const MAX_COLUMNS: usize = 10;

/// Prints an answer. Its description has the order of its fields.
pub(in crate::cli) fn print(
    document: Document<'static>,
    schema: Option<&'static Value>,
    answer: &Value,
) {
    let members = members(document, schema);
    let names = names(&members, answer);
    let mut fields = Table::new(&["FIELD", "VALUE"]);
    for name in names.iter().filter(|name| **name != "nextCursor") {
        add_fields(&mut fields, name, answer, name);
    }
    let lists = names
        .iter()
        .filter(|name| is_list_of_objects(answer.get(name)));
    let lists: Vec<&str> = lists.copied().collect();
    let filled = lists.iter().filter(|name| !list(answer, name).is_empty());
    let filled: Vec<&str> = filled.copied().collect();
    let nothing: Vec<String> = lists.iter().map(|name| words(name)).collect();
    if !fields.is_empty() || filled.is_empty() {
        fields.print(&format!("no {}", nothing.join(", ")));
    }
    let is_alone = fields.is_empty() && filled.len() == 1;
    for name in filled {
        let rows = list(answer, name);
        if !is_alone {
            print::line(&format!("\n{}:", heading(name)));
        }
        let of_row = members.iter().find(|(known, ..)| *known == name);
        let of_row = of_row.and_then(|(_, schema, _)| document.resolve(schema).get("items"));
        let of_row = self::members(document, of_row);
        let columns = rows.first().map(|row| self::names(&of_row, row));
        print_rows(columns.unwrap_or_default(), rows);
    }
    let next = field(answer, "nextCursor");
    if !next.is_empty() {
        print::line(&format!("\nThe next page: --cursor {next}"));
    }
}

type Members = Vec<(&'static str, &'static Value, bool)>;

fn members(document: Document<'static>, schema: Option<&'static Value>) -> Members {
    let members = schema.map(|schema| document.members(schema));
    members.unwrap_or_default()
}

/// The names of the fields that are described, and of others that an object has.
fn names<'a>(members: &Members, object: &'a Value) -> Vec<&'a str> {
    let described = members.iter().map(|(name, ..)| *name);
    let own = object.as_object().into_iter().flat_map(Map::keys);
    let other = own.filter(|name| members.iter().all(|(known, ..)| known != name));
    described.chain(other.map(String::as_str)).collect()
}

fn is_list_of_objects(value: Option<&Value>) -> bool {
    let items = value.and_then(Value::as_array);
    items.is_some_and(|items| items.iter().all(Value::is_object))
}

/// Adds a field, or those of the object in it.
fn add_fields(table: &mut Table, path: &str, of: &Value, name: &str) {
    match of.get(name) {
        Some(inner @ Value::Object(fields)) => {
            for name in fields.keys() {
                add_fields(table, &format!("{path}.{name}"), inner, name);
            }
        }
        Some(value) if is_list_of_objects(Some(value)) => {}
        _ => {
            let text = cell(of, name);
            if !text.is_empty() {
                table.row([path.to_owned(), text]);
            }
        }
    }
}

fn print_rows(columns: Vec<&str>, rows: &[Value]) {
    let has_money = |row: &Value| !field(row, "currency").is_empty();
    let is_shown = |name: &&str| {
        let is_filled = rows.iter().any(|row| !cell(row, name).is_empty());
        is_filled && !(*name == "currency" && rows.iter().all(has_money))
    };
    let columns: Vec<&str> = columns
        .into_iter()
        .filter(is_shown)
        .take(MAX_COLUMNS)
        .collect();
    let headings: Vec<String> = columns.iter().map(|name| heading(name)).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(&headings);
    for row in rows {
        table.row(columns.iter().map(|name| cell(row, name)));
    }
    table.print("");
}

/// A field in a table: amounts with their currency, instants to the second, lists with commas, of an object its kind.
fn cell(of: &Value, name: &str) -> String {
    match of.get(name) {
        Some(Value::Number(_)) if name.ends_with("Cents") && of.get("currency").is_some() => {
            money(of, name)
        }
        Some(Value::String(text)) if text.get(10..11) == Some("T") && text.ends_with('Z') => {
            when(of, name)
        }
        Some(Value::Array(items)) => {
            let items = items.iter().map(|item| match item {
                Value::Object(_) => {
                    format!("{} {}", field(item, "balance"), field(item, "creditUnit"))
                }
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            let items: Vec<String> = items.filter(|text| !text.trim().is_empty()).collect();
            items.join(", ")
        }
        Some(Value::Object(_)) => of
            .get(name)
            .map(|inner| field(inner, "kind"))
            .unwrap_or_default(),
        _ => field(of, name),
    }
}

/// `createdAt` as `CREATED AT`; amounts are not in cents here.
fn heading(name: &str) -> String {
    words(name.strip_suffix("Cents").unwrap_or(name)).to_uppercase()
}

fn words(name: &str) -> String {
    web::docs::kebab(name).replace('-', " ")
}

//! Tables for people, and the fields in them. Programs ask for `--json`.

use clap::Args;
use domain::money;
use serde_json::Value;
use wire::visible::{is_hidden, visible};

use super::print;

/// How a command prints what the server answered.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Prints JSON, for programs.
    #[arg(long)]
    pub(super) json: bool,
}

impl OutputArgs {
    /// Prints an answer as JSON, or for people.
    pub(super) fn print(&self, answer: &Value, for_people: impl FnOnce(&Value)) {
        match self.json {
            true => json(answer),
            false => for_people(answer),
        }
    }
}

/// Rows of cells, the headings first.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings and no rows.
    pub(super) fn new(headings: &[&str]) -> Self {
        Self {
            rows: vec![headings.iter().map(|&text| text.to_owned()).collect()],
        }
    }

    /// Adds a row. What could steer a terminal, or would not be seen, is written out.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(
            cells
                .into_iter()
                .map(|cell| visible(&cell).into_owned())
                .collect(),
        );
    }

    /// The table as lines: columns as wide as their cells, numbers aligned to the right.
    fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let shape = |column| {
            let width = cells(column).map(|cell| cell.chars().count()).max();
            let numbers = cells(column)
                .skip(1)
                .all(|cell| cell.parse::<i64>().is_ok() || cell.is_empty());
            (width.unwrap_or_default(), numbers)
        };
        let shapes: Vec<(usize, bool)> = (0..columns).map(shape).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&shapes).map(|(cell, &(width, number))| {
                if number {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }

    /// Whether it has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Prints the table, or `nothing` if it has no rows.
    pub(super) fn print(&self, nothing: &str) {
        if self.is_empty() {
            return print::line(nothing);
        }
        for line in self.lines() {
            print::line(&line);
        }
    }
}

/// A text without characters that could steer a terminal, or would not be seen.
pub(super) fn plain(text: &str) -> String {
    let shown = |c: char| if is_hidden(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// Prints an answer for programs. Control characters, which JSON allows raw above U+007F, are escaped: they would
/// steer a terminal.
pub(super) fn json(value: &Value) {
    print::line(&escaped(&format!("{value:#}")));
}

fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_control() && c != '\n' {
            true => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
    }
    text
}

/// A field of a response as text; empty if it is null or missing.
pub(super) fn field(of: &Value, name: &str) -> String {
    match of.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A list in a response; empty if it is missing.
pub(super) fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// An instant in UTC, to the second.
pub(super) fn when(of: &Value, name: &str) -> String {
    let text = field(of, name);
    match text.get(..19) {
        Some(second) => format!("{}Z", second.replace('T', " ")),
        None => text,
    }
}

/// An amount with its currency; empty if it is missing.
pub(super) fn money(of: &Value, name: &str) -> String {
    let amount = of.get(name).and_then(Value::as_i64);
    let currency = field(of, "currency");
    amount.map_or_else(String::new, |amount| {
        format!("{} {currency}", money::typed(amount, &currency))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_as_people_count_it() {
        let order = serde_json::json!({ "amountCents": 123_450, "currency": "SEK", "at": null });
        assert_eq!(money(&order, "amountCents"), "1234.50 SEK");
        assert_eq!(money(&order, "refundedCents"), "");
    }

    #[test]
    fn columns_line_up_and_nobodys_text_steers_the_terminal() {
        let mut table = Table::new(&["USER", "BALANCE"]);
        table.row(["ann".to_owned(), "5".to_owned()]);
        table.row(["b\u{1b}[2J\u{9b}é".to_owned(), "1200".to_owned()]);
        table.row(["A ".to_owned(), "6".to_owned()]);
        table.row(["\u{202e}b".to_owned(), "7".to_owned()]);
        assert_eq!(
            table.lines(),
            [
                r#"USER                 BALANCE"#,
                r#"ann                        5"#,
                r#""b\u{1b}[2J\u{9b}é"     1200"#,
                r#""A "                       6"#,
                r#""\u{202e}b"                7"#,
            ]
        );
        let answer = serde_json::json!({ "user": "b\u{9b}2J\u{7f}é" });
        let printed = escaped(&format!("{answer:#}"));
        assert_eq!(printed, "{\n  \"user\": \"b\\u009b2J\\u007fé\"\n}");
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), answer);
    }
}

//! Data of a price file, with its numbers as they are written: JSON, or the Python module that genai-prices is published
//! as. It is read as text; nothing in it runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::decimal::Decimal;

/// The deepest that lists and objects are within each other.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    Null,
    Number(Decimal),
    Text(String),
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
    /// A truth value, or a number below zero.
    Other,
}

impl Data {
    /// Reads a file in either form.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let python = text.split_once("providers: list[Provider] = ");
        let json =
            python.map(|(_, list)| json_of_python(list).ok_or("its Python is not only data"));
        let json = json.transpose()?;
        let text = json.as_deref().unwrap_or(text);
        Self::of_json(text.trim(), 0)
    }

    fn of_json(text: &str, depth: usize) -> Result<Self, String> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        let depth = depth.saturating_add(1);
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let fields: BTreeMap<String, &RawValue> = read(text)?;
                let fields = fields.into_iter();
                let fields = fields.map(|(name, it)| Ok((name, Self::of_json(it.get(), depth)?)));
                Self::Object(fields.collect::<Result<_, String>>()?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = read(text)?;
                let items = items.iter().map(|it| Self::of_json(it.get(), depth));
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Some(b'"') => Self::Text(read(text)?),
            Some(b'n') => Self::Null,
            _ => text.parse().map_or(Self::Other, Self::Number),
        })
    }

    /// A field of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.get(name).filter(|value| **value != Self::Null),
            _ => None,
        }
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &Self)> {
        let fields = match self {
            Self::Object(fields) => Some(fields.iter()),
            _ => None,
        };
        let fields = fields.into_iter().flatten();
        fields.map(|(name, value)| (name.as_str(), value))
    }

    /// A text in an object; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Self::Text(text)) => text,
            _ => "",
        }
    }

    /// A list in an object; empty if there is none.
    pub(super) fn list(&self, name: &str) -> &[Self] {
        self.get(name).map(Self::items).unwrap_or_default()
    }

    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// A number, or a text of one.
    pub(super) fn number(&self) -> Option<Decimal> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// Writes a Python expression as JSON: literals, and calls with named arguments, which become objects.
fn json_of_python(text: &str) -> Option<String> {
    let mut json = String::new();
    let mut open = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.+-".contains(c));
        let (word, after) = rest.split_at(word.unwrap_or(rest.len()));
        let after = after.trim_start();
        if c == '\'' || c == '"' {
            let (string, end) = python_string(rest, c)?;
            json.push_str(&serde_json::to_string(&string).ok()?);
            rest = rest.get(end..)?;
        } else if word.is_empty() {
            match c {
                '[' | '{' => open.push(c),
                ']' | ')' | '}' => {
                    let end = json.trim_end_matches(',').len();
                    json.truncate(end);
                    open.pop()?;
                }
                _ => {}
            }
            json.push(if c == ')' { '}' } else { c });
            rest = rest.get(c.len_utf8()..)?;
        } else if let Some(value) = after.strip_prefix('=') {
            json.push_str(&format!("\"{word}\":"));
            rest = value;
        } else if let Some(arguments) = after.strip_prefix('(') {
            rest = arguments;
            if word == "Decimal" || word.starts_with("datetime.") {
                let (arguments, after) = arguments.split_once(')')?;
                let parts = arguments
                    .split(',')
                    .map(|part| format!("{:0>2}", part.trim()));
                json.push_str(&match word {
                    "Decimal" => arguments.trim_matches(['\'', '"']).to_owned(),
                    _ => format!("\"{}\"", parts.collect::<Vec<_>>().join("-")),
                });
                rest = after;
            } else {
                json.push('{');
                open.push('(');
            }
        } else {
            json.push_str(match word {
                "None" => "null",
                "True" | "False" => "true",
                number => number,
            });
            rest = after;
        }
        rest = rest.trim_start();
        if open.is_empty() {
            return Some(json);
        }
    }
    None
}

/// A text at the beginning of an expression, and where it ends.
fn python_string(text: &str, quote: char) -> Option<(String, usize)> {
    let mut chars = text.char_indices().skip(1);
    let mut string = String::new();
    loop {
        let (at, c) = chars.next()?;
        match c {
            '\\' => {
                let (_, escape) = chars.next()?;
                let digits = ["x", "u", "U"].iter().position(|it| it.starts_with(escape));
                let digits = digits.map_or(0, |place| [2, 4, 8].get(place).copied().unwrap_or(0));
                let code: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
                string.push(match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '\\' | '\'' | '"' => escape,
                    _ => char::from_u32(u32::from_str_radix(&code, 16).ok()?)?,
                });
            }
            c if c == quote => return Some((string, at.checked_add(1)?)),
            c => string.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_module_is_the_same_data_as_json() {
        let python = r#""""A module"""
providers: list[Provider] = [
    Provider(
        id='a',
        match=ClauseOr(or_=[ClauseEquals(equals="it's \"x\"\n\xe9\u20ac")]),
        deprecated=True,
        none=None,
        when={'tier': 'batch'},
        price=Decimal('2.50'),
        start=200000,
        date=datetime.date(2026, 9, 1),
        time=datetime.time(0, 30, tzinfo=datetime.timezone.utc),
    ),
]
"#;
        let json = r#"[{"id": "a", "match": {"or_": [{"equals": "it's \"x\"\n\u00e9\u20ac"}]}, "deprecated": true,
            "none": null, "when": {"tier": "batch"}, "price": 2.5, "start": 2e5, "date": "2026-09-01",
            "time": "00-30-tzinfo=datetime.timezone.utc"}]"#;
        assert_eq!(Data::parse(python), Data::parse(json));
        for broken in ["start=200000,", "'a'", "),\n]"] {
            let broken = python.replace(broken, "(");
            assert!(Data::parse(&broken).is_err(), "{broken}");
        }
        assert!(Data::parse(&format!("providers: list[Provider] = {}", "[".repeat(100))).is_err());
        assert!(Data::parse(&"[".repeat(100)).is_err());
    }
}

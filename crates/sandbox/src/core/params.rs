//! Parameters of a request in bracket notation. Reading one marks it as used, and [`Params::finish`] refuses all
//! others, as Stripe does.

use std::{cell::Cell, collections::BTreeMap, str::FromStr};

use super::{
    database::{Database, StoredObject},
    refusal::{Refusal, Result},
    words::StripeEnum,
};

/// Stripe's limits for metadata.
const MAX_METADATA_KEYS: usize = 50;
const MAX_METADATA_KEY_CHARS: usize = 40;
const MAX_METADATA_VALUE_CHARS: usize = 500;
/// The sandbox's limit: objects and events have to stay small.
const MAX_METADATA_BYTES: usize = 1500;
const MAX_PAIRS: usize = 200;
const MAX_VALUE_BYTES: usize = 2048;

pub(crate) type Metadata = BTreeMap<String, String>;

struct Pair {
    path: String,
    value: String,
    taken: Cell<bool>,
}

pub(crate) struct Params(Vec<Pair>);

impl Params {
    /// Takes decoded pairs, in the order in which they came.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        let mut read: Vec<Pair> = Vec::new();
        for (key, value) in pairs {
            let path = numbered(&key, &read);
            if !is_well_formed(&path) {
                return Err(Refusal::param(key, "Invalid parameter name"));
            }
            if value.len() > MAX_VALUE_BYTES {
                let message = format!("Invalid string: must be at most {MAX_VALUE_BYTES} bytes");
                return Err(
                    Refusal::param(key, message).with_code("parameter_invalid_string_length")
                );
            }
            if read.iter().any(|pair| pair.path == path) {
                return Err(Refusal::param(path, "This parameter was sent twice"));
            }
            if read.len() >= MAX_PAIRS {
                return Err(Refusal::invalid("Too many parameters for the sandbox"));
            }
            // Expansion is done after the endpoint has answered.
            let taken = Cell::new(path.starts_with("expand["));
            read.push(Pair { path, value, taken });
        }
        Ok(Self(read))
    }

    pub(crate) fn text(&self, path: &str) -> Result<Option<String>> {
        let Some(pair) = self.0.iter().find(|pair| pair.path == path) else {
            return Ok(None);
        };
        pair.taken.set(true);
        if pair.value.is_empty() {
            let message = format!(
                "You passed an empty string for '{path}'. We assume empty values are an attempt to \
                 unset a parameter; however '{path}' cannot be unset."
            );
            return Err(Refusal::param(path, message).with_code("parameter_invalid_empty"));
        }
        Ok(Some(pair.value.clone()))
    }

    /// Whether it was sent empty, to unset the field.
    pub(crate) fn is_unset(&self, path: &str) -> bool {
        let pair = self.0.iter().find(|pair| pair.path == path);
        let empty = pair.filter(|pair| pair.value.is_empty());
        empty.inspect(|pair| pair.taken.set(true)).is_some()
    }

    pub(crate) fn required(&self, path: &str) -> Result<String> {
        self.text(path)?.ok_or_else(|| Refusal::missing(path))
    }

    pub(crate) fn bounded(&self, path: &str, max: usize) -> Result<Option<String>> {
        let text = self.text(path)?;
        if text.as_ref().is_some_and(|text| text.chars().count() > max) {
            let message = format!("Invalid string: must be at most {max} characters");
            return Err(Refusal::param(path, message).with_code("parameter_invalid_string_length"));
        }
        Ok(text)
    }

    pub(crate) fn change(&self, path: &str, max: usize, to: &mut Option<String>) -> Result<()> {
        if let Some(text) = self.bounded(path, max)? {
            *to = Some(text);
        }
        Ok(())
    }

    pub(crate) fn object<T: StoredObject>(&self, db: &Database, path: &str) -> Result<Option<T>> {
        let id = self.text(path)?;
        id.map(|id| db.named(&id, path)).transpose()
    }

    pub(crate) fn integer<T: FromStr>(&self, path: &str) -> Result<Option<T>> {
        let Some(text) = self.text(path)? else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            Refusal::param(path, format!("Invalid integer: {text}"))
                .with_code("parameter_invalid_integer")
        })
    }

    pub(crate) fn flag(&self, path: &str) -> Result<Option<bool>> {
        match self.text(path)?.as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(Refusal::param(path, format!("Invalid boolean: {other}"))),
        }
    }

    pub(crate) fn word(&self, path: &str, words: &[&'static str]) -> Result<Option<&'static str>> {
        let Some(text) = self.text(path)? else {
            return Ok(None);
        };
        let found = words.iter().find(|word| **word == text).copied();
        found.map(Some).ok_or_else(|| {
            let message = format!("Invalid {path}: must be one of {}", words.join(", "));
            Refusal::param(path, message)
        })
    }

    pub(crate) fn choice<T: StripeEnum>(&self, path: &str) -> Result<Option<T>> {
        let said = self.word(path, T::VARIANTS)?;
        Ok(said.and_then(StripeEnum::of))
    }

    /// The names directly below `path`, in order: `0`, `1` of a list.
    pub(crate) fn below(&self, path: &str) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for pair in &self.0 {
            let rest = pair.path.strip_prefix(path);
            let name = rest.and_then(|rest| rest.strip_prefix('[')?.split(']').next());
            if let Some(name) = name
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names
    }

    pub(crate) fn list(&self, path: &str) -> Result<Vec<String>> {
        let paths = self.below(path).into_iter();
        paths
            .map(|name| self.required(&format!("{path}[{name}]")))
            .collect()
    }

    pub(crate) fn metadata(&self, path: &str) -> Result<Metadata> {
        let mut metadata = Metadata::new();
        self.change_metadata(path, &mut metadata)?;
        Ok(metadata)
    }

    /// Adds and replaces keys of metadata; an empty value removes one.
    pub(crate) fn change_metadata(&self, path: &str, metadata: &mut Metadata) -> Result<()> {
        for key in self.below(path) {
            let path = format!("{path}[{key}]");
            let pair = self.0.iter().find(|pair| pair.path == path);
            let Some(pair) = pair else { continue };
            pair.taken.set(true);
            if pair.value.is_empty() {
                metadata.remove(&key);
                continue;
            }
            if key.chars().count() > MAX_METADATA_KEY_CHARS {
                let message = format!(
                    "Metadata keys must be less than {MAX_METADATA_KEY_CHARS} characters long"
                );
                return Err(Refusal::param(path, message));
            }
            if pair.value.chars().count() > MAX_METADATA_VALUE_CHARS {
                let message = format!(
                    "Metadata values can have up to {MAX_METADATA_VALUE_CHARS} characters, but you \
                     passed in a value that is longer"
                );
                return Err(Refusal::param(path, message));
            }
            metadata.insert(key, pair.value.clone());
        }
        let bytes = metadata.iter().fold(0_usize, |sum, (key, value)| {
            sum.saturating_add(key.len()).saturating_add(value.len())
        });
        if metadata.len() > MAX_METADATA_KEYS || bytes > MAX_METADATA_BYTES {
            let message = format!(
                "The sandbox takes {MAX_METADATA_KEYS} metadata keys and {MAX_METADATA_BYTES} bytes in all"
            );
            return Err(Refusal::param(path, message));
        }
        Ok(())
    }

    pub(crate) fn expansions(&self) -> impl Iterator<Item = &str> {
        let named = |pair: &&Pair| pair.path.starts_with("expand[");
        self.0.iter().filter(named).map(|pair| pair.value.as_str())
    }

    /// Refuses a parameter that was not read.
    pub(crate) fn finish(&self) -> Result<()> {
        match self.0.iter().find(|pair| !pair.taken.get()) {
            None => Ok(()),
            Some(pair) => {
                let message = format!("Received unknown parameter: {}", pair.path);
                Err(Refusal::param(&pair.path, message).with_code("parameter_unknown"))
            }
        }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|pair| (pair.path.as_str(), pair.value.as_str()))
    }
}

/// Replaces `a[]` by the next index of the list.
fn numbered(key: &str, read: &[Pair]) -> String {
    let Some((head, tail)) = key.split_once("[]") else {
        return key.to_owned();
    };
    let mut next: usize = 0;
    while read
        .iter()
        .any(|pair| pair.path.starts_with(&format!("{head}[{next}]")))
    {
        next += 1;
    }
    format!("{head}[{next}]{tail}")
}

/// Whether it is `name` or `name[part]...`, with no part empty.
fn is_well_formed(path: &str) -> bool {
    let (head, rest) = path.split_at(path.find('[').unwrap_or(path.len()));
    let mut rest = rest;
    if head.is_empty() || head.contains(']') || path.len() > 200 {
        return false;
    }
    while let Some(open) = rest.strip_prefix('[') {
        match open.split_once(']') {
            Some((part, after)) if !part.is_empty() && !part.contains('[') => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests;

//! The fields of a form: as sent, or as prefilled. They have the names that the API uses, so that an error
//! about one is shown beside it.

use std::str::FromStr;

use data_encoding::HEXLOWER;
use domain::{Amount, Timestamp, text::IdempotencyKey};
use jiff::civil::Date;
use serde::{Serialize, de::DeserializeOwned};
use wire::{Error, field::FromText};

use super::time_zone;

/// The checkbox that confirms what cannot be undone.
pub(super) const CONFIRMED: &str = "confirmed";
/// The key that a form is rendered with, so that it is applied once however often it is sent.
pub(super) const KEY: &str = "idempotencyKey";

/// A form's fields in order; a name may occur several times.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn read(body: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(body).into_owned().collect())
    }

    pub(super) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    pub(super) fn with_some(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a field with the name of one of an enum's variants.
    pub(super) fn with_choice(self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).ok();
        self.with_some(name, value.as_ref().and_then(|value| value.as_str()))
    }

    pub(super) fn ticked(self, name: &str, on: bool) -> Self {
        match on {
            true => self.with(name, "on"),
            false => self,
        }
    }

    /// A field's text without surrounding space; empty if there is no such field.
    pub(super) fn text(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// A field's text as it was sent: space around a password is part of it.
    pub(super) fn raw(&self, name: &str) -> &str {
        let mut known = self.0.iter();
        let found = known.find_map(|(known, value)| (known == name).then_some(value));
        found.map_or("", String::as_str)
    }

    /// A field's text as it was sent, as of a user's id, of which space is a part; `None` if it is empty.
    pub(super) fn exact(&self, name: &str) -> Option<&str> {
        Some(self.raw(name)).filter(|text| !text.is_empty())
    }

    /// A field's text; `None` if it is empty.
    pub(super) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// A field's text as a `String`; `None` if it is empty.
    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.some(name).map(ToOwned::to_owned)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.some(name).is_some()
    }

    /// Parses a field; `None` if it is empty. `what` describes a good value in the error.
    /// # Errors
    /// `invalid_request`, about this field.
    pub(super) fn parsed<T: FromStr>(&self, name: &str, what: &str) -> Result<Option<T>, Error> {
        let text = self.some(name);
        let read = text.map(|text| text.parse().map_err(|_| wanted(name, what)));
        read.transpose()
    }

    /// Parses a field; an empty one is an error.
    pub(super) fn required<T: FromStr>(&self, name: &'static str, what: &str) -> Result<T, Error> {
        self.parsed(name, what)?.ok_or_else(|| Error::missing(name))
    }

    /// Reads a number of credits.
    pub(super) fn credits(&self, name: &'static str) -> Result<Amount, Error> {
        let message = "Credits are a whole number from 1 to 2^53 - 1.";
        Amount::new(self.needed(name)?).ok_or_else(|| Error::invalid(name, message))
    }

    /// Reads one of an enum's variants by its name; no or another name is an error.
    pub(super) fn choice<T: DeserializeOwned>(&self, name: &'static str) -> Result<T, Error> {
        let read = serde_json::from_value(self.text(name).into());
        read.map_err(|_| Error::missing(name))
    }

    /// Where a page of a list begins; `None`: at its start.
    pub(super) fn cursor<T: FromText>(&self) -> Result<Option<T>, Error> {
        let read = self.some("before").map(T::from_text);
        let read = read.map(|read| read.ok_or_else(|| Error::invalid("before", "No such page.")));
        read.transpose()
    }

    /// Reads a line of 1 to `most` characters; `message` is the refusal.
    pub(super) fn line(
        &self,
        name: &str,
        most: usize,
        message: &'static str,
    ) -> Result<String, Error> {
        let line = self.owned(name);
        let line = line.filter(|line| line.chars().count() <= most);
        let line = line.filter(|line| !line.chars().any(char::is_control));
        line.ok_or_else(|| Error::invalid(name, message))
    }

    /// The form's idempotency key, apart from those of the project's own callers.
    pub(super) fn key(&self) -> Result<IdempotencyKey, Error> {
        let key = IdempotencyKey::new(format!("dashboard:{}", self.text(KEY)));
        key.map_err(|error| Error::text(KEY, error))
    }

    /// Refuses a form that was not confirmed.
    pub(super) fn confirmed(&self) -> Result<(), Error> {
        match self.is_on(CONFIRMED) {
            true => Ok(()),
            false => Err(Error::invalid(CONFIRMED, "Tick the box to confirm.")),
        }
    }

    /// Parses a whole number; `None` if the field is empty. Spaces and commas may separate thousands.
    pub(super) fn whole<T: FromStr>(&self, name: &str) -> Result<Option<T>, Error> {
        let Some(text) = self.some(name) else {
            return Ok(None);
        };
        let digits: String = text
            .chars()
            .filter(|c| !matches!(c, ',' | ' ' | '\u{a0}' | '\u{202f}'))
            .collect();
        let read = digits.parse().map_err(|_| wanted(name, "a whole number"));
        read.map(Some)
    }

    /// Parses a whole number; an empty field is an error.
    pub(super) fn needed<T: FromStr>(&self, name: &'static str) -> Result<T, Error> {
        self.whole(name)?.ok_or_else(|| Error::missing(name))
    }

    /// Parses an amount of money as people write it, into the currency's minor unit.
    pub(super) fn money(&self, name: &'static str, decimals: usize) -> Result<i64, Error> {
        let text = self.some(name).ok_or_else(|| Error::missing(name))?;
        minor(text, decimals).ok_or_else(|| wanted(name, "an amount, such as 9 or 9.50"))
    }

    /// The first instant of a day in the browser's time zone, as a browser's date field sends it.
    pub(super) fn day(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        self.midnight(name, Some)
    }

    /// The instant at which a day ends, in the browser's time zone.
    pub(super) fn day_end(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        self.midnight(name, |day| day.tomorrow().ok())
    }

    fn midnight(
        &self,
        name: &str,
        of: impl FnOnce(Date) -> Option<Date>,
    ) -> Result<Option<Timestamp>, Error> {
        let Some(text) = self.some(name) else {
            return Ok(None);
        };
        let day = text.parse().ok().and_then(of);
        let at = day.and_then(time_zone::midnight);
        let at = at.ok_or_else(|| wanted(name, "a day, such as 2027-12-31"))?;
        Ok(Some(at))
    }

    /// All values of a field that may be there several times.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.trim())
    }

    /// Splits a field at spaces, commas and line ends.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let parts = self
            .text(name)
            .split(|c: char| c.is_whitespace() || c == ',');
        parts
            .filter(|part| !part.is_empty())
            .map(ToOwned::to_owned)
            .collect()
    }

    /// The fields with these names that are not empty, as the beginning of a query: `a=1&b=2&`.
    pub(super) fn query(&self, names: &[&str]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for name in names {
            if let Some(text) = self.some(name) {
                query.append_pair(name, text);
            }
        }
        let query = query.finish();
        match query.is_empty() {
            true => query,
            false => query + "&",
        }
    }

    /// The fields of `new` whose values are not those here, with the old and the new value, and those that it lacks.
    pub(super) fn changes<'a>(&'a self, new: &'a Self) -> Vec<(&'a str, String, String)> {
        let known = |fields: &'a Self| fields.0.iter().map(|(name, _)| name.as_str());
        let is_setting = |name: &&str| !["version", "formToken"].contains(name);
        let mut names: Vec<_> = known(new).chain(known(self)).filter(is_setting).collect();
        names.sort_unstable();
        names.dedup();
        // Browsers send line ends of their own.
        let value = |fields: &Self, name| fields.lines(name);
        let both = names
            .into_iter()
            .map(|name| (name, value(self, name), value(new, name)));
        both.filter(|(_, old, new)| old != new).collect()
    }

    /// A short text that other fields or values do not have.
    pub(super) fn digest(&self) -> String {
        let text = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.0)
            .finish();
        let hash = catalog::sha256(text.as_bytes());
        HEXLOWER.encode(hash.first_chunk::<8>().unwrap_or(&[0; 8]))
    }

    /// All lines of all fields with this name.
    fn lines(&self, name: &str) -> String {
        let lines = self.all(name).flat_map(str::lines).map(str::trim);
        lines
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// All fields except those with this name.
    pub(super) fn without(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let others = self.0.iter().filter(move |(known, _)| known != name);
        others.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

fn wanted(name: &str, what: &str) -> Error {
    Error::invalid(name, format!("This must be {what}."))
}

/// Parses digits, with at most `decimals` of them behind a point or comma, into minor units.
fn minor(text: &str, decimals: usize) -> Option<i64> {
    let (whole, part) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > decimals {
        return None;
    }
    format!("{whole}{part:0<decimals$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_read_as_people_write_it_and_never_rounded() {
        for (text, decimals, cents) in [
            ("9", 2, Some(900)),
            ("9.5", 2, Some(950)),
            ("9,50", 2, Some(950)),
            ("0.01", 2, Some(1)),
            ("500", 0, Some(500)),
            ("1.250", 3, Some(1250)),
            ("9.505", 2, None),
            ("5.0", 0, None),
            ("-1", 2, None),
            ("+1", 2, None),
            (".5", 2, None),
            ("1e3", 2, None),
            ("1,000.00", 2, None),
            ("99999999999999999999", 2, None),
        ] {
            assert_eq!(minor(text, decimals), cents, "{text}");
        }
    }

    #[test]
    fn fields_say_what_is_wrong_with_them() {
        let fields = Fields::read(b"amount=1%2C000+&bad=x&day=2027-12-31&list=a%0D%0Ab%2C+c");
        assert_eq!(fields.whole::<i64>("amount").unwrap(), Some(1000));
        assert_eq!(fields.whole::<i64>("none").unwrap(), None);
        let error = fields.whole::<i64>("bad").unwrap_err();
        assert_eq!(error.param(), Some("bad"));
        let end = fields.day_end("day").unwrap();
        assert_eq!(end, Some(Timestamp(1_830_297_600_000)));
        assert!(fields.day_end("bad").is_err());
        assert_eq!(fields.list("list"), ["a", "b", "c"]);
    }
}

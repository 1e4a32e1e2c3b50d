//! What a form says, and what stands in one before anybody typed. Fields are called as the API calls
//! them, so that a refusal that names one is shown beside it.

use std::str::FromStr;

use domain::Timestamp;

use crate::http::Error;

/// A form's fields, in order. Some come several times.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn read(body: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(body).into_owned().collect())
    }

    /// With this value, too.
    pub(super) fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// With this value where there is one.
    pub(super) fn with_some(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With a box ticked or not.
    pub(super) fn ticked(self, name: &str, on: bool) -> Self {
        match on {
            true => self.with(name, "on"),
            false => self,
        }
    }

    /// As it was typed, without space around it; empty where it is not there.
    pub(super) fn text(&self, name: &str) -> &str {
        let mut known = self.0.iter();
        let found = known.find_map(|(known, value)| (known == name).then_some(value));
        found.map_or("", |value| value.trim())
    }

    /// Nothing where the field is empty.
    pub(super) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Likewise, of one's own.
    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.some(name).map(ToOwned::to_owned)
    }

    /// Whether a box is ticked.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.some(name).is_some()
    }

    /// Something that reads itself from a text; nothing where the field is empty.
    ///
    /// # Errors
    ///
    /// `invalid_request`, about this field.
    pub(super) fn parsed<T: FromStr>(&self, name: &str, what: &str) -> Result<Option<T>, Error> {
        let text = self.some(name);
        let read = text.map(|text| text.parse().map_err(|_| wanted(name, what)));
        read.transpose()
    }

    /// A whole number; nothing where the field is empty. Spaces and commas between digits are how
    /// people write large ones.
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

    /// A whole number that has to be there.
    pub(super) fn needed<T: FromStr>(&self, name: &'static str) -> Result<T, Error> {
        self.whole(name)?.ok_or_else(|| Error::missing(name))
    }

    /// An amount of money as people write it, in the currency's minor unit.
    pub(super) fn money(&self, name: &'static str, decimals: u32) -> Result<i64, Error> {
        let text = self.some(name).ok_or_else(|| Error::missing(name))?;
        minor(text, decimals).ok_or_else(|| wanted(name, "an amount, such as 9 or 9.50"))
    }

    /// The end of a day, UTC, as the browser's date field writes it.
    pub(super) fn day_end(&self, name: &str) -> Result<Option<Timestamp>, Error> {
        let Some(text) = self.some(name) else {
            return Ok(None);
        };
        let day: Option<jiff::civil::Date> = text.parse().ok();
        let next = day.and_then(|day| day.tomorrow().ok());
        let at = next.and_then(|next| next.to_zoned(jiff::tz::TimeZone::UTC).ok());
        let at = at.ok_or_else(|| wanted(name, "a day, such as 2027-12-31"))?;
        Ok(Some(Timestamp(at.timestamp().as_millisecond())))
    }

    /// Parts between spaces, commas and line ends.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let parts = self
            .text(name)
            .split(|c: char| c.is_whitespace() || c == ',');
        parts
            .filter(|part| !part.is_empty())
            .map(ToOwned::to_owned)
            .collect()
    }

    /// All fields but the one of this name.
    pub(super) fn without(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        let others = self.0.iter().filter(move |(known, _)| known != name);
        others.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

fn wanted(name: &str, what: &str) -> Error {
    Error::invalid(name, format!("This has to be {what}."))
}

/// Digits, and behind a point or a comma at most so many more.
fn minor(text: &str, decimals: u32) -> Option<i64> {
    let (whole, part) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let places = usize::try_from(decimals).ok()?;
    if whole.is_empty() || !digits(whole) || !digits(part) || part.len() > places {
        return None;
    }
    format!("{whole}{part:0<places$}").parse().ok()
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

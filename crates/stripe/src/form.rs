//! Stripe's bracket notation: `line_items[0][price_data][currency]=usd`.

use std::fmt::Display;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Display) -> Self {
        self.0.push((key.into(), value.to_string()));
        self
    }

    #[must_use]
    pub fn with_some(self, key: impl Into<String>, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Adds a list as `key[0]`, `key[1]` and so on.
    pub(super) fn with_each(self, key: &str, values: &[impl Display]) -> Self {
        let all = values.iter().enumerate();
        all.fold(self, |form, (n, value)| {
            form.with(format!("{key}[{n}]"), value)
        })
    }

    pub(super) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// Encodes it as `application/x-www-form-urlencoded`.
    pub fn encode(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(&self.0)
            .finish()
    }
}

/// For tests: the pairs as `key=value`.
#[cfg(test)]
pub(crate) fn lines(form: &Form) -> Vec<String> {
    form.pairs()
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_encoded_as_a_form() {
        let form = Form::new()
            .with("a[0][b]", "x&y=z é+")
            .with_some("none", None::<u8>)
            .with_some("n", Some(1));
        assert_eq!(form.encode(), "a%5B0%5D%5Bb%5D=x%26y%3Dz+%C3%A9%2B&n=1");
    }
}

//! Forms: what is typed before stays in them, what is wrong stands beside the field.

use maud::{Markup, html};

use super::{
    fields::Fields,
    visit::{TOKEN, Visit},
};
use crate::http::Error;

/// A form's fields as they stand, and why it was refused.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) fields: &'a Fields,
    pub(super) error: Option<&'a Error>,
    /// What its fields' ids begin with, where a page has several forms with the same fields.
    prefix: &'static str,
}

/// What every form carries.
pub(super) fn token(visit: &Visit) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(visit.signed.form_token()); }
}

/// What a field is called, and what is said below it.
pub(super) struct Label<'a>(pub(super) &'a str, pub(super) &'a str, pub(super) &'a str);

impl<'a> Form<'a> {
    pub(super) const fn new(fields: &'a Fields, error: Option<&'a Error>) -> Self {
        Self {
            fields,
            error,
            prefix: "",
        }
    }

    /// The same as one of several of its kind.
    pub(super) const fn called(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// What is wrong, where it is not about one field that is shown.
    pub(super) fn alert(&self, shown: &[&str]) -> Markup {
        let error = self.error.filter(|error| {
            let about = |name: &&str| error.param().is_some_and(|param| is_about(param, name));
            !shown.iter().any(about)
        });
        html! { @if let Some(error) = error { p.alert role="alert" { (error.message()) } } }
    }

    fn error(&self, name: &str) -> Option<&str> {
        let error = self.error?;
        is_about(error.param()?, name).then(|| error.message())
    }

    fn field(&self, Label(name, label, hint): &Label<'_>, input: &Markup) -> Markup {
        let error = self.error(name);
        html! {
            div.field {
                label for=(self.id(name)) { (label) }
                (input)
                @if let Some(error) = error { p.wrong id={ (self.id(name)) "-wrong" } { (error) } }
                @if !hint.is_empty() { p.hint id={ (self.id(name)) "-hint" } { (hint) } }
            }
        }
    }

    fn described(&self, Label(name, _, hint): &Label<'_>) -> Option<String> {
        let wrong = self
            .error(name)
            .map(|_| format!("{}-wrong ", self.id(name)));
        let hint = (!hint.is_empty()).then(|| format!("{}-hint", self.id(name)));
        let all = [wrong, hint].into_iter().flatten().collect::<String>();
        (!all.is_empty()).then(|| all.trim().to_owned())
    }

    fn input(&self, label: &Label<'_>, kind: &str, mode: Option<&str>, value: &str) -> Markup {
        let name = label.0;
        let invalid = self.error(name).map(|_| "true");
        let keeps = (kind == "password").then_some("off");
        let input = html! {
            input id=(self.id(name)) name=(name) type=(kind) value=(value) inputmode=[mode]
                autocomplete=[keeps] aria-invalid=[invalid] aria-describedby=[self.described(label)];
        };
        self.field(label, &input)
    }

    /// A line.
    pub(super) fn text(&self, label: &Label<'_>) -> Markup {
        self.input(label, "text", None, self.fields.text(label.0))
    }

    /// A number; typed as text, so that a wheel over it changes nothing.
    pub(super) fn number(&self, label: &Label<'_>) -> Markup {
        self.input(label, "text", Some("decimal"), self.fields.text(label.0))
    }

    /// A day.
    pub(super) fn day(&self, label: &Label<'_>) -> Markup {
        self.input(label, "date", None, self.fields.text(label.0))
    }

    /// A secret, which never stands in a page.
    pub(super) fn secret(&self, label: &Label<'_>) -> Markup {
        self.input(label, "password", None, "")
    }

    /// Several lines.
    pub(super) fn area(&self, label: &Label<'_>) -> Markup {
        let name = label.0;
        let invalid = self.error(name).map(|_| "true");
        let area = html! {
            textarea id=(self.id(name)) name=(name) rows="3" aria-invalid=[invalid]
                aria-describedby=[self.described(label)] { (self.fields.text(name)) }
        };
        self.field(label, &area)
    }

    /// One of a few: what is sent, and what is read.
    pub(super) fn choice<V: AsRef<str>, T: AsRef<str>>(
        &self,
        label: &Label<'_>,
        options: &[(V, T)],
    ) -> Markup {
        let name = label.0;
        let chosen = self.fields.text(name);
        let select = html! {
            select id=(self.id(name)) name=(name) aria-describedby=[self.described(label)] {
                @for (value, text) in options {
                    option value=(value.as_ref()) selected[value.as_ref() == chosen] { (text.as_ref()) }
                }
            }
        };
        self.field(label, &select)
    }

    /// A box to tick.
    pub(super) fn tick(&self, Label(name, label, hint): &Label<'_>) -> Markup {
        html! {
            div.field.tick {
                label { input type="checkbox" name=(name) checked[self.fields.is_on(name)]; " " (label) }
                @if let Some(error) = self.error(name) { p.wrong { (error) } }
                @if !hint.is_empty() { p.hint { (hint) } }
            }
        }
    }
}

/// `freeGrant` is about `freeGrant.credits`, and the other way around.
fn is_about(param: &str, name: &str) -> bool {
    let within = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    within(name, param) || within(param, name)
}

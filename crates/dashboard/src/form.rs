//! Renders forms. A form that was refused keeps its values and shows the error beside the field.

use axum::response::Response;
use edge::audit::NothingDone;
use maud::{Markup, html};
use wire::{Error, ErrorCode};

use super::{
    fields::Fields,
    page_request::{PageRequest, TOKEN},
    verbatim::verbatim,
};

/// A form's fields with their values, and the error for which it was refused.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) fields: &'a Fields,
    pub(super) error: Option<&'a Error>,
    /// Prefix of the inputs' ids, where a page has several forms with the same fields.
    prefix: &'static str,
}

/// The hidden field with the session's form token, which every form contains.
pub(super) fn token(request: &PageRequest) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(request.signed.form_token()); }
}

/// The field with what the fields were when the form was rendered.
const VERSION: &str = "version";

/// The hidden field that says what was stored when the form was rendered.
pub(super) fn version(stored: &Fields) -> Markup {
    html! { input type="hidden" name=(VERSION) value=(stored.digest()); }
}

/// Refuses a form if something else is stored now than when it was rendered. One that does not say is taken.
pub(super) fn refuse_stale(sent: &Fields, stored: &Fields) -> Result<(), Error> {
    match sent.some(VERSION) {
        Some(version) if version != stored.digest() => Err(Error::new(ErrorCode::ChangedMeanwhile)),
        _ => Ok(()),
    }
}

/// What of a form that was refused differs from what is stored now.
pub(super) fn meanwhile(sent: &Fields, stored: &Fields) -> Markup {
    let changes = sent.changes(stored);
    html! { @if !changes.is_empty() {
        p { "Stored now, where it differs from what you entered:" }
        dl { @for (name, _, now) in changes { div { dt { (name) } dd { @if now.is_empty() { "(nothing)" } @else { (verbatim(&now)) } } } } }
    } }
}

/// The same for a form, if that is why it was refused.
pub(super) fn meanwhile_of(form: Form<'_>, stored: &Fields) -> Markup {
    let stale = form.error.map(Error::code) == Some(ErrorCode::ChangedMeanwhile);
    html! { @if stale { (meanwhile(form.fields, stored)) } }
}

/// A form of somebody who may send it; to anybody else its inputs, which cannot be changed.
pub(super) fn guarded(request: &PageRequest, may: bool, action: &str, inputs: &Markup) -> Markup {
    html! {
        @if may { form method="post" action=(action) { (token(request)) (inputs) } }
        @else { fieldset.bare disabled { (inputs) } }
    }
}

/// What [`changes`] says of fields that are the same.
pub(super) const NOTHING: &str = "nothing";

/// What changed from some fields to others, in a sentence's words.
pub(super) fn changes(old: &Fields, new: &Fields) -> String {
    let changes = old.changes(new).into_iter();
    let said = changes.map(|(name, old, new)| {
        let line = |text: String| text.lines().collect::<Vec<_>>().join(", ");
        format!("{name} “{}” -> “{}”", line(old), line(new))
    });
    let said: Vec<_> = said.collect();
    match said.is_empty() {
        true => NOTHING.into(),
        false => said.join(", "),
    }
}

/// A field's name, its label, and the hint below it.
pub(super) struct FieldLabel<'a>(pub(super) &'a str, pub(super) &'a str, pub(super) &'a str);

impl<'a> Form<'a> {
    pub(super) const fn new(fields: &'a Fields, error: Option<&'a Error>) -> Self {
        Self {
            fields,
            error,
            prefix: "",
        }
    }

    /// Sets a prefix for the ids, for a page with several such forms.
    pub(super) const fn called(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    /// The page with this form, with the status of its error if it was refused.
    pub(super) fn response(&self, mut page: Response) -> Response {
        if let Some(error) = self.error {
            *page.status_mut() = error.code().status();
            if error.nothing_was_done() {
                page.extensions_mut().insert(NothingDone);
            }
        }
        page
    }

    fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The error as an alert, unless it is about one of the fields in `shown`.
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

    fn field(&self, FieldLabel(name, label, hint): &FieldLabel<'_>, input: &Markup) -> Markup {
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

    fn described(&self, FieldLabel(name, _, hint): &FieldLabel<'_>) -> Option<String> {
        let wrong = self
            .error(name)
            .map(|_| format!("{}-wrong ", self.id(name)));
        let hint = (!hint.is_empty()).then(|| format!("{}-hint", self.id(name)));
        let all = [wrong, hint].into_iter().flatten().collect::<String>();
        (!all.is_empty()).then(|| all.trim().to_owned())
    }

    fn input(&self, label: &FieldLabel<'_>, kind: &str, mode: Option<&str>, value: &str) -> Markup {
        let name = label.0;
        let invalid = self.error(name).map(|_| "true");
        let keeps = (kind == "password").then_some("off");
        let input = html! {
            input id=(self.id(name)) name=(name) type=(kind) value=(value) inputmode=[mode]
                autocomplete=[keeps] aria-invalid=[invalid] aria-describedby=[self.described(label)];
        };
        self.field(label, &input)
    }

    /// An input for one line of text.
    pub(super) fn text(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "text", None, self.fields.text(label.0))
    }

    /// An input for a number; of type text, so that scrolling over it does not change it.
    pub(super) fn number(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "text", Some("decimal"), self.fields.text(label.0))
    }

    /// An input for a day.
    pub(super) fn day(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "date", None, self.fields.text(label.0))
    }

    /// An input for a secret; its value is never part of a page.
    pub(super) fn secret(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "password", None, "")
    }

    /// An input for several lines.
    pub(super) fn area(&self, label: &FieldLabel<'_>) -> Markup {
        let name = label.0;
        let invalid = self.error(name).map(|_| "true");
        let area = html! {
            textarea id=(self.id(name)) name=(name) rows="3" aria-invalid=[invalid]
                aria-describedby=[self.described(label)] { (self.fields.text(name)) }
        };
        self.field(label, &area)
    }

    /// A choice among options, given as value and text.
    pub(super) fn choice<V: AsRef<str>, T: AsRef<str>>(
        &self,
        label: &FieldLabel<'_>,
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

    /// A checkbox with its label.
    pub(super) fn tick(&self, FieldLabel(name, label, hint): &FieldLabel<'_>) -> Markup {
        html! {
            div.field.tick {
                label { input type="checkbox" name=(name) checked[self.fields.is_on(name)]; " " (label) }
                @if let Some(error) = self.error(name) { p.wrong { (error) } }
                @if !hint.is_empty() { p.hint { (hint) } }
            }
        }
    }
}

/// Whether one of two dotted names contains the other, as `freeGrant` contains `freeGrant.credits`.
fn is_about(param: &str, name: &str) -> bool {
    let within = |whole: &str, part: &str| {
        let rest = part.strip_prefix(whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    within(name, param) || within(param, name)
}

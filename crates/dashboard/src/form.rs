//! Renders forms. A form that was refused keeps its values and shows the error beside the field.

use std::borrow::Cow;

use axum::response::Response;
use catalog::ProjectCatalog;
use edge::audit::NothingDone;
use maud::{Markup, html};
use operator::guards_changes;
use wire::{Error, ErrorCode};

use super::{
    fields::Fields,
    page_request::{SignedRequest, TOKEN},
    verbatim::verbatim,
};

/// A form that was refused, with the error.
pub(super) type RejectedForm<'a> = Option<(&'a Fields, &'a Error)>;

/// A form's fields with their values, and the error for which it was refused.
#[derive(Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) fields: &'a Fields,
    pub(super) error: Option<&'a Error>,
    /// Prefix of the inputs' ids, where a page has several forms with the same fields.
    prefix: &'static str,
}

/// The hidden field with the session's form token, which every form contains.
pub(super) fn token(request: &SignedRequest) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(request.signed.form_token()); }
}

const VERSION: &str = "version";

/// The hidden field with a digest of what was stored when the form was rendered.
pub(super) fn version(stored: &Fields) -> Markup {
    html! { input type="hidden" name=(VERSION) value=(stored.digest()); }
}

/// Refuses a form if something else is stored now than when it was rendered.
pub(super) fn refuse_stale(sent: &Fields, stored: &Fields) -> Result<(), Error> {
    match sent.some(VERSION) {
        Some(version) if version != stored.digest() => Err(Error::new(ErrorCode::ChangedMeanwhile)),
        _ => Ok(()),
    }
}

/// How a form that was refused differs from what is stored now.
pub(super) fn conflict(sent: &Fields, stored: &Fields) -> Markup {
    let changes = sent.changes(stored);
    html! { @if !changes.is_empty() {
        p { "Stored now, where it differs from what you entered:" }
        dl { @for (name, _, now) in changes { div { dt { (name) } dd { @if now.is_empty() { "(nothing)" } @else { (verbatim(&now)) } } } } }
    } }
}

/// The same for a form, if that is why it was refused.
pub(super) fn conflict_of(form: Form<'_>, stored: &Fields) -> Markup {
    let stale = form.error.map(Error::code) == Some(ErrorCode::ChangedMeanwhile);
    html! { @if stale { (conflict(form.fields, stored)) } }
}

/// A form of somebody who may send it; to anybody else its inputs, which cannot be changed.
pub(super) fn guarded(request: &SignedRequest, may: bool, action: &str, inputs: &Markup) -> Markup {
    html! {
        @if may { form method="post" action=(action) { (token(request)) (inputs) } }
        @else { fieldset.bare disabled { (inputs) } }
    }
}

/// The hint of a form for a change that may require approval.
pub(super) fn approval_notice(
    request: &SignedRequest,
    project: &ProjectCatalog,
    what: &str,
) -> Markup {
    html! { @if guards_changes(&request.authority, project) {
        p.hint { (what) " require approval by a second person. The request expires after seven days." }
    } }
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

    /// The form as it was refused, or with what is stored.
    pub(super) fn of(refused: RejectedForm<'a>, stored: &'a Fields) -> Self {
        let (fields, error) = refused.unzip();
        Self::new(fields.unwrap_or(stored), error)
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

    /// The form of a list's filters; a script unfolds it where there is room.
    pub(super) fn filters(&self, names: &[&str], inputs: &Markup) -> Markup {
        html! {
            (self.alert(names))
            details.filters open[!self.fields.query(names).is_empty()] {
                summary { "Filters" }
                form.row.filter method="get" { (inputs) button type="submit" { "Show" } }
            }
        }
    }

    /// What is wrong with a field, which is called as on the page and not as in the API.
    fn error(&self, FieldLabel(name, label, _): &FieldLabel<'_>) -> Option<Cow<'_, str>> {
        let error = self.error?;
        let (param, message) = (error.param()?, error.message());
        let rest = message
            .strip_prefix(param)
            .filter(|rest| rest.starts_with(' '));
        let message = rest.map_or(message.into(), |rest| format!("{label}{rest}").into());
        is_about(param, name).then_some(message)
    }

    fn field(&self, field: &FieldLabel<'_>, input: &Markup) -> Markup {
        let (FieldLabel(name, label, hint), error) = (field, self.error(field));
        html! {
            div.field {
                label for=(self.id(name)) { (label) }
                (input)
                @if let Some(error) = error { p.wrong id={ (self.id(name)) "-wrong" } { (error) } }
                @if !hint.is_empty() { p.hint id={ (self.id(name)) "-hint" } { (hint) } }
            }
        }
    }

    fn described(&self, field: &FieldLabel<'_>) -> Option<String> {
        let FieldLabel(name, _, hint) = field;
        let wrong = self.error(field);
        let wrong = wrong.map(|_| format!("{}-wrong ", self.id(name)));
        let hint = (!hint.is_empty()).then(|| format!("{}-hint", self.id(name)));
        let all = [wrong, hint].into_iter().flatten().collect::<String>();
        (!all.is_empty()).then(|| all.trim().to_owned())
    }

    fn input(&self, label: &FieldLabel<'_>, kind: &str, mode: Option<&str>, value: &str) -> Markup {
        let name = label.0;
        let invalid = self.error(label).map(|_| "true");
        let keeps = (kind == "password").then_some("off");
        let input = html! {
            input id=(self.id(name)) name=(name) type=(kind) value=(value) inputmode=[mode]
                autocomplete=[keeps] aria-invalid=[invalid] aria-describedby=[self.described(label)];
        };
        self.field(label, &input)
    }

    pub(super) fn text(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "text", None, self.fields.text(label.0))
    }

    /// An input for a number; of type text, so that scrolling over it does not change it.
    pub(super) fn number(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "text", Some("decimal"), self.fields.text(label.0))
    }

    pub(super) fn day(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "date", None, self.fields.text(label.0))
    }

    /// An input for a secret; its value is never part of a page.
    pub(super) fn secret(&self, label: &FieldLabel<'_>) -> Markup {
        self.input(label, "password", None, "")
    }

    pub(super) fn area(&self, label: &FieldLabel<'_>) -> Markup {
        let name = label.0;
        let invalid = self.error(label).map(|_| "true");
        let area = html! {
            textarea id=(self.id(name)) name=(name) rows="3" aria-invalid=[invalid]
                aria-describedby=[self.described(label)] { (self.fields.text(name)) }
        };
        self.field(label, &area)
    }

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

    /// Checkboxes of one field, given as value and text.
    pub(super) fn ticks<V: AsRef<str>, T: AsRef<str>>(
        &self,
        field: &FieldLabel<'_>,
        options: &[(V, T)],
    ) -> Markup {
        let FieldLabel(name, label, hint) = field;
        let is_ticked = |value: &str| self.fields.all(name).any(|it| it == value);
        html! { fieldset {
            legend { (label) }
            p.hint { (hint) }
            @if let Some(error) = self.error(field) { p.wrong { (error) } }
            div.checks { @for (value, text) in options {
                label { input type="checkbox" name=(name) value=(value.as_ref()) checked[is_ticked(value.as_ref())]; " " (text.as_ref()) }
            } }
        } }
    }

    pub(super) fn tick(&self, field: &FieldLabel<'_>) -> Markup {
        let FieldLabel(name, label, hint) = field;
        html! {
            div.field.tick {
                label { input type="checkbox" name=(name) checked[self.fields.is_on(name)]; " " (label) }
                @if let Some(error) = self.error(field) { p.wrong { (error) } }
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

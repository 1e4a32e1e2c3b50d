//! Templates of mails: minijinja, of which they have names and conditions alone. Who may change a project's settings is not
//! trusted with this process: without loops, variables and operators a template is as long as it looks.

use std::{collections::BTreeMap, io};

use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};

/// The values that a template may name. One that does not apply is empty.
pub(super) type Values = BTreeMap<&'static str, String>;

/// The most instructions of a rendering.
const FUEL: u64 = 20_000;
/// The most bytes of what is rendered.
const MAX_BYTES: usize = 64 * 1024;
/// The most bytes of a template.
const MAX_SOURCE: usize = 32_000;
/// The most bytes in a tag, and the most tags with `elif`: the library calls itself for each operator and branch, and a
/// stack that overflows would end the process. It bounds by itself how deep `if` is nested.
const MAX_TAG: usize = 200;
const MAX_BRANCHES: usize = 50;

/// Renders a template.
/// # Errors
/// What is wrong with it, and in which line.
pub(super) fn render(source: &str, is_html: bool, values: &Values) -> Result<String, String> {
    if source.len() > MAX_SOURCE {
        let message = format!("a template has at most {MAX_SOURCE} bytes");
        return Err(at_line(1, &message));
    }
    restrict(source)?;
    // It has no filters, tests and functions either.
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(move |_| match is_html {
        true => AutoEscape::Html,
        false => AutoEscape::None,
    });
    let template = environment.template_from_str(source);
    let template = template.map_err(|error| explained(&error))?;
    for name in template.undeclared_variables(false) {
        if !values.contains_key(name.as_str()) {
            let line = source.lines().position(|line| line.contains(&name));
            let known = values.keys().copied().collect::<Vec<_>>().join(", ");
            let message = format!("there is no {name}, but {known}");
            return Err(at_line(line.unwrap_or(0).saturating_add(1), &message));
        }
    }
    let mut output = Bounded(Vec::new());
    let rendered = template.render_captured_to(values, &mut output);
    rendered.map_err(|error| explained(&error))?;
    Ok(String::from_utf8(output.0).unwrap_or_default())
}

/// Refuses all but `{{ name }}`, `{% if %}` with its branches, and comments.
fn restrict(source: &str) -> Result<(), String> {
    let (mut rest, mut branches) = (source, 0_usize);
    while let Some((_, tag)) = rest.find('{').and_then(|at| rest.split_at_checked(at)) {
        let kinds = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")];
        let Some((begin, end)) = kinds.into_iter().find(|(begin, _)| tag.starts_with(begin)) else {
            rest = tag.strip_prefix('{').unwrap_or_default();
            continue;
        };
        let inner = tag.strip_prefix(begin).unwrap_or_default();
        let (inner, after) = inner.split_once(end).unwrap_or((inner, ""));
        // A mark at either end removes the space beside the tag.
        let bare = inner.strip_prefix('-').unwrap_or(inner);
        let bare = bare.strip_suffix('-').unwrap_or(bare);
        let word = bare.split_whitespace().next().unwrap_or_default();
        branches = branches.saturating_add((begin == "{%" && word == "elif").into());
        let fault = match begin {
            "{#" => None,
            "{%" if !["if", "elif", "else", "endif"].contains(&word) => {
                Some("a tag begins with if, elif, else or endif")
            }
            _ if branches > MAX_BRANCHES => Some("there are too many tags with elif"),
            _ => fault(bare),
        };
        if let Some(fault) = fault {
            let before = source.len().saturating_sub(tag.len());
            let before = source.split_at_checked(before).unwrap_or_default().0;
            return Err(at_line(before.split('\n').count(), fault));
        }
        rest = after;
    }
    Ok(())
}

/// What a tag has that it must not have.
fn fault(inner: &str) -> Option<&'static str> {
    if inner.len() > MAX_TAG {
        return Some("a tag is too long");
    }
    let mut quote = None;
    for c in inner.chars() {
        match (quote, c) {
            (_, '\\') => return Some("a tag has no backslash"),
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '}' | '[' | ']' | '(' | ')' | '|' | '~' | '*' | '/' | '+' | '-' | '%') => {
                return Some("a tag has names, texts in quotes, comparisons, and, or, not");
            }
            (None, _) => {}
        }
    }
    quote.map(|_| "a text in quotes ends within its tag")
}

fn at_line(line: usize, what: &str) -> String {
    format!("line {line}: {what}")
}

fn explained(error: &Error) -> String {
    let kind = error.kind().to_string();
    let what = error.detail().unwrap_or(&kind);
    at_line(error.line().unwrap_or(1), what)
}

/// What was rendered, up to a bound.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len().saturating_add(bytes.len()) > MAX_BYTES {
            return Err(io::Error::other("it becomes too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str, is_html: bool) -> Result<String, String> {
        let values = [
            ("name", "<b>Ann</b> & {{ reason }}".to_owned()),
            ("reason", "declined".to_owned()),
            ("url", String::new()),
        ];
        render(source, is_html, &Values::from(values))
    }

    #[test]
    fn names_and_conditions_are_rendered_and_values_are_escaped() {
        for (source, is_html, expected) in [
            ("Hi {{ name }}", false, "Hi <b>Ann</b> & {{ reason }}"),
            (
                "{{name}}",
                true,
                "&lt;b&gt;Ann&lt;&#x2f;b&gt; &amp; {{ reason }}",
            ),
            (
                "{% if url %}a{% elif reason == 'declined' and not url %}b{% else %}c{% endif %}",
                true,
                "b",
            ),
            (
                "a\n{% if reason != \"x\" %}\nb\n{%- endif %}\nc{# {{ no }} #}",
                false,
                "a\nbc",
            ),
            ("a { b } {c:{d}} 100% \\", true, "a { b } {c:{d}} 100% \\"),
        ] {
            assert_eq!(
                rendered(source, is_html).as_deref(),
                Ok(expected),
                "{source}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (source, said) in [
            (
                "a\n\n{{ nobody }}",
                "line 3: there is no nobody, but name, reason, url",
            ),
            ("{% if url %}", "line 1: unexpected end of input"),
            ("\n{{ name", "line 2: "),
            ("{{ name.first }}", "line 1: undefined value"),
            ("{{ }}", "line 1: "),
            ("a\n{{ name|safe }}", "line 2: a tag has"),
        ] {
            let error = rendered(source, true).unwrap_err();
            assert!(error.starts_with(said), "{source}: {error}");
        }
    }

    #[test]
    fn no_template_grows_loops_or_reaches_out() {
        let hostile = [
            "{% for a in name %}{% endfor %}",
            "{% set a = name %}",
            "{%- set a = name %}",
            "{%+ set a = name %}",
            "{%set a %}{% endset %}",
            "{% with a = name %}{% endwith %}",
            "{% filter upper %}{% endfilter %}",
            "{% raw %}{% endraw %}",
            "{% include 'a' %}",
            "{% import 'a' as b %}",
            "{% macro a() %}{{ a() }}{% endmacro %}",
            "{% block a %}{% endblock %}",
            "{{ name * 100000000 }}",
            "{{ name ~ name }}",
            "{{ name + name }}",
            "{{ [name, name] }}",
            "{{ {'a': name} }}",
            "{{ '}}' * 100000000 }}",
            "{{ '{{' * 100000000 }}",
            "{% if {1:{2:3}} ~ name %}{% endif %}",
            "{{ \"\\\"}}\" * 9 }}",
            "{{ range(9) }}",
            "{{ name|escape }}",
            "{{ debug() }}",
            "{{ '' if name.__class__ }}{{ name | attr('x') }}",
        ];
        for source in hostile {
            assert!(rendered(source, true).is_err(), "{source}");
        }
        for (from, to) in [
            ("{{ ", "-".repeat(30_000) + "name }}"),
            ("{{", "-".repeat(3) + "name }}"),
            ("{{ name", "-".repeat(3) + "}}"),
            ("{{ ", "not ".repeat(8_000) + "name }}"),
            ("{{ ", "not ".repeat(60) + "name }}"),
            ("{{ name", " and name".repeat(3_000) + " }}"),
            ("{{ name", " == name".repeat(3_000) + " }}"),
            ("{{ name", " if name else name".repeat(1_500) + " }}"),
            ("{{ name", " is name".repeat(3_000) + " }}"),
            ("{{ name", ".a".repeat(15_000) + " }}"),
            ("{{ 8", "/1".repeat(15_000) + " }}"),
            (
                "{% if name %}",
                "{% elif name %}".repeat(3_000) + "{% endif %}",
            ),
            (
                "{% if name %}",
                "{%-elif name %}".repeat(51) + "{% endif %}",
            ),
            (
                "{% if name %}",
                "{% if name %}".repeat(1_199) + &"{% endif %}".repeat(1_200),
            ),
        ] {
            assert!(rendered(&format!("{from}{to}"), true).is_err(), "{from}");
        }
        let long = "{{ name }}".repeat(3000);
        assert!(rendered(&long, true).unwrap_err().contains("line 1"));
    }

    #[test]
    fn what_is_as_deep_as_may_be_is_rendered() {
        let branches = "{% elif name %}".repeat(50);
        let deep = "{% if name %}".repeat(100) + "x" + &"{% endif %}".repeat(100);
        for source in [
            format!("{{% if url %}}{branches}{deep}{{% endif %}}"),
            format!("{{{{- {}name -}}}}", "not ".repeat(48)),
            format!("{{{{ name{} }}}}", " and name".repeat(21)),
            format!("{{{{ 'a-b/c' }}}}{{# {} #}}", "-".repeat(300)),
        ] {
            assert!(rendered(&source, true).is_ok(), "{source}");
        }
    }
}

//! Pages from Markdown. HTML in it is dropped, so that a page may do nothing that this file does not
//! write; headings get the anchors that code hosts give them.

use std::collections::HashMap;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::pages::{Target, resolve};

/// A heading that can be linked to, and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    level: HeadingLevel,
    pub(super) id: String,
    pub(super) text: String,
    /// The text up to the next heading, without marks.
    pub(super) body: String,
}

impl Section {
    pub(super) fn is_title(&self) -> bool {
        self.level == HeadingLevel::H1
    }

    pub(super) fn is_second(&self) -> bool {
        self.level == HeadingLevel::H2
    }
}

/// Renders the page with this path in the repository, which has these headings.
pub(super) fn render(path: &str, text: &str, headings: &[Section]) -> String {
    let mut ids = headings.iter().map(|heading| heading.id.clone());
    // For each link that is being written: whether its target is served here.
    let mut open = Vec::new();
    let events = parse(text).filter_map(|event| match event {
        Event::Html(_) | Event::InlineHtml(_) => None,
        // It may be wider than its page: `tabindex` lets a keyboard scroll it, too.
        Event::Start(Tag::CodeBlock(_)) => Some(Event::Html("<pre tabindex=\"0\"><code>".into())),
        Event::End(TagEnd::CodeBlock) => Some(Event::Html("</code></pre>\n".into())),
        Event::Start(Tag::Heading { level, .. }) => Some(Event::Start(Tag::Heading {
            level,
            id: ids.next().map(CowStr::from),
            classes: Vec::new(),
            attrs: Vec::new(),
        })),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let target = resolve(path, &dest_url);
            open.push(target != Target::Repository);
            match target {
                Target::Here(url) => {
                    let dest_url = url.into();
                    Some(Event::Start(Tag::Link {
                        link_type,
                        dest_url,
                        title,
                        id,
                    }))
                }
                Target::Repository => None,
            }
        }
        Event::End(TagEnd::Link) => open.pop().unwrap_or_default().then_some(event),
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let dest_url = match resolve(path, &dest_url) {
                Target::Here(url) => url.into(),
                Target::Repository => dest_url,
            };
            Some(Event::Start(Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            }))
        }
        other => Some(other),
    });
    // Tables may be too wide as well, where the screen is narrow.
    let events = events.flat_map(|event| match event {
        Event::Start(Tag::Table(_)) => {
            vec![
                Event::Html("<div class=\"wide\" tabindex=\"0\">".into()),
                event,
            ]
        }
        Event::End(TagEnd::Table) => vec![event, Event::Html("</div>\n".into())],
        other => vec![other],
    });
    let mut written = String::new();
    html::push_html(&mut written, events);
    written
}

/// Reads Markdown as all pages use it.
pub(super) fn parse(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// All headings, in their order.
pub(super) fn headings(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut within = None;
    for event in parse(text) {
        match (event, &mut within) {
            (Event::Start(Tag::Heading { level, .. }), _) => within = Some((level, String::new())),
            (Event::Text(part) | Event::Code(part), Some((_, text))) => text.push_str(&part),
            (Event::Text(part) | Event::Code(part), None) => {
                if let Some(section) = found.last_mut() {
                    section.body.push_str(&part);
                }
            }
            // Words of two lines, cells or paragraphs are apart.
            (Event::SoftBreak | Event::End(_), None) => {
                if let Some(section) = found.last_mut()
                    && !section.body.ends_with(' ')
                {
                    section.body.push(' ');
                }
            }
            (Event::End(TagEnd::Heading(_)), _) => {
                let Some((level, text)) = within.take() else {
                    continue;
                };
                let slug = slug(&text);
                let before = seen.entry(slug.clone()).or_default();
                let id = match *before {
                    0 => slug,
                    times => format!("{slug}-{times}"),
                };
                *before = before.saturating_add(1);
                let body = String::new();
                found.push(Section {
                    level,
                    id,
                    text,
                    body,
                });
            }
            _ => {}
        }
    }
    found
}

/// A heading's anchor.
fn slug(text: &str) -> String {
    let kept = text.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_anchors_that_repositories_show() {
        let text = "# A title\n\n## Is all well?\n\n## `not_enough`\n\n## TLS, and a proxy\n\n## TLS, and a proxy\n";
        let ids: Vec<_> = headings(text)
            .into_iter()
            .map(|heading| heading.id)
            .collect();
        let wanted = [
            "a-title",
            "is-all-well",
            "not_enough",
            "tls-and-a-proxy",
            "tls-and-a-proxy-1",
        ];
        assert_eq!(ids, wanted);
        let html = render("docs/x.md", text, &headings(text));
        assert!(html.contains("<h2 id=\"is-all-well\">Is all well?</h2>"));
    }

    #[test]
    fn html_is_dropped_and_what_is_not_served_is_no_link() {
        let text = "<script>alert(1)</script>\n\nA <img src=x onerror=y> [file](../deny.toml) and [page](errors.md).\n";
        let html = render("docs/x.md", text, &[]);
        assert_eq!(
            html.trim(),
            "<p>A  file and <a href=\"errors\">page</a>.</p>"
        );
    }
}

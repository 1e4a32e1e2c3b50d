//! What all pages of the documentation stand in.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    markdown::Rendered,
    pages::{Group, PAGES, Page},
};

const STYLE: &str = include_str!("page.css");

/// A whole page.
pub(super) fn page(title: &str, contents: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                nav aria-label="Documentation" { (contents) }
                main { (main) }
            }
        }
    };
    page.into_string()
}

/// All pages by what they are for; of the one that is open, what is in it.
pub(super) fn guides(open: Option<(&Page, &Rendered)>) -> Markup {
    html! {
        p { a href="/docs" { "API reference" } }
        @for group in Group::ALL {
            h2 { (group.title()) }
            ul {
                @for page in PAGES.iter().filter(|page| page.group == group) {
                    @let shown = open.filter(|(open, _)| open.name == page.name);
                    li {
                        a href={ "/docs/" (page.name) } aria-current=[shown.map(|_| "page")] { (page.title()) }
                        @if let Some((_, rendered)) = shown { (sections(rendered)) }
                    }
                }
            }
        }
    }
}

fn sections(rendered: &Rendered) -> Markup {
    html! {
        ul {
            @for section in &rendered.sections {
                li { a href={ "#" (section.id) } { (section.text) } }
            }
        }
    }
}

//! The frame around all pages of the documentation.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    markdown::RenderedPage,
    pages::{DocPage, Group, PAGES},
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

/// The menu of all pages, by group; under the open one, its sections.
pub(super) fn menu(open: Option<(&DocPage, &RenderedPage)>) -> Markup {
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

fn sections(rendered: &RenderedPage) -> Markup {
    html! {
        ul {
            @for section in &rendered.sections {
                li { a href={ "#" (section.id) } { (section.text) } }
            }
        }
    }
}

//! The frame around all pages of the documentation.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    markdown::Section,
    pages::{DocPage, Group, PAGES},
    reference::REFERENCES,
};

const STYLE: &str = include_str!("page.css");

/// A whole page. `path` is where it is under `/docs`: the menu marks it, and lists `sections` below it.
pub(super) fn page(title: &str, path: &str, sections: &Markup, main: &Markup) -> String {
    let title = match title {
        "Scrip" => "Scrip".to_owned(),
        title => format!("{title} · Scrip"),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="icon" href="/docs/icon.svg" type="image/svg+xml";
                style { (PreEscaped(STYLE)) }
                script src="/docs/page.js" defer {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    a.brand href="/docs" { "Scrip " span { "documentation" } }
                    // The script fills it: without one there is no search.
                    div #find {}
                    input #toggle type="checkbox";
                    label for="toggle" { "Menu" }
                    nav aria-label="Documentation" { (menu(path, sections)) }
                }
                main #content { (main) }
            }
        }
    };
    page.into_string()
}

/// All pages by group; below the open one, its sections.
fn menu(open: &str, sections: &Markup) -> Markup {
    let entry = |path: &str, title: &str| {
        let is_open = path == open;
        html! {
            li {
                a href={ "/docs/" (path) } aria-current=[is_open.then_some("page")] { (title) }
                @if is_open { (sections) }
            }
        }
    };
    html! {
        @for group in Group::ALL {
            h2 { (group.title()) }
            ul {
                @for page in in_group(group) { (entry(page.name, page.title())) }
                @if group == Group::Build {
                    @for reference in REFERENCES { (entry(reference.name, reference.title)) }
                }
            }
        }
    }
}

/// The sections of a page, as the menu lists them.
pub(super) fn sections<'a>(sections: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        ul { @for (id, title) in sections { li { a href={ "#" (id) } { (title) } } } }
    }
}

/// The sections of a page that is written in Markdown: one level below its title.
pub(super) fn outline(headings: &[Section]) -> Markup {
    let second = headings.iter().filter(|it| it.is_second());
    sections(second.map(|it| (it.id.as_str(), it.text.as_str())))
}

/// The start page.
pub(super) fn start() -> String {
    let first = PAGES.iter().find(|page| page.name == "quick-start");
    let main = html! {
        h1 { "Scrip documentation" }
        p.lead {
            "Wallets of credits and their checkout in one binary on your own server. Buyers pay through Stripe or the "
            "built-in sandbox, wallets hold credits, and every use deducts some, exactly once."
        }
        @if let Some(page) = first {
            a.first href={ "/docs/" (page.name) } { b { (page.title()) } span { (capital(page.about)) } }
        }
        @for group in Group::ALL {
            h2 { (group.title()) }
            ul.cards {
                @for page in in_group(group).filter(|page| page.name != "quick-start") {
                    li { a href={ "/docs/" (page.name) } { (page.title()) } p { (capital(page.about)) } }
                }
                @if group == Group::Build {
                    @for reference in REFERENCES {
                        li { a href={ "/docs/" (reference.name) } { (reference.title) } p { (capital(reference.about)) } }
                    }
                }
            }
        }
        p {
            "For language models: " a href="/llms.txt" { "llms.txt" } " and " a href="/llms-full.txt" { "llms-full.txt" }
            ". Each page is also Markdown, under its address with " code { ".md" } " at the end."
        }
    };
    page("Documentation", "", &html! {}, &main)
}

/// The page for an address that has none.
pub(super) fn not_found() -> String {
    let main = html! {
        h1 { "Page not found" }
        p.lead { "There is no page at this address. Search for it above, or go to the " a href="/docs" { "start page" } "." }
    };
    page("Page not found", "", &html! {}, &main)
}

fn in_group(group: Group) -> impl Iterator<Item = &'static DocPage> {
    PAGES.iter().filter(move |page| page.group == group)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

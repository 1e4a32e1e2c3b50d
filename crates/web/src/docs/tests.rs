//! Checks the pages as they are in the repository: every link and anchor, the page of errors, and the references.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use pulldown_cmark::{Event, Tag};
use serde_json::Value;
use stripe::permissions;
use wire::ErrorCode;

use super::{
    example::Language,
    markdown::{headings, parse},
    pages::{FILES, PAGES, Target, join, resolve},
    reference::{REFERENCES, operations, render},
    samples::samples,
    schema::{Document, fields},
    search::index,
};
use crate::{admin, api};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every page of the repository by its path in it.
fn pages() -> Vec<(String, String)> {
    let lying = fs::read_dir(root().join("docs")).unwrap();
    let lying = lying.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = lying.collect();
    paths.extend(["README.md", "CHANGELOG.md", "SECURITY.md"].map(|name| root().join(name)));
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        (name, fs::read_to_string(path).unwrap())
    };
    paths.into_iter().map(page).collect()
}

/// The pages of clients and examples, which are not served.
fn beside_code() -> Vec<(String, String)> {
    let folders = ["clients", "examples"].map(|name| fs::read_dir(root().join(name)).unwrap());
    let paths = folders.into_iter().flatten();
    let paths = paths.map(|entry| entry.unwrap().path().join("README.md"));
    let page = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        Some((name, fs::read_to_string(path).ok()?))
    };
    paths.filter_map(page).collect()
}

/// Links and pictures of a text.
fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.to_string())
        }
        _ => None,
    };
    parse(text).filter_map(link).collect()
}

fn has_anchor(path: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(path).unwrap();
    headings(&text).iter().any(|heading| heading.id == anchor)
}

#[test]
fn every_link_of_the_repositorys_pages_leads_somewhere() {
    let mut followed = 0;
    for (page, text) in pages().into_iter().chain(beside_code()) {
        for link in links(&text) {
            if link.contains("://") {
                let here = ["http://127.0.0.1:", "http://localhost:"];
                let safe =
                    link.starts_with("https://") || here.iter().any(|it| link.starts_with(it));
                assert!(safe, "{page}: {link}");
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = match file {
                "" => page.clone(),
                file => join(&page, file),
            };
            let path = root().join(path);
            assert!(path.exists(), "{page}: {link} leads nowhere");
            assert!(
                anchor.is_empty() || has_anchor(&path, anchor),
                "{page}: {link} has no such heading"
            );
            followed += 1;
        }
    }
    assert!(followed > 50, "{followed}");
}

#[test]
fn every_page_is_served_with_its_pictures_and_holds_no_html() {
    let served: BTreeSet<_> = PAGES.iter().map(|page| page.path.to_owned()).collect();
    let lying: BTreeSet<_> = pages().into_iter().map(|(path, _)| path).collect();
    assert_eq!(served, lying);
    for page in PAGES {
        assert!(page.text.starts_with("# "), "{}", page.path);
        for event in parse(page.text) {
            match event {
                Event::Start(Tag::Image { dest_url, .. }) => {
                    let target = resolve(page.path, &dest_url);
                    assert_ne!(target, Target::Repository, "{}: {dest_url}", page.path);
                }
                Event::Html(html) | Event::InlineHtml(html) => panic!("{}: {html}", page.path),
                _ => {}
            }
        }
    }
    let mut names: Vec<_> = PAGES.iter().map(|page| page.name).collect();
    names.extend(FILES.iter().map(|file| file.name));
    names.sort_unstable();
    assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
}

/// The entries of `docs/errors.md` are made from the table of codes: `SCRIP_WRITE_GOLDEN=1` writes them.
#[test]
fn the_page_of_errors_explains_every_code_as_the_table_does() {
    let path = root().join("docs/errors.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, _) = page.split_once("## The request\n").unwrap();
    let (_, after) = page.split_once("## Codes of the clients\n").unwrap();
    let wanted = format!(
        "{before}{}## Codes of the clients\n{after}",
        ErrorCode::explained()
    );
    if std::env::var_os("SCRIP_WRITE_GOLDEN").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == wanted,
        "docs/errors.md is stale: SCRIP_WRITE_GOLDEN=1 cargo test -p web errors"
    );
    for code in ErrorCode::ALL {
        let name = code.as_str();
        assert_eq!(code.docs(), format!("/docs/errors#{name}"));
        assert!(has_anchor(&path, name), "{name}");
    }
}

/// Every sample of a request can be sent as it is: valid JSON, with all that is required.
#[test]
fn samples_have_what_the_description_requires() {
    let documents = [api::description::document(), admin::description::document()];
    for (reference, document) in REFERENCES.into_iter().zip(&documents) {
        let resolved = Document(document);
        let mut bodies = 0;
        for operation in operations(document) {
            let page = samples(reference, resolved, &operation).into_string();
            for language in ["curl ", "await fetch(", "httpx."] {
                assert!(page.contains(language), "{operation:?}: {language}");
            }
            assert!(!page.contains("/{"), "{}", operation.path);
            let Some(schema) = operation.body() else {
                continue;
            };
            let body = resolved.example(schema, Language::Json, 0);
            let body: Value = serde_json::from_str(&body).expect(operation.path);
            for (name, _, is_required) in fields(resolved.resolve(schema)) {
                assert!(
                    !is_required || body.get(name).is_some(),
                    "{}: {name}",
                    operation.path
                );
            }
            bodies += 1;
        }
        assert!(bodies > 10, "{bodies}");
    }
}

#[test]
fn a_reference_shows_every_route_and_loads_nothing_but_its_own() {
    let document = admin::description::document();
    let page = render(REFERENCES[1], &document);
    for operation in operations(&document) {
        assert!(
            page.contains(&format!("<code>{}</code>", operation.path)),
            "{}",
            operation.path
        );
    }
    for loaded in ["src=\"http", "href=\"http://", "@import", "url("] {
        assert!(!page.contains(loaded), "{loaded}");
    }
    // What is required comes first: a price's amount before its label.
    let (_, price) = page.split_once("id=\"createPrice\"").unwrap();
    let place = |name: &str| price.find(&format!("<th scope=\"row\">{name}")).unwrap();
    assert!(place("interval") < place("creditsGranted"));
}

#[test]
fn the_search_knows_sections_and_operations() {
    let references = [(REFERENCES[0], api::description::document())];
    let index: Value = serde_json::from_str(&index(&references)).unwrap();
    let entries = index.as_array().unwrap();
    let has = |url: &str, word: &str| {
        let mut all = entries.iter().filter(|entry| entry["url"] == url);
        all.any(|entry| entry["text"].as_str().unwrap().contains(word))
    };
    assert!(has("/docs/errors#hold_closed", "another outcome"));
    assert!(has(
        "/docs/api#deduct_external",
        "POST /api/v1/wallets/external/deduct"
    ));
}

/// The page about making a key names every permission that the client asks for, and no other.
#[test]
fn the_page_about_the_key_names_every_permission_and_links_to_stripes_form() {
    let page = fs::read_to_string(root().join("docs/going-live.md")).unwrap();
    let way = |writes: bool| if writes { "write" } else { "read" };
    let rows: Vec<String> = permissions::all()
        .iter()
        .map(|it| {
            format!(
                "| {}: {} | {} |",
                it.resource.row,
                way(it.writes),
                it.resource.purpose
            )
        })
        .collect();
    let table = format!("| permission | for |\n|---|---|\n{}\n\n", rows.join("\n"));
    assert!(
        page.contains(&table),
        "docs/going-live.md needs this table:\n{table}"
    );
    for test_mode in [false, true] {
        let link = permissions::link(test_mode);
        assert!(
            page.contains(&format!("({link})")),
            "docs/going-live.md needs {link}"
        );
    }
}

//! Checks the pages as they are in the repository: every link and anchor, and the page of errors
//! against the codes.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use pulldown_cmark::{Event, HeadingLevel, Tag};
use stripe::permissions;
use wire::ErrorCode;

use super::{
    markdown::{headings, parse},
    pages::{FILES, PAGES, Target, join, resolve},
};

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

#[test]
fn every_code_is_explained_and_nothing_else_is() {
    let page = PAGES.iter().find(|page| page.name == "errors").unwrap();
    let explained = headings(page.text)
        .into_iter()
        .filter(|heading| heading.level == HeadingLevel::H3);
    let explained: Vec<_> = explained.map(|heading| heading.id).collect();
    for code in ErrorCode::ALL {
        let name = code.as_str();
        assert_eq!(
            explained.iter().filter(|id| *id == name).count(),
            1,
            "{name} in docs/errors.md"
        );
        assert_eq!(code.docs(), format!("/docs/errors#{name}"));
        // Each says its status first, and whether to retry.
        let (_, after) = page
            .text
            .split_once(&format!("\n### {name}\n\n"))
            .expect(name);
        let entry = after.split("\n##").next().unwrap();
        assert!(
            entry.starts_with(&format!("HTTP {}. ", code.status().as_u16())),
            "{name}: {entry}"
        );
        assert!(entry.contains("**Retry:**"), "{name}: {entry}");
    }
    for id in &explained {
        assert!(
            ErrorCode::ALL.iter().any(|code| code.as_str() == id),
            "docs/errors.md explains {id}, which is no code"
        );
    }
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

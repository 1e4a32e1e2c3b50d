//! How long the pages may be: what is said twice is read by nobody.

use std::{fs, path::Path};

/// The most words of a page that has no budget of its own.
const MAX_WORDS: usize = 1_400;
const BUDGETS: [(&str, usize); 3] = [
    ("README.md", 900),
    ("docs/architecture.md", 2_100),
    // A code a paragraph, as the table of codes has them.
    ("docs/errors.md", 2_450),
];
/// The most words of all pages together.
const MAX_WORDS_OF_ALL: usize = 27_360;
const MAX_LINES_OF_README: usize = 120;
const MAX_ENTRIES_OF_GLOSSARY: usize = 35;

fn read(page: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap()
}

fn pages() -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = fs::read_dir(docs).unwrap().map(|file| file.unwrap());
    let names = files.map(|file| file.file_name().into_string().unwrap());
    let mut pages: Vec<String> = names
        .filter(|name| name.ends_with(".md"))
        .map(|name| format!("docs/{name}"))
        .collect();
    pages.extend(["README.md", "CHANGELOG.md", "SECURITY.md"].map(String::from));
    pages
}

#[test]
fn pages_keep_to_their_budgets_of_words() {
    let mut all = 0;
    let mut broken = Vec::new();
    for page in pages() {
        let words = read(&page).split_whitespace().count();
        all += words;
        let budget = BUDGETS.iter().find(|(of, _)| *of == page);
        let budget = budget.map_or(MAX_WORDS, |(_, words)| *words);
        if words > budget {
            broken.push(format!("{page}: {words} words, and {budget} are allowed"));
        }
    }
    if all > MAX_WORDS_OF_ALL {
        broken.push(format!("{all} words in all"));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_readme_and_the_glossary_are_short() {
    let lines = read("README.md").lines().count();
    assert!(lines <= MAX_LINES_OF_README, "{lines} lines");
    let glossary = read("docs/glossary.md");
    let entries = glossary
        .lines()
        .filter(|line| line.starts_with("- **"))
        .count();
    assert!(
        (1..=MAX_ENTRIES_OF_GLOSSARY).contains(&entries),
        "{entries} entries"
    );
}

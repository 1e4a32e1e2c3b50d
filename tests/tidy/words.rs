//! Words that have no place in identifiers, texts and pages: the field has a term, or plain English a plainer word.

use std::{fs, path::Path};

use super::collect;

/// A word or phrase, and what to write instead. One in capitals is looked for in names of constants.
const WORDS: &[(&str, &str)] = &[
    ("brought about", "created"),
    ("FEWEST", "MIN"),
    ("purse", "balances"),
    ("till", "orders, until"),
];

/// A word, where it may be (how the path begins), and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

const FOLDERS: [&str; 10] = [
    "actors",
    "benches",
    "clients",
    "crates",
    "docs",
    "examples",
    "packaging",
    "persistence",
    "src",
    "tests",
];
const ENDINGS: [&str; 7] = ["rs", "md", "ts", "tsx", "mjs", "py", "toml"];
/// Built, installed or released, or this list.
const SKIPPED: [&str; 5] = [
    "/dist/",
    "venv/",
    "/registry/",
    "/released/",
    "tidy/words.rs",
];

/// A text's words with their lines. Names are taken apart; an empty word is where a phrase cannot go on.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut before = ' ';
        for c in line.chars() {
            let begins = !before.is_alphabetic() || (before.is_lowercase() && c.is_uppercase());
            match (c.is_alphabetic(), words.last_mut()) {
                (true, Some((_, word))) if !begins => word.push(c),
                (true, _) => words.push((at + 1, c.into())),
                (false, _) if !" _-/*#!>`'".contains(c) => words.push((at + 1, String::new())),
                (false, _) => {}
            }
            before = c;
        }
    }
    words
}

/// The lines of a text that have this word or phrase.
fn lines_with(words: &[(usize, String)], phrase: &str) -> Vec<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let is_constant = phrase[0].chars().all(char::is_uppercase);
    let is_same = |(word, of): (&(usize, String), &&str)| match is_constant {
        true => word.1 == **of,
        false => word.1.eq_ignore_ascii_case(of),
    };
    let at = words.windows(phrase.len());
    at.filter(|words| words.iter().zip(&phrase).all(is_same))
        .map(|words| words[0].0)
        .collect()
}

#[test]
fn the_trees_words_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &ENDINGS, &mut files);
    }
    for folder in [root.to_owned(), root.join("scripts")] {
        let all = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
        let is_text =
            |name: &str| !name.contains('.') || name.ends_with("md") || name.ends_with("toml");
        let all = all.filter(|file| is_text(&file.file_name().to_string_lossy()));
        files.extend(all.map(|file| file.path()).filter(|path| path.is_file()));
    }
    let (mut broken, mut needed) = (Vec::new(), vec![false; EXCEPTIONS.len()]);
    for file in files {
        let path = file
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        if SKIPPED.iter().any(|part| path.contains(part)) {
            continue;
        }
        let words = words(&fs::read_to_string(&file).unwrap());
        for (word, instead) in WORDS {
            let of = |(of, at, _): &(&str, &str, &str)| of == word && path.starts_with(at);
            let exception = EXCEPTIONS.iter().position(of);
            for line in lines_with(&words, word) {
                match exception {
                    Some(exception) => needed[exception] = true,
                    None => broken.push(format!("{path}:{line}: {word} ({instead})")),
                }
            }
        }
    }
    let mut needless = EXCEPTIONS
        .iter()
        .zip(&needed)
        .filter(|(_, needed)| !**needed);
    assert!(
        broken.is_empty(),
        "{} words:\n{}",
        broken.len(),
        broken.join("\n")
    );
    assert_eq!(needless.next(), None, "no such word is there any more");
}

#[test]
fn a_word_is_seen_in_names_and_over_lines_but_not_in_others() {
    let words = words("let keptAnew = PATIENCE_MS;\n/// It was given\n/// up. Until fig_till.");
    let lines = |word| lines_with(&words, word);
    assert_eq!(
        (lines("anew"), lines("PATIENCE"), lines("given up")),
        (vec![1], vec![1], vec![2])
    );
    assert_eq!(
        (lines("till"), lines("up until"), lines("patience")),
        (vec![3], vec![], vec![1])
    );
}

//! Words that have no place in identifiers, texts and pages: the field has a term, or plain English a plainer word.

use std::{fs, path::Path};

use super::collect;

/// A word or phrase, and what to write instead. One in capitals is looked for in names of constants.
const WORDS: &[(&str, &str)] = &[
    ("a yes", "approval"),
    ("anew", "again, new"),
    ("brought about", "created, caused"),
    ("deed", "action, change"),
    ("deeds", "actions, changes"),
    ("deposed", "fenced"),
    ("ear", "listener"),
    ("eye", "display"),
    ("FEWEST", "MIN"),
    ("gift", "manual grant"),
    ("gifts", "manual grants"),
    ("given up", "failed"),
    ("heard", "reported, received"),
    ("hears", "receives"),
    ("in vain", "without result, wrong"),
    ("lie in", "be in, be stored"),
    ("lies in", "is in, is stored"),
    ("LONGEST", "MAX, TIMEOUT"),
    ("MOST", "MAX"),
    ("nobody follows", "no follower"),
    ("PATIENCE", "TIMEOUT"),
    ("purse", "balances"),
    ("shelf", "index, books"),
    ("stands behind", "follows, is after"),
    ("stands for", "is, means"),
    ("stretch", "range"),
    ("stretches", "ranges"),
    ("teller", "client, model"),
    ("till", "until"),
    ("told", "reported, said"),
    ("unkind", "faulty"),
    ("unkindness", "fault profile"),
    ("untold", "undelivered"),
    ("upon", "on, when"),
    ("vault", "backup repository"),
    ("vouch", "can serve, identify"),
    ("whatever", "all that, any"),
    ("whoever", "who, anybody who"),
];

/// A word, or a phrase with it, that may be where the path begins so, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("told apart", "clients/python/tests/", "an idiom"),
    (
        "Told",
        "tests/tidy/main.rs",
        "the list of names that no type has",
    ),
];

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

/// Where a text has this word or phrase: the indices of its first words.
fn find(words: &[(usize, String)], phrase: &str) -> Vec<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let is_constant = phrase[0].chars().all(char::is_uppercase);
    let is_same = |(word, of): (&(usize, String), &&str)| match is_constant {
        true => word.1 == **of,
        false => word.1.eq_ignore_ascii_case(of),
    };
    let all = words.windows(phrase.len()).enumerate();
    all.filter(|(_, words)| words.iter().zip(&phrase).all(is_same))
        .map(|(at, _)| at)
        .collect()
}

#[test]
fn the_trees_words_are_plain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&root.join(folder), &ENDINGS, &mut files);
    }
    for (folder, endings) in [("", ".md .toml"), ("scripts", "")] {
        for file in fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let ending = path
                .extension()
                .map_or("", |ending| ending.to_str().unwrap());
            if path.is_file()
                && (endings.is_empty() || (!ending.is_empty() && endings.contains(ending)))
            {
                files.push(path);
            }
        }
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
        let mut excepted = Vec::new();
        for (number, (phrase, at, _)) in EXCEPTIONS.iter().enumerate() {
            if path.starts_with(at) {
                let found = find(&words, phrase);
                needed[number] |= !found.is_empty();
                let length = phrase.split(' ').count();
                excepted.extend(found.into_iter().map(|from| from..from + length));
            }
        }
        for (word, instead) in WORDS {
            for at in find(&words, word) {
                if !excepted.iter().any(|range| range.contains(&at)) {
                    broken.push(format!("{path}:{}: {word} ({instead})", words[at].0));
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
    assert_eq!(
        needless.next(),
        None,
        "this exception is not needed any more"
    );
}

#[test]
fn a_word_is_seen_in_names_and_over_lines_but_not_in_others() {
    let words = words("let keptAnew = PATIENCE_MS;\n/// It was given\n/// up. Until fig_till.");
    let lines = |word| -> Vec<usize> {
        find(&words, word)
            .into_iter()
            .map(|at| words[at].0)
            .collect()
    };
    assert_eq!(
        (lines("anew"), lines("PATIENCE"), lines("given up")),
        (vec![1], vec![1], vec![2])
    );
    assert_eq!(
        (lines("till"), lines("up until"), lines("patience")),
        (vec![3], vec![], vec![1])
    );
}

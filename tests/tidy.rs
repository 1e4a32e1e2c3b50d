//! The rules of this tree that no compiler knows: how types are named and items described, what may be named where, and
//! how long a file may be. Each rule lists what breaks it; an exception stands in [`EXCEPTIONS`] with its reason.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a panic in a test is a failed test, which is the point"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// What may break a rule: the rule, the file, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "stripe",
        "src/api/webhooks.rs",
        "refuses a webhook without a signature before its body is read",
    ),
    (
        "stripe",
        "src/dashboard/settings.rs",
        "links to the permissions that a restricted key needs",
    ),
    (
        "clocks",
        "actors/src/handle/serial.rs",
        "names orders by real time, not by a project's clock",
    ),
    (
        "length",
        "domain/src/project_event.rs",
        "an event and how it follows from a step of the wallet are read together",
    ),
    (
        "length",
        "persistence/src/memory/mod.rs",
        "the journal in memory mirrors the one on sled, method by method",
    ),
    (
        "length",
        "actors/src/handle/orders.rs",
        "every question about orders, a few lines each",
    ),
    (
        "length",
        "catalog/src/store.rs",
        "the one writer of the catalog, a method for each document",
    ),
    (
        "length",
        "payments/src/fulfilment.rs",
        "one answer of the provider and all that may follow from it",
    ),
    (
        "length",
        "payments/src/proof/mod.rs",
        "the steps of one reconciliation, in their order",
    ),
    (
        "length",
        "payments/src/inbox.rs",
        "the states of one stored event, from arrival to its end",
    ),
    (
        "length",
        "providers/stripe/src/provider/look.rs",
        "a match over all objects that can be asked about",
    ),
    (
        "length",
        "providers/stripe/src/client.rs",
        "what every call shares: permissions, repeats, pace and errors",
    ),
    (
        "length",
        "src/admin/view.rs",
        "the bodies of the admin API, as plain structs",
    ),
    (
        "length",
        "src/config.rs",
        "one struct and one check for each section of the configuration",
    ),
    (
        "length",
        "src/dashboard/orders.rs",
        "one page with its list, its order and three confirmations",
    ),
    (
        "length",
        "src/dashboard/unfulfilled.rs",
        "one page with its list and three decisions",
    ),
];

/// The crates that become the server.
const SERVER: [&str; 8] = [
    "domain",
    "persistence",
    "actors",
    "catalog",
    "notes",
    "payments",
    "providers",
    "src",
];
/// Everything else that is compiled.
const BESIDE: [&str; 3] = ["benches", "tests", "clients/rust"];

/// Names that say that something happened, or that mean several things, instead of what the type is.
const NO_NAMES: [&str; 16] = [
    "Told", "Asked", "Found", "Said", "Kept", "Known", "Reached", "Given", "Tried", "Parts",
    "Place", "Line", "Ground", "Desk", "Stuff", "Manager",
];

const LONGEST_FILE: usize = 400;

/// A file of Rust.
struct Source {
    path: String,
    lines: Vec<String>,
}

impl Source {
    /// Whether it is compiled into the server, its unit tests left out.
    fn is_server(&self) -> bool {
        SERVER.iter().any(|room| self.path.starts_with(room)) && !self.path.contains("test")
    }

    /// Its lines before its unit tests, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().enumerate();
        lines
            .map(|(at, line)| (at + 1, line.as_str()))
            .take_while(|(_, line)| *line != "#[cfg(test)]")
    }
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "target" && name != "node_modules" => collect(&path, into),
            false if name.ends_with(".rs") => into.push(path),
            _ => {}
        }
    }
}

/// All of them, read once.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(sources);

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for room in SERVER.iter().chain(&BESIDE) {
        collect(&root.join(room), &mut paths);
    }
    assert!(paths.len() > 500, "only {} files were found", paths.len());
    let read = |path: PathBuf| Source {
        lines: fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect(),
        path: path
            .strip_prefix(root)
            .unwrap()
            .to_string_lossy()
            .into_owned(),
    };
    paths.into_iter().map(read).collect()
}

/// Fails with all that breaks a rule, and with exceptions that nothing needs any more.
fn hold(rule: &str, broken: &[(String, String)]) {
    let excepted = |file: &str| {
        let mut exceptions = EXCEPTIONS.iter();
        exceptions.any(|(of, at, _)| *of == rule && *at == file)
    };
    let found: Vec<String> = broken
        .iter()
        .filter(|(file, _)| !excepted(file))
        .map(|(file, what)| format!("{file}: {what}"))
        .collect();
    let files: BTreeSet<&str> = broken.iter().map(|(file, _)| file.as_str()).collect();
    let needless = EXCEPTIONS
        .iter()
        .filter(|(of, at, _)| *of == rule && !files.contains(at));
    let needless: Vec<&str> = needless.map(|(_, at, _)| *at).collect();
    assert!(
        needless.is_empty(),
        "{rule}: no exception is needed for {needless:?}"
    );
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

/// The name that a line declares a type by.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    // A macro's name is none yet.
    (!name.is_empty()).then_some(name)
}

/// The text of a doc comment's line.
fn doc(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let text = text
        .strip_prefix("///")
        .or_else(|| text.strip_prefix("//!"))?;
    (text.is_empty() || text.starts_with(' ')).then(|| text.trim())
}

#[test]
fn exceptions_are_few_and_have_reasons() {
    assert!(EXCEPTIONS.len() < 20, "{} exceptions", EXCEPTIONS.len());
    for (rule, file, reason) in EXCEPTIONS {
        assert!(reason.split(' ').count() > 4, "{rule}, {file}: {reason}");
    }
}

#[test]
fn a_type_says_what_it_is() {
    let mut broken = Vec::new();
    for source in SOURCES.iter() {
        for (at, line) in source.lines.iter().enumerate() {
            if let Some(name) = declared(line)
                && NO_NAMES.contains(&name)
            {
                broken.push((source.path.clone(), format!("{}: {name}", at + 1)));
            }
        }
    }
    hold("names", &broken);
}

/// The crate that a file of the server belongs to.
fn room(path: &str) -> &str {
    let nested = ["payments/port", "providers/stripe", "providers/sandbox"];
    let nested = nested.into_iter().find(|room| path.starts_with(room));
    nested.unwrap_or(path.split('/').next().unwrap_or_default())
}

#[test]
fn a_name_means_one_thing() {
    let api = ["api", "admin"].map(|name| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(root.join(format!("docs/openapi/{name}.json"))).unwrap()
    });
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in SOURCES.iter().filter(|source| source.is_server()) {
        let public = source
            .code()
            .filter(|(_, line)| line.trim_start().starts_with("pub"));
        for name in public.filter_map(|(_, line)| declared(line)) {
            let rooms = rooms.entry(name.to_owned()).or_default();
            rooms.insert(room(&source.path).to_owned());
        }
    }
    // A word of the API, an object that Stripe calls so, or what every crate has one of.
    let shared = ["Error", "Refund", "Charge", "Stripe"];
    let broken = rooms
        .into_iter()
        .filter(|(name, rooms)| rooms.len() > 2 && !shared.contains(&name.as_str()))
        .filter(|(name, _)| {
            !api.iter()
                .any(|api| api.contains(&format!("schemas/{name}\"")))
        })
        .map(|(name, rooms)| (name, format!("{rooms:?}")));
    hold("one meaning", &broken.collect::<Vec<_>>());
}

#[test]
fn a_doc_of_two_words_is_no_doc() {
    let mut broken = Vec::new();
    for source in SOURCES.iter() {
        let mut at = 0;
        while at < source.lines.len() {
            let text: Vec<&str> = source.lines[at..]
                .iter()
                .map_while(|line| doc(line))
                .collect();
            let words = text.join(" ");
            if !text.is_empty() && words.split_whitespace().count() <= 2 {
                broken.push((source.path.clone(), format!("{}: {words}", at + 1)));
            }
            at += text.len().max(1);
        }
    }
    hold("docs", &broken);
}

#[test]
fn whoever_calls_reads_which_errors_there_are() {
    let mut broken = Vec::new();
    for source in SOURCES.iter().filter(|source| source.is_server()) {
        let mut described = false;
        let mut signature: Option<(usize, String)> = None;
        for (at, line) in source.code() {
            let code = line.trim();
            if let Some(text) = doc(line) {
                described |= text == "# Errors";
                continue;
            }
            let begins = ["pub fn ", "pub async fn ", "pub const fn "];
            if signature.is_none() && begins.iter().any(|begin| code.starts_with(begin)) {
                signature = Some((at, String::new()));
            }
            if let Some((first, text)) = &mut signature {
                text.push_str(code);
                if code.ends_with('{') || code.ends_with(';') || code.ends_with('}') {
                    let answer = text.split_once("->").map_or("", |(_, answer)| answer);
                    let fails = answer.contains("Result<") && !answer.contains("Option<Result<");
                    if fails && !described {
                        broken.push((source.path.clone(), format!("{first}: # Errors")));
                    }
                    signature = None;
                }
            }
            if signature.is_none() && !code.starts_with("#[") {
                described = false;
            }
        }
    }
    hold("errors", &broken);
}

#[test]
fn a_line_of_the_log_is_a_sentence() {
    let mut broken = Vec::new();
    for source in SOURCES.iter().filter(|source| source.is_server()) {
        let text = source.lines.join("\n");
        for level in ["trace", "debug", "info", "warn", "error"] {
            for (_, rest) in text
                .match_indices(&format!("tracing::{level}!("))
                .map(|(at, found)| (at, &text[at + found.len()..]))
            {
                let call = &rest[..rest.find(");").or(rest.find(")\n")).unwrap_or(rest.len())];
                // The message is the last text of its own; others are fields' values.
                let message = call
                    .split(['\n', ','])
                    .map(str::trim)
                    .find(|part| part.starts_with('"'));
                if let Some(message) = message
                    && message[1..].starts_with(|c: char| c.is_ascii_lowercase())
                {
                    broken.push((source.path.clone(), message.to_owned()));
                }
            }
        }
    }
    hold("log", &broken);
}

#[test]
fn what_belongs_to_one_room_is_named_nowhere_else() {
    let rooms: [(&str, &[&str], &[&str]); 4] = [
        ("sled", &["sled::"], &["persistence/"]),
        ("bincode", &["bincode::"], &["persistence/", "notes/"]),
        (
            "stripe",
            &["stripe::"],
            &["providers/", "src/providers/", "src/cli/"],
        ),
        (
            "clocks",
            &["SystemTime::now", "Timestamp::now", "Utc::now"],
            &["actors/src/clock", "src/cli/"],
        ),
    ];
    for (rule, words, homes) in rooms {
        let mut broken = Vec::new();
        for source in SOURCES.iter().filter(|source| source.is_server()) {
            if homes.iter().any(|home| source.path.starts_with(home)) {
                continue;
            }
            for (at, line) in source.code() {
                let code = line.trim_start();
                if !code.starts_with("//") && words.iter().any(|word| code.contains(word)) {
                    broken.push((source.path.clone(), format!("{at}: {code}")));
                }
            }
        }
        hold(rule, &broken);
    }
}

#[test]
fn a_file_can_be_read_at_once() {
    let mut broken = Vec::new();
    for source in SOURCES.iter().filter(|source| source.is_server()) {
        let lines = source.code().count();
        if lines > LONGEST_FILE {
            broken.push((source.path.clone(), format!("{lines} lines")));
        }
    }
    hold("length", &broken);
}

/// A room, and those that it may import.
type Arrows = (&'static str, &'static [&'static str]);

/// What the rooms of a crate may import of each other; `pub use` at its root is left out.
const ROOMS: [(&str, &[Arrows]); 1] = [(
    "persistence",
    &[
        ("error", &[]),
        ("tuning", &[]),
        ("lookups", &["error"]),
        ("usage", &["error"]),
        ("format", &["error", "lookups", "usage"]),
        ("contract", &["error", "format", "lookups", "usage"]),
        ("options", &["contract", "error"]),
        (
            "log",
            &["contract", "error", "format", "lookups", "options"],
        ),
        ("index", &["error", "format", "tuning"]),
        (
            "books",
            &[
                "contract", "error", "format", "index", "log", "lookups", "options", "tuning",
                "usage",
            ],
        ),
        (
            "backup",
            &["books", "contract", "error", "log", "options", "tuning"],
        ),
        (
            "memory",
            &["contract", "error", "format", "lookups", "usage"],
        ),
        (
            "journal",
            &[
                "backup", "books", "contract", "error", "format", "log", "lookups", "options",
                "usage",
            ],
        ),
    ],
)];

/// The paths that a `use` names: `a::{b, c::d}` names `a::b` and `a::c::d`.
fn leaves(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![path.trim().to_owned()];
    };
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in rest[..rest.rfind('}').unwrap_or(rest.len())].chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(c),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    let parts = parts.flat_map(|part| leaves(part));
    parts
        .map(|part| format!("{}{part}", before.trim()))
        .collect()
}

/// The modules of a crate without its root and its tests, each with all paths that its `use`s name from the root on,
/// and whether it only hands these on.
fn imports(folder: &str) -> BTreeMap<Vec<String>, Vec<(bool, Vec<String>)>> {
    let mut modules = BTreeMap::new();
    let within = |source: &&Source| source.path.starts_with(folder) && source.is_server();
    for source in SOURCES.iter().filter(within) {
        let path = source.path[folder.len()..].trim_end_matches(".rs");
        let path = path.trim_end_matches("/mod").split('/');
        let module: Vec<String> = path.map(str::to_owned).collect();
        if module == ["lib"] {
            continue;
        }
        let code: Vec<&str> = source.code().map(|(_, line)| line).collect();
        let code = code.join("\n");
        let mut named = Vec::new();
        for (at, _) in code.match_indices("use ") {
            let line = code[..at].rsplit('\n').next().unwrap_or_default();
            if !line.is_empty() && !line.starts_with("pub") {
                continue;
            }
            let whole = code[at + 4..].split(';').next().unwrap_or_default();
            for leaf in leaves(whole) {
                let leaf = leaf.split(" as ").next().unwrap_or_default().to_owned();
                let mut steps: Vec<&str> = leaf.split("::").map(str::trim).collect();
                let mut base = module.clone();
                match steps[0] {
                    "crate" => base.clear(),
                    "super" => drop(base.pop()),
                    "self" => {}
                    first => {
                        // A child that is handed on, or another crate.
                        base.push(first.to_owned());
                    }
                }
                steps.remove(0);
                base.extend(steps.into_iter().map(str::to_owned));
                named.push((line.starts_with("pub"), base));
            }
        }
        modules.insert(module, named);
    }
    modules
}

#[test]
fn rooms_import_each_other_one_way() {
    for (name, allowed) in ROOMS {
        let modules = imports(&format!("{name}/src/"));
        // A name that a module hands on stands where it was declared.
        let find = |path: &[String]| {
            let mut path = path.to_vec();
            for _ in 0..4 {
                let module = (1..=path.len())
                    .rev()
                    .find(|len| modules.contains_key(&path[..*len]))?;
                let handed_on = path.get(module).and_then(|item| {
                    let mut named = modules[&path[..module]].iter();
                    named.find(|(public, it)| *public && it.last() == Some(item))
                });
                match handed_on {
                    Some((_, origin)) => path = origin.clone(),
                    None => return Some(path[..module].to_vec()),
                }
            }
            None
        };
        let mut arrows: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        let mut broken = Vec::new();
        for (from, named) in &modules {
            let named = named.iter().filter(|(public, _)| !public);
            for to in named.filter_map(|(_, path)| find(path)) {
                let room = allowed.iter().find(|(room, _)| *room == from[0]);
                let may = room.is_some_and(|(_, may)| may.contains(&to[0].as_str()));
                if from[0] != to[0] && !may {
                    broken.push((name.to_owned(), format!("{from:?} imports {to:?}")));
                }
                if *from != to {
                    arrows.entry(from.clone()).or_default().insert(to);
                }
            }
        }
        let reached = |from: &Vec<String>| {
            let mut reached = BTreeSet::new();
            let mut next = vec![from];
            while let Some(at) = next.pop() {
                for to in arrows.get(at).into_iter().flatten() {
                    if reached.insert(to) {
                        next.push(to);
                    }
                }
            }
            reached
        };
        let reached: BTreeMap<_, _> = modules.keys().map(|from| (from, reached(from))).collect();
        for (from, to) in &reached {
            let circle = to.iter().filter(|to| reached[*to].contains(from));
            let circle: Vec<String> = circle.map(|path| path.join("::")).collect();
            if circle.len() > 3 {
                broken.push((name.to_owned(), format!("a circle: {circle:?}")));
            }
        }
        hold("rooms", &broken);
    }
}

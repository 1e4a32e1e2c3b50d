//! The rules of this tree that no compiler knows: how types are named and items described, what may be named where, and
//! how long a file may be. Each rule lists what breaks it; an exception is in [`EXCEPTIONS`] with its reason.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a panic in a test is a failed test, which is the point"
)]

mod imports;
mod pages;
mod words;

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
        "crates/web/src/api/webhooks.rs",
        "refuses a webhook without a signature before its body is read",
    ),
    (
        "stripe",
        "crates/dashboard/src/settings.rs",
        "links to the permissions that a restricted key needs",
    ),
    (
        "clocks",
        "actors/src/handle/serial.rs",
        "names orders by real time, not by a project's clock",
    ),
    (
        "length",
        "crates/domain/src/project_event.rs",
        "an event and how it follows from a step of the wallet are read together",
    ),
    (
        "length",
        "crates/stripe/src/provider/fetch.rs",
        "a match over all objects that can be asked about",
    ),
    (
        "length",
        "crates/stripe/src/client.rs",
        "what every call shares: permissions, repeats, pace and errors",
    ),
];

/// The crates that become the server.
const SERVER: [&str; 4] = ["crates", "persistence", "actors", "src"];
/// Everything else that is compiled.
const BESIDE: [&str; 3] = ["benches", "tests", "clients/rust"];

/// Names that say that something happened, or that mean several things, instead of what the type is.
const NO_NAMES: [&str; 16] = [
    "Told", "Asked", "Found", "Said", "Kept", "Known", "Reached", "Given", "Tried", "Parts",
    "Place", "Line", "Ground", "Desk", "Stuff", "Manager",
];

const MAX_FILE: usize = 400;

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
        let is_end = |two: &[String]| {
            two[0] == "#[cfg(test)]" && two[1].starts_with("mod ") && two[1].ends_with('{')
        };
        let end = self.lines.windows(2).position(is_end);
        let lines = self.lines.iter().enumerate();
        lines
            .map(|(at, line)| (at + 1, line.as_str()))
            .take(end.unwrap_or(self.lines.len()))
    }
}

/// The files of a folder and those below it that have one of these endings.
fn collect(folder: &Path, endings: &[&str], into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true if name != "target" && name != "node_modules" => collect(&path, endings, into),
            false
                if path
                    .extension()
                    .is_some_and(|it| endings.iter().any(|ending| it == *ending)) =>
            {
                into.push(path)
            }
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
        collect(&root.join(room), &["rs"], &mut paths);
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

#[test]
fn strangers_texts_are_shown_by_one_function() {
    let mut broken = Vec::new();
    let pages = SOURCES.iter().filter(|it| {
        it.path.starts_with("crates/dashboard/src/") && !it.path.ends_with("/verbatim.rs")
    });
    for source in pages {
        let alone = source.code().filter(|(_, line)| line.contains("bdi {"));
        broken.extend(alone.map(|(at, _)| (source.path.clone(), format!("{at}: bdi"))));
    }
    hold("bdi", &broken);
}

/// The crate that a file of the server belongs to.
fn room(path: &str) -> &str {
    let crates = CRATES
        .iter()
        .filter_map(|folder| folder.strip_suffix("/src"));
    let mut crates = crates.filter(|room| path.starts_with(&format!("{room}/src/")));
    crates.next().unwrap_or("src")
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
fn a_public_function_says_which_errors_it_returns() {
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
    let rooms: [(&str, &[&str], &[&str]); 5] = [
        ("sled", &["sled::"], &["persistence/"]),
        (
            "bincode",
            &["bincode::"],
            &["persistence/", "actors/src/notes/"],
        ),
        (
            "stripe",
            &["stripe::"],
            &[
                "crates/stripe/",
                "crates/sandbox/",
                "crates/accounts/",
                "src/cli/",
            ],
        ),
        (
            "clocks",
            &["SystemTime::now", "Timestamp::now", "Utc::now"],
            &["actors/src/clock", "src/cli/"],
        ),
        // The API's and the admin API's errors; pages for people and other servers have their own.
        (
            "statuses",
            &[
                "StatusCode::BAD_",
                "StatusCode::UNAUTHORIZED",
                "StatusCode::FORBIDDEN",
                "StatusCode::NOT_FOUND",
                "StatusCode::CONFLICT",
                "StatusCode::GONE",
                "StatusCode::PAY",
                "StatusCode::TOO_MANY",
                "StatusCode::UNPROC",
                "StatusCode::INTERNAL",
                "StatusCode::SERVICE_UN",
            ],
            &[
                "crates/wire/src/code.rs",
                "crates/wire/src/error/",
                "crates/edge/src/layer.rs",
                "crates/stripe/",
                "crates/sandbox/",
                "crates/dashboard/src/",
                "crates/web/src/docs.rs",
                "crates/web/src/pages/",
                "src/cli/",
            ],
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
        if lines > MAX_FILE {
            broken.push((source.path.clone(), format!("{lines} lines")));
        }
    }
    hold("length", &broken);
}

/// The folders of the crates that become the server, as the workspace has them.
static CRATES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let (_, after) = manifest.split_once("members = [").unwrap();
    let (members, _) = after.split_once(']').unwrap();
    let beside = |folder: &&str| BESIDE.iter().any(|room| folder.starts_with(room));
    let mut crates = vec!["src".to_owned()];
    for member in members
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|it| !beside(it))
    {
        let Some(parent) = member.strip_suffix("/*") else {
            crates.push(format!("{member}/src"));
            continue;
        };
        for folder in fs::read_dir(root.join(parent)).unwrap() {
            let name = folder.unwrap().file_name().into_string().unwrap();
            crates.push(format!("{parent}/{name}/src"));
        }
    }
    assert!(crates.len() > 15, "{crates:?}");
    crates
});

#[test]
fn files_that_take_from_each_other_are_few() {
    let mut broken = Vec::new();
    for folder in CRATES.iter() {
        let graph = imports::of_crate(&SOURCES, folder);
        let arrows: usize = graph.values().map(BTreeSet::len).sum();
        assert!(
            arrows + 10 > graph.len(),
            "{folder}: only {arrows} imports are seen"
        );
        for circle in imports::circles(&graph) {
            if circle.len() > 3 {
                broken.push((folder.clone(), circle.join(" ")));
            }
        }
    }
    hold("circles", &broken);
}

/// Whether a word of a page names a file of this tree.
fn is_file_name(word: &str) -> bool {
    let (name, ending) = word.rsplit_once('.').unwrap_or_default();
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/_-.".contains(c);
    matches!(ending, "rs" | "mjs" | "py") && !name.is_empty() && name.chars().all(letter)
}

#[test]
fn a_file_that_a_page_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for room in SERVER.iter().chain(&BESIDE).chain(&["clients", "examples"]) {
        collect(
            &root.join(room),
            &["rs", "mjs", "py", "js", "ts", "tsx"],
            &mut files,
        );
    }
    let mut broken = Vec::new();
    for page in [
        "README.md",
        "docs/architecture.md",
        "docs/promises.md",
        "docs/figures.md",
        "docs/glossary.md",
    ] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let words = text.split('`').skip(1).step_by(2);
        for word in words.filter(|word| is_file_name(word)) {
            let is_there = files.iter().any(|file| file.ends_with(word));
            if !is_there {
                broken.push((page.to_owned(), word.to_owned()));
            }
        }
    }
    hold("files", &broken);
}

/// A room, and those that it may import.
type Arrows = (&'static str, &'static [&'static str]);

/// What the rooms of a folder may import of each other.
const ROOMS: [(&str, &[Arrows]); 4] = [
    (
        "crates/domain/src/wallet",
        &[
            ("state", &[]),
            ("decide", &["state"]),
            ("apply", &["state"]),
        ],
    ),
    (
        "crates/web/src",
        &[
            ("http", &[]),
            ("api", &["http"]),
            ("admin", &["http"]),
            ("docs", &["admin", "api"]),
            ("health", &[]),
            ("pages", &[]),
        ],
    ),
    (
        "crates/cluster/src",
        &[
            ("front", &[]),
            ("term", &[]),
            ("watch", &[]),
            ("trim", &[]),
            ("snapshots", &[]),
            ("postgres", &["term", "watch", "trim", "snapshots"]),
            ("cells", &[]),
            ("part", &["cells", "front", "metrics", "postgres"]),
            ("metrics", &["part"]),
            ("leader_seen", &["front"]),
            (
                "process",
                &["cells", "front", "leader_seen", "part", "postgres"],
            ),
        ],
    ),
    (
        "persistence/src",
        &[
            ("error", &[]),
            ("files", &["error"]),
            ("tuning", &[]),
            ("lookups", &["error"]),
            ("usage", &["error", "lookups"]),
            ("format", &["error", "lookups", "usage"]),
            ("contract", &["error", "format", "lookups", "usage"]),
            ("options", &["contract", "error"]),
            ("sled_error", &["error"]),
            (
                "frames",
                &["contract", "error", "format", "options", "sled_error"],
            ),
            (
                "log",
                &[
                    "contract",
                    "error",
                    "files",
                    "format",
                    "frames",
                    "lookups",
                    "options",
                    "sled_error",
                    "usage",
                ],
            ),
            ("membership", &["error", "files", "log"]),
            ("index", &["error", "format", "tuning"]),
            (
                "books",
                &[
                    "contract",
                    "error",
                    "files",
                    "format",
                    "frames",
                    "index",
                    "log",
                    "lookups",
                    "options",
                    "sled_error",
                    "tuning",
                    "usage",
                ],
            ),
            (
                "backup",
                &[
                    "books",
                    "contract",
                    "error",
                    "files",
                    "frames",
                    "log",
                    "options",
                    "sled_error",
                    "tuning",
                ],
            ),
            (
                "memory",
                &["contract", "error", "format", "lookups", "usage"],
            ),
            (
                "journal",
                &[
                    "backup",
                    "books",
                    "contract",
                    "error",
                    "format",
                    "frames",
                    "log",
                    "lookups",
                    "membership",
                    "options",
                    "sled_error",
                    "usage",
                ],
            ),
        ],
    ),
];

/// `dist` inherits what `release` says of single packages, and would ship it.
#[test]
fn what_release_builds_sooner_dist_builds_well() {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let packages = |profile: &str, level: u8| -> BTreeSet<String> {
        let head = format!("\n[profile.{profile}.package]\n");
        let (_, lines) = manifest.split_once(&head).unwrap();
        let lines = lines.lines().take_while(|line| !line.is_empty());
        let level = format!(" = {{ opt-level = {level} }}");
        lines
            .map(|line| line.strip_suffix(&level).unwrap().to_owned())
            .collect()
    };
    assert_eq!(packages("release", 0), packages("dist", 3));
}

#[test]
fn rooms_import_each_other_one_way() {
    for (folder, rooms) in ROOMS {
        let room = |file: &str| -> Option<String> {
            let (name, _) = file
                .strip_prefix(folder)?
                .trim_start_matches('/')
                .split_once(['/', '.'])?;
            rooms
                .iter()
                .any(|(room, _)| *room == name)
                .then(|| name.to_owned())
        };
        let mut broken = Vec::new();
        for (file, others) in
            imports::of_crate(&SOURCES, folder.split_inclusive("src").next().unwrap())
        {
            let Some(own) = room(&file) else { continue };
            let (_, allowed) = rooms.iter().find(|(name, _)| *name == own).unwrap();
            for other in others.iter().filter_map(|other| room(other)) {
                if other != own && !allowed.contains(&other.as_str()) {
                    broken.push((file.clone(), format!("imports {other}")));
                }
            }
        }
        hold("rooms", &broken);
    }
}

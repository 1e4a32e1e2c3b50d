//! Which file of a crate takes something from which other, by its `use` lines. What a parent re-exports counts for
//! the file that defines it, and not for the parent.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Source;

/// The names of a path, from the crate's root on.
type Names = Vec<String>;
/// What each file takes from which others.
pub(super) type Graph = BTreeMap<String, BTreeSet<String>>;

/// A `use` line: whether it is public, and the paths that it names.
struct Use {
    is_public: bool,
    paths: Vec<Names>,
}

/// The paths of a tree such as `a::{b, c::d}`.
fn paths(tree: &str, prefix: &[String], into: &mut Vec<Names>) {
    let tree = tree.trim();
    let Some((path, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let names = path.split("::").map(|name| name.trim().to_owned());
        into.push(prefix.iter().cloned().chain(names).collect());
        return;
    };
    let names = path.split("::").map(str::trim);
    let names = names.filter(|name| !name.is_empty()).map(str::to_owned);
    let prefix: Names = prefix.iter().cloned().chain(names).collect();
    let (mut depth, mut begin) = (0, 0);
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[begin..at].trim().is_empty() {
                    paths(&inner[begin..at], &prefix, into);
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// The `use` lines of a file, without those of its unit tests.
fn uses(source: &Source) -> Vec<Use> {
    let mut all = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for (_, line) in source.code() {
        let line = line.split("//").next().unwrap_or_default();
        let (is_public, mut text) = match open.take() {
            Some((is_public, text)) => (is_public, text + line),
            None => {
                let (before, tree) = match line.split_once("use ") {
                    Some((before, tree)) => (before.trim(), tree),
                    None => continue,
                };
                if !before.is_empty() && !before.starts_with("pub") {
                    continue;
                }
                (!before.is_empty(), tree.to_owned())
            }
        };
        if !text.contains(';') {
            open = Some((is_public, text));
            continue;
        }
        text.truncate(text.find(';').unwrap_or(text.len()));
        let mut named = Vec::new();
        paths(&text, &[], &mut named);
        all.push(Use {
            is_public,
            paths: named,
        });
    }
    all
}

/// The module that a file of a crate is.
fn module(path: &str) -> Names {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut names: Names = path.split('/').map(str::to_owned).collect();
    if matches!(
        names.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        names.pop();
    }
    names
}

/// The imports of the crate whose sources are in a folder.
pub(super) fn of_crate(sources: &[Source], folder: &str) -> Graph {
    let own: Vec<(&Source, Names)> = sources
        .iter()
        .filter(|source| source.is_server())
        .filter_map(|source| {
            let path = source.path.strip_prefix(folder)?;
            Some((source, module(path.trim_start_matches('/'))))
        })
        .collect();
    let files: HashMap<&Names, &str> = own
        .iter()
        .map(|(source, module)| (module, source.path.as_str()))
        .collect();
    let mut exports: HashMap<Names, Names> = HashMap::new();
    let mut imports: Vec<(&str, Names)> = Vec::new();
    for (source, module) in &own {
        for line in uses(source) {
            for path in line.paths {
                let Some(path) = from_root(&path, module, &files) else {
                    continue;
                };
                if line.is_public {
                    let name = path.last().cloned().unwrap_or_default();
                    exports.insert(module.iter().cloned().chain([name]).collect(), path);
                } else {
                    imports.push((&source.path, path));
                }
            }
        }
    }
    let mut graph: Graph = files
        .values()
        .map(|path| ((*path).to_owned(), BTreeSet::new()))
        .collect();
    for (from, path) in imports {
        if let Some(to) = file_of(path, &exports, &files)
            && to != from
        {
            graph.entry(from.to_owned()).or_default().insert(to);
        }
    }
    graph
}

/// A path as the crate's root would write it; `None`: it leads to another crate.
fn from_root(path: &Names, module: &Names, files: &HashMap<&Names, &str>) -> Option<Names> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let first = path.first().map(String::as_str)?;
    let (base, rest) = match first {
        "crate" => (&[][..], &path[1..]),
        "self" => (&module[..], &path[1..]),
        "super" => (&module[..module.len().saturating_sub(ups)], &path[ups..]),
        _ => {
            let child: Names = module.iter().cloned().chain([first.to_owned()]).collect();
            if !files.contains_key(&child) {
                return None;
            }
            (&module[..], &path[..])
        }
    };
    Some(base.iter().chain(rest).cloned().collect())
}

/// The file that defines what a path names, through re-exports.
fn file_of(
    mut path: Names,
    exports: &HashMap<Names, Names>,
    files: &HashMap<&Names, &str>,
) -> Option<String> {
    for _ in 0..10 {
        let exported = (1..=path.len()).rev().find_map(|length| {
            let (head, rest) = path.split_at(length);
            let target = exports.get(&head.to_vec())?;
            Some(target.iter().chain(rest).cloned().collect::<Names>())
        });
        match exported {
            Some(next) if next != path => path = next,
            _ => break,
        }
    }
    (0..=path.len())
        .rev()
        .find_map(|length| files.get(&path[..length].to_vec()))
        .map(|file| (*file).to_owned())
}

/// The groups of files that all take from each other, by Tarjan's algorithm, without files alone.
pub(super) fn circles(graph: &Graph) -> Vec<Vec<String>> {
    struct Search<'a> {
        graph: &'a Graph,
        index: HashMap<&'a str, usize>,
        low: HashMap<&'a str, usize>,
        stack: Vec<&'a str>,
        circles: Vec<Vec<String>>,
    }
    impl<'a> Search<'a> {
        fn visit(&mut self, file: &'a str) {
            let at = self.index.len();
            self.index.insert(file, at);
            self.low.insert(file, at);
            self.stack.push(file);
            for next in self.graph.get(file).into_iter().flatten() {
                if !self.index.contains_key(next.as_str()) {
                    self.visit(next);
                    self.low
                        .insert(file, self.low[file].min(self.low[next.as_str()]));
                } else if self.stack.contains(&next.as_str()) {
                    self.low
                        .insert(file, self.low[file].min(self.index[next.as_str()]));
                }
            }
            if self.low[file] == at {
                let start = self.stack.iter().position(|other| *other == file).unwrap();
                let circle = self.stack.split_off(start);
                if circle.len() > 1 {
                    self.circles
                        .push(circle.into_iter().map(str::to_owned).collect());
                }
            }
        }
    }
    let mut search = Search {
        graph,
        index: HashMap::new(),
        low: HashMap::new(),
        stack: Vec::new(),
        circles: Vec::new(),
    };
    for file in graph.keys() {
        if !search.index.contains_key(file.as_str()) {
            search.visit(file);
        }
    }
    search.circles
}

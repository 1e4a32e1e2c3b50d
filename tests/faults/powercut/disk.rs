//! The state of the disk at each point of a recording, and what a power cut there may leave.
//!
//! A file's contents are durable as far as a completed sync *of that file* covers them, a name
//! (creation, renaming, removal) as far as a completed sync *of its folder* does.

use super::{
    event::{Contents, Event},
    file::{File, Luck},
    folder::{Change, Folder, Names, Node},
};
use rand::rngs::StdRng;
use std::collections::HashMap;

/// The data directory itself, which is assumed to be durable.
const ROOT: usize = 0;

/// A simulated disk that follows a recording.
pub(crate) struct Disk {
    folders: Vec<Folder>,
    files: Vec<File>,
    writes: HashMap<u64, usize>,
    syncs: HashMap<u64, Sync>,
}

/// A sync in progress, and what it covers if it succeeds.
enum Sync {
    Folder {
        folder: usize,
        coverable: usize,
    },
    File {
        file: usize,
        covered: Vec<bool>,
    },
    /// A sync of something that has been removed.
    Nothing,
}

/// The files that a power cut leaves.
#[derive(Default)]
pub(crate) struct Image {
    pub(crate) folders: Vec<String>,
    pub(crate) files: Contents,
}

impl Default for Disk {
    fn default() -> Self {
        Self {
            folders: vec![Folder::default()],
            files: Vec::new(),
            writes: HashMap::new(),
            syncs: HashMap::new(),
        }
    }
}

impl Disk {
    /// Applies the next event.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::WriteBegan {
                call,
                path,
                offset,
                data,
            } => {
                let file = self.file(path);
                self.writes.insert(*call, file);
                self.files[file].write(*call, *offset, data.clone());
            }
            Event::WriteEnded { call, written } => {
                let file = self.writes.remove(call).expect("what ends has begun");
                // The effect of a failed write is unknown: it stays unfinished.
                if let Some(written) = written {
                    self.files[file].end_write(*call, *written);
                }
            }
            Event::Truncated { path, bytes } => {
                let file = self.file(path);
                self.files[file].truncate(*bytes);
            }
            Event::Created { path } => {
                self.files.push(File::default());
                let node = Node::File(self.files.len() - 1);
                self.rename(path, |name| Change::Create(name, node));
            }
            Event::FolderCreated { path } if path.is_empty() => {}
            Event::FolderCreated { path } => {
                self.folders.push(Folder::default());
                let node = Node::Folder(self.folders.len() - 1);
                self.rename(path, |name| Change::Create(name, node));
            }
            Event::Renamed { from, to } => {
                let ((folder, _), (other, to)) = (split(from), split(to));
                assert_eq!(folder, other, "moves between folders are not modelled");
                self.rename(from, |from| Change::Rename(from, to.to_owned()));
            }
            Event::Removed { path } => self.rename(path, Change::Remove),
            Event::SyncBegan { call, path } => {
                let sync = self.begin_sync(path);
                self.syncs.insert(*call, sync);
            }
            Event::SyncEnded { call, succeeded } => {
                let sync = self.syncs.remove(call).expect("what ends has begun");
                if *succeeded {
                    self.end_sync(sync);
                }
            }
            Event::Received { .. } | Event::Sent { .. } => {}
            Event::ProcessEnded { left } => self.end_process(left),
        }
    }

    /// The file or folder at a path now.
    fn find(&self, path: &str) -> Option<Node> {
        let mut node = Node::Folder(ROOT);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let Node::Folder(folder) = node else {
                return None;
            };
            node = *self.folders[folder].names().get(name)?;
        }
        Some(node)
    }

    fn file(&self, path: &str) -> usize {
        match self.find(path) {
            Some(Node::File(file)) => file,
            other => panic!("a change of `{path}`, which is {other:?}: its creation was not seen"),
        }
    }

    /// Changes the last name in `path`.
    fn rename(&mut self, path: &str, change: impl FnOnce(String) -> Change) {
        let (folder, name) = split(path);
        let Some(Node::Folder(folder)) = self.find(folder) else {
            panic!("a change in `{folder}`: its creation was not seen");
        };
        self.folders[folder].change(change(name.to_owned()));
    }

    fn begin_sync(&self, path: &str) -> Sync {
        match self.find(path) {
            Some(Node::Folder(folder)) => Sync::Folder {
                folder,
                coverable: self.folders[folder].coverable(),
            },
            Some(Node::File(file)) => Sync::File {
                file,
                covered: self.files[file].coverable(),
            },
            None => Sync::Nothing,
        }
    }

    fn end_sync(&mut self, sync: Sync) {
        match sync {
            Sync::Folder { folder, coverable } => self.folders[folder].cover(coverable),
            Sync::File { file, covered } => {
                self.files[file].cover(&covered);
                self.reduce_syncs(file, &covered);
            }
            Sync::Nothing => {}
        }
    }

    /// Removes what one sync has covered from other syncs of the file that are in progress.
    fn reduce_syncs(&mut self, file: usize, done: &[bool]) {
        for sync in self.syncs.values_mut() {
            let Sync::File {
                file: other,
                covered,
            } = sync
            else {
                continue;
            };
            if *other == file {
                let mut place = 0;
                covered.retain(|_| {
                    place += 1;
                    !done.get(place - 1).copied().unwrap_or_default()
                });
            }
        }
    }

    fn end_process(&mut self, left: &Contents) {
        self.writes.clear();
        self.syncs.clear();
        let mut files = Vec::new();
        walk(
            ROOT,
            "",
            &|folder| self.folders[folder].names().clone(),
            &mut |path, node| {
                if let Node::File(file) = node {
                    files.push((path, file));
                }
            },
        );
        for (path, file) in &files {
            let real = left.get(path);
            let real = real.unwrap_or_else(|| panic!("`{path}` is in the record, but not there"));
            self.files[*file].end_unfinished(real);
            assert_same(path, &self.files[*file].current(), real);
        }
        for path in left.keys() {
            let known = files.iter().any(|(known, _)| known == path);
            assert!(known, "`{path}` came to be past the recording");
        }
    }

    /// What remains if the power is cut now.
    pub(crate) fn after_power_cut(&self, luck: Luck, rng: &mut StdRng) -> Image {
        let names: Vec<Names> = self
            .folders
            .iter()
            .map(|folder| folder.after_power_cut(rng))
            .collect();
        let mut image = Image::default();
        walk(
            ROOT,
            "",
            &|folder| names[folder].clone(),
            &mut |path, node| match node {
                Node::Folder(_) => image.folders.push(path),
                Node::File(file) => {
                    let contents = self.files[file].after_power_cut(luck, rng);
                    image.files.insert(path, contents);
                }
            },
        );
        image
    }
}

/// Visits everything below a folder, each folder before its contents.
fn walk(
    folder: usize,
    path: &str,
    names: &impl Fn(usize) -> Names,
    visit: &mut impl FnMut(String, Node),
) {
    for (name, node) in names(folder) {
        let path = if path.is_empty() {
            name
        } else {
            format!("{path}/{name}")
        };
        visit(path.clone(), node);
        if let Node::Folder(folder) = node {
            walk(folder, &path, names, visit);
        }
    }
}

fn assert_same(path: &str, recorded: &[u8], real: &[u8]) {
    let differs = recorded
        .iter()
        .zip(real)
        .position(|(recorded, real)| recorded != real);
    assert!(
        recorded.len() == real.len() && differs.is_none(),
        "`{path}` does not hold what was recorded (first difference: {differs:?}, {} and {} \
         bytes): a write went past the recording, through a mapping perhaps",
        recorded.len(),
        real.len()
    );
}

/// Folder and name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

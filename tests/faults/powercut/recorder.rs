//! A server whose writes, syncs and answers are recorded.

use super::{
    event::{Contents, Event},
    recording,
};
use kit::{
    Instance, Launch,
    tool::{self, CC},
};
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};
use tempfile::TempDir;

/// A data directory that only recorded servers write to.
pub(crate) struct Recorder {
    folder: TempDir,
    launch: Launch,
    /// The events of all servers that have ended.
    pub(crate) events: Vec<Event>,
}

impl Recorder {
    /// Compiles the shim. Servers are started as `launch` says, with the shim preloaded.
    pub(crate) fn new(launch: Launch) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let shim = folder.path().join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/shim.c");
        tool::run(
            Command::new(CC.require())
                .args(["-shared", "-fPIC", "-O2", "-Wall", "-o"])
                .args([&shim, &source])
                .args(["-ldl", "-lpthread"]),
        );
        let recorder = Self {
            folder,
            launch,
            events: Vec::new(),
        };
        std::fs::create_dir(recorder.data_dir()).unwrap();
        Self {
            launch: recorder
                .launch
                .clone()
                .env("LD_PRELOAD", shim)
                .env("SHIM_FOLDER", recorder.data_dir())
                .env("SHIM_RECORD", recorder.record())
                .env("SHIM_FAIL_SYNC", recorder.order()),
            ..recorder
        }
    }

    /// Starts a server on the directory as the last one left it.
    pub(crate) async fn start(&self) -> Instance {
        Instance::start(&self.launch, &self.data_dir()).await
    }

    /// Number of bytes recorded of the running server.
    pub(crate) fn recorded_bytes(&self) -> u64 {
        std::fs::metadata(self.record()).map_or(0, |file| file.len())
    }

    /// Kills the server and reads its recording.
    pub(crate) async fn crash(&mut self, server: Instance) {
        server.crash().await;
        self.take_in();
    }

    /// Ends the server cleanly and reads its recording.
    pub(crate) async fn terminate(&mut self, server: Instance) -> ExitStatus {
        let status = server.terminate().await;
        self.take_in();
        status
    }

    /// Makes the `which`th sync of the database from now on, counted from 1, fail, among threads of the running
    /// server whose names begin with `thread`.
    pub(crate) fn fail_sync(&self, which: u32, thread: &str) {
        // Renamed into place: the shim must find it complete.
        let written = self.order().with_extension("new");
        std::fs::write(&written, format!("{which} {thread}")).unwrap();
        std::fs::rename(written, self.order()).unwrap();
    }

    /// Whether the sync that was ordered to fail has failed.
    pub(crate) fn sync_failed(&self) -> bool {
        !self.order().exists()
    }

    fn take_in(&mut self) {
        let bytes = std::fs::read(self.record()).expect("the shim has recorded");
        self.events.extend(recording::read(&bytes));
        self.events.push(Event::ProcessEnded {
            left: contents(&self.data_dir()),
        });
        std::fs::remove_file(self.record()).unwrap();
    }

    /// The servers' data directory.
    pub(crate) fn data_dir(&self) -> PathBuf {
        // Canonical, as the shim compares it with the kernel's paths.
        self.folder.path().canonicalize().unwrap().join("data")
    }

    fn order(&self) -> PathBuf {
        self.folder.path().join("fail-sync")
    }

    fn record(&self) -> PathBuf {
        self.folder.path().join("record")
    }
}

/// All files below a folder.
fn contents(folder: &Path) -> Contents {
    let mut contents = Contents::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                contents.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    contents
}

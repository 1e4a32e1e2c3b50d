//! Who can read the data directory and its secrets.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use operations::data_dir::{
    OTHERS, environment,
    secrets::{KEY_FILE, SERVER_KEY_VARIABLE},
};

use super::Finding;
use crate::config::Config;

pub(super) fn examine(config: &Config) -> Vec<Finding> {
    let dir = &config.data_dir;
    let Ok(meta) = fs::metadata(dir) else {
        let message = format!("{} does not exist yet", dir.display());
        let advice = "`scrip serve` creates it at its first start, if its user may";
        return vec![Finding::warning("data", message, advice)];
    };
    if !meta.is_dir() {
        let message = format!("{} is not a directory", dir.display());
        return vec![Finding::failure("data", message, "Set another data_dir")];
    }
    let mine = meta.uid() == rustix::process::geteuid().as_raw();
    vec![directory(dir, meta.mode(), mine), key(dir)]
}

fn directory(dir: &Path, mode: u32, mine: bool) -> Finding {
    const CHECK: &str = "data";
    let path_text = dir.display();
    if !mine {
        return Finding::warning(
            CHECK,
            format!("{path_text} belongs to another user"),
            "Run scrip doctor as the server's user (sudo -u scrip scrip doctor …)",
        );
    }
    match mode & OTHERS {
        0 => Finding::ok(CHECK, format!("only its owner can read {path_text}")),
        _ => Finding::warning(
            CHECK,
            format!("{path_text} can be read by other users of this machine"),
            format!("chmod 700 {path_text}, or start the server, which does that"),
        ),
    }
}

fn key(dir: &Path) -> Finding {
    const CHECK: &str = "server key";
    match environment::secret(SERVER_KEY_VARIABLE) {
        Ok(None) => {}
        Ok(Some(_)) => {
            return Finding::ok(CHECK, "from the environment, or the file that it names");
        }
        Err(error) => {
            let advice = "The server will not start before it can be read";
            return Finding::failure(CHECK, error.to_string(), advice);
        }
    }
    let path = dir.join(KEY_FILE);
    let path_text = path.display();
    match fs::metadata(&path) {
        Ok(meta) if meta.mode() & OTHERS == 0 => Finding::ok(
            CHECK,
            format!("only its owner can read {path_text}; keep a copy of it apart from the data"),
        ),
        Ok(_) => Finding::failure(
            CHECK,
            format!("{path_text} can be read by others, and the server will not start"),
            format!("chmod 600 {path_text}"),
        ),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Finding::warning(
            CHECK,
            format!("there is no server key in {}", dir.display()),
            format!(
                "The first start creates one. If there was data before, put the old one back or set \
                 {SERVER_KEY_VARIABLE}: recovery codes cannot be read without it"
            ),
        ),
        Err(error) => Finding::failure(
            CHECK,
            format!("cannot examine {path_text}: {error}"),
            "Run scrip doctor as the server's user",
        ),
    }
}

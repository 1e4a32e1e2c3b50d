//! Which data directory and configuration a command on the server's machine uses.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::config::{Config, Flags};

/// Options for a data directory and a configuration.
#[derive(Debug, Args)]
pub(super) struct LocalArgs {
    /// The data directory [default: that of the configuration].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A configuration file [default: ./config.toml, if there is one].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl LocalArgs {
    /// The configuration, with the data directory that was named.
    pub(super) fn read(&self) -> Result<Config, crate::config::Error> {
        Config::read(&Flags {
            config: self.config.clone(),
            data_dir: self.data_dir.clone(),
            listen: None,
        })
    }
}

impl From<crate::config::Error> for Failure {
    fn from(error: crate::config::Error) -> Self {
        Self::new(error)
    }
}

//! Which data directory and configuration a command on the server's machine uses.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::Failure;
use crate::config::{Config, Flags};

/// Options for a data directory and a configuration.
#[derive(Debug, Args)]
pub(super) struct LocalArgs {
    /// The data directory [default: that of the configuration].
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
    /// A configuration file [default: ./config.toml, if there is one].
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl LocalArgs {
    /// The configuration, with the data directory that was named.
    pub(super) fn read(&self) -> Result<Config, crate::config::Error> {
        self.read_with(None)
    }

    /// The configuration, with what else was named.
    pub(super) fn read_with(
        &self,
        listen: Option<SocketAddr>,
    ) -> Result<Config, crate::config::Error> {
        Config::read(&Flags {
            config: self.config.clone(),
            data_dir: self.data_dir.clone(),
            listen,
        })
    }
}

impl From<crate::config::Error> for Failure {
    fn from(error: crate::config::Error) -> Self {
        Self::new(error)
    }
}

//! `scrip health`: whether the server of this configuration answers; for containers, which have no other
//! program to ask it.

use std::{net::TcpStream, time::Duration};

use clap::Args;
use url::Url;

use super::{Failure, local::LocalArgs, remote};
use crate::server;

/// Which server to check.
#[derive(Debug, Args)]
pub(super) struct HealthArgs {
    #[command(flatten)]
    local: LocalArgs,
}

const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(args: HealthArgs) -> Result<(), Failure> {
    let config = args.local.read()?;
    let address = server::reachable(config.listen);
    let silent = |why: String| Failure(format!("no server answers at {address}: {why}"));
    if config.http.tls_cert.is_some() {
        // Its certificate is for a name, not for this address.
        let taken = TcpStream::connect_timeout(&address, TIMEOUT);
        return taken.map(drop).map_err(|error| silent(error.to_string()));
    }
    remote::wait(async {
        let url: Url = format!("http://{address}/healthz")
            .parse()
            .map_err(Failure::new)?;
        // The address is always this machine's.
        let http = remote::client(&url).timeout(TIMEOUT).no_proxy();
        let http = http.build().map_err(Failure::new)?;
        let answer = http.get(url).send().await;
        let answer = answer.map_err(|error| silent(remote::root(&error)))?;
        match answer.status().is_success() {
            true => Ok(()),
            false => Err(silent(answer.status().to_string())),
        }
    })
}

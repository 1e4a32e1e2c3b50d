//! Open files: every connection is one. The soft limit, which is often 1,024 for the sake of old
//! programs, is raised to the hard one; what the rest of the service leaves of it bounds the
//! connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files for the store, its threads, calls to providers and mail servers, and the listeners.
const RESERVED: u64 = 512;
/// The minimum of connections with which the server starts.
const MIN_CONNECTIONS: usize = 64;

/// The system allows too few open files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the system allows {allowed} open files, and at least {} are needed: raise the limit \
     (ulimit -n, or LimitNOFILE= of the service)",
    RESERVED.saturating_add(MIN_CONNECTIONS as u64)
)]
pub struct TooFewDescriptors {
    /// The limit, raised as far as it goes.
    pub allowed: u64,
}

/// Raises the soft limit to the hard one; returns how many of the wanted connections fit.
/// # Errors
/// Even the hard limit is too low to serve anybody.
pub fn raise(wanted: usize) -> Result<usize, TooFewDescriptors> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, raised)
    {
        tracing::warn!(%error, "The limit of open files could not be raised");
    }
    fit(wanted, getrlimit(Resource::Nofile).current)
}

/// How many connections fit. `allowed` is `None` where there is no limit.
fn fit(wanted: usize, allowed: Option<u64>) -> Result<usize, TooFewDescriptors> {
    let Some(allowed) = allowed else {
        return Ok(wanted);
    };
    let left = usize::try_from(allowed.saturating_sub(RESERVED)).unwrap_or(usize::MAX);
    if left >= wanted {
        return Ok(wanted);
    }
    if left < MIN_CONNECTIONS {
        return Err(TooFewDescriptors { allowed });
    }
    tracing::warn!(
        "The system allows {allowed} open files, too few for http.max_connections = {wanted}: at \
         most {left} connections are taken. Raise the limit (ulimit -n, or LimitNOFILE= of the \
         service)"
    );
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_many_as_files_allow() {
        assert_eq!(fit(10_000, None), Ok(10_000));
        assert_eq!(fit(10_000, Some(20_000)), Ok(10_000));
        assert_eq!(fit(10_000, Some(1024)), Ok(512));
        assert_eq!(fit(10, Some(1024)), Ok(10));
        assert_eq!(fit(10, Some(520)), Err(TooFewDescriptors { allowed: 520 }));
        let said = TooFewDescriptors { allowed: 256 }.to_string();
        assert!(said.contains("256") && said.contains("576"), "{said}");
    }
}

//! Which other process leads, as one that follows knows it, and what such a process says of itself.

use std::sync::Arc;

use axum::{Router, extract::State, routing::get};
use cluster::{FrontSwitch, Origin};
use parking_lot::Mutex;
use web::api::FastPath;

/// Which other process leads, as the log says.
#[derive(Default)]
pub(super) struct LeaderSeen(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    leader: Option<Origin>,
    /// Whom it is told, and where this process is reached itself: it does not pass anything on to itself.
    told: Option<(FrontSwitch<FastPath>, Option<Origin>)>,
}

impl LeaderSeen {
    pub(super) fn saw(&self, leader: Option<Origin>) {
        let mut seen = self.0.lock();
        seen.leader = leader;
        seen.pass_on();
    }

    pub(super) fn tell(&self, switch: FrontSwitch<FastPath>, own: Option<Origin>) {
        let mut seen = self.0.lock();
        seen.told = Some((switch, own));
        seen.pass_on();
    }

    fn is_known(&self) -> bool {
        self.0.lock().leader.is_some()
    }
}

impl Seen {
    fn pass_on(&self) {
        if let Some((switch, own)) = &self.told {
            match &self.leader {
                Some(leader) if Some(leader) != own.as_ref() => switch.elsewhere(leader.clone()),
                _ => switch.unknown(),
            }
        }
    }
}

/// What a process that does not lead says of itself.
pub(super) fn local(leader: &Arc<LeaderSeen>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route(
            "/readyz",
            get(|State(leader): State<Arc<LeaderSeen>>| async move {
                match leader.is_known() {
                    true => Ok("ok: requests are passed on to the leader\n"),
                    false => Err(wire::Error::new(wire::ErrorCode::Unavailable)),
                }
            }),
        )
        .with_state(Arc::clone(leader))
}

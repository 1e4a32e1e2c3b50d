//! Which other process leads, as one that follows knows it, and what such a process says of itself.

use std::sync::Arc;

use axum::{Router, extract::State, routing::get};
use parking_lot::Mutex;
use scrip_http::connections::Responder;
use wire::{Error, ErrorCode};

use crate::front::{FrontSwitch, Origin};

/// Called with the leader, if one is known.
type OnChange = Box<dyn Fn(Option<Origin>) + Send + Sync>;

/// Which other process leads, as the log says.
#[derive(Default)]
pub(crate) struct LeaderSeen(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    leader: Option<Origin>,
    on_change: Option<OnChange>,
}

impl LeaderSeen {
    pub(crate) fn saw(&self, leader: Option<Origin>) {
        let mut seen = self.0.lock();
        seen.leader = leader;
        seen.report();
    }

    /// Tells a front from now on. `own`: where this process is reached itself, since it passes nothing on to itself.
    pub(crate) fn report_to<R: Responder>(&self, switch: FrontSwitch<R>, own: Option<Origin>) {
        let mut seen = self.0.lock();
        seen.on_change = Some(Box::new(move |leader| match leader {
            Some(leader) if Some(&leader) != own.as_ref() => switch.elsewhere(leader),
            _ => switch.unknown(),
        }));
        seen.report();
    }

    fn is_known(&self) -> bool {
        self.0.lock().leader.is_some()
    }
}

impl Seen {
    fn report(&self) {
        if let Some(on_change) = &self.on_change {
            on_change(self.leader.clone());
        }
    }
}

/// What a process that does not lead says of itself.
pub(crate) fn local(leader: &Arc<LeaderSeen>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route(
            "/readyz",
            get(|State(leader): State<Arc<LeaderSeen>>| async move {
                match leader.is_known() {
                    true => Ok("ok: requests are passed on to the leader\n"),
                    false => Err(Error::new(ErrorCode::Unavailable)),
                }
            }),
        )
        .with_state(Arc::clone(leader))
}

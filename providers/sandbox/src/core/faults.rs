//! Trouble on order, for tests of a caller's patience: for the next calls of some path the sandbox
//! hangs, refuses for now, or breaks. Kept in memory alone: a server that starts anew has none.

use serde::Serialize;

use super::{operations::Instead, prelude::*};

const MAX_FAULTS: usize = 100;
const MAX_TIMES: u32 = 10_000;
/// So long a caller is kept waiting at most, by the wall.
const MAX_SECONDS: u64 = 600;

words! {
    /// What goes wrong.
    Kind {
        /// No answer, and nothing is done.
        Hang "hang",
        /// No answer, though all is done.
        Lost "lost",
        /// Too many requests.
        RateLimit "rate_limit",
        /// Somebody else has the object in hand.
        LockTimeout "lock_timeout",
        /// The server breaks, and nothing is done.
        Error "error",
    }
}

/// Trouble for some calls.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// What the paths of those calls begin with, such as `refunds`.
    path: String,
    method: Option<&'static str>,
    times: u32,
    pub(crate) status: u16,
    /// Of the header, where it is sent.
    pub(crate) retry_after: Option<u32>,
    /// How long it hangs.
    pub(crate) seconds: u64,
}

impl Fault {
    fn read(params: &Params) -> Result<Self> {
        let kind = need(params.choice("kind")?, "kind")?;
        // The first is the usual one.
        let allowed: &[u16] = match kind {
            Kind::Hang | Kind::Lost => &[504],
            Kind::RateLimit => &[429],
            Kind::LockTimeout => &[429, 409],
            Kind::Error => &[500, 502, 503, 504],
        };
        let usual = allowed.first().copied().unwrap_or(500);
        let status = params.integer("status")?.unwrap_or(usual);
        let message = format!("One of these goes with this kind: {allowed:?}");
        Refusal::param("status", message).when(!allowed.contains(&status))?;
        let times = params.integer::<u32>("times")?.unwrap_or(1);
        let message = format!("1 to {MAX_TIMES} is possible");
        Refusal::param("times", message).when(!(1..=MAX_TIMES).contains(&times))?;
        let seconds = params.integer::<u64>("seconds")?.unwrap_or(60);
        let message = format!("At most {MAX_SECONDS} seconds are possible");
        Refusal::param("seconds", message).when(seconds > MAX_SECONDS)?;
        Ok(Self {
            kind,
            path: params.bounded("path", 200)?.unwrap_or_default(),
            method: params.word("method", &["GET", "POST", "DELETE"])?,
            times,
            status,
            retry_after: params.integer::<u32>("retry_after")?,
            seconds,
        })
    }

    /// The answer that a caller gets, in Stripe's form.
    pub(crate) fn body(&self) -> Value {
        let refusal = match self.kind {
            Kind::RateLimit => Refusal::rate_limit(),
            Kind::LockTimeout => {
                let message = "This object cannot be accessed right now because another API request \
                               or Stripe process is currently accessing it. If you see this error \
                               intermittently, retry the request.";
                Refusal::invalid(message).with_code("lock_timeout")
            }
            Kind::Hang | Kind::Lost | Kind::Error => {
                let message = "Sorry! There was an error while talking to Stripe. (The sandbox was \
                               told to say so.)";
                let kind = "api_error";
                Refusal {
                    kind,
                    ..Refusal::invalid(message)
                }
            }
        };
        refusal.body()
    }

    /// What is answered without anything being done.
    pub(crate) fn instead(&self) -> Option<Instead> {
        let is_kept = match self.kind {
            // Nothing began, so nothing is kept.
            Kind::RateLimit | Kind::LockTimeout => false,
            Kind::Error => true,
            Kind::Hang | Kind::Lost => return None,
        };
        let (status, body) = (self.status, self.body());
        let answer = Answer { status, body };
        Some(Instead { answer, is_kept })
    }
}

/// All that was ordered and did not happen yet, the first first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// What scripts order: `POST`, `GET`, `DELETE /script/faults`.
    pub(crate) fn call(&mut self, method: &str, params: &Params) -> Result<Value> {
        match method {
            "POST" => {
                let fault = Fault::read(params)?;
                params.finish()?;
                let message = format!("At most {MAX_FAULTS} faults wait for their calls.");
                Refusal::invalid(message).when(self.0.len() >= MAX_FAULTS)?;
                self.0.push(fault);
            }
            "GET" => params.finish()?,
            "DELETE" => {
                params.finish()?;
                self.0.clear();
            }
            _ => return Err(Refusal::no_route(method, "faults")),
        }
        Ok(json!({ "faults": self.0 }))
    }

    /// What happens to this call, once less often.
    pub(crate) fn take(&mut self, method: &str, path: &str) -> Option<Fault> {
        let place = self.0.iter().position(|fault| {
            path.starts_with(&fault.path) && fault.method.is_none_or(|wanted| wanted == method)
        })?;
        let fault = self.0.get_mut(place)?;
        fault.times = fault.times.saturating_sub(1);
        let taken = fault.clone();
        if taken.times == 0 {
            self.0.remove(place);
        }
        Some(taken)
    }
}

//! Faults requested by a script, to test a caller's retries: for the next calls of some path the sandbox hangs, refuses
//! or breaks. Kept in memory only.

use serde::Serialize;

use super::{operations::InjectedFailure, prelude::*};

const MAX_FAULTS: usize = 100;
const MAX_TIMES: u32 = 10_000;
/// The longest time that a caller waits, in real seconds.
const MAX_SECONDS: u64 = 600;

words! {
    Kind {
        /// No answer, and nothing is done.
        Hang,
        /// No answer, although it is done.
        Lost,
        /// Too many requests.
        RateLimit,
        /// Another request has the object locked.
        LockTimeout,
        /// Another request has the idempotency key.
        KeyInUse,
        /// An internal error, and nothing is done.
        Error,
    }
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// The path prefix of those calls, for example `refunds`.
    path: String,
    method: Option<&'static str>,
    times: u32,
    pub(crate) status: u16,
    /// Seconds in the header `Retry-After`, if sent.
    pub(crate) retry_after: Option<u32>,
    pub(crate) seconds: u64,
}

impl Fault {
    fn read(params: &Params) -> Result<Self> {
        let kind = need(params.choice("kind")?, "kind")?;
        // The first is the default.
        let allowed: &[u16] = match kind {
            Kind::Hang | Kind::Lost => &[504],
            Kind::RateLimit => &[429],
            Kind::LockTimeout => &[429, 409],
            Kind::KeyInUse => &[409],
            Kind::Error => &[500, 502, 503, 504],
        };
        let usual = allowed.first().copied().unwrap_or(500);
        let status = params.integer("status")?.unwrap_or(usual);
        let message = format!("This kind takes one of these: {allowed:?}");
        Refusal::param("status", message).when(!allowed.contains(&status))?;
        let times = params.integer::<u32>("times")?.unwrap_or(1);
        let message = format!("This must be 1 to {MAX_TIMES}");
        Refusal::param("times", message).when(!(1..=MAX_TIMES).contains(&times))?;
        let seconds = params.integer::<u64>("seconds")?.unwrap_or(60);
        let message = format!("This must be at most {MAX_SECONDS}");
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

    pub(crate) fn body(&self) -> Value {
        let refusal = match self.kind {
            Kind::RateLimit => Refusal::rate_limit(),
            Kind::LockTimeout => {
                let message = "This object cannot be accessed right now because another API request \
                               or Stripe process is currently accessing it. If you see this error \
                               intermittently, retry the request.";
                Refusal::invalid(message).with_code("lock_timeout")
            }
            Kind::KeyInUse => {
                let message = "There is currently another in-progress request using this Idempotent \
                               Key (that probably means you submitted twice, and the other request \
                               is still going through). Please try again later.";
                let kind = "idempotency_error";
                Refusal {
                    kind,
                    ..Refusal::invalid(message).with_code("idempotency_key_in_use")
                }
            }
            Kind::Hang | Kind::Lost | Kind::Error => {
                let message = "Sorry! There was an error while talking to Stripe. (A script \
                               asked the sandbox for it.)";
                let kind = "api_error";
                Refusal {
                    kind,
                    ..Refusal::invalid(message)
                }
            }
        };
        refusal.body()
    }

    /// The answer of a call that is not carried out.
    pub(crate) fn instead(&self) -> Option<InjectedFailure> {
        let is_kept = match self.kind {
            Kind::RateLimit | Kind::LockTimeout | Kind::KeyInUse => false,
            Kind::Error => true,
            Kind::Hang | Kind::Lost => return None,
        };
        let (status, body) = (self.status, self.body());
        let answer = Answer { status, body };
        Some(InjectedFailure { answer, is_kept })
    }
}

/// Pending faults, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    /// Adds, lists or clears faults: `POST`, `GET`, `DELETE /script/faults`.
    pub(crate) fn call(&mut self, method: &str, params: &Params) -> Result<Value> {
        match method {
            "POST" => {
                let fault = Fault::read(params)?;
                params.finish()?;
                let message = format!("At most {MAX_FAULTS} faults can be pending.");
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

    /// The fault of this call, used up once.
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

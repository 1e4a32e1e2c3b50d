//! Checks the age of the last backup, the last verification, and the settings of mail.

use domain::Timestamp;
use operations::data_dir::{backed_up, verified::VerifyResult};

use super::Finding;
use crate::config::Config;

/// The last backup may be two days old.
const MAX_AGE_SECONDS: i64 = 2 * 24 * 3600;

pub(super) fn examine(config: &Config) -> Vec<Finding> {
    let now = Timestamp(jiff::Timestamp::now().as_millisecond());
    let is_used = backed_up::used_since(&config.data_dir).is_some();
    let backup = is_used.then(|| backup(config, now));
    let verified = verified(config);
    [Some(mail(config)), backup, verified]
        .into_iter()
        .flatten()
        .collect()
}

fn backup(config: &Config, now: Timestamp) -> Finding {
    const CHECK: &str = "backups";
    let advice = "Set backup.to and backup.every, or run scrip backup from cron";
    let newest = config.backup.to.as_deref().map(persistence::backup::newest);
    let newest = newest.and_then(|newest| Some(newest.ok()??.made_at));
    let last = backed_up::last(&config.data_dir).max(newest);
    let Some(last) = last else {
        return Finding::warning(CHECK, "this data has no backup yet", advice);
    };
    let seconds = now.0.saturating_sub(last.0).div_euclid(1000);
    let hours = seconds.div_euclid(3600);
    match seconds > MAX_AGE_SECONDS {
        true => Finding::warning(CHECK, format!("the last one is {hours} hours old"), advice),
        false => Finding::ok(CHECK, format!("the last one is {hours} hours old")),
    }
}

fn verified(config: &Config) -> Option<Finding> {
    const CHECK: &str = "verification";
    match VerifyResult::read(&config.data_dir).ok()?? {
        found if found.problems > 0 => Some(Finding::failure(
            CHECK,
            format!("the last scrip verify found {} problems", found.problems),
            "Run it again on a restored backup, and delete no backup until then",
        )),
        _ => Some(Finding::ok(
            CHECK,
            "the last scrip verify found no problems",
        )),
    }
}

fn mail(config: &Config) -> Finding {
    const CHECK: &str = "mail";
    match (&config.mail.smtp_url, config.mail.files) {
        (Some(_), _) => Finding::ok(CHECK, "a mail server is set"),
        (None, true) => Finding::warning(
            CHECK,
            "mails are written to files",
            "Set mail.smtp_url to send them",
        ),
        (None, false) => Finding::warning(
            CHECK,
            "no mail server is set: buyers who lost their code get none",
            "Set mail.smtp_url",
        ),
    }
}

//! What a client notices of the limits, in virtual time.

use domain::{catalog::Mode, text::Email};

use super::*;

const START: Timestamp = Timestamp(1_800_000_000_000);
const ALICE: Client = Client::V6(1);
const BOB: Client = Client::V6(2);
const KEY: KeyId = KeyId(1);
const PROJECT: ProjectId = ProjectId(1);

fn at(millis: i64) -> Timestamp {
    Timestamp(START.0.saturating_add(millis))
}

fn request(limits: &Limits, client: Client, now: Timestamp) -> Result<BucketState, LimitExceeded> {
    limits
        .request(KeyKind::Publishable, KEY, client, now)
        .unwrap()
}

#[test]
fn thirty_at_once_then_five_a_second() {
    let limits = Limits::new(Settings::default());
    for left in (0..30).rev() {
        assert_eq!(request(&limits, ALICE, START).unwrap().remaining, left);
    }
    let refused = LimitExceeded {
        limit: 30,
        retry_after_seconds: 1,
        reset_seconds: 6,
    };
    assert_eq!(request(&limits, ALICE, START), Err(refused));
    assert_eq!(request(&limits, ALICE, at(199)), Err(refused));
    assert_eq!(request(&limits, ALICE, at(200)).unwrap().remaining, 0);
    assert!(request(&limits, ALICE, at(200)).is_err());
    let rested = request(&limits, ALICE, at(60_000)).unwrap();
    assert_eq!(
        rested,
        BucketState {
            limit: 30,
            remaining: 29,
            reset_seconds: 1
        }
    );
}

#[test]
fn clients_and_keys_do_not_share_a_bucket() {
    let limits = Limits::new(Settings::default());
    while request(&limits, ALICE, START).is_ok() {}
    assert!(request(&limits, BOB, START).is_ok());
    assert!(
        limits
            .request(KeyKind::Publishable, KeyId(2), ALICE, START)
            .unwrap()
            .is_ok()
    );
}

#[test]
fn secret_keys_are_limited_only_when_configured() {
    let limits = Limits::new(Settings::default());
    assert_eq!(limits.request(KeyKind::Secret, KEY, ALICE, START), None);
    let rate = Rate::default();
    let limits = Limits::new(Settings {
        secret: Some(rate),
        ..Settings::default()
    });
    assert!(
        limits
            .request(KeyKind::Secret, KEY, ALICE, START)
            .unwrap()
            .is_ok()
    );
}

#[test]
fn a_clock_set_back_locks_nobody_out() {
    let limits = Limits::new(Settings::default());
    while request(&limits, ALICE, at(3_600_000)).is_ok() {}
    assert!(
        request(&limits, ALICE, START)
            .unwrap_err()
            .retry_after_seconds
            <= 1
    );
}

#[test]
fn twenty_invalid_codes_an_hour() {
    let limits = Limits::new(Settings::default());
    for second in 0..20 {
        limits
            .may_look_up(PROJECT, ALICE, at(second * 1000))
            .unwrap();
        limits
            .count_miss(PROJECT, ALICE, &second.to_string(), at(second * 1000))
            .unwrap();
    }
    let now = at(20_000);
    let refusal = limits.may_look_up(PROJECT, ALICE, now).unwrap_err();
    assert_eq!(
        refusal,
        LimitExceeded {
            limit: 20,
            retry_after_seconds: 3580,
            reset_seconds: 3599
        }
    );
    let another = limits.count_miss(PROJECT, ALICE, "another", now);
    assert_eq!(another, Err(refusal));
    assert!(limits.may_look_up(PROJECT, BOB, now).is_ok());
    assert!(limits.may_look_up(ProjectId(2), ALICE, now).is_ok());
    assert!(limits.may_look_up(PROJECT, ALICE, at(3_599_999)).is_err());
    assert!(limits.may_look_up(PROJECT, ALICE, at(3_600_000)).is_ok());
}

#[test]
fn a_wrong_code_counts_once_an_hour_however_often_it_is_tried() {
    let limits = Limits::new(Settings::default());
    let tries = |code: &str, now| limits.count_miss(PROJECT, ALICE, code, now);
    for second in 0..100 {
        tries("the same", at(second * 1000)).unwrap();
    }
    for code in 0..19 {
        tries(&code.to_string(), at(100_000)).unwrap();
    }
    let now = at(101_000);
    assert!(limits.may_look_up(PROJECT, ALICE, now).is_err());
    assert!(tries("another", now).is_err());
    // An hour after it counted, not after it was tried last; then it counts again.
    let later = at(3_600_000);
    assert!(limits.may_look_up(PROJECT, ALICE, later).is_ok());
    tries("the same", later).unwrap();
    assert!(limits.may_look_up(PROJECT, ALICE, later).is_err());
}

#[test]
fn of_a_large_limit_no_more_codes_are_remembered_than_fit() {
    let limits = Limits::new(Settings {
        invalid_codes_per_hour: 1_000_000,
        ..Settings::default()
    });
    for code in 0..5000 {
        let tried = limits.count_miss(PROJECT, ALICE, &code.to_string(), START);
        tried.unwrap();
    }
    let misses = limits.invalid_codes.get(&(PROJECT, ALICE)).unwrap();
    assert_eq!(misses.lock().remembered(), 1024);
    let shown = format!("{misses:?}");
    assert!(shown.contains("Hash(..)") && !shown.contains("4999"));
}

fn email(text: &str) -> Email {
    Email::new(text).unwrap()
}

#[test]
fn ten_recoveries_an_hour_from_an_address() {
    let limits = Limits::new(Settings::default());
    for second in 0..10 {
        limits.recover(PROJECT, ALICE, at(second * 1000)).unwrap();
    }
    let now = at(10_000);
    let refusal = LimitExceeded {
        limit: 10,
        retry_after_seconds: 3590,
        reset_seconds: 3599,
    };
    assert_eq!(limits.recover(PROJECT, ALICE, now), Err(refusal));
    // Asking on does not put it off.
    for second in 10..3600 {
        let now = at(second * 1000);
        assert!(limits.recover(PROJECT, ALICE, now).is_err(), "{second}");
    }
    assert!(limits.recover(PROJECT, BOB, now).is_ok());
    assert!(limits.recover(ProjectId(2), ALICE, now).is_ok());
    assert!(limits.recover(PROJECT, ALICE, at(3_600_000)).is_ok());
    assert!(limits.recover(PROJECT, ALICE, at(3_600_000)).is_err());
}

#[test]
fn a_subscribers_ipv6_network_counts_as_one() {
    let limits = Limits::new(Settings::default());
    let address = |text: &str| Client::from(text.parse::<IpAddr>().unwrap());
    for host in 1..=10 {
        let client = address(&format!("2001:db8:1:2::{host}"));
        limits.recover(PROJECT, client, START).unwrap();
    }
    assert!(
        limits
            .recover(PROJECT, address("2001:db8:1:2:ffff::1"), START)
            .is_err()
    );
    assert!(
        limits
            .recover(PROJECT, address("2001:db8:1:3::1"), START)
            .is_ok()
    );
}

#[test]
fn three_mails_an_hour_to_an_address() {
    let limits = Limits::new(Settings::default());
    let ann = email("Ann@Example.org");
    for minute in 0..3 {
        assert!(limits.may_mail(PROJECT, &ann, at(minute * 60_000)));
    }
    assert!(!limits.may_mail(PROJECT, &ann, at(180_000)));
    // One mailbox, however it is written.
    assert!(!limits.may_mail(PROJECT, &email("ann@example.ORG"), at(180_000)));
    assert!(limits.may_mail(PROJECT, &email("bob@example.org"), at(180_000)));
    assert!(limits.may_mail(ProjectId(2), &ann, at(180_000)));
    assert!(!limits.may_mail(PROJECT, &ann, at(3_599_999)));
    assert!(limits.may_mail(PROJECT, &ann, at(3_600_000)));
    assert!(!limits.may_mail(PROJECT, &ann, at(3_600_000)));
}

#[test]
fn addresses_are_not_kept() {
    let limits = Limits::new(Settings::default());
    assert!(limits.may_mail(PROJECT, &email("ann@example.org"), START));
    let kept: Vec<_> = limits.recovery_mails.iter().collect();
    assert_eq!(kept.len(), 1);
    assert!(!format!("{kept:?}{limits:?}").contains("ann@"));
}

fn project(all: Option<u32>, per_client: Option<u32>) -> Project {
    let limit = |max| CreationLimit {
        max,
        window_seconds: 60,
    };
    Project {
        wallet_creation_limit: all.map(limit),
        wallet_creation_limit_per_ip: per_client.map(limit),
        ..Project::new(PROJECT, "Demo".into(), Mode::CreditCodes, START)
    }
}

const FREE: Creation = Creation::Free;

#[test]
fn wallets_made_for_nothing_leave_the_checkouts_theirs() {
    let limits = Limits::new(Settings::default());
    let project = project(Some(3), Some(2));
    for client in [ALICE, ALICE, BOB] {
        limits
            .create_wallet(&project, (client, FREE), START)
            .unwrap();
    }
    assert!(limits.create_wallet(&project, (BOB, FREE), START).is_err());
    let bought = (ALICE, Creation::Checkout);
    for _ in 0..2 {
        limits.create_wallet(&project, bought, START).unwrap();
    }
    assert!(limits.create_wallet(&project, bought, START).is_err());
    limits.wallet_not_created(project.id, bought);
    assert!(limits.create_wallet(&project, bought, START).is_ok());
    assert!(limits.create_wallet(&project, (BOB, FREE), START).is_err());
}

#[test]
fn new_wallets_are_limited_per_project_and_per_client() {
    let limits = Limits::new(Settings::default());
    let project = project(Some(3), Some(2));
    assert!(limits.create_wallet(&project, (ALICE, FREE), START).is_ok());
    assert!(limits.create_wallet(&project, (ALICE, FREE), START).is_ok());
    assert_eq!(
        limits
            .create_wallet(&project, (ALICE, FREE), START)
            .unwrap_err()
            .limit,
        2
    );
    assert!(
        limits
            .create_wallet(&project, (BOB, FREE), at(30_000))
            .is_ok()
    );
    let refusal = limits
        .create_wallet(&project, (BOB, FREE), at(30_000))
        .unwrap_err();
    assert_eq!(
        refusal,
        LimitExceeded {
            limit: 3,
            retry_after_seconds: 30,
            reset_seconds: 60
        }
    );
    assert!(
        limits
            .create_wallet(&project, (BOB, FREE), at(60_000))
            .is_ok()
    );
}

#[test]
fn a_refused_or_failed_creation_uses_nothing_up() {
    let limits = Limits::new(Settings::default());
    let project = project(Some(1), Some(1));
    for _ in 0..5 {
        limits
            .create_wallet(&project, (ALICE, FREE), START)
            .unwrap();
        limits.wallet_not_created(project.id, (ALICE, FREE));
    }
    limits
        .create_wallet(&project, (ALICE, FREE), START)
        .unwrap();
    assert!(limits.create_wallet(&project, (BOB, FREE), START).is_err());
    assert!(
        limits
            .create_wallet(&project, (BOB, FREE), at(60_000))
            .is_ok()
    );
}

#[test]
fn no_limit_and_a_limit_of_none_at_all() {
    let limits = Limits::new(Settings::default());
    for _ in 0..5000 {
        assert!(
            limits
                .create_wallet(&project(None, None), (ALICE, FREE), START)
                .is_ok()
        );
    }
    let refusal = limits
        .create_wallet(&project(Some(0), None), (ALICE, FREE), START)
        .unwrap_err();
    assert_eq!(refusal.retry_after_seconds, 60);
}

#[test]
fn a_huge_limit_keeps_few_instants_and_forgets_none_early() {
    let limit = CreationLimit {
        max: 1_000_000,
        window_seconds: 3600,
    };
    let mut window = Window::default();
    for number in 0..1_000_000 {
        window.take(limit, at(number)).unwrap();
    }
    assert!((500..=4097).contains(&window.len()));
    assert!(window.take(limit, at(1_000_000)).is_err());
    assert!(window.check(limit, at(3_599_999)).is_err());
    assert!(window.check(limit, at(3_601_000)).is_ok());
    assert!(window.len() > 500, "all were forgotten at once");
}

#[test]
fn strangers_cannot_fill_the_memory() {
    let settings = Settings {
        tracked_clients: 300,
        ..Settings::default()
    };
    let limits = Limits::new(settings);
    for stranger in 0..10_000 {
        let client = Client::V6(stranger);
        let _ = request(&limits, client, START);
        let _ = limits.count_miss(PROJECT, client, "x", START);
        let _ = limits.create_wallet(&project(None, Some(9)), (client, FREE), START);
        let _ = limits.recover(PROJECT, client, START);
        let _ = limits.may_mail(PROJECT, &email(&format!("{stranger}@example.org")), START);
    }
    assert!(limits.buckets.len() <= 60);
    assert!(limits.invalid_codes.len() <= 60);
    assert!(limits.creations_by_client.len() <= 60);
    assert!(limits.recoveries.len() <= 60);
    assert!(limits.recovery_mails.len() <= 60);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_token_takes_its_time_and_a_crowd_of_them_no_memory() {
    let limits = Arc::new(Limits::new(Settings::default()));
    let begun = tokio::time::Instant::now();
    let wrong = limits.wrong_token(TokenScope::Administration, ALICE, START);
    assert_eq!(wrong.await, Ok(()));
    let took = begun.elapsed();
    assert!(took.as_millis() >= 100, "{took:?}");
    let mut crowd = tokio::task::JoinSet::new();
    for _ in 0..10 * admin::MAX_DELAYED {
        let limits = Arc::clone(&limits);
        let wrong = async move {
            limits
                .wrong_token(TokenScope::Administration, ALICE, START)
                .await
        };
        crowd.spawn(wrong);
    }
    let refused = crowd.join_all().await;
    assert_eq!(refused.iter().filter(|one| one.is_ok()).count(), 19);
    assert!(begun.elapsed() < took.saturating_mul(3));
    assert_eq!(limits.slowed.available_permits(), admin::MAX_DELAYED);
    assert_eq!(limits.count_admin_request(ALICE, START), Ok(()));
}

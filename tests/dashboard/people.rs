//! People: what each may do, also when they edit the address bar; how they come in, and how they are kept out.

use domain::{Timestamp, id::UserId};
use kit::service::{ADMIN_TOKEN, Service};
use scrip::{
    catalog::NewProject,
    identity::{self, NewUser, Queued, Role, TotpSecret, UserChange},
};

use crate::browser::{Browser, Page};

const PASSWORD: &str = "a long enough password";

/// Somebody who can sign in.
pub(crate) struct Person {
    pub(crate) id: UserId,
    email: String,
    totp: TotpSecret,
    recovery: Vec<String>,
}

pub(crate) fn new(name: &str, role: Role) -> NewUser {
    NewUser {
        name: name.into(),
        email: format!("{}@example.com", name.to_lowercase()),
        role,
        projects: None,
        grant_limit_per_day: None,
        refund_limit_cents_per_day: None,
    }
}

fn now(service: &Service) -> Timestamp {
    use actors::clock::Clock as _;
    service.clock.now()
}

/// Somebody who accepted an invitation, without a browser.
pub(crate) async fn person(service: &Service, new: NewUser) -> Person {
    let people = service.people();
    let now = now(service);
    let invited = people.invite(new, now).await.unwrap();
    let chosen = people.choose_password(&invited.secret, PASSWORD, now).await;
    let (user, totp, ticket) = chosen.unwrap();
    let accepted = people.accept(&ticket, &totp.code_at(now), now).await;
    Person {
        id: user.id,
        email: user.email.clone(),
        totp,
        recovery: accepted.unwrap().1.0,
    }
}

/// The page after the first step of signing in.
async fn with_password(browser: &mut Browser, email: &str, password: &str) -> Page {
    browser
        .sign_in(&[("email", email), ("password", password)])
        .await
}

/// A browser in which somebody is signed in. A code is good once, so this takes a minute.
pub(crate) async fn signed_in(service: &Service, person: &Person) -> Browser {
    service.clock.advance_millis(60_000);
    let mut browser = Browser::new(&service.base);
    let page = with_password(&mut browser, &person.email, PASSWORD).await;
    let ticket = page.value("ticket").unwrap().to_owned();
    let code = person.totp.code_at(now(service));
    let page = browser
        .sign_in(&[("ticket", &ticket), ("code", &code)])
        .await;
    assert_eq!((page.status, page.location()), (303, "/dashboard"));
    browser
}

#[tokio::test]
async fn a_second_factor_is_judged_by_the_machines_clock_as_the_app_shows_it() {
    let service = Service::start().await;
    let ann = person(&service, new("Ann", Role::Support)).await;
    // The service's own clock makes up for a jump of the machine's slowly.
    for ahead in [-3_600_000, 3_600_000] {
        // A code that is later than all that were used.
        service.clock.advance_millis(2 * 3_600_000 + 60_000);
        service.clock.be_ahead(ahead);
        let now = now(&service);
        let machine = Timestamp(now.0 - ahead);
        for (at, comes_in) in [(now, false), (machine, true)] {
            let mut browser = Browser::new(&service.base);
            let page = with_password(&mut browser, &ann.email, PASSWORD).await;
            let ticket = page.value("ticket").unwrap().to_owned();
            let code = ann.totp.code_at(at);
            let page = browser
                .sign_in(&[("ticket", &ticket), ("code", &code)])
                .await;
            assert_eq!(page.status == 303, comes_in, "{ahead}: {}", page.html);
        }
    }
}

#[tokio::test]
async fn an_owner_invites_somebody_who_sets_a_password_and_a_second_factor_and_signs_in_once() {
    let service = Service::start().await;
    let owner = Browser::signed_in(&service).await;
    owner
        .get("/dashboard/people")
        .await
        .shows("Nobody has an account");
    let form = [
        ("name", "Ann \u{202e}nimda"),
        ("email", "Ann@Example.com"),
        ("role", "support"),
    ];
    let page = owner.post("/dashboard/people", &form).await;
    assert_eq!(page.status, 200);
    page.shows("<bdi>&quot;Ann \\u{202e}nimda&quot;</bdi>");
    let secret = page.between("/dashboard/invitation#", "<").to_owned();
    let again = owner.post("/dashboard/people", &form).await;
    assert_eq!(again.status, 409);
    again.shows("Another user has this e-mail address");

    let mut browser = Browser::new(&service.base);
    browser
        .get("/dashboard/invitation")
        .await
        .shows("invitation.js");
    let path = "/dashboard/invitation";
    let stranger = Browser::new(&service.base);
    let accept = async |browser: &Browser, form: &[(&str, &str)]| {
        browser.post_as_it_is(path, form, &[]).await
    };
    let short = [("secret", secret.as_str()), ("password", "short")];
    assert_eq!(accept(&browser, &short).await.status, 400);
    let form = [("secret", secret.as_str()), ("password", PASSWORD)];
    let page = accept(&browser, &form).await;
    assert_eq!(page.status, 200);
    let ticket = page.value("ticket").unwrap().to_owned();
    let totp = page.between("secret=", "&").to_owned();
    let totp = TotpSecret::read(&totp).unwrap();
    let page = accept(&browser, &[("ticket", &ticket), ("code", "000000")]).await;
    assert_eq!(page.status, 401);
    let code = totp.code_at(now(&service));
    let form = [("ticket", ticket.as_str()), ("code", code.as_str())];
    let page = accept(&browser, &form).await;
    assert_eq!(page.status, 200, "{}", page.html);
    page.shows("Welcome").shows("recovery codes");
    browser.cookie = page.headers["set-cookie"]
        .to_str()
        .unwrap()
        .split(';')
        .next()
        .map(str::to_owned);
    browser
        .get("/dashboard")
        .await
        .shows("Demo")
        .lacks("Create project");
    // Neither step works twice.
    assert_eq!(accept(&stranger, &form).await.status, 404);
    let form = [("secret", secret.as_str()), ("password", PASSWORD)];
    assert_eq!(accept(&stranger, &form).await.status, 404);
    // A code that was used does not sign in.
    let page = with_password(&mut browser, "ann@example.com", PASSWORD).await;
    let ticket = page.value("ticket").unwrap().to_owned();
    let page = browser
        .sign_in(&[("ticket", &ticket), ("code", &code)])
        .await;
    assert_eq!(page.status, 401);
    page.shows("used before");
}

#[tokio::test]
async fn a_recovery_code_signs_in_once_and_wrong_codes_do_not_shut_it_out() {
    let service = Service::start().await;
    let ann = person(&service, new("Ann", Role::Viewer)).await;
    let mut browser = Browser::new(&service.base);
    let page = with_password(&mut browser, &ann.email, PASSWORD).await;
    let ticket = page.value("ticket").unwrap().to_owned();
    service.clock.advance_millis(60_000);
    for _ in 0..10 {
        let page = browser.sign_in(&[("ticket", &ticket), ("code", "1")]).await;
        assert_eq!(page.status, 401);
    }
    let code = ann.totp.code_at(now(&service));
    let page = browser
        .sign_in(&[("ticket", &ticket), ("code", &code)])
        .await;
    assert_eq!(page.status, 401, "no more guesses at six digits");
    let recovery = [
        ("ticket", ticket.as_str()),
        ("code", ann.recovery[0].as_str()),
    ];
    assert_eq!(browser.sign_in(&recovery).await.status, 303);
    assert_eq!(browser.get("/dashboard").await.status, 200);
    assert_eq!(browser.sign_in(&recovery).await.status, 401, "used");
}

#[tokio::test]
async fn who_edits_the_address_bar_gets_no_further_than_their_role() {
    let service = Service::start().await;
    let project = format!("/dashboard/projects/{}", service.project.id);
    let support = person(&service, new("Sue", Role::Support)).await;
    let browser = signed_in(&service, &support).await;
    let page = browser.get(&project).await;
    assert_eq!(page.status, 200);
    browser
        .get("/dashboard")
        .await
        .lacks("/dashboard/people")
        .lacks("/dashboard/system");
    for path in ["/dashboard/people", "/dashboard/system", "/dashboard/audit"] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 403, "{path}");
        page.shows("Your role does not allow this");
    }
    let keys = service
        .catalog
        .project(service.project.id)
        .unwrap()
        .keys()
        .count();
    for (path, form) in [
        (format!("{project}/keys"), [("kind", "secret")]),
        (format!("{project}/settings"), [("name", "Mine")]),
        (format!("{project}/settings/provider"), [("kind", "none")]),
        (
            format!("{project}/webhooks"),
            [("url", "https://evil.example")],
        ),
        (format!("{project}/catalog"), [("name", "x")]),
        ("/dashboard".into(), [("name", "x")]),
        ("/dashboard/people".into(), [("role", "owner")]),
        (
            format!("/dashboard/people/{}", support.id),
            [("role", "owner")],
        ),
        (
            format!("/dashboard/people/{}/invitation", support.id),
            [("a", "b")],
        ),
    ] {
        let page = browser.post(&path, &form).await;
        assert_eq!(page.status, 403, "{path}");
    }
    let project = service.catalog.project(service.project.id).unwrap();
    assert_eq!(
        (project.keys().count(), project.project.name.as_str()),
        (keys, "Demo")
    );
}

#[tokio::test]
async fn another_project_does_not_exist_for_who_works_with_one() {
    let service = Service::start().await;
    let other = NewProject {
        name: "Other".into(),
        ..Default::default()
    };
    let (other, ..) = service.catalog.create_project(other).await.unwrap();
    let only = NewUser {
        projects: Some(vec![service.project.id]),
        ..new("Olga", Role::Operator)
    };
    let olga = person(&service, only).await;
    let browser = signed_in(&service, &olga).await;
    browser.get("/dashboard").await.shows("Demo").lacks("Other");
    for path in ["", "/settings", "/keys", "/orders"] {
        let page = browser
            .get(&format!("/dashboard/projects/{}{path}", other.id))
            .await;
        assert_eq!(page.status, 404, "{path}");
        page.lacks("Other");
    }
    let path = format!("/dashboard/projects/{}/keys", other.id);
    let page = browser.post(&path, &[("kind", "secret")]).await;
    assert_eq!(page.status, 404);
    assert_eq!(browser.get("/dashboard/audit").await.status, 403);
    let own = format!("/dashboard/projects/{}/keys", service.project.id);
    assert_eq!(browser.post(&own, &[("kind", "secret")]).await.status, 303);
}

#[tokio::test]
async fn a_role_that_is_taken_away_ends_with_the_next_request_and_a_session_with_its_user() {
    let service = Service::start().await;
    let project = format!("/dashboard/projects/{}/keys", service.project.id);
    let olga = person(&service, new("Olga", Role::Operator)).await;
    let browser = signed_in(&service, &olga).await;
    assert_eq!(
        browser.post(&project, &[("kind", "secret")]).await.status,
        303
    );
    let people = service.people();
    let viewer = UserChange {
        role: Some(Role::Viewer),
        ..UserChange::default()
    };
    people.change(olga.id, viewer, None).await.unwrap();
    assert_eq!(
        browser.post(&project, &[("kind", "secret")]).await.status,
        403
    );
    assert_eq!(browser.get(&project).await.status, 200);
    let out = UserChange {
        disabled: Some(true),
        ..UserChange::default()
    };
    people.change(olga.id, out, None).await.unwrap();
    assert_eq!(browser.get(&project).await.status, 303);
    let mut again = Browser::new(&service.base);
    let page = with_password(&mut again, &olga.email, PASSWORD).await;
    assert_eq!(page.status, 401);
    let back = UserChange {
        disabled: Some(false),
        ..UserChange::default()
    };
    people.change(olga.id, back, None).await.unwrap();
    assert_eq!(
        browser.get(&project).await.status,
        303,
        "its session has ended"
    );
    signed_in(&service, &olga).await;
}

#[tokio::test]
async fn a_stolen_session_is_seen_and_ended_from_another_browser() {
    let service = Service::start().await;
    let ann = person(&service, new("Ann", Role::Viewer)).await;
    let stolen = signed_in(&service, &ann).await;
    let browser = signed_in(&service, &ann).await;
    let page = browser.get("/dashboard/account").await;
    page.shows("127.0.0.1").shows("Sign out everywhere");
    let ids = service.people().sessions.list(now(&service));
    let other = ids.last().unwrap().id.to_string();
    let stranger = person(&service, new("Bob", Role::Viewer)).await;
    let stranger = signed_in(&service, &stranger).await;
    let form = [("session", other.as_str())];
    assert_eq!(stranger.post("/dashboard/account", &form).await.status, 404);
    assert_eq!(stolen.get("/dashboard").await.status, 200);
    browser.confirm("/dashboard/account", &form).await;
    assert_eq!(stolen.get("/dashboard").await.status, 303);
    assert_eq!(browser.get("/dashboard").await.status, 200);
    browser.confirm("/dashboard/account", &[]).await;
    assert_eq!(browser.get("/dashboard").await.status, 303);
    assert_eq!(stranger.get("/dashboard").await.status, 200);
}

#[tokio::test]
async fn two_owners_save_at_once_and_the_second_is_shown_what_changed() {
    let service = Service::start().await;
    let ann = person(&service, new("Ann", Role::Viewer)).await;
    let owner = Browser::signed_in(&service).await;
    let path = format!("/dashboard/people/{}", ann.id);
    let version = owner.get(&path).await.value("version").unwrap().to_owned();
    let form = |name: &'static str, role: &'static str, version: &str| {
        let version = version.to_owned();
        [
            ("name", name.to_owned()),
            ("email", "ann@example.com".into()),
            ("role", role.into()),
            ("version", version),
        ]
    };
    let save = async |form: [(&str, String); 4]| {
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        owner.post(&path, &form).await
    };
    assert_eq!(save(form("Ann", "support", &version)).await.status, 303);
    let page = save(form("Anna", "viewer", &version)).await;
    assert_eq!(page.status, 412);
    page.shows("changed since you read it").shows("support");
    assert_eq!(page.value("name"), Some("Anna"), "what was typed stays");
    let version = page.value("version").unwrap().to_owned();
    assert_eq!(save(form("Anna", "viewer", &version)).await.status, 303);
    owner
        .get("/dashboard/audit")
        .await
        .shows("name “Ann” -&gt; “Anna”");
}

#[tokio::test]
async fn signing_in_leads_to_the_page_that_was_asked_for() {
    let service = Service::start().await;
    let mut browser = Browser::new(&service.base);
    let path = format!(
        "/dashboard/projects/{}/orders?status=paid",
        service.project.id
    );
    let page = browser.get(&path).await;
    assert_eq!(page.status, 303);
    let page = browser.get(page.location()).await;
    let next = page.value("next").unwrap().replace("&amp;", "&");
    let form = [("token", ADMIN_TOKEN), ("next", next.as_str())];
    let page = browser.sign_in(&form).await;
    assert_eq!((page.status, page.location()), (303, path.as_str()));
    let form = [("token", ADMIN_TOKEN), ("next", "//evil.example")];
    let page = browser.sign_in(&form).await;
    assert_eq!(page.location(), "/dashboard");
}

/// With a clock that stands still: all of it happens within a minute. Where strangers wait and how many, the unit tests
/// of the queue say.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_wrong_passwords_at_once_keep_out_nobody_who_is_known_or_invited() {
    let service = Service::start().await;
    let ann = person(&service, new("Ann", Role::Viewer)).await;
    let browser = signed_in(&service, &ann).await;
    let people = service.people();
    let at = now(&service);
    let wrong = |guess: u64| {
        let email = match guess % 2 {
            0 => ann.email.clone(),
            _ => format!("nobody{guess}@example.com"),
        };
        async move {
            let (password, who) = (format!("a wrong password {guess}"), Queued::Stranger(guess));
            people.check_password(&email, &password, who, at).await
        }
    };
    let flood = futures_util::future::join_all((0..10_000).map(wrong));
    let form = [("email", ann.email.as_str()), ("password", PASSWORD)];
    let right = async {
        let known = browser.known.clone().unwrap();
        let page = Browser::new(&service.base);
        let path = "/dashboard/sign-in";
        page.post_as_it_is(path, &form, &[("cookie", &known)]).await
    };
    let invited = people.invite(new("Cleo", Role::Viewer), at).await.unwrap();
    let accepted = people.choose_password(&invited.secret, PASSWORD, at);
    let (flood, right, accepted) = tokio::join!(flood, right, accepted);
    assert!(right.value("ticket").is_some(), "{}", right.html);
    assert_eq!(
        accepted.map(|(user, ..)| user.name.clone()).ok().as_deref(),
        Some("Cleo")
    );
    let busy = flood
        .iter()
        .filter(|it| matches!(it, Err(identity::Error::Busy)));
    assert!(busy.count() > 5000, "most are not hashed at all");
    assert!(flood.iter().all(|it| !matches!(it, Ok(Some(_)))));
    // What shows that she was here before helps nobody else, nor at another's account.
    let known = browser.known.as_deref().unwrap();
    let (_, token) = known.split_once('=').unwrap();
    assert!(people.knows_browser(token, "ANN@example.com", at).is_some());
    for (token, email) in [
        (token, "bob@example.com"),
        (&token[1..], ann.email.as_str()),
        ("", &ann.email),
    ] {
        assert_eq!(people.knows_browser(token, email, at), None, "{email}");
    }
    let later = at.plus_seconds(91 * 24 * 3600);
    assert_eq!(people.knows_browser(token, &ann.email, later), None);
    // From one address, wrong ones are refused soon, and the right one is not.
    let mut browser = Browser::new(&service.base);
    let mut last = 0;
    for _ in 0..21 {
        last = with_password(&mut browser, &ann.email, "a wrong password")
            .await
            .status;
    }
    assert_eq!(last, 429);
    signed_in(&service, &ann).await;
}

#[tokio::test]
async fn support_grants_no_more_in_a_day_than_they_may_also_after_a_restart() {
    let service = Service::start().await;
    let limited = NewUser {
        grant_limit_per_day: Some(100),
        ..new("Sue", Role::Support)
    };
    let sue = person(&service, limited).await;
    let browser = signed_in(&service, &sue).await;
    service
        .secret
        .post(
            "/api/v1/wallets/external",
            &serde_json::json!({"externalUserId": "u"}),
        )
        .await;
    let found = browser
        .get(&format!(
            "/dashboard/projects/{}/wallets",
            service.project.id
        ))
        .await;
    assert_eq!(found.status, 200);
    let scope = service
        .catalog
        .project(service.project.id)
        .unwrap()
        .scope
        .clone();
    let user = domain::text::ExternalUserId::new("u").unwrap();
    let wallet = service.handle.open_external(&scope, user).await.unwrap();
    let grant = async |browser: &Browser, service: &Service, amount: &str, key: &str| {
        let path = format!(
            "/dashboard/projects/{}/wallets/{}/grant",
            service.project.id, wallet.key
        );
        let form = [
            ("productId", service.product.as_str()),
            ("amount", amount),
            ("reason", "sorry"),
            ("idempotencyKey", key),
            ("confirmed", "on"),
        ];
        browser.post(&path, &form).await
    };
    assert_eq!(grant(&browser, &service, "60", "a").await.status, 303);
    assert_eq!(
        grant(&browser, &service, "60", "a").await.status,
        303,
        "a repeat"
    );
    let page = grant(&browser, &service, "60", "b").await;
    assert_eq!(page.status, 403);
    page.shows("40 is left");
    let service = service.again(|_| {}).await;
    let browser = signed_in(&service, &sue).await;
    assert_eq!(grant(&browser, &service, "60", "b").await.status, 403);
    assert_eq!(grant(&browser, &service, "40", "b").await.status, 303);
    service.clock.advance_millis(86_400_000);
    let browser = signed_in(&service, &sue).await;
    assert_eq!(grant(&browser, &service, "100", "c").await.status, 303);
}

#[tokio::test]
async fn settings_that_a_colleague_saved_are_not_lost() {
    let service = Service::start().await;
    let browser = Browser::signed_in(&service).await;
    let path = format!("/dashboard/projects/{}/settings", service.project.id);
    let version = browser
        .get(&path)
        .await
        .value("version")
        .unwrap()
        .to_owned();
    let admin = kit::Client::new(&service.base, ADMIN_TOKEN);
    let change = serde_json::json!({"allowedOrigins": ["https://shop.example"]});
    let api = format!("/api/admin/v1/projects/{}", service.project.id);
    admin.patch(&api, &change).await.expect(200);
    let form = |version: &str| {
        let version = version.to_owned();
        [
            ("name", "Renamed".to_owned()),
            ("mode", "credit_codes".into()),
            ("subscriptionGraceDays", "7".into()),
            ("version", version),
        ]
    };
    let save = async |form: [(&str, String); 4]| {
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        browser.post(&path, &form).await
    };
    let page = save(form(&version)).await;
    assert_eq!(page.status, 412);
    page.shows("changed since you read it")
        .shows("https://shop.example");
    assert_eq!(page.value("name"), Some("Renamed"));
    let project = service.catalog.project(service.project.id).unwrap();
    assert_eq!(project.project.allowed_origins, ["https://shop.example"]);
    let version = page.value("version").unwrap().to_owned();
    assert_eq!(save(form(&version)).await.status, 303);
    browser
        .get("/dashboard/audit")
        .await
        .shows("name “Demo” -&gt; “Renamed”");
}

#[tokio::test]
async fn people_limited_to_some_projects_see_no_figures_of_all() {
    let service = Service::start().await;
    let limited = |name, projects| NewUser {
        projects,
        ..new(name, Role::Viewer)
    };
    let of_one = person(&service, limited("Vera", Some(vec![service.project.id]))).await;
    let of_all = person(&service, limited("Otto", None)).await;
    let of_one = signed_in(&service, &of_one).await;
    let of_all = signed_in(&service, &of_all).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    for path in ["/dashboard/live", &base] {
        of_all.get(path).await.shows("in all projects");
        of_one.get(path).await.lacks("in all projects");
    }
}

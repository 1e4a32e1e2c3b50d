//! Somebody who helps customers of one project and edits the address bar, over all routes that the dashboard has.

use std::collections::BTreeSet;

use kit::{dashboard_routes::routes, service::Service};
use scrip::{
    catalog::NewProject,
    identity::{ProjectScope, Role, UserChange},
};

use crate::{
    browser::Browser,
    people::{new, person, signed_in},
};

#[tokio::test]
async fn support_of_one_project_meets_another_nowhere_and_what_is_an_operators_or_owners_is_refused()
 {
    let service = Service::start().await;
    let named = |name: &str| NewProject {
        name: name.into(),
        ..NewProject::default()
    };
    let (other, ..) = service
        .catalog
        .create_project(named("Other"))
        .await
        .unwrap();
    service.grant("ann", 5).await;
    let support = person(&service, new("Sue", Role::Support)).await;
    let limited = UserChange {
        projects: Some(Some(vec![service.project.id])),
        ..UserChange::default()
    };
    service
        .people()
        .change(support.id, limited, None)
        .await
        .unwrap();
    assert_ne!(
        service.people().user(support.id).unwrap().projects,
        ProjectScope::All
    );
    let browser = signed_in(&service, &support).await;
    let base = format!("/dashboard/projects/{}", service.project.id);
    let found = Browser::signed_in(&service)
        .await
        .search(&base, "ann")
        .await;
    let wallet = found.location().rsplit('/').next().unwrap().to_owned();
    let fill = |path: &str, project: domain::id::ProjectId| {
        let path = path
            .replace("{project}", &project.to_string())
            .replace("{wallet}", &wallet)
            .replace("{order}", &format!("ord_{}", "0".repeat(52)))
            .replace("{user}", &support.id.to_string());
        // Nothing else exists for them.
        let parts = path
            .split('/')
            .map(|part| if part.starts_with('{') { "none" } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    let routes = routes();
    assert!(routes.len() > 50, "{} routes", routes.len());
    let mut refused = BTreeSet::new();
    let token = browser.token().await;
    for route in &routes {
        let known = matches!(
            route.path.as_str(),
            "/dashboard/sign-in" | "/dashboard/sign-out" | "/dashboard/invitation"
        );
        if known || route.path.starts_with("/dashboard/sign-in/") {
            continue;
        }
        let form = [("formToken", token.as_str()), ("confirmed", "on")];
        for (verb, has) in [("GET", route.reads), ("POST", route.writes)] {
            let ask = async |path: &str| match verb {
                "GET" => browser.get(path).await,
                _ => browser.post_as_it_is(path, &form, &[]).await,
            };
            if !has {
                continue;
            }
            if route.path.contains("{project}") {
                let page = ask(&fill(&route.path, other.id)).await;
                assert_eq!(page.status, 404, "{verb} {} elsewhere", route.path);
                page.lacks("Other");
            }
            // Not what signs out: this one has to go on.
            if (verb, route.path.as_str()) == ("POST", "/dashboard/account") {
                continue;
            }
            let page = ask(&fill(&route.path, service.project.id)).await;
            assert!(page.status < 500, "{verb} {}: {}", route.path, page.html);
            if page.status == 403 {
                page.shows("Your role does not allow this");
                refused.insert(format!("{verb} {}", route.path));
            }
        }
    }
    let stranger = Browser::new(&service.base);
    for route in routes.iter().filter(|route| {
        route.reads && !route.path.contains("sign-in") && !route.path.contains("invitation")
    }) {
        let page = stranger.get(&fill(&route.path, service.project.id)).await;
        assert!(
            matches!(page.status, 303 | 204),
            "{} without a session: {}",
            route.path,
            page.status
        );
    }
    let all: Vec<_> = refused.iter().map(String::as_str).collect();
    assert_eq!(all, REFUSED, "what support is refused");
}

/// What somebody with the role support may not ask for, sorted.
const REFUSED: [&str; 34] = [
    "GET /dashboard/audit",
    "GET /dashboard/audit/export",
    "GET /dashboard/people",
    "GET /dashboard/people/{user}",
    "GET /dashboard/projects/{project}/catalog/new",
    "GET /dashboard/projects/{project}/catalog/{product}/prices",
    "GET /dashboard/projects/{project}/keys/{key}",
    "GET /dashboard/system",
    "POST /dashboard",
    "POST /dashboard/people",
    "POST /dashboard/people/{user}",
    "POST /dashboard/people/{user}/identity",
    "POST /dashboard/people/{user}/{action}",
    "POST /dashboard/projects/{project}/catalog",
    "POST /dashboard/projects/{project}/catalog/{product}",
    "POST /dashboard/projects/{project}/catalog/{product}/prices",
    "POST /dashboard/projects/{project}/catalog/{product}/prices/{price}",
    "POST /dashboard/projects/{project}/keys",
    "POST /dashboard/projects/{project}/keys/{key}",
    "POST /dashboard/projects/{project}/keys/{key}/revoke",
    "POST /dashboard/projects/{project}/mails",
    "POST /dashboard/projects/{project}/mails/resume",
    "POST /dashboard/projects/{project}/mails/{kind}/{locale}",
    "POST /dashboard/projects/{project}/mails/{kind}/{locale}/test",
    "POST /dashboard/projects/{project}/rate-cards/{card}/close",
    "POST /dashboard/projects/{project}/sandbox",
    "POST /dashboard/projects/{project}/settings",
    "POST /dashboard/projects/{project}/settings/archive",
    "POST /dashboard/projects/{project}/settings/provider",
    "POST /dashboard/projects/{project}/wallets/{wallet}/erase",
    "POST /dashboard/projects/{project}/webhooks",
    "POST /dashboard/projects/{project}/webhooks/{webhook}",
    "POST /dashboard/projects/{project}/webhooks/{webhook}/test",
    "POST /dashboard/system",
];

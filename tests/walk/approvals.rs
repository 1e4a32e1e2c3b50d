//! Requests that wait for approval: who sees them, who may answer them, and who is shown the key.

use kit::Client;
use reqwest::Method;
use serde_json::json;

use crate::{
    forms::{PageForm, press},
    secrets::codes,
    visitors::{Holder, Visitor},
    walk::Walk,
    world::World,
};

/// A page, and the button on it whose form is sent.
struct RequestForm {
    who: Holder,
    page: String,
    action: String,
    fields: &'static [(&'static str, &'static str)],
}

fn holder<'a>(world: &'a World, holder: &Holder) -> &'a Visitor {
    let mut all = world.visitors.iter().filter(|it| it.is_signed_in());
    all.find(|it| it.holder == *holder).expect("somebody")
}

/// The form of a page that is sent to this path, with these fields.
async fn fill(walk: &Walk, visitor: &Visitor, page: &str, action: &str, fields: &[(&str, &str)]) {
    let reply = walk
        .ask(visitor, "GET a linked page", Method::GET, page, None)
        .await;
    let forms = PageForm::all(&reply.text);
    let form = forms.into_iter().find(|form| form.action == action);
    let form = form.unwrap_or_else(|| panic!("{} has no form to {action} on {page}", visitor.name));
    let mut sent = form.filled(|name, value| {
        let given = fields.iter().find(|(given, _)| *given == name);
        given.map_or(value, |(_, value)| value).to_owned()
    });
    sent.retain(|(name, _)| name != "kind");
    for (name, value) in fields.iter().chain(&[("confirmed", "on")]) {
        if !sent.iter().any(|(sent, _)| sent == name) {
            sent.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    let page = press(walk, visitor, &form.route(), action, &sent).await;
    assert!(
        page.text.contains("approval by a second person"),
        "{action}: {}",
        page.text
    );
}

/// Support asks for a large grant to a wallet with a code, and an operator for a key, a price and free credits.
pub(crate) async fn ask(walk: &Walk, world: &World) {
    let shop = &world.shops[0];
    let admin: Client = world.server.admin();
    let rules = json!({"approvalAboveCredits": 1000, "approvalAboveCents": 100_000});
    admin.patch(&shop.admin_path(), &rules).await.expect(200);
    let base = format!("/dashboard/projects/{}", shop.project.id);
    let query = format!(
        "{}/wallets?query={}",
        shop.admin_path(),
        shop.values["code"][1]
    );
    let hits = admin.get(&query).await.expect(200);
    let wallet = format!(
        "{base}/wallets/{}",
        hits["wallets"][0]["ref"].as_str().unwrap()
    );
    let product = format!("{base}/catalog/{}", shop.project.product);
    let all = [
        RequestForm {
            who: Holder::Support(0),
            action: format!("{wallet}/grant"),
            page: wallet,
            fields: &[("amount", "9000"), ("reason", "a long outage")],
        },
        RequestForm {
            who: Holder::Operator(0),
            action: format!("{base}/keys"),
            page: format!("{base}/keys"),
            fields: &[("kind", "secret"), ("name", "Night jobs")],
        },
        RequestForm {
            who: Holder::Operator(0),
            action: format!("{product}/prices"),
            page: format!("{product}/prices"),
            fields: &[
                ("amountCents", "1.00"),
                ("creditsGranted", "90000"),
                ("currency", "EUR"),
            ],
        },
    ];
    for RequestForm {
        who,
        page,
        action,
        fields,
    } in all
    {
        fill(walk, holder(world, &who), &page, &action, fields).await;
    }
}

/// Every visitor tries every decision, those who may least first; then the asker of the key fetches it.
pub(crate) async fn answer(walk: &Walk, world: &World) {
    let shop = &world.shops[0];
    let path = format!("/dashboard/projects/{}/approvals", shop.project.id);
    let [support, operator, owner] =
        [Holder::Support(0), Holder::Operator(0), Holder::Owner].map(|it| holder(world, &it));
    let list = async |visitor: &Visitor| {
        walk.ask(visitor, "GET a linked page", Method::GET, &path, None)
            .await
    };
    let waiting = list(owner).await.text;
    let ids: Vec<_> = waiting.split(&format!("{path}/")).skip(1).collect();
    let ids: Vec<_> = ids
        .iter()
        .map(|rest| rest.split('/').next().unwrap())
        .collect();
    let mut ids: Vec<_> = ids.into_iter().map(ToOwned::to_owned).collect();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{waiting}");
    assert!(
        codes(&waiting).is_empty(),
        "the request names a code: {waiting}"
    );
    let route = "POST /dashboard/projects/{project}/approvals/{approval}/{answer}";
    let others = world
        .visitors
        .iter()
        .filter(|it| matches!(it.holder, Holder::Viewer(_) | Holder::Support(_)));
    for visitor in others {
        let token = token(walk, visitor).await;
        for (id, answer) in ids
            .iter()
            .flat_map(|id| ["create", "approve"].map(|answer| (id, answer)))
        {
            let fields = [("formToken".to_owned(), token.clone())];
            let page = press(
                walk,
                visitor,
                route,
                &format!("{path}/{id}/{answer}"),
                &fields,
            )
            .await;
            assert!(
                [403, 404].contains(&page.status),
                "{}: {}",
                visitor.name,
                page.text
            );
        }
    }
    for (visitor, answer, wants) in [
        (operator, "create", 403),
        (owner, "approve", 200),
        (operator, "create", 200),
    ] {
        let token = token(walk, visitor).await;
        let mut created = 0;
        for id in &ids {
            let fields = [("formToken".to_owned(), token.clone())];
            let page = press(
                walk,
                visitor,
                route,
                &format!("{path}/{id}/{answer}"),
                &fields,
            )
            .await;
            created += usize::from(page.status == wants);
        }
        assert!(created > 0, "{} may not {answer}", visitor.name);
    }
    // The key is never shown again, nor its asker.
    for visitor in [support, operator, owner] {
        for page in ["approvals", "keys", ""] {
            let path = path.replace("approvals", page);
            walk.ask(
                visitor,
                "GET a linked page",
                Method::GET,
                path.trim_end_matches('/'),
                None,
            )
            .await;
        }
        walk.ask(
            visitor,
            "GET a linked page",
            Method::GET,
            "/dashboard/audit",
            None,
        )
        .await;
    }
}

/// The token in a session's forms.
pub(crate) async fn token(walk: &Walk, visitor: &Visitor) -> String {
    let home = walk
        .ask(
            visitor,
            "GET a linked page",
            Method::GET,
            "/dashboard",
            None,
        )
        .await;
    let (_, token) = home
        .text
        .split_once("name=\"formToken\" value=\"")
        .expect("a form");
    token.split('"').next().unwrap().to_owned()
}

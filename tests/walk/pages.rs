//! Every page of the dashboard, by its routes and by its links, as each person who can sign in.

use std::collections::{BTreeMap, BTreeSet};

use kit::dashboard_routes::routes;
use reqwest::Method;

use crate::{
    approvals,
    shop::Shop,
    visitors::{Holder, Visitor},
    walk::{Answer, Walk},
    world::World,
};

/// So many pages of one form are opened by links.
pub(crate) const PAGES_OF_A_SHAPE: usize = 3;

fn filled(path: &str, shop: &Shop) -> Vec<String> {
    let mut paths = vec![path.to_owned()];
    for part in path.split('{').skip(1) {
        let name = part.split('}').next().unwrap();
        let values = shop.values_of(name);
        let place = format!("{{{name}}}");
        let with = |path: &String| {
            values
                .iter()
                .map(|value| path.replace(&place, value))
                .collect::<Vec<_>>()
        };
        paths = paths.iter().flat_map(with).collect();
    }
    paths
}

/// Opens all pages that there are routes and links to.
pub(crate) async fn open_everything(walk: &Walk, world: &World) {
    let nobody = Visitor::nobody();
    let visitors = world.visitors.iter().filter(|one| one.is_signed_in());
    for visitor in visitors.chain([&nobody]) {
        for route in routes().iter().filter(|route| route.reads) {
            for shop in &world.shops {
                for path in filled(&route.path, shop) {
                    let name = format!("GET {}", route.path);
                    walk.ask(visitor, &name, Method::GET, &path, None).await;
                }
            }
        }
        pages_of(walk, visitor).await;
    }
}

/// Opens what links lead to, from the first page on, some of each shape.
pub(crate) async fn pages_of(walk: &Walk, visitor: &Visitor) -> Vec<Answer> {
    let mut pages = Vec::new();
    let mut open = vec!["/dashboard".to_owned()];
    let mut opened = BTreeSet::new();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(path) = open.pop() {
        let count = shapes.entry(shape(&path)).or_default();
        *count += 1;
        if *count > PAGES_OF_A_SHAPE || !opened.insert(path.clone()) {
            continue;
        }
        let name = match path.contains("/deliveries/") {
            true => "GET a linked delivery",
            false => "GET a linked page",
        };
        let page = walk.ask(visitor, name, Method::GET, &path, None).await;
        let here = path.split('?').next().unwrap();
        let links = page.text.split("href=\"").skip(1);
        let links = links.map(|link| link.split(['"', '#']).next().unwrap().replace("&amp;", "&"));
        for link in links.chain(page.location.clone()) {
            match link.strip_prefix('?') {
                Some(query) => open.push(format!("{here}?{query}")),
                None if link == "/dashboard" || link.starts_with("/dashboard/") => open.push(link),
                None => {}
            }
        }
        pages.push(page);
    }
    pages
}

/// An address without what names one thing, and without the values of its query.
fn shape(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let parts = path.split('/').map(|part| match part.contains('_') {
        true => "{}",
        false => part,
    });
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap());
    format!(
        "{} {}",
        parts.collect::<Vec<_>>().join("/"),
        names.collect::<Vec<_>>().join(" ")
    )
}

/// Sends a form to every route that takes one as those who may only read, and as those of the other shop.
pub(crate) async fn press_what_others_may(walk: &Walk, world: &World) {
    let reads =
        |visitor: &&Visitor| matches!(visitor.holder, Holder::Viewer(_) | Holder::Support(1));
    for visitor in world.visitors.iter().filter(reads) {
        let token = approvals::token(walk, visitor).await;
        for route in routes().iter().filter(|route| route.writes) {
            let ends = ["/dashboard/sign-out", "/dashboard/account"];
            if ends.contains(&&*route.path) {
                continue;
            }
            let shop = &world.shops[0];
            let path = route
                .path
                .replace("{approval}", "apr_none")
                .replace("{answer}", "approve");
            let path = path.replace("{action}", "invitation");
            for path in filled(&path, shop).into_iter().take(4) {
                let queries = ["buyers.example", "ann", &shop.values["code"][0]];
                for query in queries {
                    let form = [
                        ("formToken", &*token),
                        ("confirmed", "on"),
                        ("query", query),
                    ];
                    walk.press(visitor, &format!("POST {}", route.path), &path, &form)
                        .await;
                }
            }
        }
    }
}

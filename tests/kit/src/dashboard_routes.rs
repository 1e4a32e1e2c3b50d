//! The routes of the dashboard, read from its source, so that a new one is walked without being listed.

/// The route table as it is written.
const TABLE: &str = include_str!("../../../crates/dashboard/src/lib.rs");

/// A route's path as it is written, and whether it reads and writes.
pub struct Route {
    /// With parameters in braces.
    pub path: String,
    /// Whether it is a page.
    pub reads: bool,
    /// Whether forms are sent to it.
    pub writes: bool,
}

/// All of them, in the order of the table.
///
/// # Panics
///
/// Where the table has a path of a form that is not known here.
#[must_use]
pub fn routes() -> Vec<Route> {
    let (_, table) = TABLE.split_once("Router::new()").unwrap();
    let (table, _) = table.split_once(".method_not_allowed_fallback").unwrap();
    let routes = table
        .split(".route(")
        .skip(1)
        .filter(|route| !route.contains("any("));
    let route = |text: &str| {
        let (path, methods) = text.split_once(',').unwrap();
        let quoted = path.split('"').nth(1).unwrap_or_default();
        const PROJECT: &str = "/dashboard/projects/{project}";
        let path = match path.trim() {
            "SIGN_IN" => "/dashboard/sign-in".to_owned(),
            "INVITATION" => "/dashboard/invitation".to_owned(),
            "OIDC_CALLBACK" => "/dashboard/sign-in/oidc/callback".to_owned(),
            "oidc_sign_in::BEGIN" => "/dashboard/sign-in/oidc".to_owned(),
            "time_zone::PATH" => "/dashboard/time-zone".to_owned(),
            "PROJECT" => PROJECT.to_owned(),
            path if path.starts_with("&of_project(") => format!("{PROJECT}{quoted}"),
            path if path.starts_with("&of_order(") => format!("{PROJECT}/orders/{{order}}{quoted}"),
            path if path.starts_with("&of_wallet(") => {
                format!("{PROJECT}/wallets/{{wallet}}{quoted}")
            }
            path if path.starts_with("&of_payment(") => {
                format!("{PROJECT}/unfulfilled-payments/{{payment}}{quoted}")
            }
            path if path.starts_with('"') => quoted.to_owned(),
            path => panic!("a path of an unknown form: {path}"),
        };
        Route {
            reads: methods.contains("get("),
            writes: methods.contains("post("),
            path,
        }
    };
    routes.map(route).collect()
}

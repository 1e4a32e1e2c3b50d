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
    const PROJECT: &str = "/dashboard/projects/{project}";
    let (_, table) = TABLE.split_once("fn people_routes()").unwrap();
    let table: String = table.split_whitespace().collect();
    let mut routes = Vec::new();
    for body in table.split("->Router<App>{").skip(1) {
        let of_project = body.strip_prefix("below(\"");
        let (prefix, entries) = match of_project.and_then(|rest| rest.split_once("\",[")) {
            Some((part, entries)) => (
                format!("{PROJECT}{part}"),
                entries.replace("(\"", ".route(\""),
            ),
            None => (String::new(), body.to_owned()),
        };
        for route in entries.split(".route(").skip(1) {
            let (path, methods) = route.split_once(',').unwrap();
            let path = match path {
                "SIGN_IN" => "/dashboard/sign-in",
                "INVITATION" => "/dashboard/invitation",
                "OIDC_CALLBACK" => "/dashboard/sign-in/oidc/callback",
                "oidc_sign_in::BEGIN" => "/dashboard/sign-in/oidc",
                "time_zone::PATH" => "/dashboard/time-zone",
                path if path.starts_with('"') => path.trim_matches('"'),
                path => panic!("a path of an unknown form: {path}"),
            };
            routes.push(Route {
                reads: methods.contains("get("),
                writes: methods.contains("post("),
                path: format!("{prefix}{path}"),
            });
        }
    }
    routes
}

//! The page that signing in leads to.

pub(super) const NEXT: &str = "next";

/// A path with its query, if it is of a page of this dashboard. Strict: it is written into a redirect.
pub(super) fn own_page(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/dashboard")?;
    let is_page = rest.is_empty() || rest.starts_with(['/', '?']);
    let is_plain = rest
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/?&=%+-._~:@,".contains(&byte));
    let leads_away = rest.contains("//") || rest.contains("/..") || rest.starts_with("/sign-");
    (is_page && is_plain && !leads_away && path.len() <= 2000).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_to_pages_of_this_dashboard_alone() {
        for good in [
            "/dashboard",
            "/dashboard/projects/proj_x/orders?status=paid&before=1",
            "/dashboard?cell=1",
        ] {
            assert_eq!(own_page(good), Some(good));
        }
        for bad in [
            "",
            "/",
            "//evil.example",
            "/dashboardx",
            "/dashboard@evil.example",
            "/dashboard//evil.example",
            "/dashboard/../api",
            "/dashboard/\\evil.example",
            "https://evil.example/dashboard",
            "/dashboard/x\r\nset-cookie: a=b",
            "/dashboard/sign-out",
            "/dashboard/\u{202e}",
        ] {
            assert_eq!(own_page(bad), None, "{bad}");
        }
    }
}

//! The parts of the repository that are served as documentation: pages, and the files that they show or
//! lead to. A link between two of them works here and on the disk; a link to anything else of the
//! repository is shown as plain text.

/// What a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Begin,
    Build,
    Run,
    Background,
}

impl Group {
    pub(super) const ALL: [Self; 4] = [Self::Begin, Self::Build, Self::Run, Self::Background];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Begin => "Begin",
            Self::Build => "Build",
            Self::Run => "Run",
            Self::Background => "Background",
        }
    }
}

#[derive(Debug)]
pub(super) struct DocPage {
    /// Where it is under `/docs/`.
    pub(super) name: &'static str,
    /// Where it is in the repository.
    pub(super) path: &'static str,
    pub(super) group: Group,
    /// What it says, in a few words.
    pub(super) about: &'static str,
    /// The page's Markdown.
    pub(super) text: &'static str,
}

impl DocPage {
    /// The page's title: its first line.
    pub(super) fn title(&self) -> &'static str {
        let line = self.text.lines().next().unwrap_or_default();
        line.strip_prefix("# ").unwrap_or(self.name)
    }
}

/// Pages of `docs/`.
macro_rules! pages {
    ($($group:ident $name:literal $path:literal $about:literal;)*) => {
        &[$(DocPage {
            name: $name,
            path: $path,
            group: Group::$group,
            about: $about,
            text: include_str!(concat!("../../../../", $path)),
        }),*]
    };
}

/// The pages, in the order in which they are shown.
pub(super) const PAGES: &[DocPage] = pages! {
    Begin "readme" "README.md" "what Scrip is, for whom, and how it is run";
    Begin "quick-start" "docs/quick-start.md" "from an empty folder to a spent credit: curl, React, Node, Python, users who sign in";
    Begin "tour" "docs/tour.md" "every part of the API once, by curl, in the sandbox";
    Begin "concepts" "docs/concepts.md" "wallets, lots, holds, idempotency, orders";
    Build "selling" "docs/selling.md" "products and prices: free credits, trials, rollover, switching";
    Build "costs" "docs/costs.md" "rate cards: tokens, images and seconds, charged exactly by what was used";
    Build "budgets" "docs/budgets.md" "limits of what a team's members use, and allowances that plans bring";
    Build "top-ups" "docs/top-ups.md" "a card that is charged when credits run low, never above a ceiling";
    Build "mails" "docs/mails.md" "low balances, stopped top-ups, limits and receipts, mailed in your words";
    Build "clients" "docs/clients.md" "TypeScript for pages, React and servers, Python and Rust";
    Build "examples" "docs/examples.md" "a shop for people without an account, a chat paid by the token";
    Build "sessions" "docs/sessions.md" "a user's own wallet in the browser, and its balance as it changes";
    Build "errors" "docs/errors.md" "every error code: what it means, what to do, whether to retry";
    Build "webhooks" "docs/webhooks.md" "events sent to your servers, and how to verify them";
    Build "limits" "docs/limits.md" "rates, sizes and counts, and what happens at each";
    Build "sandbox" "docs/sandbox.md" "what of Stripe the built-in provider models, and how scripts drive it";
    Build "migration" "docs/migration.md" "from a credits table of your own, with an importer";
    Run "going-live" "docs/going-live.md" "Stripe: keys, permissions, taxes, the portal, from test to live";
    Run "dashboard" "docs/dashboard.md" "the operator's pages, in pictures";
    Run "self-hosting" "docs/self-hosting.md" "systemd, containers, proxies, figures, upgrades";
    Run "scaling" "docs/scaling.md" "past one machine: the log in PostgreSQL, processes that take over from each other";
    Run "people" "docs/people.md" "who works with the dashboard: roles, passwords, an identity provider, approval by a second person";
    Run "secrets" "docs/secrets.md" "secrets of a server: where they are, and what to do when one is lost or has leaked";
    Run "erasure" "docs/erasure.md" "erasing a customer, and archiving a project: what goes, and what stays";
    Run "backup" "docs/backup.md" "backups of a running server, and how they are put back";
    Run "export" "docs/export.md" "ledgers out, balances in";
    Run "security" "SECURITY.md" "who can do what, and how to report a vulnerability";
    Background "comparison" "docs/comparison.md" "hosted and self-hosted alternatives, and what Scrip does not do";
    Background "deprecations" "docs/deprecations.md" "what is deprecated in the API";
    Background "figures" "docs/figures.md" "how fast it is, and the command that prints each figure";
    Background "promises" "docs/promises.md" "what is promised, and the test that holds each promise";
    Background "architecture" "docs/architecture.md" "invariants, the way of a deduction and a purchase, what is on the disk";
    Background "glossary" "docs/glossary.md" "what each word means";
    Background "changelog" "CHANGELOG.md" "what a user notices of each release";
};

/// A file that pages show or lead to.
#[derive(Debug)]
pub(super) struct File {
    /// Where it is under `/docs/`.
    pub(super) name: &'static str,
    /// Where it is in the repository.
    pub(super) path: &'static str,
    pub(super) kind: &'static str,
    pub(super) bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal $path:literal $kind:literal;)*) => {
        &[$(File {
            name: $name,
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("../../../../", $path)),
        }),*]
    };
}

pub(super) const FILES: &[File] = files! {
    "checkout.png" "docs/checkout.png" "image/png";
    "dashboard-delivery.png" "docs/dashboard-delivery.png" "image/png";
    "dashboard-order.png" "docs/dashboard-order.png" "image/png";
    "dashboard-overview.png" "docs/dashboard-overview.png" "image/png";
    "dashboard-system.png" "docs/dashboard-system.png" "image/png";
    "dashboard-wallet.png" "docs/dashboard-wallet.png" "image/png";
    "figures.csv" "docs/figures.csv" "text/csv; charset=utf-8";
    "images/shop-prices.png" "docs/images/shop-prices.png" "image/png";
    "images/shop-paid.png" "docs/images/shop-paid.png" "image/png";
    "images/shop-printed.png" "docs/images/shop-printed.png" "image/png";
    "images/shop-ledger.png" "docs/images/shop-ledger.png" "image/png";
    "images/shop-phone.png" "docs/images/shop-phone.png" "image/png";
    "config.toml" "config.toml" "text/plain; charset=utf-8";
    "catalog.example.toml" "catalog.example.toml" "text/plain; charset=utf-8";
};

/// Where a link of a page leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To this address, relative to the page's.
    Here(String),
    /// Out of what is served, into the repository: there is nothing to open.
    Repository,
}

/// Where a link on the page with this path in the repository leads.
pub(super) fn resolve(from: &str, link: &str) -> Target {
    if link.starts_with('#') || link.contains("://") {
        return Target::Here(link.to_owned());
    }
    let (file, anchor) = match link.split_once('#') {
        Some((file, anchor)) => (file, format!("#{anchor}")),
        None => (link, String::new()),
    };
    let path = join(from, file);
    let page = PAGES.iter().find(|page| page.path == path);
    let file = || FILES.iter().find(|file| file.path == path);
    match page.map(|page| page.name).or_else(|| Some(file()?.name)) {
        Some(name) => Target::Here(format!("{name}{anchor}")),
        None => Target::Repository,
    }
}

/// A path in the repository, from one that is relative to a file in it.
pub(super) fn join(from: &str, relative: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_what_is_served_or_nowhere() {
        let here = |name: &str| Target::Here(name.to_owned());
        for (from, link, target) in [
            (
                "docs/backup.md",
                "errors.md#unavailable",
                here("errors#unavailable"),
            ),
            ("docs/backup.md", "../CHANGELOG.md", here("changelog")),
            ("docs/backup.md", "../config.toml", here("config.toml")),
            ("README.md", "docs/backup.md", here("backup")),
            ("README.md", "docs/checkout.png", here("checkout.png")),
            ("README.md", "#speed", here("#speed")),
            (
                "README.md",
                "https://stripe.com",
                here("https://stripe.com"),
            ),
            ("docs/self-hosting.md", "../packaging/", Target::Repository),
        ] {
            assert_eq!(resolve(from, link), target, "{from}: {link}");
        }
    }
}

//! The records of the admin API: everything, also what is inactive or revoked.

pub use crate::{price::AdminPrice as Price, product::AdminProduct as Product};

#[cfg(feature = "server")]
pub use crate::schema::{Interval, KeyKind, MailKind, MailLocale, Mode, Period, ProductType};

records! {
    /// A limit of anonymous wallets in a span of time.
    #[derive(Copy)]
    pub struct CreationLimit {
        /// Wallets, at least 1.
        #[cfg_attr(feature = "server", schema(minimum = 1, maximum = 4_294_967_295_u32))]
        pub max: u32,
        /// Seconds, at most a year.
        #[cfg_attr(feature = "server", schema(minimum = 1, maximum = 31_622_400))]
        pub window_seconds: u32,
    }

    /// A project with its settings.
    pub struct Project {
        /// The project's identifier.
        #[cfg_attr(feature = "server", schema(example = "proj_01jd3v8q6pf6r9x3v1m2k4c5d7"))]
        pub id: String,
        /// The project's name.
        pub name: String,
        /// How its wallets are addressed.
        #[cfg_attr(feature = "server", schema(value_type = Mode))]
        pub mode: String,
        /// Origins that a publishable key may redirect to; empty: any.
        pub allowed_origins: Vec<String>,
        /// Anonymous wallets for the whole project; null: no limit.
        pub wallet_creation_limit: Option<CreationLimit>,
        /// Anonymous wallets for each client address; null: no limit.
        pub wallet_creation_limit_per_ip: Option<CreationLimit>,
        /// Whether anonymous wallets get free grants.
        pub free_grants_for_code_wallets: bool,
        /// Days for which a past-due subscription keeps its features.
        pub subscription_grace_days: u32,
        /// Whether the provider adds the tax that is due where the buyer is.
        pub automatic_tax: bool,
        /// Whether buyers who are businesses may enter their tax number.
        pub collect_tax_ids: bool,
        /// Whether buyers have to enter their billing address.
        pub collect_billing_address: bool,
        /// Whether what is paid once gets an invoice too.
        pub invoices: bool,
        /// Whether buyers have to agree to the terms of service.
        pub terms_of_service: bool,
        /// The mails that its customers get.
        pub mails: Mails,
        /// Refunds of more cents than this need another person's yes on the dashboard; null: none do.
        pub approval_above_cents: Option<i64>,
        /// Grants of more credits than this need another person's yes on the dashboard; null: none do.
        pub approval_above_credits: Option<i64>,
        /// Whether it is archived: its keys sell and spend nothing new.
        pub archived: bool,
        /// Its payment provider; null: none, and nothing can be bought.
        pub provider: Option<Provider>,
        /// When it was made.
        pub created_at: String,
    }

    /// The mails that a project's customers get, and how they look.
    pub struct Mails {
        /// Whether a balance that falls to its product's threshold is mailed.
        pub low_balance: bool,
        /// Whether automatic top-ups that stop, or that the buyer has to confirm, are mailed.
        pub top_up_failed: bool,
        /// Whether a limit that refuses a use for the first time in its window is mailed.
        pub limit_reached: bool,
        /// Whether each payment's receipt is mailed.
        pub receipt: bool,
        /// The language where the buyer's is not known.
        #[cfg_attr(feature = "server", schema(value_type = MailLocale))]
        pub locale: String,
        /// The sender's name; null: the project's.
        pub name: Option<String>,
        /// The colour of the heading and of links; null: a dark grey.
        #[cfg_attr(feature = "server", schema(example = "#1a2b3c"))]
        pub color: Option<String>,
        /// Where answers go; null: to the sender's address.
        pub reply_to: Option<String>,
        /// What every mail ends with.
        pub footer: Option<String>,
        /// Texts in place of the built-in ones.
        pub templates: Vec<MailTemplate>,
    }

    /// A text of a mail: with `{{ name }}` for a value, and `{% if name %}…{% endif %}`.
    pub struct MailTemplate {
        /// What the mail is about.
        #[cfg_attr(feature = "server", schema(value_type = MailKind))]
        pub kind: String,
        /// The language of the mail.
        #[cfg_attr(feature = "server", schema(value_type = MailLocale))]
        pub locale: String,
        /// A single line of text.
        pub subject: String,
        /// The plain text.
        pub text: String,
        /// The same as HTML; null: the plain text's paragraphs.
        pub html: Option<String>,
    }

    /// A payment provider. Its secrets are never shown.
    pub struct Provider {
        /// `sandbox` or `stripe`
        #[cfg_attr(feature = "server", schema(example = "stripe"))]
        pub kind: String,
        /// The address that its webhooks have to be sent to, for Stripe's dashboard.
        pub webhook_url: String,
        /// Whether its key was tried and works; until it could be reached, false.
        pub verified: bool,
        /// Whether orders and subscriptions of a former provider are still being ended; nothing can be
        /// bought until then.
        pub changing: bool,
    }

    /// A project that was just created, with a key of each kind.
    pub struct CreatedProject {
        /// The project that was made.
        #[serde(flatten)]
        pub project: Project,
        /// The key for browsers.
        pub publishable_key: String,
        /// The key for servers. Shown only now.
        pub secret_key: String,
    }

    /// All projects of this server.
    pub struct Projects {
        /// The projects, oldest first.
        pub projects: Vec<Project>,
    }

    /// Credits that every wallet gets each period.
    pub struct FreeGrant {
        /// Credits of each grant.
        #[cfg_attr(feature = "server", schema(minimum = 1, maximum = 9_007_199_254_740_991_i64))]
        pub credits: i64,
        /// How often they are granted.
        #[cfg_attr(feature = "server", schema(value_type = Period))]
        pub period: String,
    }

    /// All products of a project.
    pub struct Products {
        /// Oldest first, inactive ones too.
        pub products: Vec<Product>,
    }

    /// All prices of a product.
    pub struct Prices {
        /// Oldest first, inactive ones too.
        pub prices: Vec<Price>,
    }
}

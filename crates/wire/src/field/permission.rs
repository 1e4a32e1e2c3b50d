//! What a wallet's session may do.

use domain::session::Permission;

use super::text::Text;
use crate::choice;

/// A permission as callers send it.
pub type PermissionText = Text<Permission>;

choice!(Permission, "SessionPermission":
    "read" => Permission::Read,
    "checkout" => Permission::Checkout,
    "portal" => Permission::Portal,
    "subscriptions" => Permission::Subscriptions,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::FromText;

    #[test]
    fn a_permission_is_read_as_it_is_shown() {
        for one in Permission::ALL {
            assert_eq!(Permission::from_text(one.as_str()), Some(one));
        }
        assert_eq!(Permission::from_text("deduct"), None);
    }
}

//! Who may do what.

use edge::permission::Needs;
use identity::Privilege;

use crate::*;

macro_rules! needs {
    ($privilege:ident: $($action:ty),* $(,)?) => { $(
        impl Needs for $action {
            const PRIVILEGE: Privilege = Privilege::$privilege;
        }
    )* };
}

needs!(
    Support: AddNote, AssignPayment, DeductCredits, DeleteNote, DismissPayment, EndSubscription,
    GrantCredits, RefundOrder, RefundPayment, ReleaseHold, ReplaceCode, ReplayDelivery,
    ReplayEvents, ReverseDeduction, SetFeature, SetWalletFrozen,
);
needs!(
    Manage: ArchiveProject, CreateEndpoint, CreateKey, CreatePrice, CreateProduct, DeleteEndpoint,
    Erase, RevokeKey, RotateSecret, TestEndpoint, UpdateEndpoint, UpdateKey, UpdatePrice,
    UpdateProduct, UpdateProject,
);

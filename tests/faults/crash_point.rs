//! A server that crashes at some place of its code, between two steps.

use kit::Server;

/// The environment variable with the place.
const DIE_AT: &str = "SCRIP_DIE_AT";

/// Starts the server again, to crash at this place.
pub(crate) async fn start(server: &mut Server, place: &str) {
    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    let launch = server.launch_settings().clone().env(DIE_AT, place);
    server.start_as(&launch).await;
}

/// Waits for the crash, and starts the server again.
pub(crate) async fn survive(server: &mut Server) {
    let status = server.instance_mut().wait().await;
    assert!(!status.success(), "it was to die, not to end with {status}");
    server.crash().await;
    server.verify();
    server.start_again().await;
}

/// Ends the server cleanly, and verifies its books.
pub(crate) async fn close(mut server: Server) {
    let status = server.terminate().await;
    assert!(status.success(), "{status}");
    server.verify();
}

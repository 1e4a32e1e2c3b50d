//! The binary. Everything is in the library; this picks the allocator and starts the command line.

/// Measured: glibc's heap is fragmented by the store's pages and the actors' mailboxes; mimalloc is
/// as fast as this, but its idle threads keep what sleeping wallets gave back (a million of them: 320
/// MB, and 486 with its third version, where this, whose own thread gives it to the system, keeps 143).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    scrip::cli::run()
}

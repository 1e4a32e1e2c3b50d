//! The binary. Everything is in the library; this picks the allocator and starts the command line.

/// Measured: the store's pages and the actors' mailboxes fragment glibc's heap.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    scrip::cli::run()
}

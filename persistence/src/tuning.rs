//! How large the parts of the stored state are.

/// Sizes that determine the layout. Changing one leaves what is stored readable. sled reads and
/// rewrites leaves of up to 16 values. With ten million entries in one wallet, ledger pages of 16
/// KiB and 1,024 keys to an index page, against 56 KiB and 4,096: half the memory and half the time
/// or less to find a used key, for 8 to 22 percent more time to apply (three runs of each).
#[derive(Debug, Clone)]
pub(crate) struct Tuning {
    /// Most bytes of newest entries in a wallet's own record.
    pub(crate) tail_bytes: usize,
    /// Most bytes of a ledger page.
    pub(crate) page_bytes: usize,
    /// Most keys of a wallet that are in no run, and are read from its entries.
    pub(crate) inline_keys: usize,
    /// How many spills move from a wallet's own record to a directory block at once.
    pub(crate) inline_spills: usize,
    /// Keys for each index page, on average.
    pub(crate) keys_per_page: usize,
    /// Most keys in one stored value of an index page; the rest follow in further values.
    pub(crate) keys_per_value: usize,
    /// How many runs of a level become one of the next.
    pub(crate) fan_in: usize,
    /// Runs with more keys together are merged a slice at a time, between checkpoints.
    pub(crate) keys_at_once: u64,
    /// Index pages that are written in such a slice.
    pub(crate) pages_at_once: usize,
    /// A larger snapshot is stored in parts beside the wallet's own record.
    pub(crate) snapshot_bytes: usize,
    pub(crate) part_bytes: usize,
    pub(crate) packed_bytes: usize,
    /// Bytes of changes of all look-ups that are in none of their pages yet. They are in memory, too.
    pub(crate) pending_bytes: usize,
    /// Changes of look-ups that a checkpoint holds in memory before it stores them.
    pub(crate) changes_at_once: usize,
    pub(crate) filter_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            tail_bytes: 2 << 10,
            page_bytes: 16 << 10,
            inline_keys: 315,
            inline_spills: 32,
            keys_per_page: 1024,
            keys_per_value: 4700,
            fan_in: 8,
            keys_at_once: 1 << 16,
            pages_at_once: 32,
            snapshot_bytes: 40 << 10,
            part_bytes: 56 << 10,
            packed_bytes: 8 << 10,
            pending_bytes: 32 << 20,
            changes_at_once: 1 << 16,
            filter_bytes: 256 << 20,
        }
    }
}

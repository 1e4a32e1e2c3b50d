//! Makes sled's flush real. sled 0.34.7 ends its writes with `sync_file_range`, which empties no
//! disk cache, but falls back to `fsync` where the kernel does not know that call. So a seccomp
//! filter has the kernel answer ENOSYS to it, on every thread of this process, for good. It must be
//! in place before sled opens; where it cannot work, no database is opened.

use crate::error::Error;

/// Installs the filter (once in a process) and checks that the kernel obeys it.
pub(crate) fn install() -> Result<(), Error> {
    filter::install().map_err(|why| {
        Error::Unusable(format!(
            "this system does not let Scrip make its writes survive a power cut: {why}. Run it \
             where a process may install a seccomp filter, or allow unsynced writes in the \
             configuration if losing the last moments in a power cut is acceptable"
        ))
    })
}

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod filter {
    use std::{collections::BTreeMap, fs::File, sync::OnceLock, thread};

    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch,
    };

    /// An offset that nobody passes to `fadvise64`: the filter refuses it too, which shows that the filter works. No
    /// safe wrapper of `sync_file_range` itself exists, and this crate forbids unsafe code.
    const CANARY_OFFSET: u64 = 0x5C21_9CA4_A21E_0001;

    #[cfg(target_arch = "x86_64")]
    const ARCH: TargetArch = TargetArch::x86_64;
    #[cfg(target_arch = "aarch64")]
    const ARCH: TargetArch = TargetArch::aarch64;
    #[cfg(target_arch = "riscv64")]
    const ARCH: TargetArch = TargetArch::riscv64;

    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

    pub(super) fn install() -> Result<(), String> {
        // A filter cannot be taken back and stacks when installed again: once is enough.
        INSTALLED.get_or_init(apply).clone()?;
        check()?;
        // Threads started later inherit it; a new one proves that.
        thread::spawn(check)
            .join()
            .unwrap_or_else(|_| Err("the check of the filter failed".into()))
    }

    fn apply() -> Result<(), String> {
        let program = program().map_err(|error| format!("no seccomp filter ({error})"))?;
        // The kernel answers success only when every thread of the process has the filter.
        seccompiler::apply_filter_all_threads(&program)
            .map_err(|error| format!("the kernel refused the seccomp filter ({error})"))
    }

    fn program() -> Result<BpfProgram, seccompiler::BackendError> {
        let canary = SeccompRule::new(vec![SeccompCondition::new(
            1,
            SeccompCmpArgLen::Qword,
            SeccompCmpOp::Eq,
            CANARY_OFFSET,
        )?])?;
        let rules = BTreeMap::from([
            (libc::SYS_sync_file_range, Vec::new()),
            (libc::SYS_fadvise64, vec![canary]),
        ]);
        let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCH)?.try_into()
    }

    fn check() -> Result<(), String> {
        let file = File::open("/dev/null").map_err(|error| format!("/dev/null: {error}"))?;
        let advice = rustix::fs::Advice::Normal;
        match rustix::fs::fadvise(&file, CANARY_OFFSET, None, advice) {
            Err(rustix::io::Errno::NOSYS) => Ok(()),
            _ => Err("the seccomp filter is installed, but the kernel does not obey it".into()),
        }
    }
}

#[cfg(all(
    target_os = "linux",
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    ))
))]
mod filter {
    pub(super) fn install() -> Result<(), String> {
        Err("seccomp filters are not supported on this processor".into())
    }
}

/// On other systems sled's flush is a real sync.
#[cfg(not(target_os = "linux"))]
mod filter {
    pub(super) fn install() -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernel_refuses_the_call_and_installing_again_changes_nothing() {
        super::install().unwrap();
        super::install().unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mode = status
            .lines()
            .find(|line| line.starts_with("Seccomp:"))
            .unwrap();
        assert!(mode.ends_with('2'), "{mode}");
    }
}

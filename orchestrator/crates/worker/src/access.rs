//! The access of a worker: the files that its work needs, and only the system calls that it uses.

use std::path::PathBuf;

/// Files that a worker may open. It opens no others, where the system can enforce that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// Files and folders to read.
    pub read: Vec<PathBuf>,
    /// Files that exist, to read and write. Nothing is ever created.
    pub write: Vec<PathBuf>,
}

/// What the kernel enforces beyond the limits on memory, time and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Only the files of [`Access`] can be opened (Landlock).
    pub files: bool,
    /// No network, no programs, no processes, no new files (seccomp).
    pub calls: bool,
}

impl Confinement {
    /// As a worker reports it.
    pub(crate) fn to_byte(self) -> u8 {
        u8::from(self.files) | u8::from(self.calls) << 1
    }

    /// As a worker reported it.
    pub(crate) fn from_bytes(report: &[u8]) -> Self {
        let byte = report.first().copied().unwrap_or_default();
        Self { files: byte & 1 != 0, calls: byte & 2 != 0 }
    }
}

impl Access {
    /// Drops everything else, for this thread and those that it starts. The result shows what the kernel cannot
    /// enforce.
    ///
    /// # Errors
    /// A listed file cannot be inspected, or the kernel refuses a feature that it supports.
    pub(crate) fn confine(&self) -> std::io::Result<Confinement> {
        #[cfg(target_os = "linux")]
        {
            // A file shows whether filters are available.
            let calls = linux::restrict_calls(self)?;
            Ok(Confinement { files: linux::restrict_files(self)?, calls })
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Confinement::default())
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Access;
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
        Scope, path_beneath_rules,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule,
    };
    use std::io::{Error, Result};

    /// Newest version of Landlock that is used; older kernels enforce what they support.
    const LANDLOCK: ABI = ABI::V6;

    pub(super) fn restrict_files(access: &Access) -> Result<bool> {
        let restrict = || {
            Ruleset::default()
                .handle_access(AccessFs::from_all(LANDLOCK))?
                .handle_access(AccessNet::from_all(LANDLOCK))?
                .scope(Scope::from_all(LANDLOCK))?
                .create()?
                .add_rules(path_beneath_rules(&access.read, AccessFs::ReadFile | AccessFs::ReadDir))?
                .add_rules(path_beneath_rules(&access.write, AccessFs::ReadFile | AccessFs::WriteFile))?
                .restrict_self()
        };
        let status = restrict().map_err(Error::other)?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    pub(super) fn restrict_calls(access: &Access) -> Result<bool> {
        if !has_filters() {
            return Ok(false);
        }
        let mut refused: Vec<(i64, Vec<SeccompRule>)> =
            REFUSED.iter().map(|&call| (call, Vec::new())).collect();
        // Threads may be created, processes must not.
        refused.push((libc::SYS_clone, vec![lacking(0, libc::CLONE_THREAD as u64)?]));
        // SQLite passes `O_CREAT` for existing files; Landlock refuses missing ones.
        if access.write.is_empty() {
            for flag in [libc::O_CREAT, libc::O_WRONLY, libc::O_RDWR] {
                refused.push((libc::SYS_openat, vec![with(2, flag as u64)?]));
                #[cfg(target_arch = "x86_64")]
                refused.push((libc::SYS_open, vec![with(1, flag as u64)?]));
            }
        }
        install(refused, libc::EPERM)?;
        // Its arguments cannot be inspected by filters; the C library falls back to `clone`.
        install(vec![(libc::SYS_clone3, Vec::new())], libc::ENOSYS)?;
        Ok(true)
    }

    /// Whether the kernel was built with filters of system calls.
    fn has_filters() -> bool {
        std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("Seccomp_filters:"))
    }

    fn install(calls: Vec<(i64, Vec<SeccompRule>)>, answer: i32) -> Result<()> {
        let mut rules = std::collections::BTreeMap::<i64, Vec<SeccompRule>>::new();
        for (call, of_it) in calls {
            rules.entry(call).or_default().extend(of_it);
        }
        let filter = || -> std::result::Result<BpfProgram, seccompiler::BackendError> {
            let machine = std::env::consts::ARCH.try_into()?;
            SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(answer as u32), machine)?
                .try_into()
        };
        seccompiler::apply_filter(&filter().map_err(Error::other)?).map_err(Error::other)
    }

    /// When this argument has the flag.
    fn with(argument: u8, flag: u64) -> Result<SeccompRule> {
        masked(argument, flag, flag)
    }

    /// When this argument does not have the flag.
    fn lacking(argument: u8, flag: u64) -> Result<SeccompRule> {
        masked(argument, flag, 0)
    }

    fn masked(argument: u8, flag: u64, value: u64) -> Result<SeccompRule> {
        let compare = SeccompCmpOp::MaskedEq(flag);
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value);
        condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(Error::other)
    }

    /// Calls that no work has a use for: network, programs and processes, names of files, other processes, the system itself.
    const REFUSED: &[i64] = &[
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_io_uring_setup,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_mknodat,
        libc::SYS_mkdirat,
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_truncate,
        libc::SYS_openat2,
        libc::SYS_open_by_handle_at,
        libc::SYS_memfd_create,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_syslog,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mknod,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rmdir,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_link,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_symlink,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown,
    ];
}

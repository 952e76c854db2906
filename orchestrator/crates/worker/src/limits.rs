//! The resource limits of a worker.

use std::time::Duration;

/// Limits of a worker. The kernel enforces the ones it supports; the pool enforces the deadline of each job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory that may be written to. Linux only.
    pub memory: u64,
    /// Bytes of addresses, mapped files and reserved memory included. Linux only.
    pub addresses: u64,
    /// Processor time of one job, rounded up to seconds.
    pub cpu: Duration,
    /// Open files at a time.
    pub files: u64,
}

impl Limits {
    /// Drops what the work does not need: memory and files beyond the limits, writing to files, core dumps, new
    /// privileges. A worker ends with its parent.
    ///
    /// # Errors
    /// The system refuses one of them.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            // When memory runs out, the kernel kills workers first. Some containers do not allow this setting.
            let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
            kernel::end_with_parent()?;
            kernel::no_new_privileges()?;
            kernel::limit(libc::RLIMIT_DATA, self.memory, self.memory)?;
            kernel::limit(libc::RLIMIT_AS, self.addresses, self.addresses)?;
        }
        #[cfg(unix)]
        {
            kernel::limit(libc::RLIMIT_CORE, 0, 0)?;
            kernel::limit(libc::RLIMIT_FSIZE, 0, 0)?;
            kernel::limit(libc::RLIMIT_NOFILE, self.files, self.files)?;
        }
        Ok(())
    }

    /// Counts the processor time of a job from now on.
    pub(crate) fn begin_job(&self) -> std::io::Result<()> {
        #[cfg(unix)]
        {
            // The signal of the soft limit ends the process.
            let most = kernel::processor_seconds()? + self.cpu_seconds();
            kernel::limit(libc::RLIMIT_CPU, most, u64::MAX)?;
        }
        Ok(())
    }

    /// CPU seconds of a job: the kernel counts whole seconds, and the first may be partly used.
    pub(crate) fn cpu_seconds(&self) -> u64 {
        self.cpu.as_millis().div_ceil(1000) as u64 + 1
    }
}

/// The calls that the standard library has no words for.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the kernel's C interface")]
mod kernel {
    use std::io::{Error, Result};

    #[cfg(target_env = "gnu")]
    type Resource = libc::__rlimit_resource_t;
    #[cfg(not(target_env = "gnu"))]
    type Resource = libc::c_int;

    fn done(code: libc::c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// Lowers one of this process's limits, soft and hard; never above the present hard limit.
    pub(super) fn limit(resource: Resource, soft: u64, hard: u64) -> Result<()> {
        let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to a live value of the type that the call fills in.
        done(unsafe { libc::getrlimit(resource, &raw mut now) })?;
        let hard = hard.min(now.rlim_max);
        let limit = libc::rlimit { rlim_cur: soft.min(hard), rlim_max: hard };
        // SAFETY: the pointer is to a live value of the type that the call reads.
        done(unsafe { libc::setrlimit(resource, &raw const limit) })
    }

    /// Seconds of processor time that this process has used.
    pub(super) fn processor_seconds() -> Result<u64> {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to memory of the type's size that the call fills in.
        done(unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) })?;
        // SAFETY: it is zero-initialized and consists of integers, for which zero is valid.
        let usage = unsafe { usage.assume_init() };
        Ok((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec).unsigned_abs() + 1)
    }

    /// The kernel kills this process when the thread that started it ends.
    #[cfg(target_os = "linux")]
    pub(super) fn end_with_parent() -> Result<()> {
        // SAFETY: takes numbers only.
        done(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
    }

    /// Neither this process nor its children can gain new privileges.
    #[cfg(target_os = "linux")]
    pub(super) fn no_new_privileges() -> Result<()> {
        // SAFETY: takes numbers only.
        done(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
    }
}

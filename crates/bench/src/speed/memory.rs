//! How much memory this process holds, as Linux tells it; elsewhere nothing is known.

use std::fs;

/// What it holds now, in MiB.
#[must_use]
pub fn resident_mib() -> Option<f64> {
    mib(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The most that it has held so far, in MiB.
#[must_use]
pub fn peak_mib() -> Option<f64> {
    mib(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

fn mib(status: &str, name: &str) -> Option<f64> {
    let told = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: f64 = told.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_kib_and_told_in_mib() {
        let status = "Name:\tbench\nVmPeak:\t  9000 kB\nVmHWM:\t    2560 kB\nVmRSS:\t 512 kB\n";
        assert_eq!(mib(status, "VmHWM:"), Some(2.5));
        assert_eq!(mib(status, "VmRSS:"), Some(0.5));
        assert_eq!(mib(status, "VmSwap:"), None);
    }
}

//! What the published policies came to, measured with their own simulator.
//!
//! Commit c4fa400 of stanford-futuredata/gavel, solver ECOS, seed 0: mean and
//! 99th percentile of completion, and makespan, in seconds.

/// What a policy came to on a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The trace.
    pub trace: &'static str,
    /// The policy.
    pub policy: &'static str,
    /// Mean completion, in seconds.
    pub mean: f64,
    /// 99th percentile of completion, in seconds.
    pub p99: f64,
    /// When the last job was completed, in seconds since the first arrival.
    pub makespan: f64,
}

const fn row(
    trace: &'static str,
    policy: &'static str,
    [mean, p99, makespan]: [f64; 3],
) -> Published {
    Published { trace, policy, mean, p99, makespan }
}

/// All that was measured, but for policies that are broken or too slow to measure everywhere.
pub const PUBLISHED: [Published; 29] = [
    row("A", "fifo_perf", [19_527.0, 31_473.0, 72_320.0]),
    row("A", "isolated", [19_865.0, 44_504.0, 78_163.0]),
    row("A", "max_min_fairness", [19_989.0, 44_930.0, 77_141.0]),
    row("A", "max_min_fairness_perf", [14_623.0, 37_229.0, 63_945.0]),
    row("A", "finish_time_fairness_perf", [15_010.0, 33_478.0, 64_971.0]),
    row("A", "min_total_duration_perf", [22_973.0, 36_294.0, 61_513.0]),
    row("A", "max_sum_throughput_perf", [17_072.0, 44_699.0, 63_937.0]),
    row("A", "gandiva", [17_379.0, 39_965.0, 67_405.0]),
    row("B", "fifo_perf", [40_258.0, 81_877.0, 90_701.0]),
    row("B", "isolated", [37_581.0, 82_784.0, 82_945.0]),
    row("B", "max_min_fairness", [37_768.0, 82_345.0, 82_777.0]),
    row("B", "max_min_fairness_perf", [35_659.0, 68_323.0, 68_522.0]),
    row("B", "finish_time_fairness_perf", [36_333.0, 70_359.0, 70_400.0]),
    row("B", "min_total_duration_perf", [63_775.0, 64_710.0, 64_721.0]),
    row("B", "max_sum_throughput_perf", [36_929.0, 74_848.0, 80_946.0]),
    row("B", "gandiva", [35_075.0, 74_803.0, 75_994.0]),
    row("C", "fifo_perf", [105_632.0, 607_205.0, 1_234_307.0]),
    row("C", "isolated", [86_016.0, 840_282.0, 1_447_431.0]),
    row("C", "max_min_fairness", [85_956.0, 848_380.0, 1_451_238.0]),
    row("C", "max_min_fairness_perf", [66_805.0, 608_866.0, 1_121_348.0]),
    row("C", "finish_time_fairness_perf", [70_981.0, 619_315.0, 1_083_828.0]),
    row("C", "min_total_duration_perf", [126_469.0, 726_481.0, 1_024_307.0]),
    row("C", "max_sum_throughput_perf", [71_071.0, 606_352.0, 1_131_763.0]),
    row("D", "fifo_perf", [67_040.0, 508_290.0, 812_498.0]),
    row("D", "isolated", [76_890.0, 776_705.0, 1_049_044.0]),
    row("D", "max_min_fairness", [76_845.0, 776_667.0, 1_051_618.0]),
    row("D", "max_min_fairness_perf", [55_700.0, 524_445.0, 757_132.0]),
    row("D", "max_sum_throughput_perf", [62_216.0, 527_936.0, 764_133.0]),
    row("D", "allox", [56_553.0, 509_133.0, 816_581.0]),
];

/// What a policy came to on a trace, if it was measured.
#[must_use]
pub fn find(trace: &str, policy: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|row| row.trace == trace && row.policy == policy)
}

/// The least of a figure over all policies that were measured on a trace.
#[must_use]
pub fn least(trace: &str, figure: impl Fn(&Published) -> f64) -> Option<f64> {
    PUBLISHED.iter().filter(|row| row.trace == trace).map(figure).reduce(f64::min)
}

//! The fleet and workload that come with the program.
//!
//! A mixed fleet (two makes of CPU nodes, three GPU generations, TPU, FPGA)
//! and jobs that show why rates per model matter. The files say where their
//! numbers come from.

use crate::read::{Options, inventory_from, workload_from};
use crate::workload::{Inventory, Workload};

/// The fleet file.
pub const FLEET: &str = include_str!("../bundled/fleet.toml");
/// The workload file.
pub const JOBS: &str = include_str!("../bundled/jobs.toml");

/// The fleet.
///
/// # Panics
/// Never: the file is part of the program, and a test reads it.
#[must_use]
pub fn inventory() -> Inventory {
    let read = inventory_from(FLEET.as_bytes(), "the bundled fleet", &Options::default());
    read.expect("the bundled fleet is tested").value
}

/// The workload, with arrivals and work drawn from the seed.
///
/// # Panics
/// Never: the file is part of the program, and a test reads it.
#[must_use]
pub fn workload(seed: u64) -> Workload {
    let options = Options { seed, ..Options::default() };
    let read = workload_from(JOBS.as_bytes(), "the bundled jobs", &inventory(), &options);
    read.expect("the bundled jobs are tested").value
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::{DeviceKind, Time};

    #[test]
    fn the_bundled_files_read_without_remarks() {
        let options = Options { seed: 3, ..Options::default() };
        let fleet = inventory_from(FLEET.as_bytes(), "fleet", &options).unwrap();
        let jobs = workload_from(JOBS.as_bytes(), "jobs", &fleet.value, &options).unwrap();
        assert_eq!((fleet.notes, jobs.notes), (vec![], vec![]));
        assert_eq!((fleet.value.nodes.len(), jobs.value.jobs.len()), (20, 343));
    }

    #[test]
    fn every_job_could_run_on_some_empty_node() {
        let fleet = inventory();
        for job in workload(0).jobs {
            let fits = fleet.nodes.iter().any(|node| {
                let free = node.capacity(&fleet.classes);
                job.alternatives.iter().any(|alternative| {
                    alternative.classes_on(node, &fleet.classes).into_iter().any(|class| {
                        let request = &alternative.request;
                        let model = &fleet.classes.get(class).model;
                        let devices = request.devices.as_ref().is_none_or(|devices| {
                            devices.accepts(fleet.classes.get(class))
                                && fleet::node::choose_devices(
                                    node,
                                    &free,
                                    &fleet.classes,
                                    devices,
                                    class,
                                )
                                .is_some()
                        });
                        devices
                            && alternative.rate(model).is_some()
                            && request.cores <= free.cores
                            && request.memory <= free.memory
                    })
                })
            });
            assert!(fits, "{}", job.name);
        }
    }

    #[test]
    fn the_bundled_fleet_has_every_kind_that_it_claims() {
        let fleet = inventory();
        let kinds: std::collections::BTreeSet<_> =
            fleet.classes.0.iter().map(|class| class.kind).collect();
        let claimed = [DeviceKind::Cpu, DeviceKind::Gpu, DeviceKind::Tpu, DeviceKind::Fpga];
        assert_eq!(kinds, claimed.into());
    }

    #[test]
    fn seeds_draw_different_arrivals_within_the_same_few_hours() {
        let (one, two) = (workload(1), workload(2));
        assert_ne!(one, two);
        assert_eq!(one, workload(1));
        for workload in [one, two] {
            let last = workload.jobs.last().unwrap().arrival;
            assert!(last > Time::seconds(3 * 3600) && last < Time::seconds(10 * 3600), "{last:?}");
        }
    }
}

//! Sums over the rows of an outlook, for nodes whose devices are all of one class.
//!
//! What such a node can do for arrivals depends on its free cores, on the free
//! share of each device and on how many are wholly free, where its memory
//! suffices. So the counts of the rows are summed up beforehand,
//! by cores and share, and by cores and number of devices.

use fleet::snapshot::Amounts;
use fleet::{Bytes, ClassId, DeviceFree, Milli, MilliCores};

use super::Row;

/// The most devices that a row may ask for: sums are as wide.
const DEVICES_MAX: u64 = 4096;

/// Sums for one class.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// The cores that rows ask for, ascending, each once.
    cores: Vec<u64>,
    /// Every row, the one that asks for the most memory first.
    rows: Vec<Short>,
    /// For every free share how many of the shares that rows ask for are not above it.
    steps: Vec<u16>,
    /// Counts of the rows for one device, by number of cores that suffice and by step.
    one: Vec<u64>,
    one_width: usize,
    /// Counts of the rows for several devices, by number of cores that suffice and by how many
    /// devices are wholly free.
    several: Vec<u64>,
    several_width: usize,
}

impl Sums {
    /// Sums up; `None` where rows ask for more than a sum can tell.
    pub(super) fn new(rows: &[Row], class: ClassId) -> Option<Self> {
        let accepted = |row: &&Row| {
            row.devices.as_ref().is_some_and(|devices| devices.accepted[class.index()])
        };
        let rows: Vec<&Row> = rows.iter().filter(accepted).collect();
        let devices = |row: &Row| row.devices.clone().expect("rows with devices");
        let is_plain = |row: &&Row| {
            let wanted = devices(row);
            let is_whole_or_share = wanted.memory.is_zero() && wanted.places.is_none();
            row.labels.is_empty() && is_whole_or_share && wanted.count <= DEVICES_MAX
        };
        if !rows.iter().all(is_plain) {
            return None;
        }
        let mut cores: Vec<u64> = rows.iter().map(|row| row.cores.0).collect();
        cores.sort_unstable();
        cores.dedup();
        let singles = || rows.iter().filter(|row| devices(row).count == 1);
        let mut shares: Vec<u32> = singles().map(|row| devices(row).share.0).collect();
        shares.sort_unstable();
        shares.dedup();
        let step = |share: u32| shares.iter().filter(|asked| **asked <= share).count();
        let steps = (0..=Milli::WHOLE.0).map(|share| u16::try_from(step(share)).ok());
        let steps = steps.collect::<Option<Vec<u16>>>()?;
        let most = rows.iter().map(|row| devices(row).count).max().unwrap_or(0);
        let (one_width, several_width) = (shares.len() + 1, usize::try_from(most).ok()? + 1);
        let mut one = vec![0; (cores.len() + 1) * one_width];
        let mut several = vec![0; (cores.len() + 1) * several_width];
        for row in &rows {
            let wanted = devices(row);
            let (sums, width, least) = match wanted.count {
                1 => (&mut one, one_width, step(wanted.share.0)),
                count => (&mut several, several_width, usize::try_from(count).ok()?),
            };
            let enough = cores.partition_point(|cores| *cores < row.cores.0) + 1;
            for line in enough..=cores.len() {
                sums[line * width + least..(line + 1) * width]
                    .iter_mut()
                    .for_each(|sum| *sum += row.count);
            }
        }
        let short = |row: &&Row| {
            let Row { count, cores, memory, .. } = **row;
            let wanted = devices(row);
            Short { count, cores, memory, devices: wanted.count, share: wanted.share }
        };
        let mut rows: Vec<Short> = rows.iter().map(short).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.memory));
        Some(Self { cores, rows, steps, one, one_width, several, several_width })
    }

    /// The sum over all rows of count × usable thousandths of a device.
    pub(super) fn usable(&self, free: Amounts, devices: &[DeviceFree]) -> u128 {
        let line = self.cores.partition_point(|cores| *cores <= free.cores.0);
        let one = &self.one[line * self.one_width..];
        let mut usable = 0;
        let mut whole = 0;
        for left in devices {
            let step = self.steps[left.share.0 as usize];
            usable += u128::from(one[usize::from(step)]) * u128::from(left.share.0);
            whole += usize::from(left.share == Milli::WHOLE);
        }
        let several = self.several[line * self.several_width + whole.min(self.several_width - 1)];
        usable += u128::from(several) * 1000 * whole as u128;
        // The sums take memory to suffice; where it does not, the row was counted in vain.
        let too_large = self.rows.iter().take_while(|row| row.memory > free.memory);
        let in_vain = too_large.filter(|row| row.cores <= free.cores);
        usable - in_vain.map(|row| row.usable(devices, whole as u64)).sum::<u128>()
    }
}

/// What a sum needs to know of one row.
#[derive(Clone, Copy, Debug)]
struct Short {
    count: u64,
    cores: MilliCores,
    memory: Bytes,
    devices: u64,
    share: Milli,
}

impl Short {
    /// Count × usable thousandths of a device where cores and memory suffice.
    fn usable(self, devices: &[DeviceFree], whole: u64) -> u128 {
        let usable = match self.devices {
            1 => {
                let suited = devices.iter().filter(|left| left.share >= self.share);
                suited.map(|left| u64::from(left.share.0)).sum()
            }
            several => {
                if whole >= several {
                    1000 * whole
                } else {
                    0
                }
            }
        };
        u128::from(self.count) * u128::from(usable)
    }
}

//! Communication: what members of one piece of work send each other, and how long that takes.
//!
//! Members are the devices of one task, or the tasks of a gang. A step takes as
//! long as its busiest channel: the bytes that pass through it divided by its
//! bandwidth. Members with a direct link use that, each direction on its own;
//! all others share one path through the host. Who stands next to whom in a
//! ring or line, and who is the root of a tree or the server, is chosen so that
//! the step is shortest, as communication libraries do.
//!
//! The bytes that a pattern sends are those of the usual bandwidth-optimal
//! algorithms: Thakur, Rabenseifner and Gropp, *Optimization of Collective
//! Communication Operations in MPICH*, 2005.

mod line;
mod star;
mod gang;

use serde::{Deserialize, Serialize};

use crate::units::{Bandwidth, Bytes};

pub use gang::{Seat, gang_step};

/// What members send each other for every unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Communication {
    /// Who sends to whom.
    pub pattern: Pattern,
    /// How much each member has to share with the others for every unit of work; see [`Pattern`].
    pub bytes: Bytes,
}

/// Who sends to whom; `n` members, `B` bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// All-reduce on a ring: each sends `2 (n − 1) ÷ n × B` to the next.
    Ring,
    /// All-reduce on a tree: `B` up and `B` down each branch.
    Tree,
    /// Each sends `B ÷ (n − 1)` to each other.
    AllToAll,
    /// Each sends `B` to the next of a line.
    Pipeline,
    /// Each sends `B` to each of its two neighbours on a line.
    Neighbour,
    /// Each sends `B` to one server among them, and gets `B` back.
    ParameterServer,
}

impl Pattern {
    /// Every one, in the order of the enum.
    pub const ALL: [Self; 6] = [
        Self::Ring,
        Self::Tree,
        Self::AllToAll,
        Self::Pipeline,
        Self::Neighbour,
        Self::ParameterServer,
    ];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::AllToAll => "all-to-all",
            Self::Pipeline => "pipeline",
            Self::Neighbour => "neighbour",
            Self::ParameterServer => "parameter-server",
        }
    }

    /// The pattern of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| pattern.name() == name)
    }
}

/// How members are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// How many members there are.
    members: usize,
    /// The bandwidth of the direct link of each ordered pair; zero where they have none.
    direct: Vec<u64>,
    /// What all pairs without a link share.
    host: u64,
}

impl Fabric {
    /// Members that are joined by nothing but the host.
    #[must_use]
    pub fn new(members: usize, host: Bandwidth) -> Self {
        Self { members, direct: vec![0; members * members], host: host.0 }
    }

    /// Joins two members directly.
    ///
    /// # Panics
    /// If there is no such member.
    pub fn join(&mut self, one: usize, other: usize, bandwidth: Bandwidth) {
        self.direct[one * self.members + other] = bandwidth.0;
        self.direct[other * self.members + one] = bandwidth.0;
    }

    /// The bandwidth of the direct link between two members; zero where they have none.
    fn direct(&self, one: usize, other: usize) -> u64 {
        self.direct[one * self.members + other]
    }

    /// How long one step takes, in nanoseconds, rounded up; nothing where a member is alone.
    #[must_use]
    pub fn step(&self, communication: &Communication) -> u64 {
        let Communication { pattern, bytes: Bytes(bytes) } = *communication;
        let count = self.members as u64;
        if count < 2 || bytes == 0 {
            return 0;
        }
        match pattern {
            Pattern::Ring => line::ring(self, part(bytes, 2 * (count - 1), count)),
            Pattern::Pipeline => line::line(self, bytes, 1),
            Pattern::Neighbour => line::line(self, bytes, 2),
            Pattern::Tree => star::tree(self, bytes),
            Pattern::AllToAll => star::all_to_all(self, part(bytes, 1, count - 1)),
            Pattern::ParameterServer => star::server(self, bytes),
        }
    }

    /// How long it takes that so many flows of so many bytes pass through the host.
    fn by_host(&self, bytes: u64, flows: u64) -> u64 {
        nanos(bytes.saturating_mul(flows), self.host)
    }
}

/// A part of an amount, rounded up.
fn part(bytes: u64, parts: u64, of: u64) -> u64 {
    let part = (u128::from(bytes) * u128::from(parts)).div_ceil(u128::from(of));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// How long so many bytes take, in nanoseconds, rounded up; for ever where nothing can pass.
pub(crate) fn nanos(bytes: u64, bandwidth: u64) -> u64 {
    match (bytes, bandwidth) {
        (0, _) => 0,
        (_, 0) => u64::MAX,
        _ => {
            let time = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bandwidth));
            u64::try_from(time).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests;

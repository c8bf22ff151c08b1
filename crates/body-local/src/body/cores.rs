//! Which actual cores runs hold.
//!
//! A plan grants an amount of cores, by memory domain where the node has them;
//! here the amount becomes cores. Whole cores are given whole as long as there
//! are any, fractions share a core, the fullest that still has room, so that
//! whole cores stay whole.

use fleet::{DomainIndex, Grant};

use super::Core;
use crate::wire::Piece;

const WHOLE: u32 = 1_000;

/// What of each core is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cores {
    domains: Vec<Option<DomainIndex>>,
    free: Vec<u32>,
}

impl Cores {
    pub(super) fn new(cores: &[Core]) -> Self {
        let domains: Vec<_> = cores.iter().map(|core| core.domain).collect();
        Self { free: vec![WHOLE; domains.len()], domains }
    }

    /// Takes cores for a grant; nothing where there are not as many.
    pub(super) fn take(&mut self, grant: &Grant) -> Option<Vec<Piece>> {
        let before = self.free.clone();
        let mut pieces = Vec::new();
        let mut parts: Vec<_> =
            grant.domains.iter().map(|held| (Some(held.domain), held.cores.0)).collect();
        if parts.is_empty() {
            parts.push((None, grant.cores.0));
        }
        for (domain, milli) in parts {
            if !self.take_part(domain, milli, &mut pieces) {
                self.free = before;
                return None;
            }
        }
        pieces.sort_unstable();
        Some(pieces)
    }

    /// Takes so much of the cores of a domain, or of any.
    fn take_part(
        &mut self,
        domain: Option<DomainIndex>,
        milli: u64,
        pieces: &mut Vec<Piece>,
    ) -> bool {
        let Ok(mut need) = u32::try_from(milli) else { return false };
        while need > 0 {
            let suits =
                |(core, _): &(usize, &u32)| domain.is_none() || self.domains[*core] == domain;
            let cores = self.free.iter().enumerate().filter(suits).filter(|(_, free)| **free > 0);
            let best = if need >= WHOLE {
                cores.min_by_key(|(core, free)| (WHOLE - **free, *core))
            } else {
                // The least that suffices, else the most there is.
                cores.min_by_key(|(core, free)| match **free >= need {
                    true => (0, **free, *core),
                    false => (1, WHOLE - **free, *core),
                })
            };
            let Some((core, free)) = best else { return false };
            let taken = need.min(*free);
            self.free[core] -= taken;
            need -= taken;
            match pieces.iter_mut().find(|piece| piece.core as usize == core) {
                Some(piece) => piece.milli += taken,
                None => pieces.push(Piece { core: u32::try_from(core).unwrap_or(0), milli: taken }),
            }
        }
        true
    }

    /// Takes what is held already, as far as there are such cores.
    pub(super) fn retake(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            if let Some(free) = self.free.get_mut(piece.core as usize) {
                *free = free.saturating_sub(piece.milli);
            }
        }
    }

    pub(super) fn give_back(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            if let Some(free) = self.free.get_mut(piece.core as usize) {
                *free = free.saturating_add(piece.milli).min(WHOLE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fleet::{DomainGrant, MilliCores};

    use super::*;

    fn cores(domains: &[u16]) -> Cores {
        let core = |domain: &u16| Core { cpus: Vec::new(), domain: Some(DomainIndex(*domain)) };
        Cores::new(&domains.iter().map(core).collect::<Vec<_>>())
    }

    fn take(cores: &mut Cores, milli: u64) -> Vec<(u32, u32)> {
        let grant = Grant { cores: MilliCores(milli), ..Grant::default() };
        let pieces = cores.take(&grant).unwrap_or_default();
        pieces.iter().map(|piece| (piece.core, piece.milli)).collect()
    }

    #[test]
    fn whole_cores_are_whole_and_fractions_share_one() {
        let mut cores = cores(&[0; 4]);
        assert_eq!(take(&mut cores, 500), [(0, 500)]);
        assert_eq!(take(&mut cores, 1_000), [(1, 1_000)]);
        assert_eq!(take(&mut cores, 300), [(0, 300)]);
        assert_eq!(take(&mut cores, 1_200), [(0, 200), (2, 1_000)]);
        assert_eq!(take(&mut cores, 1_001), []);
        assert_eq!(take(&mut cores, 1_000), [(3, 1_000)]);
    }

    #[test]
    fn what_is_in_pieces_is_still_given() {
        let mut cores = cores(&[0; 2]);
        cores.retake(&[Piece { core: 0, milli: 500 }, Piece { core: 1, milli: 500 }]);
        assert_eq!(take(&mut cores, 1_000), [(0, 500), (1, 500)]);
    }

    #[test]
    fn a_grant_by_domain_takes_cores_of_that_domain() {
        let mut cores = cores(&[0, 0, 1]);
        let held = DomainGrant {
            domain: DomainIndex(1),
            cores: MilliCores(1_000),
            ..DomainGrant::default()
        };
        let grant = Grant { cores: MilliCores(1_000), domains: vec![held], ..Grant::default() };
        let pieces = cores.take(&grant).unwrap();
        assert_eq!(pieces, [Piece { core: 2, milli: 1_000 }]);
        assert_eq!(cores.take(&grant), None);
        cores.give_back(&pieces);
        assert_eq!(cores, Cores { free: vec![1_000; 3], ..cores.clone() });
    }
}

//! Comparisons with references and peers. Never shipped.
//!
//! [`openb`] runs a published protocol through the same `controller::turn` as
//! any planner, once for each reference policy and each policy of Motley's,
//! and says how what came out compares with what was published. [`speed`] says
//! what a placement costs on fleets of several sizes, [`mod@crashes`] what is
//! lost when programs die in simulations, [`mod@kills`] when real ones do, and
//! [`rounds`] who shares unlike devices best over time. Reference policies are
//! written from their formulas and live in [`mod@reference`] and
//! [`rounds::reference`].

#![warn(missing_docs)]

mod api;
pub mod args;
pub mod command;
pub mod place;
pub mod record;
pub mod crew;
pub mod chart;
pub mod dice;
pub mod local;
pub mod openb;
pub mod speed;
pub mod stages;
pub mod rounds;
pub mod crashes;
pub mod kills;
pub mod reference;

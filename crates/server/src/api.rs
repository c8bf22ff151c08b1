//! What is asked of the daemon and what it answers: the types behind the HTTP API.
//!
//! Every call has a place in the API ([`crate::open`] serves it) and is handed
//! to the daemon as a [`Call`]; the daemon answers by an [`Answer`]. The form of
//! what is written here is the form of the JSON, and `/openapi.json` describes
//! it. Moments are microseconds since 1970.

mod call;
mod described;
mod submission;
mod views;

pub use call::{Answer, Call, Caller, Chosen, Denial, Down, DownRequest, JobFilter, Kind};
pub use submission::{Submission, Submissions};
pub use views::{
    AlertState, AlertView, Amount, BarView, DeviceView, EventKind, EventView, Explained, FrontView,
    JobPage, JobView, LaneView, NodeName, NodePage, NodeView, Numbers, PhaseView, PointView,
    PolicyName, PolicyText, PolicyView, Printed, Problem, RunView, Running, Scope, StatusView,
    TierView, TimelineView, TokenMade, TokenRequest, TokenView, UsageView, WeightView, Whoami,
};

/// The largest call, in bytes.
pub const CALL_MAX: usize = 64 << 20;

/// The most jobs of one call, and of one listing.
pub const JOBS_MAX: usize = 10_000;

/// The most nodes of one listing.
pub const NODES_MAX: usize = 10_000;

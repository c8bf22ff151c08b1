//! What a node is made of, read from the system itself.
//!
//! A [`Root`] says where the files of a system are: `/`, or a tree that was
//! recorded on another machine, so that every odd machine can be a test. From
//! it come the [`Topology`] (cores with their threads, memory domains, and what
//! of both this process may use), and the [`devices`]; a [`Survey`] makes a
//! [`fleet::Node`] of them and keeps the numbers by which the system knows the
//! parts, so that tasks can be pinned. What [`sensors`] say changes from moment to moment.
//!
//! **A core is a physical core.** The cores of a node are those with at least one
//! thread that this process may use, 1000 thousandths each however many threads
//! they have; the threads are listed under their core.
//!
//! Nothing is taken for granted in silence: a file that cannot be read, makes no
//! sense or cannot be done without is an error that names it; for any other that
//! is missing there is a [`Gap`] that says what is assumed instead. Nothing here
//! writes, decides or keeps anything.

#![warn(missing_docs)]

mod error;
mod gap;
mod root;
mod numbers;
mod model;
mod confines;
pub mod topology;
pub mod devices;
pub mod sensors;
mod survey;

pub use confines::Confines;
pub use error::ProbeError;
pub use gap::{Gap, Gaps};
pub use numbers::{NUMBERS_MAX, Numbers};
pub use root::Root;
pub use survey::Survey;
pub use topology::{Core, CoreKind, Domain, DomainKind, Thread, Topology};

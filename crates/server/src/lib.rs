//! The face of a daemon: its HTTP API, over a Unix socket and, where asked, over TCP.
//!
//! Nothing here decides. A request is checked (who asks, what they may, how
//! much of it there is) and handed to the daemon as a [`api::Call`] across a
//! bounded channel, the [`Desk`]; the daemon's answer goes back as JSON. The
//! web stack stays inside: neither the daemon nor the client names it.

#![warn(missing_docs)]

pub mod alert;
pub mod api;
pub mod client;
mod desk;
mod door;
mod events;
pub mod metrics;
mod page;
mod pace;
mod places;
mod problem;
mod routes;
mod serve;
pub mod token;
pub mod webhook;

pub use desk::{Asked, Desk, Reply};
pub use events::Happened;
pub use serve::{Listen, OpenError, OutputPart, OutputSource, Server, Settings, open};

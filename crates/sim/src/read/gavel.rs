//! Jobs as the simulations of Gavel (OSDI'20) have them: a table of rates, and traces.
//!
//! In comes the table (JSON), which says how many steps a second a kind of job
//! takes on so many devices of a model, and a trace, of which each line has a
//! kind of job, its steps, its devices and its arrival. Out go jobs: one of
//! several devices is a gang of as many tasks with one device each, and every
//! task has all the steps to do, since each member takes part in each step.
//! What each field becomes is in `docs/files.md`.

mod rates;
mod trace;

pub use rates::GavelRates;

pub(super) use rates::read as read_rates;
pub(super) use trace::read as read_trace;

//! The local body with real processes: a keeper of its own for every test, in a folder of its own.
//!
//! Nothing is timed: a test waits for what must come, with a bound that no
//! machine should need.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test that called it")]

mod place;

mod ends;
mod keeping;
mod limits;
mod users;
mod killing;
mod printing;
mod reconnecting;

//! Tidy: the rules of this repository that no compiler checks.
//!
//! In come the files that git knows or would take, and what cargo says about
//! the workspace; out come findings, each with file, line and rule. Every rule
//! is one test, and below it is shown to fail on a bad snippet. It changes
//! nothing, needs no network, and never looks at what git ignores.

#[path = "tidy/files.rs"]
mod files;
#[path = "tidy/rust.rs"]
mod rust;

#[path = "tidy/crates.rs"]
mod crates;
#[path = "tidy/lengths.rs"]
mod lengths;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/pages.rs"]
mod pages;
#[path = "tidy/strays.rs"]
mod strays;

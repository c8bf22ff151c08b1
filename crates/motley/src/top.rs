//! The dashboard in a terminal: what it shows and what keys do.
//!
//! A [`Model`] is all that is shown. [`Model::hear`] takes in what the daemon
//! said, [`Model::press`] a key; both may want something of the daemon, and ask
//! nothing themselves. [`draw`](draw::draw) paints a model. None of them reads a
//! clock or a terminal; [`Talk`] has the connection, in a thread of its own.

mod draw;
mod keys;
mod model;
mod talk;

pub use draw::{Palette, draw};
pub use model::{Heard, Link, Model, Pane, Picture, Popup, Wish};
pub use talk::Talk;

#[cfg(test)]
mod tests;

//! The sketch notation.

//! Policies as files.

//! The dedup helper.

//! Ferry on Tokio.

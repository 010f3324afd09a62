//! PostgreSQL.

mod find;
mod server;

pub use find::{Installed, Setup};
pub use server::Server;

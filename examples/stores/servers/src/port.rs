//! A port of one's own.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    net::{Ipv4Addr, TcpListener},
    ops::Range,
};

/// Below the ports that systems give to outgoing connections. A client that knocks at the port of a server
/// that is down could otherwise be given that very port, connect to itself, and keep the server out.
const PORTS: Range<u16> = 15_000..32_000;

/// A loopback port that nobody listens on at the moment. Somebody may be quicker to it, so a server that
/// finds it taken tries another.
pub(crate) fn free() -> Option<u16> {
    let begin = RandomState::new().hash_one(()) % u64::from(PORTS.end - PORTS.start);
    let begin = PORTS.start + u16::try_from(begin).unwrap_or(0);
    (begin..PORTS.end)
        .chain(PORTS.start..begin)
        .find(|port| is_free(*port))
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_not_free() {
        let port = free().expect("one of many");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("is free");
        assert!(!is_free(port));
        drop(listener);
        assert!(is_free(port));
        assert!(PORTS.contains(&port));
    }
}

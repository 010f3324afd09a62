#![cfg(shuttle)]

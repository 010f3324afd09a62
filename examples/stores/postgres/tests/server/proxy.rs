//! A line between store and server, on which one can listen and which can be cut.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
};

use crate::bank::Bank;

/// Passes all on, until it is told to swallow what the server says.
pub(crate) struct Proxy {
    address: SocketAddr,
    line: Arc<Line>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Line {
    answers_are_cut: AtomicBool,
    /// Whether the server was the last to say something.
    is_answered: AtomicBool,
    requests: AtomicUsize,
}

impl Proxy {
    pub(crate) async fn to(server_port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("is bound");
        let line = Arc::new(Line::default());
        let passing = Arc::clone(&line);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port)).await;
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.expect("is there").into_split();
                tokio::spawn(pass_requests(from_client, to_server, Arc::clone(&passing)));
                tokio::spawn(pass_answers(from_server, to_client, Arc::clone(&passing)));
            }
        });
        Self {
            address,
            line,
            accepting,
        }
    }

    /// The bank's URL, by way of this line.
    pub(crate) fn url(&self, bank: &Bank, server_port: u16) -> String {
        let port = |port: u16| format!(":{port}/");
        let ours = port(self.address.port());
        bank.url().replace(&port(server_port), &ours)
    }

    /// Whether each connection is cut at the server's next word, which is not heard.
    pub(crate) fn cut_answers(&self, cut: bool) {
        self.line.answers_are_cut.store(cut, Ordering::SeqCst);
    }

    /// How often the store has spoken after the server had: the round trips that it has begun.
    pub(crate) fn round_trips(&self) -> usize {
        self.line.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pass_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    line: Arc<Line>,
) -> io::Result<()> {
    let mut bytes = [0; 8192];
    loop {
        let read = from.read(&mut bytes).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        if line.is_answered.swap(false, Ordering::SeqCst) {
            line.requests.fetch_add(1, Ordering::SeqCst);
        }
        to.write_all(&bytes[..read]).await?;
    }
}

async fn pass_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    line: Arc<Line>,
) -> io::Result<()> {
    let mut bytes = [0; 8192];
    loop {
        let read = from.read(&mut bytes).await?;
        if read == 0 || line.answers_are_cut.load(Ordering::SeqCst) {
            return to.shutdown().await;
        }
        line.is_answered.store(true, Ordering::SeqCst);
        to.write_all(&bytes[..read]).await?;
    }
}

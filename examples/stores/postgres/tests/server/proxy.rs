//! A line between store and server that can be cut.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
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

/// Passes all on, until it is told to swallow what the server says.
pub(crate) struct Proxy {
    address: SocketAddr,
    mute: Arc<AtomicBool>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn to(server_port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("is bound");
        let mute = Arc::new(AtomicBool::new(false));
        let muted = Arc::clone(&mute);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port)).await;
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.expect("is there").into_split();
                let never = Arc::new(AtomicBool::new(false));
                tokio::spawn(pass(from_client, to_server, never));
                tokio::spawn(pass(from_server, to_client, Arc::clone(&muted)));
            }
        });
        Self {
            address,
            mute,
            accepting,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// From now on each line is cut at the server's next word, which is not heard.
    pub(crate) fn cut_answers(&self, cut: bool) {
        self.mute.store(cut, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mute: Arc<AtomicBool>,
) -> io::Result<()> {
    let mut bytes = [0; 8192];
    loop {
        let read = from.read(&mut bytes).await?;
        if read == 0 || mute.load(Ordering::SeqCst) {
            return to.shutdown().await;
        }
        to.write_all(&bytes[..read]).await?;
    }
}

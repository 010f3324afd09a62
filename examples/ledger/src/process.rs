//! A node in a process of its own: this program, carrying lines, until it is killed.

use std::{
    collections::VecDeque,
    env, io,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result};
use serde::Serialize;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{
    fold::Posting,
    place::Place,
    reply::{Coming, Reply, ResultLine},
};

/// How long a process may take to finish what it has, and to audit the ledger after.
const CLOSE_MAX: Duration = Duration::from_secs(60);

/// A node in a process of its own. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    inputs: mpsc::UnboundedSender<String>,
    waiting: Waiting,
}

/// Those who wait for a result, in the order of their lines.
#[derive(Clone, Debug, Default)]
struct Waiting(Arc<Mutex<Callers>>);

#[derive(Debug, Default)]
struct Callers {
    waiting: VecDeque<oneshot::Sender<Reply>>,
    /// No more results come.
    is_over: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    account: &'a str,
    amount: i64,
    memo: &'a str,
}

impl Process {
    /// Starts one on the ledger at `place`.
    ///
    /// # Errors
    ///
    /// The program cannot be started once more.
    pub fn start(place: &Place) -> Result<Self> {
        let program = env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command.args(["--input", "-"]);
        match place {
            Place::File(path) => command.arg("--file").arg(path),
            Place::Postgres { url, .. } => command.arg("--store").arg(url.as_str()),
        };
        // What is typed at our terminal is meant for us. We end the node's input, and then it finishes.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start a node")?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (inputs, lines) = mpsc::unbounded_channel();
        let waiting = Waiting::default();
        tokio::spawn(write(stdin.context("a node without input")?, lines));
        tokio::spawn(read(
            stdout.context("a node without output")?,
            waiting.clone(),
        ));
        Ok(Self {
            child,
            inputs,
            waiting,
        })
    }

    /// Gives it an input; `None` if it is gone.
    pub fn submit(&self, account: &str, posting: &Posting) -> Option<Coming> {
        let line = Line {
            id: &posting.id,
            account,
            amount: posting.amount,
            memo: &posting.memo,
        };
        let line = serde_json::to_string(&line).ok()?;
        let (reply, replied) = oneshot::channel();
        let mut callers = self.waiting.lock();
        if callers.is_over {
            return None;
        }
        // Under the lock, so that lines and callers stay in the same order.
        self.inputs.send(line + "\n").ok()?;
        callers.waiting.push_back(reply);
        Some(Box::pin(async move { replied.await.ok() }))
    }

    /// Whether it has inputs whose results are still to come.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        !self.waiting.lock().waiting.is_empty()
    }

    /// Kills it where it stands.
    pub async fn kill(mut self) {
        // It may have ended by itself.
        let _gone = self.child.start_kill();
        let _gone = self.child.wait().await;
    }

    /// Ends its input, and waits until it has finished.
    pub async fn close(self) {
        let Self {
            mut child, inputs, ..
        } = self;
        drop(inputs);
        // What does not end is killed when it is dropped.
        let _ended = timeout(CLOSE_MAX, child.wait()).await;
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Callers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write(stdin: ChildStdin, mut lines: mpsc::UnboundedReceiver<String>) -> io::Result<()> {
    let mut stdin = BufWriter::new(stdin);
    while let Some(line) = lines.recv().await {
        stdin.write_all(line.as_bytes()).await?;
        if lines.is_empty() {
            stdin.flush().await?;
        }
    }
    stdin.flush().await
}

async fn read(stdout: ChildStdout, waiting: Waiting) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let result = serde_json::from_str::<ResultLine>(&line).ok();
        let reply = result.and_then(|result| result.told.reply());
        let caller = waiting.lock().waiting.pop_front();
        if let (Some(reply), Some(caller)) = (reply, caller) {
            // It may have run out of patience.
            let _gone = caller.send(reply);
        }
    }
    let mut callers = waiting.lock();
    callers.is_over = true;
    callers.waiting.clear();
}

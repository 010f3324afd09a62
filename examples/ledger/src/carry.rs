//! Carrying real inputs: lines in, result lines out in the same order, in bounded memory.
//!
//! ```text
//! input ─▶ reader ─▶ submitter ─▶ Ferry
//!         (thread)       └─▶ answers to come, in order ─▶ writer ─▶ output
//! ```

use std::{
    fmt,
    future::poll_fn,
    io::{self, BufReader, BufWriter, Read, Write},
    pin::Pin,
    task::Poll,
    thread,
};

use tokio::sync::mpsc;

use crate::{
    lines::{BadLine, Line, Lines, Request},
    node::{Handle, Submission},
    reply::{Reply, ResultLine, Status, Told},
    stop::Stop,
};

/// The most inputs whose answers are still to come or to be written.
const OUTSTANDING_MAX: usize = 4096;
/// The most lines that are read ahead of that.
const READ_AHEAD_MAX: usize = 64;
/// So many failed inputs, and not one other answer between them, end the run: what follows would most
/// likely fail too, each after a long wait.
const FAILURES_IN_A_ROW_MAX: u64 = 100;

/// What became of the lines.
#[derive(Debug)]
pub struct Carried {
    /// Lines by their result.
    pub counts: Counts,
    /// Why no more lines were taken.
    pub end: End,
}

/// Lines by their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the file now.
    pub applied: u64,
    /// In the file before.
    pub already: u64,
    /// More than the account holds.
    pub refused: u64,
    /// The id is known with other content.
    pub mismatch: u64,
    /// Not an input.
    pub bad: u64,
    /// The store could not write it.
    pub failed: u64,
}

/// Why no more lines were taken.
#[derive(Debug)]
pub enum End {
    /// The input was read to its end.
    Whole,
    /// The user asked to finish.
    Interrupted,
    /// The input could not be read any further.
    InputBroken(io::Error),
    /// Nobody takes the results any more.
    OutputClosed(io::Error),
    /// The store fails all the time.
    StoreFails,
}

/// Reads lines from `input`, carries them with Ferry, and writes a result for each to `output`, in
/// input order.
///
/// However it ends, each input that was accepted is finished first. `stop` asks to take no more.
///
/// # Panics
///
/// Outside a Tokio runtime, or if the machine gives no thread to read with.
pub async fn carry(
    handle: &Handle,
    input: impl Read + Send + 'static,
    output: impl Write,
    stop: Stop,
    done: impl Fn(),
) -> Carried {
    let (to_submitter, lines) = mpsc::channel(READ_AHEAD_MAX);
    // A thread that nobody joins: it may wait for input for ever.
    let reader = thread::Builder::new().name("ledger-input".into());
    reader
        .spawn(move || read(input, &to_submitter))
        .expect("a thread to read with");

    let (to_writer, answers) = mpsc::channel(OUTSTANDING_MAX);
    let submitter = tokio::spawn(submit(handle.clone(), lines, to_writer, stop));
    let mut writer = Writer::new(output);
    writer.run(answers, done).await;
    let submitted = submitter.await.expect("the submitter does not panic");
    Carried {
        counts: writer.counts,
        end: writer.end.unwrap_or(submitted),
    }
}

fn read(input: impl Read, lines: &mpsc::Sender<io::Result<Line>>) {
    for line in Lines::new(BufReader::new(input)) {
        let broken = line.is_err();
        if lines.blocking_send(line).is_err() || broken {
            return;
        }
    }
}

/// A line whose result is to be written.
struct Answer {
    line: u64,
    id: Option<String>,
    result: ToCome,
}

enum ToCome {
    Bad(String),
    NotTaken(String),
    Submitted(Submission),
}

async fn submit(
    handle: Handle,
    mut lines: mpsc::Receiver<io::Result<Line>>,
    answers: mpsc::Sender<Answer>,
    mut stop: Stop,
) -> End {
    loop {
        // A place for the result comes first: an input is taken only if its caller can hear of it.
        let Ok(place) = answers.reserve().await else {
            return End::Whole;
        };
        let line = tokio::select! {
            biased;
            () = stop.asked() => return End::Interrupted,
            () = answers.closed() => return End::Whole,
            line = lines.recv() => line,
        };
        match line {
            None => return End::Whole,
            Some(Err(error)) => return End::InputBroken(error),
            Some(Ok(line)) => place.send(offer(&handle, line).await),
        }
    }
}

async fn offer(handle: &Handle, line: Line) -> Answer {
    let Line { number, content } = line;
    let (id, result) = match content {
        Err(BadLine { id, problem }) => (id, ToCome::Bad(problem.to_string())),
        Ok(Request { account, posting }) => {
            let id = Some(posting.id.clone());
            match handle.submit_when_free(account, posting).await {
                Ok(submission) => (id, ToCome::Submitted(submission)),
                Err(rejected) => (id, ToCome::NotTaken(rejected.reason.to_string())),
            }
        }
    };
    Answer {
        line: number,
        id,
        result,
    }
}

struct Writer<W: Write> {
    output: BufWriter<W>,
    counts: Counts,
    failures_in_a_row: u64,
    end: Option<End>,
}

impl<W: Write> Writer<W> {
    fn new(output: W) -> Self {
        Self {
            output: BufWriter::new(output),
            counts: Counts::default(),
            failures_in_a_row: 0,
            end: None,
        }
    }

    async fn run(&mut self, mut answers: mpsc::Receiver<Answer>, done: impl Fn()) {
        while let Some(answer) = self.next(&mut answers).await {
            self.write(answer).await;
            done();
        }
    }

    async fn next(&mut self, answers: &mut mpsc::Receiver<Answer>) -> Option<Answer> {
        self.close_at_end(answers);
        if let Ok(answer) = answers.try_recv() {
            return Some(answer);
        }
        self.flush();
        self.close_at_end(answers);
        answers.recv().await
    }

    /// Once there is a reason to end, no more lines are taken; those that were are finished.
    fn close_at_end(&self, answers: &mut mpsc::Receiver<Answer>) {
        if self.end.is_some() {
            answers.close();
        }
    }

    async fn write(&mut self, answer: Answer) {
        let told = match answer.result {
            ToCome::Bad(reason) => Told::no(Status::Bad, reason),
            ToCome::NotTaken(reason) => Told::no(Status::Failed, reason),
            ToCome::Submitted(submission) => self.answer_to(submission).await.into(),
        };
        self.count(told.status);
        if matches!(self.end, Some(End::OutputClosed(_))) {
            return;
        }
        let line = ResultLine {
            line: answer.line,
            id: answer.id,
            told,
        };
        let written = serde_json::to_writer(&mut self.output, &line).map_err(io::Error::from);
        let written = written.and_then(|()| self.output.write_all(b"\n"));
        self.note(written);
    }

    /// Waits for an answer; what is known before it does not wait with it.
    async fn answer_to(&mut self, mut submission: Submission) -> Reply {
        match poll_fn(|cx| Poll::Ready(Pin::new(&mut submission).poll(cx))).await {
            Poll::Ready(answer) => answer.into(),
            Poll::Pending => {
                self.flush();
                submission.await.into()
            }
        }
    }

    fn flush(&mut self) {
        if !matches!(self.end, Some(End::OutputClosed(_))) {
            let flushed = self.output.flush();
            self.note(flushed);
        }
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.end = Some(End::OutputClosed(error));
        }
    }

    fn count(&mut self, status: Status) {
        let count = match status {
            Status::Applied => &mut self.counts.applied,
            Status::Already => &mut self.counts.already,
            Status::Refused => &mut self.counts.refused,
            Status::Mismatch => &mut self.counts.mismatch,
            Status::Bad => return self.counts.bad += 1,
            Status::Failed => {
                self.failures_in_a_row += 1;
                if self.failures_in_a_row == FAILURES_IN_A_ROW_MAX && self.end.is_none() {
                    self.end = Some(End::StoreFails);
                }
                return self.counts.failed += 1;
            }
        };
        *count += 1;
        self.failures_in_a_row = 0;
    }
}

impl Counts {
    /// All lines that were not blank.
    #[must_use]
    pub fn lines(&self) -> u64 {
        let Self {
            applied,
            already,
            refused,
            mismatch,
            bad,
            failed,
        } = self;
        applied + already + refused + mismatch + bad + failed
    }

    /// Whether no line needs anyone's attention.
    #[must_use]
    pub fn are_fine(&self) -> bool {
        self.mismatch + self.bad + self.failed == 0
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            applied,
            already,
            refused,
            mismatch,
            bad,
            failed,
        } = self;
        write!(
            f,
            "{applied} applied, {already} already there, {refused} refused, {mismatch} mismatched, \
             {bad} bad, {failed} failed"
        )
    }
}

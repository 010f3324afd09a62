//! Whoever resumes the account, once.

use ferry_core::{
    Fault, Instant,
    projected_write::{ProjectedWrite, resume::Command},
};

use super::{
    account::{Answered, Down, Transfers},
    machine::{Event, Reads, Response, Wants},
    process::{as_record, projected, retry},
    store::Write,
};

pub(super) struct Resumer {
    now: Instant,
    command: Option<Command<Transfers>>,
    wants: Wants,
}

impl Resumer {
    pub(super) fn new(attempts: u32) -> Self {
        let transfers = Transfers {
            flaw: None,
            answered: Answered::default(),
        };
        let write = ProjectedWrite::new(transfers, retry(attempts));
        let write = write.expect("there are attempts");
        let mut resumer = Self {
            now: Instant::EPOCH,
            command: Some(write.resume(99, Instant::EPOCH, ())),
            wants: Wants::Nothing,
        };
        resumer.goes_on();
        resumer
    }

    pub(super) fn response(&mut self) -> Response {
        Response {
            wants: self.wants.clone(),
            told: Vec::new(),
            is_weakened: false,
        }
    }

    pub(super) fn hears(&mut self, event: &Event) {
        let now = self.now;
        let command = match (self.command.take(), event) {
            (Some(Command::Read(read)), Event::Read(record)) => {
                read.resume(now, Ok(record.clone().map(as_record)))
            }
            (Some(Command::Read(read)), Event::Failed) => {
                read.resume(now, Err(Fault::transient(Down)))
            }
            (Some(Command::Project(project)), event) => project.resume(now, projected(event)),
            (command, event) => panic!("{command:?} is answered with {event:?}"),
        };
        self.command = Some(command);
        self.goes_on();
    }

    /// Up to what others can notice.
    fn goes_on(&mut self) {
        while let Some(command) = self.command.take() {
            self.wants = match command {
                Command::Sleep(sleep) => {
                    self.now = self.now + sleep.duration();
                    self.command = Some(sleep.wake(self.now));
                    continue;
                }
                Command::Done(done) => Wants::Over(done.finish().ok()),
                Command::Read(read) => {
                    self.command = Some(Command::Read(read));
                    Wants::Read(Reads::ToProject)
                }
                Command::Project(project) => {
                    let record = project.record();
                    let write = Write::Projection {
                        version: record.version,
                        marker: record.state.marker,
                        by_resume: true,
                    };
                    self.command = Some(Command::Project(project));
                    Wants::Write(write)
                }
            };
            return;
        }
    }
}

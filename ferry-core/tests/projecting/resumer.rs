//! A resume told step by step.

use core::time::Duration;
use std::io;

use ferry_core::{
    Fault, Instant, ProjectResult, RecordOf, Retry,
    projected_write::{
        ProjectedWrite,
        resume::{Command, Resumed},
    },
};

use crate::{
    actor::{Actor, World},
    deposits::{Accounts, Deposits},
    story::Depositing,
    tallied::{self, Tallied},
    words::{ACCOUNT, RETRY, brief},
};

pub(crate) struct Resumer<P: Depositing = Deposits> {
    world: World,
    command: Option<Command<P>>,
}

impl Resumer {
    pub(crate) fn on(world: &World) -> Self {
        Self::with(world, Deposits, RETRY)
    }

    /// Tried once.
    pub(crate) fn once_on(world: &World) -> Self {
        let write = ProjectedWrite::new(Deposits, RETRY).unwrap();
        let command = write.resume_once(17, world.now(), ACCOUNT);
        Self {
            world: world.clone(),
            command: Some(command),
        }
    }
}

impl<P: Depositing> Resumer<P> {
    pub(crate) fn with(world: &World, projection: P, retry: Retry) -> Self {
        let write = ProjectedWrite::new(projection, retry).unwrap();
        Self {
            world: world.clone(),
            command: Some(write.resume(17, world.now(), ACCOUNT)),
        }
    }

    /// It is over, with this result; this is what it took.
    #[track_caller]
    pub(crate) fn ends(self, result: Result<Resumed, &str>, tallied: &[Tallied]) {
        match self.command {
            Some(Command::Done(done)) => {
                assert_eq!(done.key(), &ACCOUNT);
                assert_eq!(tallied::of(done.tally()), tallied);
                let finished = done.finish().map_err(|cause| brief(&cause));
                assert_eq!(finished, result.map_err(str::to_owned));
            }
            other => panic!("expected the end, not {other:?}"),
        }
    }

    /// The process dies, whatever it was about to do.
    pub(crate) fn crashes(self) {
        assert!(
            !matches!(self.command, None | Some(Command::Done(_))),
            "there is nothing left to crash"
        );
    }

    fn step(&mut self, carry: impl FnOnce(Command<P>, Instant) -> Command<P>) -> &mut Self {
        let command = self.command.take().expect("the story is not over");
        self.command = Some(carry(command, self.world.now()));
        self
    }
}

impl<P: Depositing> Actor for Resumer<P> {
    fn world(&self) -> &World {
        &self.world
    }

    fn answers_read(&mut self, read: Result<Option<RecordOf<Accounts>>, Fault<io::Error>>) {
        self.step(|command, now| match command {
            Command::Read(stage) => {
                assert_eq!((stage.key(), stage.ids()), (&ACCOUNT, &[][..]));
                stage.resume(now, read)
            }
            other @ (Command::Project(_) | Command::Sleep(_) | Command::Done(_)) => {
                panic!("expected a read, not {other:?}")
            }
        });
    }

    fn read_panics(&mut self) -> &mut Self {
        self.step(|command, now| match command {
            Command::Read(stage) => stage.panicked(now, "in read".into()),
            other @ (Command::Project(_) | Command::Sleep(_) | Command::Done(_)) => {
                panic!("expected a read, not {other:?}")
            }
        })
    }

    #[track_caller]
    fn wanted(&self) -> &RecordOf<Accounts> {
        match &self.command {
            Some(Command::Project(project)) => {
                assert_eq!(project.key(), &ACCOUNT);
                project.record()
            }
            other => panic!("expected a projection, not {other:?}"),
        }
    }

    fn answers_projection(&mut self, result: ProjectResult<Vec<u64>, io::Error>) {
        self.step(|command, now| match command {
            Command::Project(project) => project.resume(now, result),
            other @ (Command::Read(_) | Command::Sleep(_) | Command::Done(_)) => {
                panic!("expected a projection, not {other:?}")
            }
        });
    }

    fn panics_in_projection(&mut self) {
        self.step(|command, now| match command {
            Command::Project(project) => project.panicked(now, "in project".into()),
            other @ (Command::Read(_) | Command::Sleep(_) | Command::Done(_)) => {
                panic!("expected a projection, not {other:?}")
            }
        });
    }

    #[track_caller]
    fn pause(&self) -> Duration {
        match &self.command {
            Some(Command::Sleep(sleep)) => sleep.duration(),
            other => panic!("expected a pause, not {other:?}"),
        }
    }

    fn wakes(&mut self) {
        self.step(|command, now| match command {
            Command::Sleep(sleep) => sleep.wake(now),
            other @ (Command::Read(_) | Command::Project(_) | Command::Done(_)) => {
                panic!("expected a pause, not {other:?}")
            }
        });
    }
}

//! How much may happen in a schedule, as arguments.

use std::fmt;

use clap::Args;
use ferry_sim::explore::Scope;

/// How much may happen in a schedule.
#[derive(Debug, Args)]
#[command(next_help_heading = "How much may happen in a schedule")]
pub(super) struct Bounds {
    /// Processes that take inputs, 1 to 4
    #[arg(long, default_value_t = Scope::default().processes)]
    processes: u8,
    /// Inputs, each of a client of its own, 1 to 6
    #[arg(long, default_value_t = Scope::default().inputs)]
    inputs: u8,
    /// The last input takes out what those before it bring in
    #[arg(long)]
    withdrawal: bool,
    /// How often a client may send its input again, up to 4
    #[arg(long, default_value_t = Scope::default().resends)]
    resends: u8,
    /// Resumes of the account, up to 4
    #[arg(long, default_value_t = Scope::default().resumes)]
    resumes: u8,
    /// Crashes, up to 4
    #[arg(long, default_value_t = Scope::default().crashes)]
    crashes: u8,
    /// Writes that may arrive later, or never, up to 4
    #[arg(long, default_value_t = Scope::default().late)]
    late: u8,
    /// Writes whose answer may be lost, up to 4
    #[arg(long, default_value_t = Scope::default().lost)]
    lost: u8,
    /// Calls that may fail without effect, up to 4
    #[arg(long, default_value_t = Scope::default().failed)]
    failed: u8,
    /// How often a client may send its input again while it still waits, up to 4
    #[arg(long, default_value_t = Scope::default().impatient)]
    impatient: u8,
    /// Tries of each round trip and of each projection, 1 to 4
    #[arg(long, default_value_t = Scope::default().attempts)]
    attempts: u8,
}

impl Bounds {
    pub(super) fn scope(&self) -> Scope {
        Scope {
            processes: self.processes,
            inputs: self.inputs,
            withdrawal: self.withdrawal,
            resends: self.resends,
            resumes: self.resumes,
            crashes: self.crashes,
            late: self.late,
            lost: self.lost,
            failed: self.failed,
            impatient: self.impatient,
            attempts: self.attempts,
        }
    }
}

/// A scope as arguments; what is as it is anyway is not said.
pub(super) struct Options(pub(super) Scope);

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is, usual) = (&self.0, Scope::default());
        let bounds = [
            ("processes", is.processes, usual.processes),
            ("inputs", is.inputs, usual.inputs),
            ("resends", is.resends, usual.resends),
            ("resumes", is.resumes, usual.resumes),
            ("crashes", is.crashes, usual.crashes),
            ("late", is.late, usual.late),
            ("lost", is.lost, usual.lost),
            ("failed", is.failed, usual.failed),
            ("impatient", is.impatient, usual.impatient),
            ("attempts", is.attempts, usual.attempts),
        ];
        for (name, is, usual) in bounds {
            if is != usual {
                write!(f, " --{name} {is}")?;
            }
        }
        if is.withdrawal {
            write!(f, " --withdrawal")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        bounds: Bounds,
    }

    #[test]
    fn a_scope_is_told_as_the_arguments_that_give_it() {
        let scopes = [
            Scope::default(),
            Scope {
                processes: 3,
                withdrawal: true,
                failed: 1,
                ..Scope::default()
            },
        ];
        for scope in scopes {
            let told = format!("explore{}", Options(scope));
            let program = Program::try_parse_from(told.split_whitespace()).unwrap();
            assert_eq!(program.bounds.scope(), scope, "{told}");
        }
    }
}

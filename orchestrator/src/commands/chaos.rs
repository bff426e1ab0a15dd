//! `orchestrator chaos`: the proxy on its own, between programs that speak UDP.

use chaos::proxy::cli;
use clap::Args;

use crate::{Exit, Failure};

// The help is that of the proxy's own program.
#[derive(Debug, Args)]
pub(crate) struct Chaos {
    #[command(flatten)]
    options: cli::Options,
}

impl Chaos {
    pub(crate) fn perform(self) -> Result<Exit, Failure> {
        match cli::main(self.options) {
            Ok(()) => Ok(Exit::Holds),
            Err(cli::Failure::Usage(why)) => Err(Failure::Usage(why)),
            Err(cli::Failure::System(why)) => Err(Failure::Testbed(why)),
        }
    }
}

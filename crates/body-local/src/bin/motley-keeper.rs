//! The keeper as a program of its own, for tests: `motley-keeper --directory DIR`.

use std::process::ExitCode;

use body_local::keeper::{KeeperSettings, run};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(flag), Some(directory), None) if flag == "--directory" => {
            let settings = KeeperSettings { directory: directory.into() };
            if run(&settings).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => ExitCode::from(2),
    }
}

//! Where jobs are submitted from: what they have of their user without saying it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};

/// What is passed on of the environment where little is.
const FEW: [&str; 6] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "USER"];

/// Where jobs are submitted from.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// The directory.
    pub directory: PathBuf,
    /// The environment.
    pub variables: Vec<(String, String)>,
    /// The name of the machine.
    pub machine: String,
}

/// What is passed on of the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passed {
    /// All of it.
    #[default]
    All,
    /// HOME, LANG, LOGNAME, PATH, SHELL and USER.
    Few,
}

impl Around {
    /// Where this process is.
    ///
    /// # Errors
    /// If its directory is gone.
    pub fn here() -> anyhow::Result<Self> {
        let directory = env::current_dir().context("find the directory to start in")?;
        let as_text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables = env::vars_os().filter_map(as_text).collect();
        let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self { directory, variables, machine })
    }

    /// The user, for who a job is accounted to.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        let user = self.variable("USER").or_else(|| self.variable("LOGNAME"));
        user.filter(|name| !name.is_empty())
    }

    fn variable(&self, named: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(name, _)| name == named);
        found.map(|(_, value)| value.as_str())
    }

    /// A directory from the root, where it may be given from here on.
    ///
    /// # Errors
    /// If it cannot be written as text.
    pub fn directory(&self, given: Option<&Path>) -> anyhow::Result<String> {
        let directory = given.map_or_else(|| self.directory.clone(), |it| self.directory.join(it));
        let text = directory.to_str().context("use the directory: its name is not UTF-8")?;
        Ok(text.to_owned())
    }

    /// The environment of a job: what is passed on, and what is given as `NAME=VALUE` or, to be
    /// passed on, as `NAME`.
    ///
    /// # Errors
    /// If something has no name, or is to be passed on and not set.
    pub fn environment(&self, passed: Passed, given: &[String]) -> anyhow::Result<Vec<String>> {
        let is_passed = |name: &str| {
            let is_one = passed == Passed::All || FEW.contains(&name);
            is_one && !name.starts_with("MOTLEY_")
        };
        let own = self.variables.iter().filter(|(name, _)| is_passed(name));
        let mut variables: Vec<(String, String)> = own.cloned().collect();
        for given in given {
            let (name, value) = match given.split_once('=') {
                Some(parts) => parts,
                None => match self.variable(given) {
                    Some(value) => (given.as_str(), value),
                    None => {
                        bail!("pass on the variable {given:?}: it is not set; write NAME=VALUE")
                    }
                },
            };
            ensure!(!name.is_empty(), "set the variable {given:?}: it has no name");
            variables.retain(|(other, _)| other != name);
            variables.push((name.to_owned(), value.to_owned()));
        }
        variables.sort();
        Ok(variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
    }
}

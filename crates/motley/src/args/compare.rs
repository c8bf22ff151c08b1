//! What to compare.

use std::path::PathBuf;

use clap::Args;

use super::Case;

/// What to compare: each policy with the first, seed by seed.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// Fleet, jobs, policies and chance.
    #[command(flatten)]
    pub case: Case,
    /// How many seeds to run, one after the other; at least 2
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_two)]
    pub seeds: u32,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
    /// Draw the differences with their intervals
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  motley compare
  motley compare --policy default --policy my.toml --seeds 30
  motley compare --rate-error 0.3 --plot differences.svg
  motley compare --fleet fleet.toml --jobs jobs.toml --policy default --policy pack --json";

fn at_least_two(text: &str) -> Result<u32, String> {
    let seeds: u32 = text.parse().map_err(|_| "it is not a whole number below 2^32".to_owned())?;
    if seeds < 2 {
        return Err("at least 2 are needed to tell a difference from chance".to_owned());
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_too_few() {
        assert_eq!(at_least_two("2"), Ok(2));
        assert!(at_least_two("1").is_err_and(|why| why.starts_with("at least 2")));
        assert!(at_least_two("many").is_err());
    }
}

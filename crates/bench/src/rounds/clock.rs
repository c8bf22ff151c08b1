//! The round clock of Gavel's simulator, as far as completion times depend on it.
//!
//! In come jobs with their arrivals, and a player that says at the start of each
//! round who runs on what; out goes when each job was completed. A round ends
//! when the last of its runs does: a run does the whole steps that fit into 360
//! seconds, or what is left, so that a round is a little shorter than that. What
//! ends earlier leaves its devices idle to the round's end. Where nothing runs,
//! time jumps to the next arrival. Nothing is paid for moving unless a cost is
//! given.

use super::case::Case;
use super::player::Player;

/// How long a round is, in seconds.
pub const ROUND_SECONDS: f64 = 360.0;
/// No trace needs more rounds: a year of them, for each of a few hundred jobs in a row.
const ROUNDS_MAX: u64 = 10_000_000;

/// One job that has arrived and is not done.
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    /// Its position in the case.
    pub job: usize,
    /// Steps that are left.
    pub steps: u64,
    /// The class on which it ran in the round before, if it did.
    pub held: Option<usize>,
    /// Seconds for which it has run.
    pub served: f64,
    /// Since when it has not run, where it does not.
    pub idle_since: f64,
}

/// What a player sees at the start of a round.
#[derive(Clone, Debug)]
pub struct Scene<'c> {
    /// The jobs and the devices.
    pub case: &'c Case,
    /// Seconds since the first arrival.
    pub now: f64,
    /// The jobs that are there, by arrival.
    pub active: &'c [Active],
    /// Whether one arrived or left since the round before.
    pub has_changed: bool,
}

/// A job that runs in a round, and on which class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its position among the active jobs.
    pub active: usize,
    /// The class.
    pub class: usize,
}

/// How long a job ran in a round, as the reference accounts for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ran {
    /// The job.
    pub job: usize,
    /// The class.
    pub class: usize,
    /// From the end of the round before to its own end. The reference counts so, idle time of the
    /// whole cluster included.
    pub seconds: f64,
    /// Whether that was its last round.
    pub is_done: bool,
}

/// What came of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Played {
    /// When each job was completed, in seconds since the first arrival.
    pub completed: Vec<f64>,
    /// How many rounds there were.
    pub rounds: u64,
    /// How often a job ran on another class than in the round before, or again after it had waited.
    pub moves: u64,
    /// The longest that a job waited at a time, from its arrival or the end of a round, in seconds.
    pub longest_wait: f64,
}

/// Why a case could not be played to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Jobs are there, and the player runs none of them.
    Idle,
    /// The player gave out more than there is, or a class that cannot run a job.
    Unlawful(String),
    /// It takes too many rounds.
    Endless,
}

impl std::error::Error for Stuck {}

impl std::fmt::Display for Stuck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Idle => out.write_str("jobs wait, nothing runs, and nothing arrives"),
            Self::Unlawful(what) => out.write_str(what),
            Self::Endless => write!(out, "it is not done after {ROUNDS_MAX} rounds"),
        }
    }
}

/// Plays a case. Each move costs `move_seconds` at the start of a round.
///
/// # Errors
/// If the player breaks the law, or never ends.
pub fn play(case: &Case, player: &mut Player, move_seconds: f64) -> Result<Played, Stuck> {
    let mut played = Played { completed: vec![f64::NAN; case.jobs.len()], ..Played::default() };
    let (mut active, mut arrived, mut left): (Vec<Active>, _, _) = (Vec::new(), 0, 0);
    let (mut now, mut start) = (0.0, 0.0);
    let (mut has_run, mut has_changed) = (false, false);
    while left < case.jobs.len() {
        if !has_run {
            match case.jobs.get(arrived) {
                Some(next) => now = f64::max(now, next.arrival),
                None => player.force(),
            }
        }
        while let Some(job) = case.jobs.get(arrived).filter(|job| job.arrival <= now) {
            let (steps, idle_since) = (job.steps, job.arrival);
            active.push(Active { job: arrived, steps, held: None, served: 0.0, idle_since });
            arrived += 1;
            has_changed = true;
        }
        let scene = Scene { case, now, active: &active, has_changed };
        let placed = player.choose(&scene).map_err(Stuck::Unlawful)?;
        check(&scene, &placed).map_err(Stuck::Unlawful)?;
        if placed.is_empty() && arrived == case.jobs.len() && !has_run {
            return Err(Stuck::Idle);
        }
        (has_run, has_changed) = (!placed.is_empty(), false);
        for place in &placed {
            let waited = now - active[place.active].idle_since;
            played.longest_wait = f64::max(played.longest_wait, waited);
        }
        let round = run(case, &mut active, &placed, move_seconds);
        played.moves += round.moves;
        played.rounds += 1;
        if played.rounds > ROUNDS_MAX {
            return Err(Stuck::Endless);
        }
        let mut ran = Vec::with_capacity(placed.len());
        for (place, seconds) in placed.iter().zip(&round.seconds) {
            let one = &active[place.active];
            let is_done = one.steps == 0;
            if is_done {
                played.completed[one.job] = now + seconds;
                left += 1;
                has_changed = true;
            }
            let seconds = now + seconds - start;
            ran.push(Ran { job: one.job, class: place.class, seconds, is_done });
        }
        let ends = now + round.seconds.iter().copied().fold(0.0, f64::max);
        placed.iter().for_each(|place| active[place.active].idle_since = ends);
        if has_run {
            now += round.seconds.iter().copied().fold(0.0, f64::max);
            start = now;
        }
        player.account(&ran);
        active.retain(|one| one.steps > 0);
    }
    Ok(played)
}

/// What came of one round: for how long each of those placed ran.
struct Round {
    seconds: Vec<f64>,
    moves: u64,
}

fn run(case: &Case, active: &mut [Active], placed: &[Placed], move_seconds: f64) -> Round {
    let mut held = vec![None; active.len()];
    let mut round = Round { seconds: Vec::with_capacity(placed.len()), moves: 0 };
    for place in placed {
        let one = &mut active[place.active];
        let rate = case.jobs[one.job].rates[place.class];
        // The first start is free: it is paid in every schedule alike.
        let has_moved = one.held != Some(place.class) && one.served > 0.0;
        let lost = if has_moved { move_seconds } else { 0.0 };
        round.moves += u64::from(has_moved);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole steps")]
        let most = (rate * f64::max(ROUND_SECONDS - lost, 0.0)) as u64;
        // A job so slow that no whole step fits would never end.
        let steps = most.max(1).min(one.steps);
        one.steps -= steps;
        let seconds = lost + steps as f64 / rate;
        one.served += seconds;
        held[place.active] = Some(place.class);
        round.seconds.push(seconds);
    }
    for (one, held) in active.iter_mut().zip(held) {
        one.held = held;
    }
    round
}

/// What is wrong with a choice, if anything.
fn check(scene: &Scene<'_>, placed: &[Placed]) -> Result<(), String> {
    let mut room = scene.case.capacity.clone();
    let mut seen = vec![false; scene.active.len()];
    for place in placed {
        let job = scene.active[place.active].job;
        if std::mem::replace(&mut seen[place.active], true) {
            return Err(format!("job {job} runs twice in one round"));
        }
        if scene.case.jobs[job].rates[place.class] <= 0.0 {
            return Err(format!("job {job} cannot run on class {}", place.class));
        }
        let left = room[place.class].checked_sub(scene.case.jobs[job].devices);
        room[place.class] =
            left.ok_or_else(|| format!("class {} is given out beyond its size", place.class))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::case::Entry;
    use super::super::errors::Errors;
    use super::super::product::Product;
    use super::*;
    use controller::policy_file::shipped;

    fn entry(arrival: f64, steps: u64, devices: u32, rates: [f64; 2]) -> Entry {
        Entry { arrival, steps, devices, rates: rates.to_vec() }
    }

    fn case(jobs: Vec<Entry>) -> Case {
        let models = ["fast", "slow"].map(str::to_owned).to_vec();
        Case { name: "x".to_owned(), models, capacity: vec![1, 1], jobs }
    }

    fn play_mean(case: &Case, move_seconds: f64) -> Played {
        let mut player =
            Player::Motley(Box::new(Product::new(shipped("mean").unwrap(), 0.0, Errors::NONE)));
        play(case, &mut player, move_seconds).unwrap()
    }

    #[test]
    fn a_round_has_whole_steps_and_a_job_ends_at_its_own_time() {
        // 0.46 steps a second are 165 whole steps in a round, in 358.7 seconds.
        let played = play_mean(&case(vec![entry(0.0, 200, 1, [0.46, 0.0])]), 0.0);
        assert_eq!(played.rounds, 2);
        assert!((played.completed[0] - 200.0 / 0.46).abs() < 1e-9);
    }

    #[test]
    fn a_job_that_arrives_within_a_round_waits_for_the_next() {
        let jobs = vec![entry(0.0, 360, 1, [1.0, 0.0]), entry(10.0, 5, 1, [0.0, 1.0])];
        assert_eq!(play_mean(&case(jobs), 0.0).completed, [360.0, 365.0]);
    }

    #[test]
    fn time_jumps_to_the_next_arrival_where_nothing_runs() {
        let jobs = vec![entry(0.0, 10, 1, [1.0, 0.0]), entry(5000.0, 10, 1, [1.0, 0.0])];
        assert_eq!(play_mean(&case(jobs), 0.0).completed, [10.0, 5010.0]);
    }

    #[test]
    fn a_move_takes_time_from_its_round_and_a_first_start_does_not() {
        // The first is moved to the fast class once the second is done there.
        let jobs = vec![entry(0.0, 700, 1, [1.0, 0.9]), entry(0.0, 100, 1, [1.0, 0.1])];
        let free = play_mean(&case(jobs.clone()), 0.0);
        assert_eq!((free.moves, free.completed[1]), (1, 100.0));
        let dear = play_mean(&case(jobs), 30.0);
        assert_eq!(dear.moves, 1);
        assert!((dear.completed[0] - free.completed[0] - 30.0).abs() < 1.0, "{dear:?}");
    }

    #[test]
    fn what_is_given_out_twice_or_cannot_run_is_refused() {
        let case = case(vec![entry(0.0, 9, 1, [1.0, 0.0]), entry(0.0, 9, 1, [1.0, 1.0])]);
        let active =
            [0, 1].map(|job| Active { job, steps: 9, held: None, served: 0.0, idle_since: 0.0 });
        let scene = Scene { case: &case, now: 0.0, active: &active, has_changed: true };
        let check = |placed: &[(usize, usize)]| {
            let placed =
                placed.iter().map(|(active, class)| Placed { active: *active, class: *class });
            check(&scene, &placed.collect::<Vec<_>>()).err().unwrap_or_default()
        };
        assert_eq!(check(&[(0, 0), (1, 1)]), "");
        assert_eq!(check(&[(0, 0), (1, 0)]), "class 0 is given out beyond its size");
        assert_eq!(check(&[(1, 0), (1, 1)]), "job 1 runs twice in one round");
        assert_eq!(check(&[(0, 1)]), "job 0 cannot run on class 1");
    }

    #[test]
    fn a_job_that_fits_nowhere_is_told_and_not_waited_for() {
        let case = case(vec![entry(0.0, 9, 2, [1.0, 1.0])]);
        let mut player =
            Player::Motley(Box::new(Product::new(shipped("mean").unwrap(), 0.0, Errors::NONE)));
        assert_eq!(play(&case, &mut player, 0.0), Err(Stuck::Idle));
    }
}

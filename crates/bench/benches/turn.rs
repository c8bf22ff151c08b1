//! A turn on a fleet of 1,000 nodes held at 90 %: one of 100 shapes arrives, and runs end.
//!
//! Making what comes, and taking in what a turn came to, is not timed. Needs the
//! openb lists; where they are not there, nothing is timed.

use std::cell::RefCell;
use std::io::Write as _;

use bench::openb::trace::LISTS;
use bench::place;
use bench::speed::contender::Contender;
use bench::speed::input::Input;
use bench::speed::measure;
use bench::speed::setting::Setting;
use bench::speed::treadmill::{Coming, Treadmill};
use controller::Turn;
use divan::Bencher;

fn main() {
    divan::main();
}

// One turn a sample: the next one depends on what this one came to.
#[divan::bench(args = Contender::ALL, sample_size = 1, sample_count = 500)]
fn one_arrival(bencher: Bencher<'_, '_>, contender: Contender) {
    time(bencher, Setting { nodes: 1000, shapes: 100, arrivals: 1, contender });
}

#[divan::bench(args = Contender::ALL, sample_size = 1, sample_count = 20)]
fn hundred_arrivals(bencher: Bencher<'_, '_>, contender: Contender) {
    time(bencher, Setting { nodes: 1000, shapes: 100, arrivals: 100, contender });
}

fn time(bencher: Bencher<'_, '_>, setting: Setting) {
    let Some(folder) = place::at_hand(LISTS) else {
        let advice = format!("skipped: there are no openb lists; set {}", place::VARIABLE);
        // Where even this fails there is nobody left to tell.
        let _ = writeln!(std::io::stderr().lock(), "{advice}");
        return;
    };
    let input = Input::read(&folder, setting).expect("the openb lists are as described");
    let mut treadmill = Treadmill::new(&input, setting.contender).expect("there is such a policy");
    let level = measure::fill(&mut treadmill).expect("plans keep the law");
    // What the last turn came to waits here until the next one is made.
    let state = RefCell::new((treadmill, None::<Turn>));
    bencher
        .with_inputs(|| {
            let (treadmill, last) = &mut *state.borrow_mut();
            if let Some(turn) = last.take() {
                treadmill.settle(turn).expect("plans keep the law");
            }
            treadmill.hold(setting.arrivals, level)
        })
        .bench_local_values(|Coming { observation, requests }| {
            let (treadmill, last) = &mut *state.borrow_mut();
            *last = Some(treadmill.turn(&observation, requests));
        });
}

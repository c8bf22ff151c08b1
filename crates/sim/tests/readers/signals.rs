//! Signals: numbers about nodes and models.

use fleet::{ClassId, Level, NodeId, Signals};
use sim::read::{Options, Read, ReadError, signals_from};

use crate::support::{check, fleet, message, with_line};

const SIGNALS: &str = r#"
format = 1
[signal.queue-noise]
unit = "ms"
default = 2
node.a = 3.5
class.A100 = 1
"#;

fn read(text: &str) -> Result<Read<Signals>, ReadError> {
    signals_from(text.as_bytes(), "signals", &fleet(), &Options::default())
}

#[test]
fn a_signal_has_numbers_of_nodes_and_models_and_a_default() {
    let signals = read(SIGNALS).unwrap().value;
    let signal = &signals.by_name["queue-noise"];
    assert_eq!((&*signal.unit, signal.default), ("ms", Level(2_000_000)));
    let levels = |node, class| signal.level(NodeId(node), ClassId(class)).as_f64();
    assert_eq!((levels(0, 0), levels(7, 0), levels(7, 1)), (3.5, 1.0, 2.0));
    let bare = read(&with_line(&with_line(SIGNALS, "unit", ""), "default", "")).unwrap().value;
    let bare = &bare.by_name["queue-noise"];
    assert_eq!((&*bare.unit, bare.default), ("", Level::ZERO));
}

fn at(line: u32, field: &str, detail: &str) -> String {
    format!("read signals, line {line}, `signal.queue-noise{field}`: {detail}")
}

#[test]
fn wrong_signals_are_refused_with_line_and_field() {
    let node = "the fleet has no node \"b\"; did you mean \"a\"?";
    let class = "the fleet has no model \"H100\"; use one of A100, EPYC";
    let cases = [
        ("node.a", "node.b = 1", at(6, ".node.b", node)),
        ("class.A100", "class.H100 = 1", at(7, ".class.H100", class)),
        ("unit", "unit = 1", at(4, ".unit", "is 1, but must be a name in quotes")),
    ];
    for (start, line, expected) in &cases {
        check(SIGNALS, read, &[(start, line, expected)]);
    }
}

#[test]
fn numbers_of_signals_are_finite_and_not_negative() {
    let fields =
        [("node.a", 6, ".node.a"), ("class.A100", 7, ".class.A100"), ("default", 5, ".default")];
    for (start, line, field) in fields {
        for (given, shown, what) in [
            ("-1", "-1", "is negative"),
            ("nan", "NaN", "is not a plain decimal number"),
            ("inf", "inf", "is not a plain decimal number"),
            ("\"x\"", "x", "is not a plain decimal number"),
        ] {
            let detail = format!("number of a signal \"{shown}\" {what}; write it like 3.5 or 0");
            let text = with_line(SIGNALS, start, &format!("{start} = {given}"));
            assert_eq!(message(read(&text)), at(line, field, &detail));
        }
    }
}

#[test]
fn signals_without_numbers_or_with_names_that_no_policy_can_write_are_refused() {
    let neither = with_line(&with_line(SIGNALS, "node.a", ""), "class.A100", "");
    assert_eq!(
        message(read(&neither)),
        at(3, "", "is missing; give numbers, like node.NAME = 3.5 or class.MODEL = 1")
    );
    let brackets = SIGNALS.replace("[signal.queue-noise]", "[signal.\"a(b)\"]");
    let expected = "read signals, line 3, `signal.a(b)`: has no effect here: policies write \
                    external(NAME), so a name has no brackets; leave it out";
    assert_eq!(message(read(&brackets)), expected);
    let expected = "read signals: it has no usable [signal.NAME] (0 bad ones were skipped)";
    assert_eq!(message(read("format = 1")), expected);
}

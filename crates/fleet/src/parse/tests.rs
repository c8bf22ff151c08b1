use super::*;

/// Checks texts that stand for a value, and texts that are refused with this message.
fn check<T>(right: &[(&str, T)], wrong: &[(&str, &str)])
where
    T: FromStr<Err = ParseError> + PartialEq + std::fmt::Debug + Copy,
{
    for (text, value) in right {
        assert_eq!(text.parse::<T>(), Ok(*value), "{text}");
    }
    for (text, message) in wrong {
        assert_eq!(text.parse::<T>().unwrap_err().to_string(), *message, "{text}");
    }
}

#[test]
fn cores_are_decimals_of_three_places() {
    check(
        &[
            ("8", MilliCores(8000)),
            ("0.5", MilliCores(500)),
            ("1.250", MilliCores(1250)),
            ("0", MilliCores(0)),
            ("007", MilliCores(7000)),
            ("18446744073709551.615", MilliCores(u64::MAX)),
        ],
        &[
            ("", "number of cores \"\" is not a plain decimal number; write it like 8 or 0.5"),
            (
                "0.0005",
                "number of cores \"0.0005\" is finer than 0.001, the least step; write fewer decimals",
            ),
            ("-1", "number of cores \"-1\" is negative; write it like 8 or 0.5"),
            (
                "18446744073709551.616",
                "number of cores \"18446744073709551.616\" is too large; the most is 18446744073709551",
            ),
        ],
    );
}

#[test]
fn what_is_not_a_plain_decimal_is_refused() {
    for text in
        ["", " ", "x", "1e3", "1_000", "1,5", ".5", "5.", "1.2.3", "+1", "1 ", "0x1", "½", "8c"]
    {
        let refusal = text.parse::<MilliCores>();
        assert!(matches!(refusal, Err(ParseError::NotANumber { .. })), "{text:?} {refusal:?}");
    }
}

#[test]
fn long_numbers_are_too_large_or_too_fine_and_never_wrap() {
    let long = "9".repeat(60);
    assert!(matches!(long.parse::<Bytes>(), Err(ParseError::TooLarge { .. })));
    assert!(matches!(
        format!("{long}kWh").parse::<Millijoules>(),
        Err(ParseError::TooLarge { .. })
    ));
    assert!(matches!(format!("0.{long}").parse::<Work>(), Err(ParseError::TooFine { .. })));
    assert_eq!(format!("1.5{}", "0".repeat(60)).parse(), Ok(Work(1_500_000)));
}

#[test]
fn sizes_are_decimal_or_binary_as_written() {
    check(
        &[
            ("40GiB", Bytes(40 << 30)),
            ("40Gi", Bytes(40 << 30)),
            ("40G", Bytes(40_000_000_000)),
            ("40GB", Bytes(40_000_000_000)),
            ("512MiB", Bytes(512 << 20)),
            ("1.5Gi", Bytes(3 << 29)),
            ("1.5kB", Bytes(1500)),
            ("2T", Bytes(2_000_000_000_000)),
            ("1Pi", Bytes(1 << 50)),
            ("4096", Bytes(4096)),
            ("0", Bytes(0)),
            ("7B", Bytes(7)),
        ],
        &[
            (
                "0.1Ki",
                "size \"0.1Ki\" is finer than one byte, the least step; write fewer decimals",
            ),
            ("16384Pi", "size \"16384Pi\" is too large; the most is 16383PiB"),
            ("-1Gi", "size \"-1Gi\" is negative; write it like 40Gi or 40GB"),
            (
                "4 Gi",
                "size \"4 Gi\" has the unknown unit \" Gi\"; use one of B K KB k kB Ki KiB M MB Mi MiB \
                 G GB Gi GiB T TB Ti TiB P PB Pi PiB",
            ),
        ],
    );
}

#[test]
fn durations_are_chains_or_times_by_the_clock() {
    check(
        &[
            ("90s", Span::seconds(90)),
            ("1h30m", Span::seconds(5400)),
            ("2d", Span::seconds(172_800)),
            ("500ms", Span(500_000)),
            ("7us", Span(7)),
            ("1.5h", Span::seconds(5400)),
            ("1m0.5s", Span(60_500_000)),
            ("0s", Span::ZERO),
            ("1-02:03:04", Span::seconds(93_784)),
            ("02:03:04", Span::seconds(7384)),
            ("100:00:00", Span::seconds(360_000)),
            ("213503982d", Span::seconds(213_503_982 * 86_400)),
        ],
        &[
            (
                "90",
                "duration \"90\" has no unit; write it like 90s or 1h30m, with one of us ms s m h d",
            ),
            (
                "1h30",
                "duration \"1h30\" has no unit; write it like 90s or 1h30m, with one of us ms s m h d",
            ),
            (
                "3weeks",
                "duration \"3weeks\" has the unknown unit \"weeks\"; use one of us ms s m h d",
            ),
            ("-5s", "duration \"-5s\" is negative; write it like 90s or 1h30m"),
            ("s", "duration \"s\" is not a plain decimal number; write it like 90s or 1h30m"),
            (
                "0.5us",
                "duration \"0.5us\" is finer than one microsecond, the least step; write fewer decimals",
            ),
            ("213503983d", "duration \"213503983d\" is too large; the most is 213503982d"),
        ],
    );
}

#[test]
fn durations_out_of_order_or_off_the_clock_are_refused() {
    for text in ["30m1h", "1h1h", "1.5h30m"] {
        assert_eq!(text.parse::<Span>(), Err(ParseError::OutOfOrder { given: text.into() }));
    }
    for text in
        ["1:2:3", "00:60:00", "00:00:60", "1-24:00:00", "12:30", "1-1:00:00", ":00:00", "-01:00:00"]
    {
        let refusal = text.parse::<Span>();
        assert_eq!(refusal, Err(ParseError::NotAClock { given: text.into() }), "{text}");
    }
    for text in ["213503982-23:59:59", "999999999999999999999999:00:00"] {
        assert!(matches!(text.parse::<Span>(), Err(ParseError::TooLarge { .. })), "{text}");
    }
}

#[test]
fn power_and_energy_need_their_unit() {
    check(
        &[
            ("50W", Milliwatts(50_000)),
            ("1.5kW", Milliwatts(1_500_000)),
            ("300mW", Milliwatts(300)),
            ("2MW", Milliwatts(2_000_000_000)),
        ],
        &[
            ("50", "power \"50\" has no unit; write it like 50W or 1.5kW, with one of mW W kW MW"),
            ("50w", "power \"50w\" has the unknown unit \"w\"; use one of mW W kW MW"),
            (
                "0.5mW",
                "power \"0.5mW\" is finer than one milliwatt, the least step; write fewer decimals",
            ),
        ],
    );
    check(
        &[
            ("10J", Millijoules(10_000)),
            ("100kJ", Millijoules(100_000_000)),
            ("1MJ", Millijoules(1_000_000_000)),
            ("1kWh", Millijoules(3_600_000_000)),
            ("0.5Wh", Millijoules(1_800_000)),
        ],
        &[],
    );
}

#[test]
fn rates_work_and_fractions_are_bare_numbers() {
    check(
        &[("2", Rate(2_000_000)), ("0.000001", Rate(1)), ("0", Rate(0))],
        &[("2/s", "rate \"2/s\" is not a plain decimal number; write it like 2 or 0.125")],
    );
    check(&[("100", Work(100_000_000)), ("0.125", Work(125_000))], &[]);
    check(
        &[("0.25", Milli(250)), ("1", Milli(1000)), ("4294967.295", Milli(u32::MAX))],
        &[
            ("4294967.296", "fraction \"4294967.296\" is too large; the most is 4294967"),
            (
                "0.2505",
                "fraction \"0.2505\" is finer than 0.001, the least step; write fewer decimals",
            ),
        ],
    );
}

#[test]
fn numbers_of_files_are_taken_when_they_are_exact_enough() {
    for thousandths in [0, 1, 100, 300, 1001, 12_345_678, 1 << 52] {
        let number = format!("{}", MilliCores(thousandths)).parse().unwrap();
        assert_eq!(MilliCores::from_number(number), Ok(MilliCores(thousandths)));
    }
    assert_eq!(Milli::from_number(0.1 + 0.2), Ok(Milli(300)));
    assert_eq!(Work::from_number(1_234_567.123_456), Ok(Work(1_234_567_123_456)));
    assert_eq!(Rate::from_number(1e-6), Ok(Rate(1)));
    assert_eq!(Rate::from_number(-0.0), Ok(Rate(0)));
}

#[test]
fn numbers_of_files_that_no_quantity_holds_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(Rate::from_number(number), Err(ParseError::NotANumber { .. })));
    }
    assert!(matches!(Work::from_number(-0.1), Err(ParseError::Negative { .. })));
    assert!(matches!(Work::from_number(2e13), Err(ParseError::TooLarge { .. })));
    assert!(matches!(Milli::from_number(4_294_967.296), Err(ParseError::TooLarge { .. })));
    assert!(matches!(MilliCores::from_number(f64::MAX), Err(ParseError::TooLarge { .. })));
    assert!(matches!(MilliCores::from_number(0.0005), Err(ParseError::TooFine { .. })));
    assert!(matches!(Rate::from_number(1e-7), Err(ParseError::TooFine { .. })));
    let message = Milli::from_number(0.2505).unwrap_err().to_string();
    assert_eq!(
        message,
        "fraction \"0.2505\" is finer than 0.001, the least step; write fewer decimals"
    );
}

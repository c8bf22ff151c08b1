//! Slices: the profiles of a fleet file, the known ones, and what jobs ask of them.

use fleet::{Bytes, Milli, Profile, ShareRule};
use sim::Inventory;
use sim::read::{Mapping, Options, workload_from};

use crate::support::{check, message, read_fleet, with_line};

/// A device that can be cut into halves and quarters.
const CUT: &str = r#"
format = 1
[device.A100]
kind = "gpu"
memory = "40GiB"
share = "slices"
[[device.A100.profile]]
name = "half"
share = 0.5
memory = "20GiB"
slots = 2
places = [0, 2]
[[device.A100.profile]]
name = "quarter"
share = 0.25
slots = 1
places = [0, 1, 2, 3]
[device.EPYC]
kind = "cpu"
[[node]]
name = "a"
cpu = "EPYC"
cores = 64
memory = "512GiB"
devices = { A100 = 2 }
"#;

/// A device whose profiles are known by its name.
const KNOWN: &str = r#"
format = 1
[device.A100-SXM4-40GB]
kind = "gpu"
memory = "40GiB"
share = "mig"
[device.EPYC]
kind = "cpu"
[[node]]
name = "a"
cpu = "EPYC"
cores = 64
memory = "512GiB"
devices = { A100-SXM4-40GB = 2 }
"#;

const JOB: &str = r#"
format = 1
[[job]]
name = "train"
[[job.alternative]]
device = { kind = "gpu", profile = "half" }
"#;

fn fleet(text: &str) -> Inventory {
    read_fleet(text).unwrap().value
}

fn profiles(text: &str) -> Vec<Profile> {
    let cut = fleet(text).classes.0.into_iter().find(|class| class.share == ShareRule::Slices);
    cut.unwrap().profiles
}

#[test]
fn profiles_are_read() {
    let class = &fleet(CUT).classes.0[0];
    assert_eq!(class.share, ShareRule::Slices);
    let [half, quarter] = &class.profiles[..] else { panic!("two profiles") };
    assert_eq!(
        (half.name.as_str(), half.share, half.memory),
        ("half", Milli(500), Bytes(20 << 30))
    );
    assert_eq!((half.slots, &half.places[..]), (2, &[0, 2][..]));
    assert_eq!((quarter.memory, quarter.slots, quarter.places.len()), (Bytes::ZERO, 1, 4));
}

#[test]
fn each_field_of_a_profile_changes_what_is_read() {
    let base = fleet(CUT);
    for (start, line) in [
        ("name = \"half\"", "name = \"large\""),
        ("share = 0.5", "share = 0.6"),
        ("memory = \"20GiB\"", "memory = \"10GiB\""),
        ("slots = 2", "slots = 1"),
        ("places = [0, 2]", "places = [2]"),
    ] {
        assert_ne!(fleet(&with_line(CUT, start, line)), base, "{line}");
    }
}

#[test]
fn known_profiles_have_the_places_that_the_user_guide_lists() {
    let told = |profile: &Profile| {
        let Profile { name, share, memory, slots, places } = profile;
        (name.clone(), share.0, memory.0 >> 30, *slots, places.clone())
    };
    let expected = |names: [&str; 6], unit: u64| {
        let rows = [
            (142, 1, 1, vec![0, 1, 2, 3, 4, 5, 6]),
            (142, 2, 2, vec![0, 2, 4, 6]),
            (285, 2, 2, vec![0, 2, 4]),
            (428, 4, 4, vec![0, 4]),
            (571, 4, 4, vec![0]),
            (1000, 8, 8, vec![0]),
        ];
        let rows = names.into_iter().zip(rows);
        let row = |(name, (share, eighths, slots, places)): (&str, (u32, u64, u8, Vec<u8>))| {
            (name.to_owned(), share, eighths * unit, slots, places)
        };
        rows.map(row).collect::<Vec<_>>()
    };
    let found: Vec<_> = profiles(KNOWN).iter().map(told).collect();
    let names = ["1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"];
    assert_eq!(found, expected(names, 5));
    let names = ["1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"];
    for model in ["A100", "H100-PCIe"] {
        let text = KNOWN.replace("A100-SXM4-40GB", model).replace("40GiB", "80GiB");
        let found: Vec<_> = profiles(&text).iter().map(told).collect();
        assert_eq!(found, expected(names, 10), "{model}");
    }
    // By decimal gigabytes too.
    assert_eq!(profiles(&KNOWN.replace("40GiB", "40GB"))[0].name, "1g.5gb");
}

#[test]
fn a_device_without_known_profiles_is_refused() {
    let told = |model: &str, memory: &str| {
        message(read_fleet(&KNOWN.replace("A100-SXM4-40GB", model).replace("40GiB", memory)))
    };
    let refused = |model: &str, memory: &str| {
        format!(
            "read fleet, line 6, `device.{model}.share`: no MIG profiles are known of {model:?} \
             with {memory} of memory, only of an A100 with 40 or 80 GB and an H100 with 80 GB; \
             write share = \"slices\" and the profiles"
        )
    };
    assert_eq!(told("V100", "40GiB"), refused("V100", "40Gi"));
    assert_eq!(told("H100", "40GiB"), refused("H100", "40Gi"));
    assert_eq!(told("A100", "48GiB"), refused("A100", "48Gi"));
}

#[test]
fn a_wrong_profile_is_refused_with_line_field_and_bound() {
    let at = "read fleet, line 12, `device.A100.profile[0]";
    let slots = "give a whole number of slots from 1 to 16";
    let place = "give a slot from which it ends within 16 slots, counted from 0";
    let cases = [
        ("name = \"half\"", "", format!("{at}.name`: is missing; give each profile a name")),
        ("share = 0.5", "", format!("{at}.share`: is missing; say which part of the device it is")),
        (
            "share = 0.5",
            "share = 0",
            format!("{at}.share`: is 0; give a share above 0 and up to 1"),
        ),
        (
            "share = 0.5",
            "share = 1.5",
            format!("{at}.share`: is 1.5; give a share above 0 and up to 1"),
        ),
        (
            "memory = \"20GiB\"",
            "memory = \"41GiB\"",
            format!("{at}.memory`: is 41Gi; give a size that the device has"),
        ),
        ("slots = 2", "", format!("{at}.slots`: is missing; say how many slots it covers")),
        ("slots = 2", "slots = 0", format!("{at}.slots`: is 0; {slots}")),
        ("slots = 2", "slots = 17", format!("{at}.places[0]`: is 0; {place}")),
        (
            "places = [0, 2]",
            "",
            format!("{at}.places`: is missing; list the slots at which it may begin, from 0"),
        ),
        ("places = [0, 2]", "places = [0, 15]", format!("{at}.places[1]`: is 15; {place}")),
        ("places = [0, 2]", "places = [-1]", format!("{at}.places[0]`: is -1; {place}")),
    ];
    refused(&cases);
}

/// Each of these lines is refused with these words.
#[track_caller]
fn refused(cases: &[(&str, &str, String)]) {
    for (start, line, expected) in cases {
        let told = message(read_fleet(&with_line(CUT, start, line)));
        let (_, told) = told.split_once(", `").unwrap();
        let (_, expected) = expected.split_once(", `").unwrap();
        assert_eq!(told, expected, "{line:?} in place of {start}");
    }
}

#[test]
fn profiles_that_do_not_go_together_are_refused() {
    let cases = [
        (
            "places = [0, 1, 2, 3]",
            "places = [0]\ncolour = 7",
            "read fleet, line 18, `device.A100.profile[1].colour`: unknown field `colour`, expected \
             one of `name`, `share`, `memory`, `slots`, `places`"
                .to_owned(),
        ),
        (
            "name = \"quarter\"",
            "name = \"half\"",
            "read fleet, line 14, `device.A100.profile[1].name`: the profile \"half\" is given \
             twice; rename one"
                .to_owned(),
        ),
        (
            "share = \"slices\"",
            "share = \"milli\"",
            "read fleet, line 7, `device.A100.profile`: has no effect here: only a device with \
             share = \"slices\" is cut into slices; leave it out"
                .to_owned(),
        ),
        (
            "share = \"slices\"",
            "share = \"mig\"",
            "read fleet, line 7, `device.A100.profile`: has no effect here: share = \"mig\" names \
             the known ones; for others write \"slices\"; leave it out"
                .to_owned(),
        ),
    ];
    refused(&cases);
    let many: Vec<String> = (0..65).map(|at| format!("{{ name = \"p{at}\" }}")).collect();
    let none = KNOWN.replace("\"mig\"", "\"slices\"");
    let told = message(read_fleet(&none));
    assert!(told.ends_with("is missing; share = \"slices\" needs at least one profile"), "{told}");
    let more = none.replace(
        "share = \"slices\"",
        &format!("share = \"slices\"\nprofile = [{}]", many.join(", ")),
    );
    let told = message(read_fleet(&more));
    assert!(told.ends_with("is 65; give at most 64 of them"), "{told}");
}

#[test]
fn a_slice_has_the_size_that_its_profile_has_on_the_fleet() {
    let sized = |fleet_text: &str, name: &str| {
        let text = JOB.replace("half", name);
        let options = Options::default();
        let read = workload_from(text.as_bytes(), "jobs", &fleet(fleet_text), &options);
        let job = read.unwrap().value.jobs.remove(0);
        job.alternatives[0].request.devices.clone().unwrap()
    };
    let half = sized(CUT, "half");
    assert_eq!((half.count, half.share, half.memory), (1, Milli(500), Bytes(20 << 30)));
    assert_eq!(half.profile.as_deref(), Some("half"));
    let quarter = sized(CUT, "quarter");
    assert_eq!((quarter.share, quarter.memory), (Milli(250), Bytes::ZERO));
    let known = sized(KNOWN, "3g.20gb");
    assert_eq!((known.share, known.memory), (Milli(428), Bytes(20 << 30)));
}

#[test]
fn a_profile_that_does_not_exist_is_refused_with_those_that_do() {
    let read = |text: &str, fleet_text: &str| {
        message(workload_from(text.as_bytes(), "jobs", &fleet(fleet_text), &Options::default()))
    };
    let field = "read jobs, line 6, `alternative[0].device.profile`";
    assert_eq!(
        read(&JOB.replace("half", "3g.20gb"), CUT),
        format!(
            "{field}: no device that would do has the profile \"3g.20gb\"; the fleet has half, \
             quarter"
        )
    );
    let whole = KNOWN.replace("\"mig\"", "\"milli\"");
    assert_eq!(
        read(JOB, &whole),
        format!(
            "{field}: no device that would do has the profile \"half\"; no device of the fleet is \
             cut into slices"
        )
    );
    let other = JOB.replace("profile =", "models = [\"V100\"], profile =");
    assert!(read(&other, CUT).ends_with("the fleet has half, quarter"));
}

#[test]
fn a_profile_of_two_sizes_is_asked_for_by_model() {
    let two = CUT.replace(
        "[device.EPYC]",
        "[device.B]\nkind = \"gpu\"\nmemory = \"80GiB\"\nshare = \"slices\"\n\
         profile = [{ name = \"half\", share = 0.5, memory = \"40GiB\", slots = 1, places = [0, 1] }]\n\
         [device.EPYC]",
    );
    let two = fleet(&two);
    let read = |text: &str| workload_from(text.as_bytes(), "jobs", &two, &Options::default());
    assert_eq!(
        message(read(JOB)),
        "read jobs, line 6, `alternative[0].device.profile`: the profile \"half\" is not of the \
         same size on A100 and B; name the models that will do"
    );
    let one = JOB.replace("profile =", "models = [\"B\"], profile =");
    let job = read(&one).unwrap().value.jobs.remove(0);
    let devices = job.alternatives[0].request.devices.clone().unwrap();
    assert_eq!(devices.memory, Bytes(40 << 30));
}

#[test]
fn what_a_profile_says_is_not_said_again() {
    let device =
        |fields: &str| format!("device = {{ kind = \"gpu\", profile = \"half\", {fields} }}");
    let refused = |field: &str, reason: &str| {
        format!(
            "read jobs, line 6, `alternative[0].device.{field}`: has no effect here: {reason}; \
             leave it out"
        )
    };
    let (count, share, memory) = (device("count = 2"), device("share = 0.5"), device("memory = 1"));
    check(
        JOB,
        |text| workload_from(text.as_bytes(), "jobs", &fleet(CUT), &Options::default()),
        &[
            ("device", &count, &refused("count", "a profile is of one device")),
            (
                "device",
                &share,
                &refused("share", "the profile says which part of the device it is"),
            ),
            ("device", &memory, &refused("memory", "the profile says how much memory it has")),
        ],
    );
    let one = with_line(JOB, "device", &device("count = 1"));
    workload_from(one.as_bytes(), "jobs", &fleet(CUT), &Options::default()).unwrap();
}

#[test]
fn streams_json_lines_and_csv_ask_for_slices_too() {
    let known = fleet(KNOWN);
    let profile = |text: &str, columns: &[&str]| {
        let columns = columns.iter().map(|one| one.parse::<Mapping>().unwrap()).collect();
        let options = Options { columns, ..Options::default() };
        let read = workload_from(text.as_bytes(), "jobs", &known, &options);
        read.map(|read| {
            let devices = read.value.jobs[0].alternatives[0].request.devices.clone().unwrap();
            (devices.profile, devices.share)
        })
    };
    let expected = (Some("2g.10gb".to_owned()), Milli(285));
    let stream = "format = 1\n[[stream]]\nname = \"s\"\ncount = 2\nevery = \"1m\"\nwork = 1\n\
                  [[stream.alternative]]\ndevice = { kind = \"gpu\", profile = \"2g.10gb\" }\n";
    assert_eq!(profile(stream, &[]).unwrap(), expected);
    let line = "{\"name\": \"j\", \"alternative\": [{\"device\": {\"kind\": \"gpu\", \
                \"profile\": \"2g.10gb\"}}]}\n";
    assert_eq!(profile(line, &[]).unwrap(), expected);
    let csv = "name,gpus,profile\nj,1,2g.10gb\n";
    assert_eq!(profile(csv, &[]).unwrap(), expected);
    let mapped = "name,gpus,slice\nj,1,2g.10gb\n";
    assert_eq!(profile(mapped, &["profile=slice"]).unwrap(), expected);
    let told = message(profile("name,gpus,profile\nj,1,9g.90gb\n", &[]));
    assert!(told.starts_with("read jobs, line 2, `profile`: no device that would do"), "{told}");
    let told = message(profile("name,cores,profile\nj,1,2g.10gb\n", &[]));
    assert!(told.contains("`profile`: has no effect here: the row asks for no device"), "{told}");
    let unknown = stream.replace("2g.10gb", "9g.90gb");
    assert!(message(profile(&unknown, &[])).contains("`alternative[0].device.profile`"));
    assert!(message(profile(&line.replace("2g", "9g"), &[])).contains("device.profile`"));
}

//! Compression, encodings and bounds.

use std::io::{BufReader, Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use sim::read::{Options, inventory, inventory_from, workload_from};

use crate::support::{FLEET, JOBS, fleet, message, read_fleet, read_jobs};

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_found_by_its_first_bytes_and_may_have_several_parts() {
    let (head, tail) = FLEET.split_at(100);
    let parts = [compressed(head.as_bytes()), compressed(tail.as_bytes())].concat();
    let read = inventory_from(&parts[..], "fleet", &Options::default()).unwrap();
    assert_eq!(read.value, fleet());
    let read =
        workload_from(&compressed(JOBS.as_bytes())[..], "jobs", &fleet(), &Options::default());
    assert_eq!(read.unwrap().value, read_jobs(JOBS).unwrap().value);
}

#[test]
fn gzip_that_was_cut_short_or_damaged_is_told_apart() {
    let whole = compressed(FLEET.as_bytes());
    for length in [2, 3, 20, whole.len() / 2, whole.len() - 1] {
        let read = inventory_from(&whole[..length], "fleet", &Options::default());
        assert_eq!(
            message(read),
            "read fleet: its gzip data ends too early; it was cut short, so copy it again"
        );
    }
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    let given = message(inventory_from(&damaged[..], "fleet", &Options::default()));
    assert!(given.starts_with("read fleet: its gzip data is damaged; copy it again: "), "{given}");
    let list = compressed(b"sn,cpu_milli,memory_mib,gpu,model\nn,1,1,0,\n");
    let given = message(inventory_from(&list[..list.len() - 4], "list", &Options::default()));
    assert!(given.contains("ends too early"), "{given}");
}

#[test]
fn a_byte_order_mark_is_passed_over_and_other_encodings_are_refused() {
    assert_eq!(read_fleet(&format!("\u{feff}{FLEET}")).unwrap().value, fleet());
    let mut bytes = FLEET.as_bytes().to_vec();
    bytes.extend_from_slice(b"# \xff\n");
    assert_eq!(
        message(inventory_from(&bytes[..], "fleet", &Options::default())),
        "read fleet, line 20: is not UTF-8 text; save the file in that encoding"
    );
    let line = b"{\"name\": \"\xff\", \"alternative\": [{\"cores\": 1}]}";
    let given = message(workload_from(&line[..], "jobs", &fleet(), &Options::default()));
    assert!(given.starts_with("read jobs, line 1: invalid unicode"), "{given}");
    let list = b"sn,cpu_milli,memory_mib,gpu,model\n\xff,1,1,0,\n";
    assert_eq!(
        message(inventory_from(&list[..], "list", &Options::default())),
        "read list, line 2, `sn`: is not UTF-8 text; save the file in that encoding"
    );
}

#[test]
fn a_line_of_ten_megabytes_is_refused_in_every_format() {
    let long = "x".repeat(10 << 20);
    let expected =
        |line| format!("line {line} is longer than 1048576 bytes; no entry is that long");
    let toml = message(read_fleet(&format!("{FLEET}# {long}")));
    assert!(toml.contains(&expected(20)), "{toml}");
    let json = message(read_jobs(&format!("{{\"format\": 1}}\n{{\"name\": \"{long}\"}}")));
    assert!(json.contains(&expected(2)), "{json}");
    let list = message(read_fleet(&format!("sn,cpu_milli,memory_mib,gpu,model\n{long}")));
    assert!(list.contains(&expected(2)), "{list}");
}

#[test]
fn a_toml_file_that_unpacks_to_more_than_its_bound_is_refused() {
    let line = format!("# {}\n", "x".repeat(1000));
    let reader =
        BufReader::new(std::io::repeat(0).take(0).chain(Repeat { line: line.into_bytes(), at: 0 }));
    assert_eq!(
        message(inventory_from(reader, "fleet", &Options::default())),
        "read fleet: it is larger than 33554432 bytes after decompression; split it"
    );
}

/// The same line for ever.
struct Repeat {
    line: Vec<u8>,
    at: usize,
}

impl std::io::Read for Repeat {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        for byte in buffer.iter_mut() {
            *byte = self.line[self.at];
            self.at = (self.at + 1) % self.line.len();
        }
        Ok(buffer.len())
    }
}

#[test]
fn a_text_that_is_too_long_is_not_repeated_in_full() {
    let text = FLEET.replace("name = \"a\"", &format!("name = \"{}\"", "x".repeat(5000)));
    assert_eq!(
        message(read_fleet(&text)),
        "read fleet, line 13, `name`: a text of 5000 bytes; at most 4096"
    );
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.toml");
    let given = message(inventory(&path, &Options::default()));
    assert_eq!(given, format!("open {}: No such file or directory (os error 2)", path.display()));
    let given = message(inventory(folder.path(), &Options::default()));
    assert_eq!(given, format!("open {}: is a directory", folder.path().display()));
}

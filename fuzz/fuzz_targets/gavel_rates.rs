#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| motley_fuzz::targets::gavel_rates(bytes));

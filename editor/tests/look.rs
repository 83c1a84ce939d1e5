//! A first look.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;
use common::Bench;
use std::path::Path;

#[test]
fn look() {
    let mut bench = Bench::start();
    std::thread::sleep(std::time::Duration::from_secs(3));
    bench.settle();
    bench.picture(Path::new("/tmp/look_welcome.png"));
    bench.close_dialog();
    bench.picture(Path::new("/tmp/look_town.png"));
    bench.look_at(0.0, 0.0, 80.0);
    bench.picture(Path::new("/tmp/look_near.png"));
}

//! Child process for plugin hosts in programs other than `roadwright` itself.

fn main() {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    std::process::exit(roadwright_extension::helper(&arguments));
}

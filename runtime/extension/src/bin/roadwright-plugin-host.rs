//! Child process of plugin hosts other than the program `roadwright` itself.

fn main() {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    std::process::exit(roadwright_extension::helper(&arguments));
}

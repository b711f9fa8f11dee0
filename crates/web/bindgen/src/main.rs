//! `mayfly-web-bindgen MODULE.wasm FOLDER`: the module as a page takes it, with JavaScript and types, into the folder.

use std::env::args_os;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let given: Vec<_> = args_os().skip(1).collect();
    let [module, folder] = given.as_slice() else {
        eprintln!("usage: mayfly-web-bindgen MODULE.wasm FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let made = bindgen.input_path(module).web(true).and_then(|bindgen| bindgen.typescript(true).generate(folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

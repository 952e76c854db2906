//! Tampered backups: changed bytes of a file, or changed parts with corrected sizes and hashes.

use crate::{Run, pick};
use anyhow::{Context, ensure};
use fastrand::Rng;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lyra_tests::{TestApp, binary};
use lyra_usecases::App;
use lyra_usecases::worker::BackupReaders;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A data folder with a task in it, a token, and its backup as `.tar.gz`.
fn backup(app: &TestApp, folder: &Path) -> anyhow::Result<PathBuf> {
    let file = folder.join("backup.tar.gz");
    app.json(&["token", "create", "--json", "kept", "--scope", "read"]);
    let made = app.run(&["backup", "create", &file.to_string_lossy()]);
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Ok(file)
}

fn unpacked(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(file)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn packed(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// What restoring gives, as far as it can be read: names of tokens, and whether the check finds anything.
fn restored(folder: &Path) -> anyhow::Result<Value> {
    let other = TestApp::new();
    let run = |args: &[&str]| {
        let data = folder.display().to_string();
        let output = other.run(&[&["--data-dir", &data], args].concat());
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "{args:?}: {out}{}", String::from_utf8_lossy(&output.stderr));
        Ok::<Value, anyhow::Error>(serde_json::from_str(&out)?)
    };
    let tokens = run(&["token", "list", "--json"])?;
    let names: Vec<Value> =
        tokens.as_array().into_iter().flatten().map(|token| json!([token["name"], token["scope"]])).collect();
    Ok(json!([names, run(&["store", "check", "--json"])?["problems"], run(&["corpus", "list", "--json"])?]))
}

/// One tampered archive; returns the change.
fn changed(rng: &mut Rng, whole: &[u8]) -> anyhow::Result<(String, Vec<u8>)> {
    let flip = |rng: &mut Rng, bytes: &mut [u8]| {
        let at = rng.usize(..bytes.len());
        bytes[at] ^= 1 << rng.u8(..8);
        at
    };
    Ok(match rng.u8(..6) {
        0 => {
            let mut file = packed(whole)?;
            let at = flip(rng, &mut file);
            (format!("bit of byte {at} of the file"), file)
        }
        1 => {
            let mut inside = whole.to_vec();
            let at = flip(rng, &mut inside);
            (format!("bit of byte {at} of the archive"), packed(&inside)?)
        }
        2 => {
            let mut file = packed(whole)?;
            let length = rng.usize(..file.len());
            file.truncate(length);
            (format!("cut to {length} bytes"), file)
        }
        3 => {
            let mut inside = whole.to_vec();
            let length = rng.usize(..inside.len());
            inside.truncate(length);
            (format!("archive cut to {length} bytes"), packed(&inside)?)
        }
        4 => {
            // Blocks of the archive in another order, or twice.
            let mut blocks: Vec<&[u8]> = whole.chunks(512).collect();
            let (from, to) = (rng.usize(..blocks.len()), rng.usize(..blocks.len()));
            if rng.bool() {
                blocks.swap(from, to);
            } else {
                blocks.insert(to, blocks[from]);
            }
            (format!("block {from} at {to}"), packed(&blocks.concat())?)
        }
        _ => {
            let name = *pick(
                rng,
                &["../outside", "/outside", "lyra.db", "corpora/../../outside", "backup.json", "extra"],
            );
            (format!("with one more file, `{name}`"), packed(&with_file(rng, whole, name)?)?)
        }
    })
}

/// With one more file at its beginning or its end, under this name or as a link to it.
fn with_file(rng: &mut Rng, whole: &[u8], name: &str) -> anyhow::Result<Vec<u8>> {
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(b"00000000000");
    header[136..147].copy_from_slice(b"00000000000");
    header[156] = *pick(rng, b"0125Lx");
    header[157..167].copy_from_slice(b"/etc/hosts");
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let end = whole.len().checked_sub(1_024).context("an archive ends with two empty blocks")?;
    Ok(if rng.bool() { [&header, whole].concat() } else { [&whole[..end], &header, &whole[end..]].concat() })
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_backups_are_refused_or_give_what_was_saved() -> anyhow::Result<()> {
    let (app, home) = (TestApp::new(), tempfile::tempdir()?);
    let file = backup(&app, home.path())?;
    let whole = unpacked(&file)?;
    let first = home.path().join("first");
    // Read by the program itself, as people do.
    let readers = BackupReaders::new(Some(binary("lyra")));
    App::restore_backup(&file, &first, false, &readers)
        .await
        .map_err(|error| anyhow::anyhow!("{}", error.message))?;
    let expected = restored(&first)?;

    let mut run = Run::new("archives");
    let mut accepted = 0;
    while run.next() {
        let (how, bytes) = changed(&mut run.rng, &whole)?;
        let what = format!("attack {} of seed {}: {how}", run.sent, run.seed);
        let place = tempfile::tempdir_in(home.path())?;
        let (target, data) = (place.path().join("changed.tar.gz"), place.path().join("data"));
        std::fs::write(&target, bytes)?;
        let verified = App::verify_backup(&target, &readers).await;
        if let Err(error) = App::restore_backup(&target, &data, false, &readers).await {
            let why = error.message;
            ensure!(!why.is_empty() && verified.is_err(), "{what}: verified, and then {why}");
            let left: Vec<_> = std::fs::read_dir(&data)?.flatten().map(|entry| entry.file_name()).collect();
            ensure!(left.iter().all(|name| name == "workers"), "{what}: {left:?}");
        } else {
            // Some bytes mean nothing, like the time of a file.
            accepted += 1;
            ensure!(verified.is_ok(), "{what}: restored, although it is damaged");
            ensure!(restored(&data)? == expected, "{what}: restored as something else");
        }
        let beside: Vec<_> =
            std::fs::read_dir(place.path())?.flatten().map(|entry| entry.file_name()).collect();
        ensure!(beside.iter().all(|name| name == "data" || name == "changed.tar.gz"), "{what}: {beside:?}");
        ensure!(!home.path().join("outside").exists() && !Path::new("/outside").exists(), "{what}: outside");
    }
    ensure!(accepted * 4 <= run.sent, "{accepted} of {} were accepted", run.sent);
    Ok(())
}

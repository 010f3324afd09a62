//! Files that are there whole or not at all: written beside, and renamed. And what is said of those that cannot be read or written.

use std::{
    fs::{self, File, Metadata},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context, anyhow, bail};

use crate::cli::Misuse;

/// Writes a file. Whoever reads it meanwhile sees what it was before.
pub(crate) fn write(
    file: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", file.display());
    let beside = match Place::of(file).with_context(cannot)? {
        // A pipe, or a terminal: there is nothing to be renamed.
        Place::Direct => {
            let out = File::options().write(true).open(file);
            return told(out.and_then(|out| filled(out, fill))).with_context(cannot);
        }
        Place::Beside(beside) => beside,
    };
    let out = told(File::create(&beside.part)).with_context(cannot)?;
    let written = filled(out, fill).and_then(|()| fs::rename(&beside.part, &beside.file));
    if written.is_err() {
        let _it_is_gone_or_stays = fs::remove_file(&beside.part);
    }
    told(written).with_context(cannot)
}

/// A text that was named in the arguments.
pub(crate) fn read(file: &Path) -> Result<String, Misuse> {
    let cannot = |error| Misuse(format!("cannot read {}: {error:#}", file.display()));
    let text = fs::read_to_string(file);
    if matches!(&text, Err(error) if error.kind() == io::ErrorKind::NotFound) {
        return Err(cannot(anyhow!("there is no such file")));
    }
    told(text).map_err(cannot)
}

/// What to say of errors of the system, where more is known than its own words.
const WORDS: [(io::ErrorKind, &str); 7] = [
    (
        io::ErrorKind::NotFound,
        "nothing can be written there; name another",
    ),
    (io::ErrorKind::InvalidData, "it is no text"),
    (
        io::ErrorKind::IsADirectory,
        "it is a folder; name a file in it",
    ),
    (
        io::ErrorKind::NotADirectory,
        "a part of its path is a file, and no folder",
    ),
    (
        io::ErrorKind::PermissionDenied,
        "that is not permitted here; name another",
    ),
    (
        io::ErrorKind::ReadOnlyFilesystem,
        "nothing can be written there; name another",
    ),
    (
        io::ErrorKind::StorageFull,
        "there is no room left; make some, or name another",
    ),
];

fn told<T>(result: io::Result<T>) -> anyhow::Result<T> {
    result.map_err(|error| {
        let known = WORDS.iter().find(|(kind, _)| *kind == error.kind());
        known.map_or_else(|| error.into(), |(_, words)| anyhow!(*words))
    })
}

/// Fails now if this file could not be written in the end.
pub(crate) fn check(file: &Path) -> Result<(), Misuse> {
    let check = || match Place::of(file)? {
        Place::Direct => Ok(()),
        Place::Beside(Beside { part, .. }) => {
            told(File::create(&part).and_then(|_| fs::remove_file(&part)))
        }
    };
    let cannot = |error| Misuse(format!("cannot write {}: {error:#}", file.display()));
    check().map_err(cannot)
}

/// Fails now if no file could be written in this folder in the end.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Misuse> {
    let cannot = |why: &str| {
        Misuse(format!(
            "cannot keep anything in {}: {why}",
            folder.display()
        ))
    };
    match fs::metadata(folder) {
        Ok(there) if there.is_dir() => check(&folder.join("kept")),
        Ok(_) => Err(cannot("it is a file; name a folder")),
        Err(_) => Err(cannot("there is no such folder; make it, or name another")),
    }
}

enum Place {
    Direct,
    Beside(Beside),
}

struct Beside {
    /// The file itself, and not a link to it.
    file: PathBuf,
    /// What becomes the file.
    part: PathBuf,
}

impl Place {
    fn of(file: &Path) -> anyhow::Result<Self> {
        let there = fs::metadata(file);
        match &there {
            Ok(there) if there.is_dir() => bail!("it is a folder; name a file in it"),
            Ok(there) if !there.is_file() => return Ok(Self::Direct),
            Ok(there) if is_read_only(there) => bail!("it is read-only; name another"),
            Ok(_) | Err(_) => {}
        }
        let file = match there {
            Ok(_) => fs::canonicalize(file)?,
            Err(_) => file.to_owned(),
        };
        let Some(name) = file.file_name() else {
            bail!("it is no name of a file");
        };
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            Some(_) | None => Path::new("."),
        };
        match fs::metadata(folder) {
            Ok(there) if there.is_dir() => {}
            Ok(_) => bail!(
                "{} is a file, and no folder; name another",
                folder.display()
            ),
            Err(_) => bail!(
                "there is no folder {}; make it, or name another",
                folder.display()
            ),
        }
        let part = format!(".{}.{}.part", name.to_string_lossy(), process::id());
        let part = folder.join(part);
        Ok(Self::Beside(Beside { file, part }))
    }
}

fn is_read_only(there: &Metadata) -> bool {
    there.permissions().readonly()
}

fn filled(out: File, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    fill(&mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(result: anyhow::Result<()>) -> String {
        format!("{:#}", result.unwrap_err())
    }

    fn checked(file: &Path) -> anyhow::Result<()> {
        Ok(check(file)?)
    }

    #[test]
    fn a_file_is_there_whole_or_as_it_was() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("page.html");
        write(&file, |out| out.write_all(b"first")).unwrap();
        let failed = write(&file, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(words(failed).ends_with("no more"));
        assert_eq!(fs::read(&file).unwrap(), b"first");
        write(&file, |out| out.write_all(b"second")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"second");
        check(&file).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"second");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside"
        );
    }

    #[test]
    fn what_cannot_be_written_is_told_with_what_to_do() {
        let folder = tempfile::TempDir::new().unwrap();
        for result in [checked, |file: &Path| write(file, |_| Ok(()))] {
            let missing = folder.path().join("nowhere").join("page.html");
            let told = words(result(&missing));
            assert!(told.contains("nowhere; make it"), "{told}");
            assert!(words(result(folder.path())).contains("name a file in it"));
        }
        let locked = folder.path().join("locked");
        fs::write(&locked, "").unwrap();
        let mut permissions = fs::metadata(&locked).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&locked, permissions).unwrap();
        assert!(words(checked(&locked)).contains("read-only"));
    }

    #[test]
    fn a_folder_that_is_none_is_told_as_what_it_is() {
        let folder = tempfile::TempDir::new().unwrap();
        check_folder(folder.path()).unwrap();
        let file = folder.path().join("file");
        let told = |folder: &Path| check_folder(folder).unwrap_err().to_string();
        assert!(told(&file).contains("there is no such folder"));
        fs::write(&file, "").unwrap();
        assert!(told(&file).ends_with("it is a file; name a folder"));
        let inside = words(checked(&file.join("page.html")));
        assert!(inside.contains("is a file, and no folder"), "{inside}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let folder = tempfile::TempDir::new().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, |out| out.write_all(b"after")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"after");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        write(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}

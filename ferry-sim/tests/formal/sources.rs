//! Where in the sources a path leads.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

const KINDS: &[&str] = &[
    "fn", "struct", "enum", "trait", "type", "const", "static", "union",
];

/// What a path names is not there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It begins with no crate of this repository.
    Crate { path: String },
    /// It ends at a module, or before one.
    Item { path: String },
    /// The module that it leads to has no such item.
    InModule { path: String, module: PathBuf },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crate { path } => write!(f, "`{path}` begins with no crate of this repository"),
            Self::Item { path } => write!(f, "`{path}` names a module, and no item in it"),
            Self::InModule { path, module } => {
                write!(
                    f,
                    "`{path}` names nothing that there is in {}",
                    module.display()
                )
            }
        }
    }
}

/// Finds what `path` names: an item of a module or that it re-exports from further in, a method of whichever type in the
/// module's own file, or `Type::method`.
pub(crate) fn find(root: &Path, path: &str) -> Result<(), Missing> {
    let mut names = path.split("::");
    let sources = root
        .join(names.next().unwrap_or_default().replace('_', "-"))
        .join("src");
    if !sources.join("lib.rs").exists() {
        return Err(Missing::Crate {
            path: path.to_owned(),
        });
    }
    let mut module = Module {
        file: sources.join("lib.rs"),
        folder: sources,
    };
    let mut names = names.peekable();
    while let Some(inner) = names.peek().and_then(|name| module.inner(name)) {
        module = inner;
        names.next();
    }
    let rest: Vec<_> = names.collect();
    let found = match rest[..] {
        [] => {
            return Err(Missing::Item {
                path: path.to_owned(),
            });
        }
        [item] => module.has_item(item) || module.has_method(item),
        [of, member] => module.has_item(of) && module.has_member(of, member),
        _ => false,
    };
    let module = module
        .file
        .strip_prefix(root)
        .unwrap_or(&module.file)
        .to_owned();
    if found {
        Ok(())
    } else {
        Err(Missing::InModule {
            path: path.to_owned(),
            module,
        })
    }
}

struct Module {
    file: PathBuf,
    /// Where the modules in it are.
    folder: PathBuf,
}

impl Module {
    fn inner(&self, name: &str) -> Option<Self> {
        let folder = self.folder.join(name);
        let files = [
            self.folder.join(format!("{name}.rs")),
            folder.join("mod.rs"),
        ];
        let file = files.into_iter().find(|file| file.exists())?;
        Some(Self { file, folder })
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }

    /// Its own text, and that of all in it.
    fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.text()];
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it == "rs") && path != self.file {
                    texts.push(fs::read_to_string(path).unwrap_or_default());
                }
            }
        }
        texts
    }

    fn has_item(&self, name: &str) -> bool {
        let text = self.text();
        let here = text.lines().any(|line| defines(line, name));
        let from_within = || {
            self.texts()
                .iter()
                .any(|text| text.lines().any(|line| defines(line, name)))
        };
        here || re_exports(&text, name) && from_within()
    }

    fn has_method(&self, name: &str) -> bool {
        self.text().lines().any(|line| {
            line.strip_prefix("    ")
                .is_some_and(|line| defines(line, name) && line.contains("fn "))
        })
    }

    fn has_member(&self, of: &str, member: &str) -> bool {
        self.texts().iter().any(|text| block_has(text, of, member))
    }
}

/// Whether this line, without its indentation, begins the definition of an item with that name.
fn defines(line: &str, name: &str) -> bool {
    let mut words = line.split(' ');
    while let Some(word) = words.next() {
        let is_before =
            word == "pub" || word.starts_with("pub(") || ["async", "unsafe"].contains(&word);
        if is_before {
            continue;
        }
        if !KINDS.contains(&word) {
            return false;
        }
        let Some(next) = words.next() else {
            return false;
        };
        if word == "const" && next == "fn" {
            return words.next().is_some_and(|next| identifier(next) == name);
        }
        return identifier(next) == name;
    }
    false
}

/// The identifier that a text begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_');
    &text[..end.unwrap_or(text.len())]
}

fn re_exports(text: &str, name: &str) -> bool {
    let mut uses = text
        .split("\npub use ")
        .skip(1)
        .filter_map(|after| after.split(';').next());
    uses.any(|used| {
        used.split(|it: char| !it.is_alphanumeric() && it != '_')
            .any(|word| word == name)
    })
}

/// Whether a block of the type, the trait or the enum has that member. The text is formatted, so that blocks that begin
/// at a margin end at it, and members are one step in.
fn block_has(text: &str, of: &str, member: &str) -> bool {
    let mut header = String::new();
    let mut is_of = false;
    for line in text.lines() {
        if !line.starts_with([' ', '}', '/', '#']) && !line.is_empty() {
            header.push_str(line);
            header.push(' ');
        }
        if line.ends_with('{') && !line.starts_with(' ') {
            is_of = block_of(&header) == Some(of);
            header.clear();
        } else if line.ends_with(['}', ';']) && !line.starts_with(' ') {
            is_of = false;
            header.clear();
        } else if is_of {
            let inner = line.strip_prefix("    ").unwrap_or_default();
            let is_variant = inner.starts_with(char::is_uppercase) && identifier(inner) == member;
            if is_variant || defines(inner, member) {
                return true;
            }
        }
    }
    false
}

/// The type that a block is of, by what comes before its brace.
fn block_of(header: &str) -> Option<&str> {
    if let Some(rest) = header.strip_prefix("impl") {
        let rest = without_generics(rest).trim_start();
        let of = rest.split_once(" for ").map_or(rest, |(_, of)| of);
        let of = of.trim_start_matches(['&', ' ']);
        let of = of.split(['<', ' ', '{']).next()?;
        return of.rsplit("::").next();
    }
    let mut words = header
        .split(' ')
        .skip_while(|word| !["trait", "enum", "struct"].contains(word));
    words.nth(1).map(identifier)
}

/// What comes after the angle brackets that a text begins with.
fn without_generics(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "small-boat/src/lib.rs",
            "mod sea;\npub mod land;\npub use sea::{\n    Wave,\n    wind,\n};\n",
        );
        write(
            "small-boat/src/land.rs",
            "pub(crate) const fn walk() {}\n\n// fn swim() {}\n",
        );
        write(
            "small-boat/src/sea/mod.rs",
            "pub mod deep;\n\npub struct Wave<F>(F);\n\npub fn wind() {}\n\npub enum Tide {\n    Low,\n    High(u8),\n}\n",
        );
        write(
            "small-boat/src/sea/deep.rs",
            "impl<F: Fn(u8) -> u8> Wave<F>\nwhere\n    F: Send,\n{\n    pub fn rise(&self) {}\n}\n\n\
             impl Drop for Tide {\n    fn drop(&mut self) {}\n}\n\n\
             trait Swims {\n    fn dive(&self);\n}\n",
        );
        root
    }

    #[test]
    fn what_there_is_is_found() {
        let root = repository();
        for path in [
            "small_boat::Wave",
            "small_boat::wind",
            "small_boat::Wave::rise",
            "small_boat::land::walk",
            "small_boat::sea::Wave",
            "small_boat::sea::Tide::High",
            "small_boat::sea::Tide::drop",
            "small_boat::sea::deep::rise",
            "small_boat::sea::deep::drop",
            "small_boat::sea::deep::Swims::dive",
        ] {
            assert_eq!(find(root.path(), path), Ok(()), "{path}");
        }
    }

    #[test]
    fn what_there_is_not_is_told() {
        let root = repository();
        for (path, told) in [
            (
                "large_boat::Wave",
                "`large_boat::Wave` begins with no crate of this repository",
            ),
            (
                "small_boat::sea",
                "`small_boat::sea` names a module, and no item in it",
            ),
            (
                "small_boat::Tide",
                "`small_boat::Tide` names nothing that there is in small-boat/src/lib.rs",
            ),
            (
                "small_boat::land::swim",
                "`small_boat::land::swim` names nothing that there is in small-boat/src/land.rs",
            ),
            (
                "small_boat::Wave::drop",
                "`small_boat::Wave::drop` names nothing that there is in small-boat/src/lib.rs",
            ),
            (
                "small_boat::sea::Tide::rise",
                "`small_boat::sea::Tide::rise` names nothing that there is in small-boat/src/sea/mod.rs",
            ),
            (
                "small_boat::sea::Tide::Mid",
                "`small_boat::sea::Tide::Mid` names nothing that there is in small-boat/src/sea/mod.rs",
            ),
            (
                "small_boat::sea::deep::ris",
                "`small_boat::sea::deep::ris` names nothing that there is in small-boat/src/sea/deep.rs",
            ),
            (
                "small_boat::sea::wind::rise::more",
                "`small_boat::sea::wind::rise::more` names nothing that there is in small-boat/src/sea/mod.rs",
            ),
        ] {
            let missing = find(root.path(), path).unwrap_err();
            assert_eq!(missing.to_string(), told);
        }
    }

    #[test]
    fn a_name_in_the_real_sources_that_is_not_there_is_told() {
        let Some(root) = crate::repository() else {
            return;
        };
        assert_eq!(find(&root, "ferry_core::per_key::PerKey::submit"), Ok(()));
        assert_eq!(
            find(&root, "ferry_core::fold_write::commit::in_doubt"),
            Ok(())
        );
        for path in [
            "ferry_core::per_key::PerKey::submits",
            "ferry_core::fold_write::commit::in_debt",
        ] {
            assert!(find(&root, path).is_err(), "{path}");
        }
    }
}

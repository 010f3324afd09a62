//! The page that lists the mutants, in Markdown.

use std::fmt::{self, Write};

use ferry_sim::{
    mutants::{ALL, IMPOSSIBLE, Impossible, Mutant},
    safeguards,
};

use crate::json::OfMutant;

/// The page: every mutant with what came of it, what notices its lack elsewhere, and those that do not compile.
pub(crate) fn made_of(all: &[OfMutant]) -> Result<String, fmt::Error> {
    let mut page = String::from("# Mutants\n\n");
    write_mutants(&mut page, all)?;
    write_safeguards(&mut page)?;
    write_impossible(&mut page)?;
    Ok(page)
}

fn write_mutants(page: &mut String, all: &[OfMutant]) -> fmt::Result {
    page.push_str(
        "Each lacks one safeguard, and the property that this safeguard keeps has to fail. It counts as caught in a run in which \
         the lack made a difference and that property failed. `ferry-sim` has the policies, and made this page:\n\n\
         ```sh\n\
         cargo run --release -p ferry-sim -- mutants --table docs/mutants.md\n\
         ```\n\n\
         | without it | property | simulation | left out by | seeds that it took |\n\
         | --- | --- | --- | --- | ---: |\n",
    );
    for (mutant, tried) in ALL.iter().zip(all) {
        let Mutant {
            name,
            fails,
            left_out_by,
            ..
        } = mutant;
        let whose = mutant.of.name();
        let seeds = if tried.caught {
            tried.seeds.to_string()
        } else {
            "not caught".to_owned()
        };
        writeln!(
            page,
            "| {name} | {fails} | {whose} | `{left_out_by}` | {seeds} |"
        )?;
    }
    page.push_str(
        "\nThose with a `Mistake` have a driver that is written by hand, and those with a `Front` something else in front of the \
         write; both without a mistake are as sound as the real ones (`ferry-sim/tests/weak.rs`).\n",
    );
    Ok(())
}

fn write_safeguards(page: &mut String) -> fmt::Result {
    page.push_str(
        "\n## In the walk and in the specification\n\n\
         `explore --mutants` leaves a safeguard out of the real machines and goes through every schedule of a small scope; \
         `formal/check` leaves it out of the specification. It is the same property that fails without it.\n\n\
         | property | simulation | walk | specification |\n\
         | --- | --- | --- | --- |\n",
    );
    let code = |name: Option<&str>| name.map_or_else(|| "-".to_owned(), |name| format!("`{name}`"));
    for safeguard in safeguards::ALL {
        writeln!(
            page,
            "| {} | {} | {} | {} |",
            safeguard.fails,
            safeguard.mutant.unwrap_or("-"),
            code(safeguard.walk),
            code(safeguard.variant)
        )?;
    }
    Ok(())
}

fn write_impossible(page: &mut String) -> fmt::Result {
    page.push_str(
        "\n## What does not compile\n\n\
         | would be | cannot be written, since | shown in | by the example with |\n\
         | --- | --- | --- | --- |\n",
    );
    for Impossible {
        name,
        since,
        file,
        example,
        ..
    } in IMPOSSIBLE
    {
        writeln!(page, "| {name} | {since} | `{file}` | `{example}` |")?;
    }
    Ok(())
}

//! The page in a browser without a screen. Where none is installed the tests say that they were skipped, and fail if
//! `FERRY_REQUIRE_BROWSER` is set.

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    process::Command,
};

use ferry_sim::{
    checkers::Property,
    explore::{Scope, replay},
    policy::Policy,
    scenario,
    timeline::{self, Page},
};
use tempfile::TempDir;

use super::{run, told, wrong_run};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

type Colour = [u8; 3];

/// What the style sheet calls `good`, `debt` and `wrong`.
const LIGHT: [Colour; 3] = [[0x1a, 0x7f, 0x64], [0xc9, 0x8a, 0x00], [0xd0, 0x10, 0x2e]];
const DARK: [Colour; 3] = [[0x3f, 0xb8, 0x94], [0xe3, 0xaa, 0x2c], [0xff, 0x5c, 0x72]];

struct Browser {
    program: PathBuf,
    folder: TempDir,
}

impl Browser {
    fn find() -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut files =
            env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let Some(program) = files.find(|file| file.is_file()) else {
            let is_required = env::var_os("FERRY_REQUIRE_BROWSER").is_some();
            assert!(!is_required, "none of {NAMES:?} is installed");
            let told = writeln!(io::stderr(), "skipped: none of {NAMES:?} is installed");
            return told.ok().and(None);
        };
        let folder = TempDir::new().expect("a folder");
        Some(Self { program, folder })
    }

    fn open(&self, page: &Path, place: &str, scheme: &str, wanted: &str) -> Vec<u8> {
        let ran = Command::new(&self.program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
            ])
            .args(["--window-size=1300,1400", "--virtual-time-budget=5000"])
            .arg(format!(
                "--user-data-dir={}",
                self.folder.path().join("profile").display()
            ))
            .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
            .arg(wanted)
            .arg(format!("file://{}#{place}", page.display()))
            .output()
            .expect("the browser starts");
        let complaints = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{}: {complaints}", ran.status);
        ran.stdout
    }

    fn file(&self, page: &str) -> PathBuf {
        let file = self.folder.path().join("page.html");
        fs::write(&file, page).expect("written");
        file
    }

    /// The page's elements after its script has run.
    fn elements(&self, page: &str, place: &str) -> String {
        let told = self.open(&self.file(page), place, "1", "--dump-dom");
        let told = String::from_utf8_lossy(&told);
        let (told, _) = told.split_once("application/json").expect("the page");
        told.into()
    }

    /// How often each colour is on the screen.
    fn colours(&self, page: &str, place: &str, scheme: &str) -> BTreeMap<Colour, usize> {
        let picture = self.folder.path().join("picture.png");
        let wanted = format!("--screenshot={}", picture.display());
        self.open(&self.file(page), place, scheme, &wanted);
        let file = BufReader::new(File::open(picture).expect("a picture"));
        let mut reader = png::Decoder::new(file).read_info().expect("PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("its size")];
        let info = reader.next_frame(&mut pixels).expect("pixels");
        let mut colours = BTreeMap::new();
        for pixel in pixels.chunks(info.color_type.samples()) {
            *colours.entry([pixel[0], pixel[1], pixel[2]]).or_insert(0) += 1;
        }
        colours
    }
}

fn wrong_page() -> String {
    let policy = Policy {
        resuming: ferry_sim::policy::Resuming::Nobody,
        ..Policy::WHOLE
    };
    let (report, events) = wrong_run(policy, Property::Projected);
    timeline::html("projected", &report, &events)
}

#[test]
fn the_script_runs_to_its_end_and_finds_what_is_asked_for() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let (report, events) = run();
    let page = timeline::html("projected", &report, &events);
    let count = told(&page)["elements"].as_array().map_or(0, Vec::len);
    let elements = browser.elements(&page, "input=26");
    assert!(
        elements.contains(&format!("data-ready=\"{count}\"")),
        "{elements}"
    );
    assert!(!elements.contains("data-broken"), "{elements}");
    assert!(elements.contains("All about input 26"), "{elements}");
    assert!(elements.contains("input 26 for key"), "{elements}");
    let elements = browser.elements(&page, "input=999999");
    assert!(elements.contains("There is no input 999999"), "{elements}");
}

#[test]
fn it_begins_at_the_first_violation() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let page = wrong_page();
    let elements = browser.elements(&page, "");
    let first = &told(&page)["wrongs"][0];
    let words = first["words"].as_str().expect("words");
    // In the list, and beside the lanes.
    assert!(elements.matches(words).count() >= 2, "{elements}");
    assert!(
        elements.contains(&format!("value=\"{}\"", first["key"])),
        "{elements}"
    );
}

#[test]
fn lanes_are_painted_in_light_and_in_dark() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let page = wrong_page();
    let place = format!("t=0-300000&key={}", told(&page)["wrongs"][0]["key"]);
    for (scheme, its, others) in [("1", LIGHT, DARK), ("0", DARK, LIGHT)] {
        let colours = browser.colours(&page, &place, scheme);
        assert!(colours.len() > 50, "{} colours", colours.len());
        let often = |colour: &Colour| colours.get(colour).copied().unwrap_or(0);
        for colour in &its {
            assert!(
                often(colour) > 100,
                "{colour:x?} in scheme {scheme}: {}",
                often(colour)
            );
        }
        for colour in &others {
            assert!(
                often(colour) < 20,
                "{colour:x?} in scheme {scheme}: {}",
                often(colour)
            );
        }
        let ground = colours.iter().max_by_key(|(_, count)| **count);
        let is_light = ground.is_some_and(|(colour, _)| colour[0] > 0x80);
        assert_eq!(is_light, scheme == "1");
    }
}

#[test]
fn a_story_has_room_for_what_happens_and_none_for_its_pauses() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let story = scenario::find("late-commit").expect("the story");
    let page = Page::of("a story").performance(&story.tell(0)[0]).html();
    let good = |place| {
        let colours = browser.colours(&page, place, "1");
        colours.get(&LIGHT[0]).copied().unwrap_or(0)
    };
    let (short, long) = (good(""), good("pauses=long"));
    assert!(short > 4 * long && long > 0, "{short} and {long}");

    let (report, events) = run();
    let whole = timeline::html("projected", &report, &events);
    let whole = browser.elements(&whole, "");
    assert!(whole.contains("id=\"pausing\" hidden"), "{whole}");
}

#[test]
fn another_run_of_a_page_is_shown_by_its_address() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let story = scenario::find("late-commit").expect("the story");
    let performances = story.tell(0);
    let page = performances
        .iter()
        .fold(Page::of("a story"), Page::performance);
    let page = page.html();
    let broken = performances.iter().position(|it| it.without.is_some());
    for nth in [0, broken.expect("one without its safeguard")] {
        let performance = &performances[nth];
        let elements = browser.elements(&page, &format!("run={nth}"));
        assert!(!elements.contains("data-broken"), "{elements}");
        let current = format!(
            "href=\"#run={nth}\" title=\"{}\" aria-current",
            performance.verdict()
        );
        assert!(elements.contains(&current), "{elements}");
        for violation in &performance.violations {
            assert!(elements.contains(&violation.to_string()), "{elements}");
        }
    }
    let elements = browser.elements(&page, "run=999");
    assert!(elements.contains("aria-current"), "{elements}");
}

#[test]
fn a_schedule_has_moves_for_its_time_and_letters_for_its_inputs() {
    let Some(browser) = Browser::find() else {
        return;
    };
    let replay = replay(Scope::default(), None, &[]).expect("a schedule");
    let page = Page::of("a schedule").schedule("it", &replay).html();
    let elements = browser.elements(&page, "input=0");
    assert!(!elements.contains("data-broken"), "{elements}");
    assert!(elements.contains("All about input A"), "{elements}");
    let last = format!("move {}", replay.steps.len());
    let elements = browser.elements(&page, "");
    assert!(elements.contains(&last), "{elements}");
    assert!(elements.contains("process 1"), "{elements}");
}

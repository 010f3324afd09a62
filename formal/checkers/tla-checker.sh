# shellcheck shell=bash disable=SC2034,SC2154 # shares variables with formal/check
# tla-checker, for who has Cargo and no Java: how it is got, run and read.

tla_version=0.24.11

get_checker() {
    checker_path=${TLA_CHECKER:-$cache/bin/tla}
    if [ -n "${TLA_CHECKER:-}" ]; then
        [ -x "$checker_path" ] || stop "TLA_CHECKER names no program: $checker_path"
        return
    fi
    [ -x "$checker_path" ] && [ "$("$checker_path" --version)" = "tla $tla_version" ] && return
    command -v cargo >/dev/null || stop "tla-checker is installed by Cargo, which is not here"
    printf 'Building tla-checker %s, once: some minutes\n' $tla_version >&2
    cargo install --quiet --locked --version $tla_version --root "$cache" --bin tla --force tla-checker >&2 ||
        stop "tla-checker could not be built"
}

# The sets that cfg $2 of spec $1 has for symmetric: this checker does not evaluate the operator, and takes the sets by name.
symmetric_sets() {
    local operator
    operator=$(listed_in_cfg "$2" SYMMETRY)
    [ -z "$operator" ] || sed -n -E "/^$operator *==/,/^ *\$/p" "$1" | grep -o -E 'Permutations\([A-Za-z0-9_]+\)' | sed -E 's/.*\((.*)\)/\1/' | sort -u
}

# Spec, cfg, a folder for itself, workers: it has always one. Its own bounds would end a run that is merely large.
run_checker() {
    local set arguments=(--allow-deadlock --check-liveness --json --max-states 500000000 --max-depth 1000000)
    for set in $(symmetric_sets "$1.tla" "$2.cfg"); do arguments+=(-s "$set"); done
    exec timeout --kill-after=10 "$timeout" "$checker_path" "$1.tla" --config "$2.cfg" "${arguments[@]}"
}

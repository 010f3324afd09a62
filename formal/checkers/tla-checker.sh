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

# What is symmetric it takes less far than TLC, for which the numbers are: it counts no fewer states, and may count more.
counts=more

# Spec, cfg, a folder for itself, workers: it has always one. Its own bounds would end a run that is merely large.
run_checker() {
    local set arguments=(--allow-deadlock --check-liveness --max-states 1000000000 --max-depth 1000000000)
    for set in $(symmetric_sets "$1.tla" "$2.cfg"); do arguments+=(-s "$set"); done
    [ "$mode" = show ] || arguments+=(--json)
    exec timeout --kill-after=10 "$timeout" "$checker_path" "$1.tla" --config "$2.cfg" "${arguments[@]}"
}

# Log, exit status, cfg file. Sets seen, states and steps. It exits with 1 whatever is amiss, a typo as well: its last line tells.
# What it cannot parse it leaves out, and goes on.
read_result() {
    local line status name
    seen="error:$2" states=- steps=-
    line=$(grep '^{"status": ' "$1" | tail -n 1) || true
    status=$(sed -n -E 's/^\{"status": "([a-z_]+)".*/\1/p' <<<"$line")
    states=$(sed -n -E 's/.*"states_explored": ([0-9]+).*/\1/p' <<<"$line")
    states=${states:--}
    if [ "$2" = 124 ]; then
        seen=time-out
    elif grep -q -E 'Warning: failed to parse|Warning:.*(SYMMETRY|symmetry)' "$1"; then
        seen=warning
    elif [ "$2$status" = 0ok ]; then
        seen=pass
        steps=$(sed -n -E 's/.*"max_depth": ([0-9]+).*/\1/p' <<<"$line")
    elif [ "$2" = 1 ]; then
        case $status in
        invariant_violation) name=$(sed -n -E 's/.*"invariant_name": "([^"]+)".*/\1/p' <<<"$line") ;;
        property_violation | liveness_violation) name=$(sed -n -E 's/^[^,]*, "property": "([^"]+)".*/\1/p' <<<"$line") ;;
        *) name=error:${status:-unparsed} ;;
        esac
        seen=${name:-violation:unnamed}
        # States, less the first; in a cycle the first comes once more.
        steps=$(awk '{ n = gsub(/\{"index": [0-9]+, "action"/, ""); print (n ? n - 1 - ($0 ~ /"cycle"/) : "-") }' <<<"$line")
    fi
}

# Its line for programs tells less well: once more, for people.
show_counterexample() {
    local text
    text=$(cd "$folder" && mode=show run_checker "$2" "$3" 2>/dev/null) || true
    printf '\n%s\n' "$text" | sed -n '/[Vv]iolat/,$p'
}

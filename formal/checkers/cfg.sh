# shellcheck shell=bash disable=SC2034,SC2154 # shares variables with formal/check
# What a TLC configuration lists.

# The words under keyword $2 (an extended regular expression) of cfg file $1, one a line.
listed_in_cfg() {
    sed -e 's/\\\*.*//' "$1" | tr -s ' \t,' '\n' | awk -v keyword="^($2)\$" '
        $0 ~ keyword { listing = 1; next }
        /^(CONSTANTS?|CONSTRAINTS?|ACTION_CONSTRAINTS?|INVARIANTS?|PROPERTY|PROPERTIES|SYMMETRY|VIEW|SPECIFICATION|INIT|NEXT|ALIAS|POSTCONDITION|CHECK_DEADLOCK)$/ { listing = 0 }
        listing && NF { print $1 }
    '
}

# The one property over time that cfg file $1 lists; nothing if there are none or several.
only_property() {
    local properties
    properties=$(listed_in_cfg "$1" 'PROPERTY|PROPERTIES')
    case $properties in *$'\n'*) ;; *) printf '%s\n' "$properties" ;; esac
}

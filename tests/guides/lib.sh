# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the tests share that run the commands of a guide in a root of their own, as root, as they stand there: tools/test
# package. `guide` names the guide; debian/tests/lib.sh starts the database, signs in, uploads and downloads.
# shellcheck source-path=SCRIPTDIR source=../../debian/tests/lib.sh
. "$(dirname "$0")/../../debian/tests/lib.sh"
guide=
work=$AUTOPKGTEST_TMP

# Block $2 in the language $3 (sh) below the heading $1 of the guide.
block() {
    awk -v heading="$1" -v wanted="$2" -v language="${3:-sh}" '
        !inside && /^#+ / { sub(/^#+ /, ""); on = ($0 == heading); next }
        /^ *```/ { inside = !inside; code = 0
            if (inside && on) { sub(/^ *```/, ""); if ($0 ~ /^(sh|bash|sql|python|js|ts)$/) number++
                code = (number == wanted && $0 == language) }
            next }
        code' "$guide"
}

# What the reader replaces: the address of the service.
replaced() {
    sed -e "s|https://files.example.org|$address|g"
}

# Runs a block as a shell that ends at the first failure. More words are commands for sed, for what a reader on this
# machine leaves out.
run() {
    heading=$1 number=$2
    shift 2
    block "$heading" "$number" | replaced > "$work/block"
    for change in "$@"; do
        cp "$work/block" "$work/before"
        sed -i -e "$change" "$work/block"
        ! cmp -s "$work/block" "$work/before" || fail "nothing to change with $change below $heading"
    done
    [ -s "$work/block" ] || fail "$guide has no block $number below $heading"
    echo "---- $(basename "$guide"), $heading, block $number"
    sed 's/^/    /' "$work/block"
    bash -eu -o pipefail "$work/block"
}

# The program that the guide calls `editor`: for each file that it is called with it runs the script of sed that
# edit() has put there for it, once.
edit() {
    mkdir -p "$work/edits"
    printf '%s\n' "$2" > "$work/edits/$(echo "$1" | tr / _)"
}

make_editor() {
    cat > /usr/local/bin/editor <<EDITOR
#!/bin/sh
set -eu
for file in "\$@"; do
    script=$work/edits/\$(echo "\$file" | tr / _)
    [ -e "\$script" ] || { echo "nobody knows what to write into \$file" >&2; exit 1; }
    cp "\$file" $work/edited
    sed -i -f "\$script" "\$file"
    ! cmp -s "\$file" $work/edited || { echo "nothing was changed in \$file" >&2; exit 1; }
    rm "\$script"
done
EDITOR
    chmod 755 /usr/local/bin/editor
}

# A root that did not boot has no systemd. There a program in its place does with the services what the guide says for a
# host without systemd: gatehouse-run.
make_systemctl() {
    install -m 755 "$(dirname "$0")/systemctl" /usr/local/bin/systemctl
    mkdir -p /run/services
}

# A reader takes longer than systemd, which refuses to start a service five times within ten seconds.
take_time() {
    mkdir -p /etc/systemd/system.conf.d
    printf '[Manager]\nDefaultStartLimitIntervalSec=0\n' > /etc/systemd/system.conf.d/guides.conf
    systemctl daemon-reexec
}

end_services() {
    systemctl stop gatehouse gatehouse-login gatehouse-upload gatehouse-jobs
    none_runs || fail "somebody still runs after the services were stopped"
}

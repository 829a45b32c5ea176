# SPDX-License-Identifier: MIT
# Part of tools/test: the build, the steps and their summary, every kind but http.
# shellcheck shell=bash disable=SC2154  # top, here, chosen and the options come from tools/test

out=$top/.build/test
jobs=$(nproc)
passed=0
failed=0
skipped=0
report=()
running=
state=

# Everything that the tests make lies below one folder, which goes with tools/test, however it ends.
temporary=$(mktemp -d /tmp/gatehouse-test.XXXXXX)
export TMPDIR=$temporary
clean_up() {
    [ -z "$state" ] || "$here/quickstart" --state "$state" --stop >/dev/null || true
    rm -rf "$temporary"
}
trap clean_up EXIT

# The step of the moment runs in a process group of its own, so that it can be ended whole. It has a minute to end what it
# has started itself.
end_step() {
    local tries=0
    trap '' INT TERM HUP
    if [ -n "$running" ]; then
        kill -TERM -- "-$running" 2>/dev/null || true
        while kill -0 -- "-$running" 2>/dev/null && [ "$((tries += 1))" -le 600 ]; do sleep 0.1; done
        kill -KILL -- "-$running" 2>/dev/null || true
    fi
    exit "$1"
}
trap 'end_step 130' INT
trap 'end_step 143' TERM HUP

say() {
    printf '\n== %s\n' "$*"
}

# step NAME COMMAND...: runs a command, shows its output, keeps it in a log, notes how it went. Never ends tools/test.
# Its counts are added by count_*; a step without tests of its own counts as one.
step() {
    local name=$1 log status=0
    shift
    log=$out/log/${name// /-}.log
    say "$name"
    set -m
    # What is said while the step is ended is written, too; without a reader its end would be cut short.
    ("$@" </dev/null 2>&1 | (trap '' INT TERM HUP && exec tee "$log")) &
    running=$!
    set +m
    wait "$running" || status=$?
    running=
    step_log=$log
    step_status=$status
    if [ "$status" = 0 ]; then
        report+=("ok       $name")
    else
        report+=("FAILED   $name (status $status; $log)")
    fi
    return 0
}

# Adds what the last step amounts to when its runner did not say: one test.
count_one() {
    if [ "$step_status" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

# Adds the totals that automake's TAP driver printed ("# PASS: 12").
count_tap() {
    local pass fail skip
    pass=$(awk '/^# (PASS|XFAIL):/ { n += $3 } END { print n + 0 }' "$step_log")
    fail=$(awk '/^# (FAIL|XPASS|ERROR):/ { n += $3 } END { print n + 0 }' "$step_log")
    skip=$(awk '/^# SKIP:/ { n += $3 } END { print n + 0 }' "$step_log")
    passed=$((passed + pass))
    failed=$((failed + fail))
    skipped=$((skipped + skip))
    if [ "$pass" = 0 ] && [ "$step_status" = 0 ]; then
        failed=$((failed + 1))
        report+=("FAILED   it ran no test at all")
    elif [ "$step_status" != 0 ] && [ "$fail" = 0 ]; then
        failed=$((failed + 1))
    fi
}

# Adds what pytest's JUnit file says.
count_junit() {
    local numbers
    if ! numbers=$(/usr/bin/python3 -I - "$1" <<'PYTHON'
import sys
import xml.etree.ElementTree
total = [0, 0, 0, 0]
for suite in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testsuite"):
    counts = [int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")]
    total = [sum(pair) for pair in zip(total, counts)]
tests, failures, errors, skipped = total
print(max(0, tests - failures - errors - skipped), failures + errors, skipped)
PYTHON
    ); then
        failed=$((failed + 1))
        return
    fi
    read -r pass fail skip <<<"$numbers"
    passed=$((passed + pass))
    failed=$((failed + fail))
    skipped=$((skipped + skip))
    [ "$step_status" = 0 ] || [ "$fail" != 0 ] || failed=$((failed + 1))
}

# The packages of the chosen kinds, then the folder for what is built.
prepare() {
    local groups=(base build unit) missing
    case " ${chosen[*]} " in *" http "* | *" providers "* | *" quickstart "* | *" unit "* | *" dist "* | *" torture "*)
        groups+=(database)
        ;;
    esac
    case " ${chosen[*]} " in *" http "* | *" quickstart "* | *" torture "* | *" bench "*)
        groups+=(workers nginx apache fcgid http)
        ;;
    esac
    case " ${chosen[*]} " in *" torture "*) groups+=(torture) ;; esac
    case " ${chosen[*]} " in *" providers "*) groups+=(workers nginx http "${emulators[@]}") ;; esac
    case " ${chosen[*]} " in *" bench "*) groups+=(database bench) ;; esac
    missing=$("$here/lib/packages" missing "${groups[@]}")
    if [ -n "$missing" ]; then
        missing=${missing//$'\n'/ }
        [ -n "$install" ] || fail "These packages are missing: $missing. Install with apt-get install $missing, or" \
            "leave out --no-install."
        # shellcheck disable=SC2086
        "$here/lib/packages" install $missing
    fi
    [ ! -e "$top/config.status" ] || fail "The source folder itself is configured. Run make distclean in it first."
    mkdir -p "$out/log"
}

# Sources and configured build folder, once for all kinds that need them.
built=
build() {
    [ -z "$built" ] || return 0
    built=yes
    local wanted="--enable-werror $sanitizers"
    if [ ! -e "$top/configure" ] || [ ! -e "$top/Makefile.in" ]; then
        step "autoreconf" autoreconf -fi "$top"
        [ "$step_status" = 0 ] || give_up
    fi
    if [ ! -e "$out/build/Makefile" ] || [ "$(cat "$out/build/configured-with" 2>/dev/null)" != "$wanted" ]; then
        rm -rf "$out/build"
        mkdir -p "$out/build"
        # shellcheck disable=SC2086  # options
        step "configure" in_folder "$out/build" "$top/configure" --quiet $wanted
        [ "$step_status" = 0 ] || give_up
        echo "$wanted" > "$out/build/configured-with"
    fi
    step "make" make -C "$out/build" "-j$jobs"
    [ "$step_status" = 0 ] || give_up
}

in_folder() {
    cd "$1" || return
    shift
    "$@"
}

# Without a build there is nothing to test.
give_up() {
    failed=$((failed + 1))
    summary
}

# Every check that stands in tools; each fails when it finds nothing to check.
run_checks() {
    local check found=
    for check in "$here"/check-*; do
        [ -x "$check" ] || continue
        found=yes
        step "$(basename "$check")" in_folder "$top" "$check"
        count_one
    done
    [ -n "$found" ] || fail "There are no checks in tools."
    step "bench arithmetic" in_folder "$top" /usr/bin/python3 -I -B tests/bench/test_measure.py
    count_one
}

run_unit() {
    build
    step "make check" make -C "$out/build" "-j$jobs" check VERBOSE=1
    count_tap
}

run_dist() {
    build
    step "make distcheck" make -C "$out/build" "-j$jobs" distcheck
    count_one
}

# Kinds that bring their own runner: tests/KIND/run, which finds the build in $GATEHOUSE_BUILD, and a build folder of the
# quick start in $GATEHOUSE_QUICKSTART_BUILD. One that prints automake's totals is counted by them.
run_folder() {
    build
    [ -x "$top/tests/$1/run" ] || fail "tests/$1 has no program called run."
    GATEHOUSE_BUILD=$out/build GATEHOUSE_QUICKSTART_BUILD=$out/quickstart \
        GATEHOUSE_CONFIGURE_ARGUMENTS="--enable-werror $sanitizers" step "$1" "$top/tests/$1/run"
    if grep -q '^# PASS:' "$step_log"; then
        count_tap
    else
        count_one
    fi
}

summary() {
    printf '\n== summary\n'
    printf '%s\n' "${report[@]}"
    printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ] && [ "$passed" != 0 ]
    exit
}

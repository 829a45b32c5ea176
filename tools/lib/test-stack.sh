# SPDX-License-Identifier: MIT
# Part of tools/test: the tests of the running whole. The quick start's own, then those over HTTP, for which each web
# server gets a state folder of its own. One build serves them all.
# shellcheck shell=bash disable=SC2154  # top, here, servers and the options come from tools/test

# For builds with a sanitizer, as the quick start has it for its own (quickstart/processes.py): what a short program leaves to
# its end is no leak that matters.
asan_options=${ASAN_OPTIONS:-detect_leaks=0}

# What a sanitizer found in a server's process shows in its log, whatever the client saw.
no_reports() {
    ! grep -rlE 'ERROR: (Address|Leak)Sanitizer|runtime error:' "$1" && return 0
    grep -rhE -A 30 'ERROR: (Address|Leak)Sanitizer|runtime error:' "$1" | head -n 100
    return 1
}

run_quickstart() {
    quickstart_tests "quickstart" "$top/tests/quickstart" "--ignore=$top/tests/quickstart/test_providers.py"
}

# quickstart_tests NAME ARGUMENT...: tests of tools/quickstart, which start it themselves.
quickstart_tests() {
    local name=$1 junit=$out/log/${1// /-}.xml
    shift
    rm -f "$junit"
    GATEHOUSE_BUILD_DIRECTORY=$out/quickstart ASAN_OPTIONS=$asan_options step "$name" /usr/bin/python3 -m pytest "$@" -q "--junitxml=$junit"
    count_junit "$junit"
}

run_http() {
    local server
    for server in "${servers[@]}"; do
        http_behind "$server" "" "$top/tests/http"
    done
    case " ${servers[*]} " in *" nginx "*) ;; *) return 0 ;; esac
    # The two other ways of uploads: what uploads is tested with each.
    http_behind nginx buffered "$top"/tests/http/test_{uploads,upload_attacks,handoff,large}.py
    http_behind nginx unbuffered "$top"/tests/http/test_{uploads,upload_attacks,handoff,large}.py
}

while_it_runs= # a function that stack calls beside its tests

# What stands for an identity provider, and for which.
emulators=(cognito-local moto keycloak)
declare -A provider_of=([cognito-local]=cognito [moto]=cognito [keycloak]=keycloak)

# Each is fetched at its pinned version, which needs its registry once, and then stands behind the same cases.
run_providers() {
    local emulator cases fetched=yes
    for emulator in "${emulators[@]}"; do
        step "fetch $emulator" "$here/lib/emulators/fetch" "$emulator" "$out/quickstart/emulators"
        count_one
        if [ "$step_status" != 0 ]; then
            fetched=
            continue
        fi
        options=(--provider "${provider_of[$emulator]}" --emulator "$emulator")
        cases=("$top"/tests/http/test_{provider_accounts,account_order}.py)
        [ ! -e "$top/tests/http/with_$emulator.py" ] || cases+=("$top/tests/http/with_$emulator.py")
        [ "$emulator" != keycloak ] || while_it_runs=unit_with_keycloak
        stack "with $emulator" "accounts with $emulator" "${cases[@]}"
        while_it_runs=
    done
    [ -z "$fetched" ] || quickstart_tests "quickstart with providers" "$top/tests/quickstart/test_providers.py"
}

# The adapter's own cases, but those with faults, in the realm of the stack.
unit_with_keycloak() {
    local url
    url=$(/usr/bin/python3 -I -c 'import json, sys; print(json.load(open(sys.argv[1]))["providerUrl"])' "$state/quickstart.json")
    build
    step "make test-identity" make -C "$out/build" "-j$jobs" tests/unit/test-identity
    GATEHOUSE_TEST_KEYCLOAK=$url GATEHOUSE_TEST_KEYCLOAK_SECRETS=$state/secrets srcdir=$top \
        step "unit with keycloak" in_folder "$out/build" tests/unit/test-identity keycloak
    count_one
}

# http_behind SERVER UPLOADS TESTS...: one stack behind a web server, and these tests against it. UPLOADS: a way of handing
# them on other than the quick start's own, or nothing.
http_behind() {
    local server=$1 uploads=$2 name=$1
    shift 2
    options=(--web-server "$server")
    [ -z "$uploads" ] || name=$server-$uploads options+=(--uploads "$uploads")
    stack "behind $name" "http behind $name" "$@"
}

# stack WHERE NAME TESTS...: starts the service with the ${options[@]}, runs the tests against it, stops it.
stack() {
    local where=$1 name=$2 junit=$out/log/${2// /-}.xml
    shift 2
    state=$temporary/${where// /-}
    step "start $where" "$here/quickstart" --state "$state" --port "$("$here/lib/quickstart/ports.py")" "${options[@]}" \
        --build-directory "$out/quickstart" "--configure-arguments=--enable-werror $sanitizers" --no-install --background
    if [ "$step_status" = 0 ]; then
        rm -f "$junit"
        GATEHOUSE_QUICKSTART=$state/quickstart.json ASAN_OPTIONS=$asan_options step "$name" \
            /usr/bin/python3 -m pytest "$@" -q "--junitxml=$junit" "${pytest_arguments[@]}"
        count_junit "$junit"
        [ -z "$while_it_runs" ] || "$while_it_runs"
        step "logs $where" no_reports "$state/log"
        count_one
        step "stop $where" "$here/quickstart" --state "$state" --stop
        count_one
    else
        failed=$((failed + 1))
    fi
    rm -rf "$out/log/state-${where##* }"
    cp -r "$state/log" "$out/log/state-${where##* }" || true
    "$here/quickstart" --state "$state" --stop >/dev/null || true
    rm -rf "$state"
    state=
}

run_bench() {
    step "bench" "$here/bench" quick --no-install --build-directory "$out/quickstart" \
        "--configure-arguments=--enable-werror $sanitizers"
    count_one
}

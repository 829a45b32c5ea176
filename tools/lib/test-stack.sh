# SPDX-License-Identifier: MIT
# Part of tools/test: the tests of the running whole. The quick start's own, then those over HTTP, for which each web
# server gets a state folder of its own. One build serves them all.
# shellcheck shell=bash disable=SC2154  # top, here, servers and the options come from tools/test

free_port() {
    /usr/bin/python3 -I -c 'import socket
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    print(probe.getsockname()[1])'
}

# What a sanitizer found in a server's process shows in its log, whatever the client saw.
no_reports() {
    ! grep -rlE 'ERROR: (Address|Leak)Sanitizer|runtime error:' "$1" && return 0
    grep -rhE -A 30 'ERROR: (Address|Leak)Sanitizer|runtime error:' "$1" | head -n 100
    return 1
}

run_quickstart() {
    local junit=$out/log/quickstart.xml
    rm -f "$junit"
    GATEHOUSE_BUILD_DIRECTORY=$out/quickstart step "quickstart" \
        /usr/bin/python3 -m pytest "$top/tests/quickstart" -q "--junitxml=$junit"
    count_junit "$junit"
}

run_http() {
    local server
    local server
    for server in "${servers[@]}"; do
        http_behind "$server" buffered "$top/tests/http"
    done
    case " ${servers[*]} " in *" nginx "*) ;; *) return 0 ;; esac
    # The two other ways of uploads: what uploads is tested with each.
    http_behind nginx file "$top"/tests/http/test_{uploads,upload_attacks,handoff,large}.py
    http_behind nginx unbuffered "$top"/tests/http/test_{uploads,upload_attacks,handoff,large}.py
}

# http_behind SERVER UPLOADS TESTS...: one stack, and these tests against it.
http_behind() {
    local server=$1 uploads=$2 name=$1 junit
    shift 2
    [ "$uploads" = buffered ] || name=$server-$uploads
    junit=$out/log/http-$name.xml
    state=$temporary/$name
    step "start behind $name" "$here/quickstart" --state "$state" --port "$(free_port)" --web-server "$server" \
        --uploads "$uploads" --build-directory "$out/quickstart" \
        "--configure-arguments=--enable-werror $sanitizers" --no-install --background
    if [ "$step_status" = 0 ]; then
        rm -f "$junit"
        GATEHOUSE_QUICKSTART=$state/quickstart.json step "http behind $name" \
            /usr/bin/python3 -m pytest "$@" -q "--junitxml=$junit" "${pytest_arguments[@]}"
        count_junit "$junit"
        step "logs behind $name" no_reports "$state/log"
        count_one
        step "stop behind $name" "$here/quickstart" --state "$state" --stop
        count_one
    else
        failed=$((failed + 1))
    fi
    rm -rf "$out/log/state-$name"
    cp -r "$state/log" "$out/log/state-$name" || true
    "$here/quickstart" --state "$state" --stop >/dev/null || true
    rm -rf "$state"
    state=
}

run_bench() {
    step "bench" "$here/bench" quick --no-install --build-directory "$out/quickstart" \
        "--configure-arguments=--enable-werror $sanitizers"
    count_one
}

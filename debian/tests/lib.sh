# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What the tests of the packages share: a service on this machine as README.Debian sets one up, a sign-in, an upload.
# Where systemd runs, it runs the services. Elsewhere (in a plain root of a build machine) the commands of the units are
# run by the user that the units name.
address=http://localhost
mail=admin@example.org
units='gatehouse gatehouse-login gatehouse-upload gatehouse-jobs'

fail() {
    echo "$*" >&2
    exit 1
}

# Waits for a command to succeed, half a minute at most.
await() {
    for _ in $(seq 60); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.5
    done
    "$@" >&2 || true
    fail "in vain: $*"
}

with_systemd() {
    [ -d /run/systemd/system ]
}

start_database() {
    if with_systemd; then
        systemctl start mariadb
    else
        install -d /run/lock
        install -d -o mysql -g mysql /run/mysqld
        mariadbd-safe --nowatch >/dev/null 2>&1
    fi
    await mariadb-admin ping
}

# The command of a unit, with its user, umask and environment. Its process is noted as the unit's main one.
run_unit() {
    command=$(awk '/^ExecStart=/ { sub(/^ExecStart=/, ""); on = 1 }
        on { more = sub(/\\$/, ""); printf "%s ", $0; if (!more) exit }' "$1")
    workers=$(workers_of "$1")
    command=$(printf %s "$command" | sed -e "s/\${WORKERS}/$workers/")
    # shellcheck disable=SC2086 # the words of the command
    (umask 0027 && exec setsid setpriv --reuid gatehouse --regid gatehouse --clear-groups $command >/dev/null 2>&1) &
    echo $! >> "$AUTOPKGTEST_TMP/main-processes"
    await runs $! "$workers"
}

# How many workers a unit has; nothing where it has none.
workers_of() {
    sed -n 's/^Environment=WORKERS=//p' "$1"
}

# Whether the main process of a unit, $1, has begun its $2 workers. A worker that is still a copy of multiwatch has
# another name, and would lose a signal.
runs() {
    if [ -n "$2" ]; then
        [ "$(pgrep -c -P "$1" -x gatehouse.fcgi)" = "$2" ]
    else
        pgrep -u gatehouse -x gatehousectl
    fi
}

unit_file() {
    dpkg -L gatehouse | grep "/systemd/system/$1\.service$"
}

start_services() {
    if with_systemd; then
        # shellcheck disable=SC2086 # several units
        systemctl enable --now $units
    else
        install -d -o gatehouse -g gatehouse -m 0750 /run/gatehouse
        for unit in $units; do
            run_unit "$(unit_file "$unit")"
        done
    fi
    await test -S /run/gatehouse/worker.sock
}

# Without systemd: ends what start_services began, and waits until the sockets' owners are gone. As with systemd the
# main processes get the signal: a multiwatch whose workers end before it knows of its own end begins new ones, and a
# new one that is not yet the worker's program loses the signal that multiwatch sends it.
stop_services() {
    if with_systemd; then
        # shellcheck disable=SC2086
        systemctl stop $units
    else
        # shellcheck disable=SC2046 # several processes
        kill -TERM $(cat "$AUTOPKGTEST_TMP/main-processes")
        rm "$AUTOPKGTEST_TMP/main-processes"
        await none_runs
        rm -f /run/gatehouse/*.sock
    fi
}

none_runs() {
    ! pgrep -a -u gatehouse
}

# The site of nginx as README.Debian switches it on.
serve_by_nginx() {
    ln -sf ../sites-available/gatehouse /etc/nginx/sites-enabled/gatehouse
    rm -f /etc/nginx/sites-enabled/default
    sed -i 's/^\( *\)server_name .*;/\1server_name localhost;/' /etc/nginx/sites-available/gatehouse
    nginx -t
    if with_systemd; then
        systemctl restart nginx
    else
        nginx
    fi
}

# Takes $1 ("accel" or "sendfile") for the delivery. Afterwards the workers run.
set_up() {
    start_database
    sed -i -e 's|^base_url = .*|base_url = http://localhost|' -e "s|^delivery = .*|delivery = $1|" \
        -e 's|^smtp_url = .*|#&|' /etc/gatehouse/gatehouse.conf
    gatehousectl migrate
    password=$(runuser -u gatehouse -- gatehousectl create-admin --email "$mail")
    [ "${#password}" -ge 12 ] || fail "create-admin printed no password"
    start_services
}

sign_in() {
    token=$(jq -n --arg username "$mail" --arg password "$password" '{$username, $password}' |
        curl -fsS --json @- "$address/customers/login" | jq -r .tokens.accessToken)
    [ "${#token}" -gt 100 ] || fail "the sign-in gave no token"
}

upload() {
    # Never the same bytes twice, which would be refused.
    echo "the bytes of a file, $(date +%s.%N)" > "$AUTOPKGTEST_TMP/sent.txt"
    file=$(curl -fsS --oauth2-bearer "$token" -F bucket=files -F type=misc -F "file=@$AUTOPKGTEST_TMP/sent.txt" \
        "$address/system/files" | jq -r .id)
}

download() {
    curl -fsS --oauth2-bearer "$token" "$address/system/files/$file" | cmp - "$AUTOPKGTEST_TMP/sent.txt"
}

# Pages, a sign-in, an upload and its bytes, as README.md shows them.
try_all() {
    await curl -fsS "$address/system/health/live"
    curl -fsS -H 'Accept: text/html' "$address/" | grep -qi '<!doctype html>'
    sign_in
    upload
    download
}

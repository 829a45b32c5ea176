/* SPDX-License-Identifier: MIT */
/* The circuit breaker in front of a provider's calls, the slots, and the lock of an account. */
#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/host/process.h"
#include "domain/support.h"
#include "identity/remote/slots_int.h"
#include "identity/support_remote.h"

static enum http_client_outcome make_call_by(struct stage *stage, struct provider *provider, const char **reason_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_answer answer;
    struct http_client_call call = {.method = "GET", .url = remote->driver->keys_url(remote)};
    remote_start(remote, remote->options.login_milliseconds);
    return remote_call(remote, stage->arena, &call, &answer, reason_out);
}

static enum http_client_outcome make_call(struct stage *stage, const char **reason_out)
{
    return make_call_by(stage, stage->provider, reason_out);
}

/* Makes one call that fails. */
static enum http_client_outcome make_failing_call(struct stage *stage, struct provider *provider,
                                                  const char **reason_out)
{
    stage_fault(stage, stage->calls->keys_fault, "status-500");
    return make_call_by(stage, provider, reason_out);
}

static int breaker_file(struct stage *stage, struct circuit_breaker *breaker_out)
{
    int file = open(arena_format(stage->arena, "%s/calls", stage->directory), O_RDWR);
    assert_int_equal(pread(file, breaker_out, sizeof *breaker_out, CIRCUIT_BREAKER_AT), sizeof *breaker_out);
    return file;
}

static void breaker_write(int file, const struct circuit_breaker *breaker)
{
    assert_int_equal(pwrite(file, breaker, sizeof *breaker, CIRCUIT_BREAKER_AT), sizeof *breaker);
    (void)close(file);
}

/* Makes the time pass for which the provider is not called. */
static void rest_is_over(struct stage *stage)
{
    struct circuit_breaker breaker;
    int file = breaker_file(stage, &breaker);
    assert_true(breaker.open_until > clock_monotonic());
    breaker.open_until = clock_monotonic();
    breaker_write(file, &breaker);
}

static void a_provider_that_fails_is_not_called_for_a_while(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    const char *reason = NULL;
    remote_of(stage->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(make_failing_call(stage, stage->provider, &reason), HTTP_CLIENT_ANSWERED);
    }
    size_t before = stage_count(stage, stage->calls->keys);
    for (int i = 0; i < 10; i++)
        assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_non_null(strstr(reason, "recover"));
    assert_int_equal(stage_count(stage, stage->calls->keys), before);
    /* After that time a single failure opens the circuit breaker again, and a success closes it. */
    rest_is_over(stage);
    assert_int_equal(make_failing_call(stage, stage->provider, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    rest_is_over(stage);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_failing_call(stage, stage->provider, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    stage_end(stage);
}

/* Starts a process that holds the first slots and does nothing else; close the result to end it. */
static int occupied(struct stage *stage, int64_t count)
{
    int other = open(arena_format(stage->arena, "%s/calls", stage->directory), O_RDWR | O_CREAT, 0600);
    struct flock slots_fd = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = count};
    assert_true(other >= 0 && fcntl(other, F_OFD_SETLK, &slots_fd) == 0);
    return other;
}

static void more_calls_than_slots_are_refused_at_once(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    const char *reason = NULL;
    int other = occupied(stage, 1);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_non_null(strstr(reason, "waiting"));
    (void)close(other); /* as when its process dies */
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    stage_end(stage);
}

/* A worker of the pool in another process, until what is returned is closed. */
static int start_worker(const char *metrics, const char *pool)
{
    int ready[2], over[2];
    char byte;
    assert_int_equal(pipe(ready) | pipe(over), 0);
    if (fork() == 0) {
        const char *problem;
        (void)close(over[1]);
        host_process_close();
        if (host_process_open(metrics, &problem)) {
            host_process_join(HOST_PROCESS_WORKER, pool);
            (void)!write(ready[1], "x", 1);
            (void)!read(over[0], &byte, 1);
        }
        _exit(0);
    }
    (void)close(ready[1]);
    (void)close(over[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return over[1];
}

static void the_last_worker_of_a_pool_does_not_wait(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    const char *metrics = arena_format(stage->arena, "%s/metrics", stage->directory);
    const char *reason = NULL;
    host_process_close();
    assert_true(host_process_open(metrics, &reason));
    int worker = start_worker(metrics, "worker");
    int other = occupied(stage, 1);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_string_equal(reason, REMOTE_NO_SLOT);
    /* Workers that only sign people in may all wait, and so may any other process. */
    host_process_join(HOST_PROCESS_WORKER, "login");
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    host_process_join(HOST_PROCESS_JOBS, NULL);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    (void)close(other);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    (void)close(worker);
    host_process_close();
    stage_end(stage);
}

/* As long as a call may take when all is well; the machine may make it longer. */
static void a_late_call_waits_for_a_slot_that_was_taken_just_now(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct circuit_breaker breaker = {.slot_taken_at = 0};
    const char *reason = NULL;
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    int other = occupied(stage, 1);
    int file = breaker_file(stage, &breaker);
    int64_t begun = breaker.slot_taken_at = clock_monotonic();
    breaker_write(file, &breaker);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_string_equal(reason, REMOTE_NO_SLOT);
    assert_true(clock_monotonic() - begun >= 2000000);
    (void)close(other);
    stage_end(stage);
}

/* A process that waits for another one's call waits for the provider, too. */
static void who_holds_or_awaits_a_lock_holds_a_slot(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    struct remote *holder = remote_of(stage->provider);
    struct provider *other = keycloak_stage_provider(stage, stage->database);
    const char *reason = NULL;
    holder->options.calls_max = remote_of(other)->options.calls_max = 1;
    remote_start(holder, holder->options.login_milliseconds);
    expect_ok(remote_lock(holder, stage->arena, "somebody"));
    /* The holder's own calls need no other slot. */
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    stage_forget_failures(stage);
    assert_int_equal(make_call_by(stage, other, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_string_equal(reason, REMOTE_NO_SLOT);
    struct error *error = remote_lock(remote_of(other), stage->arena, "somebody else");
    assert_string_equal(error->detail, REMOTE_NO_SLOT);
    remote_unlock(holder, stage->arena);
    assert_int_equal(make_call_by(stage, other, &reason), HTTP_CLIENT_ANSWERED);
    provider_free(&other);
    stage_end(stage);
}

/* An operator checks the settings just while the circuit breaker is open. */
static void a_check_ignores_an_open_circuit_breaker(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct circuit_breaker breaker, after;
    const char *reason = NULL;
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    int file = breaker_file(stage, &breaker);
    remote_of(stage->provider)->options.rest_seconds = 3600;
    breaker.open_until = clock_monotonic() + INT64_C(3000000000);
    breaker_write(file, &breaker);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    int other = occupied(stage, 1);
    expect_ok(provider_check(stage->provider, stage->arena));
    (void)close(other);
    (void)close(breaker_file(stage, &after));
    assert_int_equal(after.open_until, breaker.open_until);
    stage_end(stage);
}

static bool is_free(struct stage *stage, const char *subject)
{
    return sql_integer(stage->database, stage->arena,
                       "SELECT COUNT(*) FROM row_lock WHERE name = UNHEX(SHA2(CONCAT('account\\n', '%s'), 256))",
                       subject) == 0;
}

static void a_lock_that_was_taken_twice_is_released_twice(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct remote *remote = remote_of(stage->provider);
    remote_start(remote, remote->options.login_milliseconds);
    expect_ok(remote_lock(remote, stage->arena, "somebody"));
    expect_ok(remote_lock(remote, stage->arena, "somebody"));
    remote_unlock(remote, stage->arena);
    assert_false(is_free(stage, "somebody"));
    remote_unlock(remote, stage->arena);
    assert_true(is_free(stage, "somebody"));
    stage_end(stage);
}

/* A process was stopped while it held the lock on the state: the others go by what they see themselves. */
static void a_lock_on_the_state_that_is_never_released_delays_no_call(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    const char *reason = NULL;
    int other = open(arena_format(stage->arena, "%s/calls", stage->directory), O_RDWR | O_CREAT, 0600);
    struct flock kept = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CIRCUIT_BREAKER_AT, .l_len = 1};
    assert_true(other >= 0 && fcntl(other, F_OFD_SETLK, &kept) == 0);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    remote_of(stage->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(stage, stage->provider, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_non_null(strstr(reason, "recover"));
    (void)close(other);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    stage_end(stage);
}

/* When the time is over, one call of all processes tries. A probe that is never heard of again is not waited for. */
static void only_one_call_is_the_probe(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    struct circuit_breaker breaker;
    const char *reason = NULL;
    remote_of(stage->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(stage, stage->provider, &reason), HTTP_CLIENT_ANSWERED);
    (void)unlink(arena_format(stage->arena, "%s/fault", stage->directory));
    int file = breaker_file(stage, &breaker);
    breaker.open_until = clock_monotonic();
    breaker.probe_until = breaker.open_until + INT64_C(3600000000);
    breaker_write(file, &breaker);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    file = breaker_file(stage, &breaker);
    breaker.probe_until = clock_monotonic();
    breaker_write(file, &breaker);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    (void)close(breaker_file(stage, &breaker));
    assert_int_equal(breaker.open_until, 0);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    stage_end(stage);
}

static void failures_of_all_processes_count_together(void **state)
{
    struct stage *stage = keycloak_scripted(state);
    struct provider *other = keycloak_stage_provider(stage, stage->database);
    const char *reason = NULL;
    remote_of(stage->provider)->options.rest_seconds = remote_of(other)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(stage, i % 2 == 0 ? stage->provider : other, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_int_equal(make_call_by(stage, other, &reason), HTTP_CLIENT_UNREACHABLE);
    provider_free(&other);
    stage_end(stage);
}

/* After a start of the machine its clock is younger than the file. */
static void what_was_noted_before_the_machine_started_is_dropped(void **state)
{
    struct stage *stage = cognito_stage_new(state);
    const struct circuit_breaker breaker = {.failures = 5, .open_until = INT64_MAX / 2, .window_at = INT64_MAX / 2};
    const char *reason = NULL;
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    breaker_write(open(arena_format(stage->arena, "%s/calls", stage->directory), O_RDWR), &breaker);
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_ANSWERED);
    stage_end(stage);
}

/* Some answers between the failures do not keep the circuit breaker closed where most calls fail. */
static void a_provider_that_mostly_fails_is_not_called(void **state)
{
    static const char pattern[] = "xx-xx-x";
    struct stage *stage = cognito_stage_new(state);
    struct circuit_breaker breaker = {0};
    const char *reason = NULL;
    remote_of(stage->provider)->options.rest_seconds = 3600;
    /* On a machine so slow that the window ends in between, the case tries again. */
    for (int round = 0; round < 10 && breaker.open_until == 0; round++) {
        stage_forget_failures(stage);
        for (size_t i = 0; pattern[i] != '\0'; i++)
            (void)(pattern[i] == 'x' ? make_failing_call(stage, stage->provider, &reason) : make_call(stage, &reason));
        (void)close(breaker_file(stage, &breaker));
        assert_true(breaker.open_until != 0 || breaker.window_calls < (int64_t)strlen(pattern));
    }
    assert_int_equal(make_call(stage, &reason), HTTP_CLIENT_UNREACHABLE);
    stage_end(stage);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_provider_that_fails_is_not_called_for_a_while),
    HARNESS_TEST(more_calls_than_slots_are_refused_at_once),
    HARNESS_TEST(the_last_worker_of_a_pool_does_not_wait),
    HARNESS_TEST(a_late_call_waits_for_a_slot_that_was_taken_just_now),
    HARNESS_TEST(a_check_ignores_an_open_circuit_breaker),
    HARNESS_TEST(who_holds_or_awaits_a_lock_holds_a_slot),
    HARNESS_TEST(a_lock_that_was_taken_twice_is_released_twice),
    HARNESS_TEST(a_lock_on_the_state_that_is_never_released_delays_no_call),
    HARNESS_TEST(only_one_call_is_the_probe),
    HARNESS_TEST(failures_of_all_processes_count_together),
    HARNESS_TEST(what_was_noted_before_the_machine_started_is_dropped),
    HARNESS_TEST(a_provider_that_mostly_fails_is_not_called),
};
HARNESS_MODULE(remote_circuit_breaker, cases)

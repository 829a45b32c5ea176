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

static enum http_client_outcome make_call_by(struct scene *scene, struct provider *provider, const char **reason_out)
{
    struct remote *remote = remote_of(provider);
    struct remote_answer answer;
    struct http_client_call call = {.method = "GET", .url = remote->driver->keys_url(remote)};
    remote_start(remote, remote->options.login_milliseconds);
    return remote_call(remote, scene->arena, &call, &answer, reason_out);
}

static enum http_client_outcome make_call(struct scene *scene, const char **reason_out)
{
    return make_call_by(scene, scene->provider, reason_out);
}

/* Makes one call that fails. */
static enum http_client_outcome make_failing_call(struct scene *scene, struct provider *provider,
                                                  const char **reason_out)
{
    scene_fault(scene, scene->calls->keys_fault, "status-500");
    return make_call_by(scene, provider, reason_out);
}

static int breaker_file(struct scene *scene, struct circuit_breaker *breaker_out)
{
    int file = open(arena_format(scene->arena, "%s/calls", scene->directory), O_RDWR);
    assert_int_equal(pread(file, breaker_out, sizeof *breaker_out, CIRCUIT_BREAKER_AT), sizeof *breaker_out);
    return file;
}

static void breaker_write(int file, const struct circuit_breaker *breaker)
{
    assert_int_equal(pwrite(file, breaker, sizeof *breaker, CIRCUIT_BREAKER_AT), sizeof *breaker);
    (void)close(file);
}

/* Makes the time pass for which the provider is not called. */
static void rest_is_over(struct scene *scene)
{
    struct circuit_breaker breaker;
    int file = breaker_file(scene, &breaker);
    assert_true(breaker.open_until > clock_monotonic());
    breaker.open_until = clock_monotonic();
    breaker_write(file, &breaker);
}

static void a_provider_that_fails_is_not_called_for_a_while(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    const char *reason = NULL;
    remote_of(scene->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(make_failing_call(scene, scene->provider, &reason), HTTP_CLIENT_ANSWERED);
    }
    size_t before = scene_count(scene, scene->calls->keys);
    for (int i = 0; i < 10; i++)
        assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_non_null(strstr(reason, "recover"));
    assert_int_equal(scene_count(scene, scene->calls->keys), before);
    /* After that time a single failure opens the circuit breaker again, and a success closes it. */
    rest_is_over(scene);
    assert_int_equal(make_failing_call(scene, scene->provider, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    rest_is_over(scene);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_failing_call(scene, scene->provider, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    scene_end(scene);
}

/* Emulators do not know each call, and a logout has happened here already. */
static void a_provider_that_cannot_end_sessions_is_there_for_whoever_signs_in(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct person person = scene_given(scene, PROVIDER_CONFIRMED_ALREADY);
    struct circuit_breaker breaker;
    struct provider_tokens tokens;
    const char *reason = NULL;
    for (int i = 0; i < 10; i++) {
        scene_fault(scene, scene->calls->sign_out, "status-500");
        expect_ok(provider_logout_all(scene->provider, scene->arena, person.subject));
    }
    scene_expect_calls(scene, scene->calls->sign_out, 10);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(scene_login(scene, &person, PERMANENT, false, &tokens, NULL), PROVIDER_OK);
        scene_fault(scene, scene->calls->revoke, "status-500");
        expect_ok(provider_logout(scene->provider, scene->arena, person.subject, tokens.session_id));
    }
    scene_expect_calls(scene, scene->calls->revoke, 10);
    (void)close(breaker_file(scene, &breaker));
    assert_int_equal(breaker.open_until, 0);
    /* As the probe it tells all the same whether the provider is back. */
    remote_of(scene->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(scene, scene->provider, &reason), HTTP_CLIENT_ANSWERED);
    rest_is_over(scene);
    scene_fault(scene, scene->calls->sign_out, "status-500");
    expect_ok(provider_logout_all(scene->provider, scene->arena, person.subject));
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    scene_end(scene);
}

/* Starts a process that holds the first slots and does nothing else; close the result to end it. */
static int occupied(struct scene *scene, int64_t count)
{
    int other = open(arena_format(scene->arena, "%s/calls", scene->directory), O_RDWR | O_CREAT, 0600);
    struct flock slots_fd = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = count};
    assert_true(other >= 0 && fcntl(other, F_OFD_SETLK, &slots_fd) == 0);
    return other;
}

static void more_calls_than_slots_are_refused_at_once(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    const char *reason = NULL;
    int other = occupied(scene, 1);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_non_null(strstr(reason, "waiting"));
    (void)close(other); /* as when its process dies */
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    scene_end(scene);
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
    struct scene *scene = keycloak_scripted(state);
    const char *metrics = arena_format(scene->arena, "%s/metrics", scene->directory);
    const char *reason = NULL;
    host_process_close();
    assert_true(host_process_open(metrics, &reason));
    int worker = start_worker(metrics, "worker");
    int other = occupied(scene, 1);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_string_equal(reason, REMOTE_NO_SLOT);
    /* Workers that only sign people in may all wait, and so may any other process. */
    host_process_join(HOST_PROCESS_WORKER, "login");
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    host_process_join(HOST_PROCESS_JOBS, NULL);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    (void)close(other);
    host_process_join(HOST_PROCESS_WORKER, "worker");
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    (void)close(worker);
    host_process_close();
    scene_end(scene);
}

/* As long as a call may take when all is well; the machine may make it longer. */
static void a_late_call_waits_for_a_slot_that_was_taken_just_now(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct circuit_breaker breaker = {.slot_taken_at = 0};
    const char *reason = NULL;
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    int other = occupied(scene, 1);
    int file = breaker_file(scene, &breaker);
    int64_t begun = breaker.slot_taken_at = clock_monotonic();
    breaker_write(file, &breaker);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_string_equal(reason, REMOTE_NO_SLOT);
    assert_true(clock_monotonic() - begun >= 2000000);
    (void)close(other);
    scene_end(scene);
}

/* A process that waits for another one's call waits for the provider, too. */
static void who_holds_or_awaits_a_lock_holds_a_slot(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct remote *holder = remote_of(scene->provider);
    struct provider *other = keycloak_scene_provider(scene, scene->database);
    const char *reason = NULL;
    holder->options.calls_max = remote_of(other)->options.calls_max = 1;
    remote_start(holder, holder->options.login_milliseconds);
    expect_ok(remote_lock(holder, scene->arena, "somebody"));
    /* The holder's own calls need no other slot. */
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    scene_forget_failures(scene);
    assert_int_equal(make_call_by(scene, other, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_string_equal(reason, REMOTE_NO_SLOT);
    struct error *error = remote_lock(remote_of(other), scene->arena, "somebody else");
    assert_string_equal(error->detail, REMOTE_NO_SLOT);
    remote_unlock(holder, scene->arena);
    assert_int_equal(make_call_by(scene, other, &reason), HTTP_CLIENT_ANSWERED);
    provider_free(&other);
    scene_end(scene);
}

/* An operator checks the settings just while the circuit breaker is open. */
static void a_check_ignores_an_open_circuit_breaker(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct circuit_breaker breaker, after;
    const char *reason = NULL;
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    int file = breaker_file(scene, &breaker);
    remote_of(scene->provider)->options.rest_seconds = 3600;
    breaker.open_until = clock_monotonic() + INT64_C(3000000000);
    breaker_write(file, &breaker);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    int other = occupied(scene, 1);
    expect_ok(provider_check(scene->provider, scene->arena));
    (void)close(other);
    (void)close(breaker_file(scene, &after));
    assert_int_equal(after.open_until, breaker.open_until);
    scene_end(scene);
}

static bool is_free(struct scene *scene, const char *subject)
{
    return sql_integer(scene->database, scene->arena,
                       "SELECT COUNT(*) FROM row_lock WHERE name = UNHEX(SHA2(CONCAT('account\\n', '%s'), 256))",
                       subject) == 0;
}

static void a_lock_that_was_taken_twice_is_released_twice(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct remote *remote = remote_of(scene->provider);
    remote_start(remote, remote->options.login_milliseconds);
    expect_ok(remote_lock(remote, scene->arena, "somebody"));
    expect_ok(remote_lock(remote, scene->arena, "somebody"));
    remote_unlock(remote, scene->arena);
    assert_false(is_free(scene, "somebody"));
    remote_unlock(remote, scene->arena);
    assert_true(is_free(scene, "somebody"));
    scene_end(scene);
}

/* A process was stopped while it held the lock on the state: the others go by what they see themselves. */
static void a_lock_on_the_state_that_is_never_released_delays_no_call(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    const char *reason = NULL;
    int other = open(arena_format(scene->arena, "%s/calls", scene->directory), O_RDWR | O_CREAT, 0600);
    struct flock kept = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CIRCUIT_BREAKER_AT, .l_len = 1};
    assert_true(other >= 0 && fcntl(other, F_OFD_SETLK, &kept) == 0);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    remote_of(scene->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(scene, scene->provider, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_non_null(strstr(reason, "recover"));
    (void)close(other);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    scene_end(scene);
}

/* When the time is over, one call of all processes tries. A probe that is never heard of again is not waited for. */
static void only_one_call_is_the_probe(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    struct circuit_breaker breaker;
    const char *reason = NULL;
    remote_of(scene->provider)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(scene, scene->provider, &reason), HTTP_CLIENT_ANSWERED);
    (void)unlink(arena_format(scene->arena, "%s/fault", scene->directory));
    int file = breaker_file(scene, &breaker);
    breaker.open_until = clock_monotonic();
    breaker.probe_until = breaker.open_until + INT64_C(3600000000);
    breaker_write(file, &breaker);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    file = breaker_file(scene, &breaker);
    breaker.probe_until = clock_monotonic();
    breaker_write(file, &breaker);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    (void)close(breaker_file(scene, &breaker));
    assert_int_equal(breaker.open_until, 0);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    scene_end(scene);
}

static void failures_of_all_processes_count_together(void **state)
{
    struct scene *scene = keycloak_scripted(state);
    struct provider *other = keycloak_scene_provider(scene, scene->database);
    const char *reason = NULL;
    remote_of(scene->provider)->options.rest_seconds = remote_of(other)->options.rest_seconds = 3600;
    for (int i = 0; i < 5; i++)
        assert_int_equal(make_failing_call(scene, i % 2 == 0 ? scene->provider : other, &reason), HTTP_CLIENT_ANSWERED);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    assert_int_equal(make_call_by(scene, other, &reason), HTTP_CLIENT_UNREACHABLE);
    provider_free(&other);
    scene_end(scene);
}

/* After a start of the machine its clock is younger than the file. */
static void what_was_noted_before_the_machine_started_is_dropped(void **state)
{
    struct scene *scene = cognito_scene_new(state);
    const struct circuit_breaker breaker = {.failures = 5, .open_until = INT64_MAX / 2, .window_at = INT64_MAX / 2};
    const char *reason = NULL;
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    breaker_write(open(arena_format(scene->arena, "%s/calls", scene->directory), O_RDWR), &breaker);
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_ANSWERED);
    scene_end(scene);
}

/* Some answers between the failures do not keep the circuit breaker closed where most calls fail. */
static void a_provider_that_mostly_fails_is_not_called(void **state)
{
    static const char pattern[] = "xx-xx-x";
    struct scene *scene = cognito_scene_new(state);
    struct circuit_breaker breaker = {0};
    const char *reason = NULL;
    remote_of(scene->provider)->options.rest_seconds = 3600;
    /* On a machine so slow that the window ends in between, the case tries again. */
    for (int round = 0; round < 10 && breaker.open_until == 0; round++) {
        scene_forget_failures(scene);
        for (size_t i = 0; pattern[i] != '\0'; i++)
            (void)(pattern[i] == 'x' ? make_failing_call(scene, scene->provider, &reason) : make_call(scene, &reason));
        (void)close(breaker_file(scene, &breaker));
        assert_true(breaker.open_until != 0 || breaker.window_calls < (int64_t)strlen(pattern));
    }
    assert_int_equal(make_call(scene, &reason), HTTP_CLIENT_UNREACHABLE);
    scene_end(scene);
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(a_provider_that_fails_is_not_called_for_a_while),
    HARNESS_TEST(a_provider_that_cannot_end_sessions_is_there_for_whoever_signs_in),
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

/* SPDX-License-Identifier: MIT */
/* A driver's call: within its operation's time, in a slot, and past the circuit breaker, which learns how it ended. */
#include "base/arena.h"
#include "codec/document.h"
#include "identity/remote/circuit_breaker_int.h"
#include "identity/remote/slots_int.h"

/* Whether the provider itself said it: no redirect, no page of a proxy in between, no half of an answer. */
static bool is_its_own(const struct remote_answer *answer)
{
    long status = answer->http.status;
    return ((status >= 200 && status < 300) || (status >= 400 && status < 500)) &&
           (answer->http.length == 0 || answer->document != NULL);
}

/*
 * Whether the circuit breaker hears of a failure. A provider that answers, but cannot carry out what nobody waits for,
 * is there for whoever signs in.
 */
static bool counts(const struct remote *remote, enum http_client_outcome outcome)
{
    bool is_probe = remote->breaker.open_until != 0;
    return is_probe || !remote->is_notice || outcome != HTTP_CLIENT_ANSWERED;
}

/* Makes the call and reads its answer as JSON. */
static enum http_client_outcome make(struct remote *remote, struct arena *arena, const struct http_client_call *call,
                                     struct remote_answer *answer, const char **reason_out)
{
    enum http_client_outcome outcome = http_client_call(remote->http, arena, call, &answer->http, reason_out);
    if (outcome == HTTP_CLIENT_ANSWERED && answer->http.length != 0 &&
        document_parse(arena, answer->http.body, answer->http.length, &answer->document) != NULL)
        answer->document = NULL;
    return outcome;
}

enum http_client_outcome remote_call(struct remote *remote, struct arena *arena, const struct http_client_call *call,
                                     struct remote_answer *answer_out, const char **reason_out)
{
    struct http_client_call timed = *call;
    bool sets_password = remote->sets_password;
    remote->sets_password = false;
    *answer_out = (struct remote_answer){0};
    timed.milliseconds = remote_milliseconds_left(remote);
    if (timed.milliseconds <= 0) {
        *reason_out = "no time is left for it";
        return HTTP_CLIENT_UNREACHABLE;
    }
    if (!remote_slot_take(remote)) {
        *reason_out = REMOTE_NO_SLOT;
        return HTTP_CLIENT_UNREACHABLE;
    }
    if (!circuit_breaker_note(remote, CIRCUIT_BREAKER_CALL)) {
        remote_slot_leave(remote);
        *reason_out = "it failed several times and is given time to recover";
        return HTTP_CLIENT_UNREACHABLE;
    }
    enum http_client_outcome outcome = make(remote, arena, &timed, answer_out, reason_out);
    remote_slot_leave(remote);
    bool answered = outcome == HTTP_CLIENT_ANSWERED && is_its_own(answer_out);
    remote->is_unknown = remote->is_unknown || (sets_password && !answered && outcome != HTTP_CLIENT_UNREACHABLE);
    if (answered || counts(remote, outcome))
        (void)circuit_breaker_note(remote, answered ? CIRCUIT_BREAKER_ANSWER : CIRCUIT_BREAKER_FAILURE);
    return outcome;
}

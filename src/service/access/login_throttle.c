/* SPDX-License-Identifier: MIT */
#include "service/access/login_throttle.h"

#include "base/error.h"
#include "base/metrics.h"
#include "domain/account/user.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"

struct guard guard_of_code(const struct caller *caller)
{
    struct guard guard = {.has_address = caller->client_address != NULL && *caller->client_address != '\0'};
    if (guard.has_address)
        guard.address = throttle_of_address(caller->client_address);
    return guard;
}

struct guard guard_of_password(struct arena *arena, const struct caller *caller, const struct user *user,
                               const char *username)
{
    struct guard guard = guard_of_code(caller);
    guard.has_account = true;
    guard.account = user != NULL ? throttle_of_user(user->id) : throttle_of_name(arena, username);
    return guard;
}

struct error *guard_refuse(struct arena *arena, unsigned wait, enum metric metric)
{
    metrics_add(metric, 1);
    struct error *error = error_plain(arena, ERROR_RATE_LIMITED);
    error->retry_after = wait;
    return error;
}

static struct error *refuse(struct arena *arena, unsigned wait, bool by_address)
{
    return guard_refuse(arena, wait, by_address ? METRIC_THROTTLED_ADDRESS : METRIC_THROTTLED_ACCOUNT);
}

struct error *guard_enter(struct service *service, struct arena *arena, const struct guard *guard)
{
    const struct throttle_key keys[] = {guard->address, guard->account};
    unsigned waits[] = {0, 0};
    if (guard->has_address && guard->has_account)
        TRY(throttle_check_both(service->database, arena, keys, waits));
    else if (guard->has_address)
        TRY(throttle_check(service->database, arena, &guard->address, &waits[0]));
    else if (guard->has_account)
        TRY(throttle_check(service->database, arena, &guard->account, &waits[1]));
    if (waits[0] == 0 && waits[1] == 0)
        return NULL;
    return refuse(arena, waits[0] != 0 ? waits[0] : waits[1], waits[0] != 0);
}

struct error *guard_failed(struct service *service, struct arena *arena, const struct guard *guard,
                           struct error *failure)
{
    unsigned wait = 0;
    if (guard->has_account)
        TRY(throttle_fail(service->database, arena, &guard->account, &wait));
    bool by_address = wait == 0;
    if (wait == 0 && guard->has_address)
        TRY(throttle_fail(service->database, arena, &guard->address, &wait));
    return wait == 0 ? failure : refuse(arena, wait, by_address);
}

struct error *guard_passed(struct service *service, struct arena *arena, const struct guard *guard)
{
    unsigned wait = 0;
    if (guard->has_account)
        TRY(throttle_succeed(service->database, arena, &guard->account, &wait));
    return wait == 0 ? NULL : refuse(arena, wait, false);
}

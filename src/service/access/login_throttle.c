/* SPDX-License-Identifier: MIT */
/* Counts tries at secrets, and refuses them while a wait runs. */
#include "service/access/login_throttle.h"

#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "domain/account/user.h"
#include "domain/session/known_device.h"
#include "service/access/caller.h"
#include "service/runtime/service.h"

struct login_throttle login_throttle_of_code(const struct caller *caller)
{
    struct login_throttle throttle = {.has_address = caller->client_address != NULL && *caller->client_address != '\0',
                                      .began = clock_monotonic()};
    if (throttle.has_address)
        throttle.address = throttle_of_address(caller->client_address);
    return throttle;
}

struct login_throttle login_throttle_of_password(struct arena *arena, const struct caller *caller,
                                                 const struct user *user, const char *username, struct id device)
{
    struct login_throttle throttle = login_throttle_of_code(caller);
    throttle.has_account = true;
    if (!id_is_none(device))
        throttle.account = throttle_of_device(device);
    else
        throttle.account = user != NULL ? throttle_of_user(user->id) : throttle_of_name(arena, username);
    return throttle;
}

struct error *login_throttle_refuse(struct arena *arena, unsigned wait, enum metric metric)
{
    metrics_add(metric, 1);
    struct error *error = error_plain(arena, ERROR_RATE_LIMITED);
    error->retry_after = wait;
    return error;
}

static struct error *refuse(struct arena *arena, unsigned wait, bool by_address)
{
    return login_throttle_refuse(arena, wait, by_address ? METRIC_THROTTLED_ADDRESS : METRIC_THROTTLED_ACCOUNT);
}

/*
 * For a name that somebody has, the database takes some hundredths of a millisecond more, although the statements are
 * the same. So a try that is refused within a wait, and a failed try at a code, wait for the next whole step. A wrong
 * password needs no such wait: the time that its hash takes varies by more than that.
 */
static void wait_for_step(int64_t began)
{
    int64_t left = LOGIN_THROTTLE_STEP - (clock_monotonic() - began) % LOGIN_THROTTLE_STEP;
    struct timespec pause = {.tv_nsec = (long)left * 1000};
    (void)nanosleep(&pause, NULL);
}

struct error *login_throttle_check(struct service *service, struct arena *arena, const struct login_throttle *throttle)
{
    const struct throttle_key keys[] = {throttle->address, throttle->account};
    unsigned waits[] = {0, 0};
    if (throttle->has_address && throttle->has_account)
        TRY(throttle_check_both(service->database, arena, keys, waits));
    else if (throttle->has_address)
        TRY(throttle_check(service->database, arena, &throttle->address, &waits[0]));
    else if (throttle->has_account)
        TRY(throttle_check(service->database, arena, &throttle->account, &waits[1]));
    if (waits[0] == 0 && waits[1] == 0)
        return NULL;
    wait_for_step(throttle->began);
    return refuse(arena, waits[0] != 0 ? waits[0] : waits[1], waits[0] != 0);
}

struct error *login_throttle_failed(struct service *service, struct arena *arena, const struct login_throttle *throttle,
                                    struct error *failure)
{
    unsigned wait = 0;
    if (throttle->has_account)
        TRY(throttle_fail(service->database, arena, &throttle->account, &wait));
    bool by_address = wait == 0;
    if (wait == 0 && throttle->has_address)
        TRY(throttle_fail(service->database, arena, &throttle->address, &wait));
    if (!throttle->has_account)
        wait_for_step(throttle->began);
    return wait == 0 ? failure : refuse(arena, wait, by_address);
}

struct error *login_throttle_passed(struct service *service, struct arena *arena, const struct login_throttle *throttle)
{
    unsigned wait = 0;
    if (throttle->has_account)
        TRY(throttle_succeed(service->database, arena, &throttle->account, &wait));
    return wait == 0 ? NULL : refuse(arena, wait, false);
}

struct error *login_throttle_lift(struct database *database, struct arena *arena, struct id user)
{
    struct throttle_key key = throttle_of_user(user);
    struct id devices[KNOWN_DEVICES_MAX];
    size_t count = 0;
    TRY(throttle_lift(database, arena, &key));
    TRY(known_device_list(database, arena, user, &devices, &count));
    for (size_t i = 0; i < count; i++) {
        key = throttle_of_device(devices[i]);
        TRY(throttle_lift(database, arena, &key));
    }
    return NULL;
}

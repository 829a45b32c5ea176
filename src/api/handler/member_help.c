/* SPDX-License-Identifier: MIT */
/* Handles what is done for one member: the first mail again, the end of a wait, erasure. */
#include "service/account/member_help.h"

#include "api/handlers_int.h"
#include "api/route.h"
#include "base/error.h"
#include "service/account/member_erase.h"

struct error *members_send_again(struct call *call)
{
    TRY(member_send_again(call->service, call->arena, &call->caller, call->route->permission, call->id));
    call->success = "A new e-mail is on its way. What the one before brought is of no use any more.";
    return NULL;
}

struct error *members_unlock(struct call *call)
{
    TRY(member_unlock(call->service, call->arena, &call->caller, call->route->permission, call->id));
    call->success = "The account can try its password again.";
    return NULL;
}

struct error *members_erase(struct call *call)
{
    bool finished = false;
    TRY(member_erase(call->service, call->arena, &call->caller, call->route->permission, call->id, &finished));
    call->success = finished ? "The person is erased."
                             : "Nobody sees the person any more. What is left is erased as soon as it can be reached.";
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Writes the answer to a question about an upload into headers. */
#include "api/admission.h"

#include <stddef.h>

#include "api/route.h"
#include "base/arena.h"
#include "http/reply.h"
#include "service/access/caller.h"

static const struct {
    const char *header;
    const char *variable;
} carried[] = {
    {"WWW-Authenticate", "Variable-GATEHOUSE_AUTHENTICATE"},
    {"Retry-After", "Variable-GATEHOUSE_RETRY_AFTER"},
    {"Vary", "Variable-GATEHOUSE_VARY"},
    {"Access-Control-Allow-Origin", "Variable-GATEHOUSE_ORIGIN"},
    {"Access-Control-Expose-Headers", "Variable-GATEHOUSE_EXPOSE"},
    {"Tus-Resumable", "Variable-GATEHOUSE_TUS"},
    {"Allow", "Variable-GATEHOUSE_ALLOW"},
};

static void carry_refusal(const struct reply *refusal, struct reply *answer)
{
    reply_format_header(answer, "Variable-GATEHOUSE_STATUS", "%d", refusal->status);
    reply_set_header(answer, "Variable-GATEHOUSE_BODY", refusal->body.bytes);
    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++) {
        const char *value = reply_find_header(refusal, carried[i].header);
        if (value != NULL)
            reply_set_header(answer, carried[i].variable, value);
    }
}

void admission_answer(const struct call *call)
{
    struct reply refusal = *call->reply;
    if (call->route != NULL && call->route->admit == NULL)
        return;
    reply_clear(call->reply);
    if (refusal.status == 200) {
        reply_set_header(call->reply, "Variable-GATEHOUSE_STATUS", "200");
        reply_set_header(call->reply, "Variable-GATEHOUSE_USER", id_text(call->arena, caller_user(&call->caller)));
        return;
    }
    carry_refusal(&refusal, call->reply);
    if (call->request->source.kind == REQUEST_QUESTION)
        call->reply->status = 403;
}

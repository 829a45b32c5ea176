/* SPDX-License-Identifier: MIT */
/* Makes the calls that provision a user pool, and finds a thing by its name in a list that comes in pages. */
#include <string.h>

#include "base/arena.h"
#include "identity/cognito/provision_int.h"

/* For one call. */
#define MILLISECONDS 8000
#define PAGE "60"
#define PAGES_MAX 100

struct error *cognito_provision_call(struct cognito_provision *task, struct arena *arena, const char *operation,
                                     const char *json, struct cognito_call *call_out)
{
    cognito_signed_begin(arena, operation, call_out);
    call_out->once = strncmp(operation, "Create", 6) == 0;
    /* Without the last brace: cognito_call() closes the object. */
    buffer_add(&call_out->body, json, strlen(json) - 1);
    remote_start(&task->cognito->remote, MILLISECONDS);
    struct error *error = cognito_call(task->cognito, arena, call_out);
    return error == NULL ? NULL : error_message(error, "Cognito did not carry out %s.", operation);
}

struct error *cognito_provision_do(struct cognito_provision *task, struct arena *arena, const char *operation,
                                   const char *json, const struct document **answer_out)
{
    struct cognito_call call;
    TRY(cognito_provision_call(task, arena, operation, json, &call));
    if (call.fault != COGNITO_OK)
        return error_message(cognito_unexpected(arena, &call), "Cognito did not carry out %s.", operation);
    if (answer_out != NULL)
        *answer_out = call.answer;
    return NULL;
}

static const char *list_request(struct arena *arena, const struct cognito_list *list, const char *next)
{
    struct buffer json;
    buffer_init(&json, arena);
    buffer_add_text(&json, "{\"MaxResults\":" PAGE);
    if (list->pool_id != NULL) {
        buffer_add_text(&json, ",\"UserPoolId\":");
        buffer_add_json_text(&json, list->pool_id);
    }
    if (next != NULL) {
        buffer_add_text(&json, ",\"NextToken\":");
        buffer_add_json_text(&json, next);
    }
    buffer_add_char(&json, '}');
    return json.bytes;
}

struct error *cognito_provision_find(struct cognito_provision *task, struct arena *arena,
                                     const struct cognito_list *list, const char *name, const char **id_out)
{
    const struct document *answer;
    const char *next = NULL;
    *id_out = NULL;
    for (int page = 0; page < PAGES_MAX && (page == 0 || next != NULL); page++) {
        TRY(cognito_provision_do(task, arena, list->operation, list_request(arena, list, next), &answer));
        const struct document *items = document_member(answer, list->member);
        for (const struct document *one = document_first(items); one != NULL; one = document_next(one)) {
            const char *found = document_text(document_member(one, list->name_name));
            if (found == NULL || strcmp(found, name) != 0)
                continue;
            if (*id_out != NULL)
                return error_message(
                    error_plain(arena, ERROR_INTERNAL),
                    "%s finds several of the name %s. Name the right one in [cognito], or another with --name.",
                    list->operation, name);
            *id_out = document_text(document_member(one, list->id_name));
        }
        next = document_text(document_member(answer, "NextToken"));
    }
    return NULL;
}

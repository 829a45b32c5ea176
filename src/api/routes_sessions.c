/* SPDX-License-Identifier: MIT */
/* The rows of the route table for sessions, which belong to the tag of accounts. */
#include "api/handlers_int.h"
#include "api/routes_int.h"

static const struct route rows[] = {
    {
        .method = METHOD_GET,
        .path = "/customers/sessions",
        .operation = "listSessions",
        .tag = "Accounts",
        .summary = "One's own open sessions",
        .description = "At most 100, those that were used last.",
        .access = ACCESS_TOKEN,
        .reply_kind = REPLY_OBJECT,
        .reply = &sessions_list_schema,
        .handler = sessions_list,
    },
    {
        .method = METHOD_DELETE,
        .path = "/customers/sessions/{id}",
        .operation = "endSession",
        .tag = "Accounts",
        .summary = "End one of one's own sessions",
        .description = "Its access and refresh tokens end at once. It may be the session of the token that asks.",
        .access = ACCESS_TOKEN,
        .reply_kind = REPLY_SUCCESS,
        .reply = &system_success_schema,
        .errors = ERRORS(ERROR_SESSION_UNKNOWN),
        .handler = sessions_end,
    },
    {
        .method = METHOD_GET,
        .path = "/customers/organisations/users/{id}/sessions",
        .operation = "listUserSessions",
        .tag = "Accounts",
        .summary = "A user's open sessions",
        .description = "At most 100, those that were used last. Internal staff reach every organisation, and that is a "
                       "row of the audit trail.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:r",
        .reply_kind = REPLY_OBJECT,
        .reply = &sessions_list_schema,
        .errors = ERRORS(ERROR_USER_UNKNOWN),
        .handler = sessions_list_of,
    },
    {
        .method = METHOD_DELETE,
        .path = "/customers/organisations/users/{id}/sessions",
        .operation = "endUserSessions",
        .tag = "Accounts",
        .summary = "End all sessions of a user",
        .description = "Nobody ends the sessions of a user who may do more than they.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:w",
        .reply_kind = REPLY_SUCCESS,
        .reply = &system_success_schema,
        .errors = ERRORS(ERROR_USER_UNKNOWN, ERROR_ROLE_NOT_GRANTABLE),
        .handler = sessions_end_all_of,
    },
    {
        .method = METHOD_DELETE,
        .path = "/customers/organisations/users/{id}/sessions/{sessionId}",
        .operation = "endUserSession",
        .tag = "Accounts",
        .summary = "End one session of a user",
        .description = "Nobody ends the sessions of a user who may do more than they.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:w",
        .reply_kind = REPLY_SUCCESS,
        .reply = &system_success_schema,
        .errors = ERRORS(ERROR_USER_UNKNOWN, ERROR_SESSION_UNKNOWN, ERROR_ROLE_NOT_GRANTABLE),
        .handler = sessions_end_of,
    },
};

const struct routes_group routes_sessions = {rows, sizeof rows / sizeof *rows};

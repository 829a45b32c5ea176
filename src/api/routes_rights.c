/* SPDX-License-Identifier: MIT */
/* The rows of the route table for roles, permissions and decisions. */
#include "api/handlers_int.h"
#include "api/routes_int.h"

static const struct route rows[] = {
    {
        .method = METHOD_GET,
        .path = "/customers/roles",
        .operation = "listRoles",
        .tag = "Accounts",
        .summary = "The roles there are, and which of them the caller may grant",
        .description = "Roles are built in. Their permissions are looked up at every request, so a change holds at "
                       "once for all who have the role.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:r",
        .reply_kind = REPLY_OBJECT,
        .reply = &permissions_roles_schema,
        .handler = permissions_roles,
    },
    {
        .method = METHOD_GET,
        .path = "/customers/permissions",
        .operation = "listPermissions",
        .tag = "Accounts",
        .summary = "The permissions that endpoints ask for, and which of them the caller may grant",
        .description = "Every permission that an endpoint asks for, in alphabetical order, with those endpoints.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:r",
        .reply_kind = REPLY_OBJECT,
        .reply = &permissions_catalogue_schema,
        .handler = permissions_catalogue,
    },
    {
        .method = METHOD_GET,
        .path = "/customers/organisations/users/{id}/permissions",
        .operation = "listUserPermissions",
        .tag = "Accounts",
        .summary = "What a user may do, where that comes from, and when it was last used",
        .description =
            "The effective permissions: the user's own, then those of the roles, each once. The sources are named as"
            " authorise names them. Uses of the last minute may be missing. Of the own organisation; internal staff"
            " reach every organisation, and that is a row of the audit trail.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:r",
        .reply_kind = REPLY_OBJECT,
        .reply = &permissions_of_user_schema,
        .errors = ERRORS(ERROR_USER_UNKNOWN),
        .handler = permissions_of_user,
    },
    {
        .method = METHOD_POST,
        .path = "/customers/authorise",
        .operation = "authorise",
        .tag = "Accounts",
        .summary = "Explain decisions: whether permissions are held, and why",
        .description =
            "Names every role and permission of the user that grants it, and what is missing where nothing does. The"
            " permission itself is not used. With permissions, items has the answer for each of them in the order"
            " sent. Asking about a colleague takes cus:user:r, about anybody else cus:user:a.",
        .access = ACCESS_TOKEN,
        .body_kind = BODY_JSON,
        .body = &authorise_schema,
        .validate = authorise_validate,
        .reply_kind = REPLY_ONE_OF_TWO,
        .reply = &authorise_reply_schema,
        .other_reply = &authorise_list_schema,
        .errors = ERRORS(ERROR_PERMISSION, ERROR_USER_UNKNOWN),
        .handler = authorise,
    },
    {
        .method = METHOD_POST,
        .path = "/customers/authorise/simulate",
        .operation = "simulateGrants",
        .tag = "Accounts",
        .summary = "Tell what a change of a user's roles and permissions would bring",
        .description =
            "Answers what updateUser would do with these roles and permissions if the caller sent it now, and writes"
            " nothing. Where updateUser would answer role.notGrantable, notGrantable has its validation, and the other"
            " members tell what the change would bring if somebody made it who may. Any other refusal of updateUser is"
            " answered as updateUser answers it. Who asks need not hold cus:user:w.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:user:r",
        .body_kind = BODY_JSON,
        .body = &authorise_simulate_schema,
        .validate = authorise_validate_simulate,
        .reply_kind = REPLY_OBJECT,
        .reply = &authorise_simulate_reply_schema,
        .errors = ERRORS(ERROR_USER_UNKNOWN, ERROR_USER_SELF, ERROR_USER_LAST_OWNER),
        .handler = authorise_simulate,
    },
};

const struct routes_group routes_rights = {rows, sizeof rows / sizeof *rows};

/* SPDX-License-Identifier: MIT */
/* The rows of the route table for organisations. */
#include "api/handlers_int.h"
#include "api/routes_int.h"

static const struct route rows[] = {
    {
        .method = METHOD_GET,
        .path = "/customers/organisation",
        .operation = "getOwnOrganisation",
        .tag = "Organisations",
        .summary = "The caller's organisation",
        .description = "With its quotas, what its files use of them, and how many people it has.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:org:r",
        .reply_kind = REPLY_OBJECT,
        .reply = &organisations_reply_schema,
        .errors = ERRORS(ERROR_ORGANISATION_UNKNOWN),
        .handler = organisations_own,
    },
    {
        .method = METHOD_PATCH,
        .path = "/customers/organisation",
        .operation = "updateOwnOrganisation",
        .tag = "Organisations",
        .summary = "Rename the caller's organisation",
        .description = "The rules for names are those of signup. E-mails sent from then on have the new name.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:org:w",
        .body_kind = BODY_JSON,
        .body = &organisations_own_schema,
        .validate = organisations_validate_patch,
        .reply_kind = REPLY_OBJECT,
        .reply = &organisations_reply_schema,
        .errors = ERRORS(ERROR_ORGANISATION_UNKNOWN),
        .handler = organisations_patch_own,
    },
    {
        .method = METHOD_GET,
        .path = "/customers/organisations",
        .operation = "listOrganisations",
        .tag = "Organisations",
        .summary = "List the organisations of all customers",
        .description = "For internal staff, in the order in which they were made. search finds a part of the name, "
                       "whatever the case.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:org:a",
        .query = &organisations_list_query_schema,
        .reply_kind = REPLY_OBJECT,
        .reply = &organisations_list_schema,
        .handler = organisations_list,
    },
    {
        .method = METHOD_GET,
        .path = "/customers/organisations/{id}",
        .operation = "getOrganisation",
        .tag = "Organisations",
        .summary = "One organisation",
        .description = "For internal staff. Looking at another organisation is a row of its audit trail.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:org:a",
        .reply_kind = REPLY_OBJECT,
        .reply = &organisations_reply_schema,
        .errors = ERRORS(ERROR_ORGANISATION_UNKNOWN),
        .handler = organisations_get,
    },
    {
        .method = METHOD_PATCH,
        .path = "/customers/organisations/{id}",
        .operation = "updateOrganisation",
        .tag = "Organisations",
        .summary = "Change an organisation",
        .description =
            "For internal staff. A service that is added or taken adds or takes its role at every owner. A disabled"
            " organisation shuts all its people out at once: their sessions end, and so do the links of its files. Its"
            " sessions do not come back when it is enabled again. The organisation of internal staff stays active"
            " (organisation.internal). A quota below what is used keeps the files and refuses more.",
        .access = ACCESS_PERMISSION,
        .permission = "cus:org:a",
        .body_kind = BODY_JSON,
        .body = &organisations_patch_schema,
        .validate = organisations_validate_patch,
        .reply_kind = REPLY_OBJECT,
        .reply = &organisations_reply_schema,
        .errors = ERRORS(ERROR_ORGANISATION_UNKNOWN, ERROR_ORGANISATION_INTERNAL, ERROR_ROLE_NOT_GRANTABLE),
        .handler = organisations_patch,
    },
};

const struct routes_group routes_organisations = {rows, sizeof rows / sizeof *rows};

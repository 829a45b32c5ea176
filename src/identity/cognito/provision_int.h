/* SPDX-License-Identifier: MIT */
/* Provisioning of a user pool: the calls, and what is wanted. */
#ifndef GATEHOUSE_IDENTITY_COGNITO_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_COGNITO_PROVISION_INT_H

#include "identity/cognito/cognito_int.h"
#include "identity/provision_common_int.h"

/* One run of provisioning. */
struct cognito_provision {
    const struct provider_provision *provision;
    const struct configuration *configuration;
    struct cognito *cognito; /* makes the calls, with the operator's access key */
    const char *pool_id;     /* from the configuration, found by its name, or just made */
    const char *client_id;
};

/* The name of what is made where the operator gives none. */
#define COGNITO_DEFAULT_NAME "gatehouse"

/* ---- provision_wanted.c: the wanted state, as JSON ------------------------------------------------- */

/* The request that makes a pool. */
const char *cognito_wanted_pool(struct arena *arena, const struct provider_provision *provision);

/* Whether the pool mails codes itself: [identity] codes = provider. */
bool cognito_wanted_codes(const struct configuration *configuration);

/* How people recover an account: by codes of the pool's own, or only by us. */
#define COGNITO_RECOVERY_BY_EMAIL "{\"RecoveryMechanisms\":[{\"Priority\":1,\"Name\":\"verified_email\"}]}"
#define COGNITO_RECOVERY_BY_US "{\"RecoveryMechanisms\":[{\"Priority\":1,\"Name\":\"admin_only\"}]}"

/* One of our two attributes, in an array: "permissions" or "svc_user_id". */
const char *cognito_wanted_attribute(struct arena *arena, const char *name);

/* The password policy that is wanted, over the one that the pool has (`old` NULL: none). NULL: nothing must change. */
const char *cognito_wanted_policy(struct arena *arena, const struct configuration *configuration,
                                  const struct document *old);

/* The request that makes an app client; `pool_id` NULL leaves the pool out. */
const char *cognito_wanted_client(struct arena *arena, const struct provider_provision *provision, const char *pool_id);

/*
 * The IAM policy for the access key of the service: it allows every signed call that the service makes, and no other.
 */
const char *cognito_wanted_rights(struct arena *arena, const struct configuration *configuration);

/* The flows that the service signs people in by. */
#define COGNITO_FLOW_PASSWORD "ALLOW_USER_PASSWORD_AUTH"
#define COGNITO_FLOW_REFRESH "ALLOW_REFRESH_TOKEN_AUTH"

/* The shortest lifetimes of tokens that Cognito takes, in seconds. */
#define COGNITO_ACCESS_LEAST 300
#define COGNITO_REFRESH_LEAST 3600

/* ---- provision_client.c ---------------------------------------------------------------------------- */

/* Makes or corrects the app client of the pool and stores its secret. */
struct error *cognito_provision_client(struct cognito_provision *task, struct arena *arena);

/* ---- provision_call.c ------------------------------------------------------------------------------ */

/* Makes a signed call whose body is that object. call_out->fault says what Cognito refused. */
struct error *cognito_provision_call(struct cognito_provision *task, struct arena *arena, const char *operation,
                                     const char *json, struct cognito_call *call_out);

/* The same, but whatever Cognito refuses is an error. answer_out may be NULL. */
struct error *cognito_provision_do(struct cognito_provision *task, struct arena *arena, const char *operation,
                                   const char *json, const struct document **answer_out);

/*
 * Finds the id of the only thing of that name in a list that comes in pages; *id_out is NULL where there is none.
 * INTERNAL where there are several.
 */
struct cognito_list {
    const char *operation; /* "ListUserPools" */
    const char *member;    /* of the answer: "UserPools" */
    const char *id_name;   /* of each: "Id" */
    const char *name_name; /* "Name" */
    const char *pool_id;   /* NULL: not asked for */
};
struct error *cognito_provision_find(struct cognito_provision *task, struct arena *arena,
                                     const struct cognito_list *list, const char *name, const char **id_out);

#endif

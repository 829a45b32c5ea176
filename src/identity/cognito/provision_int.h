/* SPDX-License-Identifier: MIT */
/* Setting up a user pool: what is wanted, and the calls; for cognito_provision*.c. */
#ifndef GATEHOUSE_IDENTITY_COGNITO_PROVISION_INT_H
#define GATEHOUSE_IDENTITY_COGNITO_PROVISION_INT_H

#include "identity/cognito/cognito_int.h"
#include "identity/provider_provision_int.h"

/* One set-up on its way. */
struct cognito_provision {
    const struct provider_provision *provision;
    const struct configuration *configuration;
    struct cognito *cognito; /* calls as whoever sets up */
    const char *pool_id;     /* known from the configuration, by its name, or since it was made */
    const char *client_id;
};

/* A name of what is made where the configuration names nothing. */
#define COGNITO_DEFAULT_NAME "gatehouse"

/* ---- cognito_setup_text.c: what is wanted, as JSON ------------------------------------------------- */

/* The request that makes a pool. */
const char *cognito_wanted_pool(struct arena *arena, const struct provider_provision *provision);

/* Whether the pool is to mail codes itself: [identity] codes = provider. */
bool cognito_wanted_codes(const struct configuration *configuration);

/* Who gets people back in: codes of the pool's own, or nobody but us. */
#define COGNITO_RECOVERY_BY_EMAIL "{\"RecoveryMechanisms\":[{\"Priority\":1,\"Name\":\"verified_email\"}]}"
#define COGNITO_RECOVERY_BY_US "{\"RecoveryMechanisms\":[{\"Priority\":1,\"Name\":\"admin_only\"}]}"

/* The two attributes of ours, as an array. `only` picks one by its name; NULL: both. */
const char *cognito_wanted_attributes(struct arena *arena, const char *only);

/* The pool's password policy, over the one that it has (NULL: none). */
const char *cognito_wanted_policy(struct arena *arena, const struct configuration *configuration,
                                  const struct document *old);

/* The request that makes an app client; `pool_id` may be NULL, which leaves it out. */
const char *cognito_wanted_client(struct arena *arena, const struct provider_provision *provision, const char *pool_id);

/* The IAM policy of the user whose access key the service has: every signed call that it makes, and no other. */
const char *cognito_wanted_rights(struct arena *arena, const struct configuration *configuration);

/* The flows that sign people in here. */
#define COGNITO_FLOW_PASSWORD "ALLOW_USER_PASSWORD_AUTH"
#define COGNITO_FLOW_REFRESH "ALLOW_REFRESH_TOKEN_AUTH"

/* Least times of tokens, in seconds. */
#define COGNITO_ACCESS_LEAST 300
#define COGNITO_REFRESH_LEAST 3600

/* ---- cognito_provision_client.c ------------------------------------------------------------------------ */

/* Makes or mends the app client of the pool and keeps its secret. */
struct error *cognito_provision_client(struct cognito_provision *task, struct arena *arena);

/* ---- cognito_provision.c ------------------------------------------------------------------------------- */

/* Makes a signed call whose body is that object. */
struct error *cognito_provision_call(struct cognito_provision *task, struct arena *arena, const char *operation,
                                     const char *json, struct cognito_call *call_out);

/* The same; whatever Cognito refuses is an error. */
struct error *cognito_provision_do(struct cognito_provision *task, struct arena *arena, const char *operation,
                                   const char *json, const struct document **answer_out);

/*
 * The id of the only thing of that name in a list that comes in pages; NULL: there is none. More than one is INTERNAL.
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

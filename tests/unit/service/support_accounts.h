/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the account flows share: a service on a real database with the embedded provider, whose passwords
 * are hashed at the least cost there is, behind a decorator that fails, or dies, at a chosen call.
 */
#ifndef GATEHOUSE_TESTS_SERVICE_SUPPORT_ACCOUNTS_H
#define GATEHOUSE_TESTS_SERVICE_SUPPORT_ACCOUNTS_H

#include "base/configuration.h"
#include "domain/support.h"
#include "identity/provider.h"
#include "service/access/caller.h"
#include "service/account/sign_in.h"
#include "service/account/sign_up.h"
#include "service/runtime/service.h"

/* What happens at the call: nothing is done and it fails; it is done and the answer is lost; the process dies there. */
enum fault { FAULT_NONE, FAULT_BEFORE, FAULT_AFTER, FAULT_DEATH_BEFORE, FAULT_DEATH_AFTER };

/* How a process ends that dies on purpose. */
#define DEATH_STATUS 42

struct faulty_provider {
    struct provider provider;
    struct provider *inner;
    unsigned calls; /* made since scene_fault() */
    unsigned at;    /* which of them, from 1; 0: every one */
    enum fault fault;
    void (*after)(void *context); /* runs after call `at`, where it is not NULL */
    void *context;
};

struct scene {
    struct arena *arena;
    struct database *database;
    struct configuration configuration;
    struct faulty_provider faulty;
    struct service service;
    struct caller stranger; /* somebody without a token */
};

#define CHOSEN "a-password-of-ones-own"
#define OTHER "quite-another-password"

/* A scene on an empty database; scene_join() leaves what is there. Released with the arena. */
struct scene *scene_new(struct arena *arena);
struct scene *scene_join(struct arena *arena);

/* From now on the `at`-th call of the provider (0: each) meets that fault. */
void scene_fault(struct scene *scene, enum fault fault, unsigned at);

/* Signs in; tokens_out may be NULL. */
struct error *scene_login(struct scene *scene, const char *username, const char *password, const char *new_password,
                          struct provider_tokens *tokens_out);

/* The caller of a new session of that user. */
struct caller *scene_caller(struct scene *scene, const char *username, const char *password);

/* The caller as the next request would see it; NULL where the session is refused. */
struct caller *scene_reload(struct scene *scene, const struct caller *caller);

/* An internal administrator who is signed in. */
struct caller *given_staff(struct scene *scene);

/* Makes a customer "Quarry" with that owner; what sign_up_customer() says. user_out may be NULL. */
struct error *make_customer(struct scene *scene, const struct caller *caller, const char *email, struct user *user_out);

/* Makes a member with password CHOSEN, role inv-manage and permission cus:file:r; likewise. */
struct error *make_member(struct scene *scene, const struct caller *caller, const char *email, struct user *user_out);

/* The owner of a new customer, signed in with password CHOSEN. */
struct caller *given_owner(struct scene *scene, const struct caller *staff, const char *email);

/* A confirmed member of the owner's organisation. */
struct user given_member(struct scene *scene, const struct caller *owner, const char *email);

/* A value of the newest mail that waits for the user; NULL when there is no mail or no such value in it. */
const char *mailed(struct scene *scene, struct id user, const char *name);

/* The mails that wait for the user. */
int64_t mails_waiting(struct scene *scene, struct id user);

/* Does the jobs that are due, but for mails, which stay; how many there were. */
unsigned run_jobs(struct scene *scene);

/* Expects REQUEST_INVALID or another code with an entry of that path and code. */
void expect_entry(struct error *error, int code, const char *path, const char *entry_code);

#endif

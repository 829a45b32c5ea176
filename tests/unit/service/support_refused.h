/* SPDX-License-Identifier: MIT */
/*
 * Flows of which each statement is refused once by the server, and the people who go through them. A flow that answers
 * an error has changed nothing that anybody can see, and going through it again does it; one that answers without an
 * error has done all of it.
 */
#ifndef GATEHOUSE_TESTS_SERVICE_SUPPORT_REFUSED_H
#define GATEHOUSE_TESTS_SERVICE_SUPPORT_REFUSED_H

#include "service/support_accounts.h"

struct outbox_item;

/* Who goes through a flow, and what it uses up; each time anew but for the first two. */
struct stage {
    struct scene *scene;
    struct caller *staff;
    struct caller *owner;
    unsigned number;       /* counts the people who were made, so that no two have the same address */
    struct user person;    /* whom the flow is about */
    struct caller *caller; /* the person, signed in */
    const char *text;      /* what the flow is given: a code, an address, a token */
    struct id session;
    struct outbox_item *item;
    int64_t before; /* what count() told when the flow was prepared */
};

struct flow {
    const char *name;
    void (*prepare)(struct stage *stage);
    struct error *(*run)(struct stage *stage, struct arena *arena);
    /* How many traces the flow has left; it is done when there are more of them than before. */
    int64_t (*count)(struct stage *stage);
    /* Before it is run again; NULL: nothing is to be done. */
    void (*again)(struct stage *stage);
    bool job;   /* a failure is reported to the outbox and not to the caller */
    bool apart; /* it is several transactions: one that fails may leave the first of them done */
    bool finds; /* it never answers an error for what is done, even where the answer to a COMMIT is lost */
};

/* A flow with its four parts, and with what else it has. */
#define FLOW(what, prepares, runs, counts, ...)                                                                        \
    {.name = (what), .prepare = (prepares), .run = (runs), .count = (counts), __VA_ARGS__}

/* Goes through each flow until it meets no refusal any more. */
void stage_refuse_each(struct arena *arena, const struct flow *flows, size_t count);

/*
 * Loses the answer to each COMMIT of each flow in turn. A flow that answers no error has done all of it; one that
 * answers one has done it, or can be gone through again. One that `finds` out never answers an error for what is done.
 */
void stage_lose_each_commit(struct arena *arena, const struct flow *flows, size_t count);

/* An address that nobody on the stage has had. */
const char *stage_address(struct stage *stage);

/* For prepare(): a new confirmed member, signed in. */
void stage_person(struct stage *stage);

/* For prepare(): a job of that kind is claimed; it must be the only one that waits for the person, or for nobody. */
void stage_claim(struct stage *stage, const char *kind);

/* How many rows there are, for count(). */
int64_t stage_rows(struct stage *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How many audit rows of that action are about the person. */
int64_t stage_audited(struct stage *stage, const char *action);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Refuses statements in place of the server, one at a time. The functions stand between our code and libmariadb: a
 * program that uses them is linked with $(refusal_flags). Statements in plain text (BEGIN, COMMIT) count like prepared
 * ones.
 */
#ifndef GATEHOUSE_TESTS_SUPPORT_REFUSAL_H
#define GATEHOUSE_TESTS_SUPPORT_REFUSAL_H

#include <stdbool.h>

struct arena;
struct database;
struct error;

/* The nth statement from now on is not sent, and counts as refused with an error that is no known one; 0: none. */
void refusal_begin(unsigned nth);

/* The nth COMMIT from now on is carried out, and its answer is lost: nobody can tell by it whether it was. 0: none. */
void refusal_lose_commit(unsigned nth);

/* Nothing is refused or lost any more; whether a statement was. */
bool refusal_end(void);

/*
 * Before the nth statement from now on `meet` is called, for what another process does at that moment with a handle of
 * its own. Its own statements do not count. Until refusal_end(), which says whether it was called.
 */
void refusal_meet(unsigned nth, void (*meet)(void *context), void *context);

/*
 * Makes the call until it meets no refusal any more, each time with its next statement refused. A refused call must
 * answer INTERNAL and leave no transaction open, and the last one must succeed. How many statements it has made.
 */
unsigned refusal_each(struct database *database, struct error *(*call)(struct arena *arena, void *context),
                      void *context);

#endif

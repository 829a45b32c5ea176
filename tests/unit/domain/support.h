/* SPDX-License-Identifier: MIT */
/* What the tests of domain and identity share: organisations and users that are there, and races. */
#ifndef GATEHOUSE_TESTS_DOMAIN_SUPPORT_H
#define GATEHOUSE_TESTS_DOMAIN_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/text.h"
#include "domain/account/user.h"
#include "domain/file/file.h"

struct arena;
struct database;
struct error;

/* Fails the test with the error's code and detail. */
void expect_ok(struct error *error);

/* Expects an error of that code (enum error_code). */
void expect_error(struct error *error, int code);

/* A list of the texts given. */
struct text_list text_list_of(struct arena *arena, size_t count, ...);
#define TEXTS(arena, ...) text_list_of((arena), sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), __VA_ARGS__)
#define NO_TEXTS ((struct text_list){NULL, 0})

/* Runs SQL that is not prepared, as an operator would at the prompt. */
void sql(struct database *database, struct arena *arena, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The first cell of the first row of such SQL, as an integer or a text (NULL for no row). */
int64_t sql_integer(struct database *database, struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *sql_text(struct database *database, struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * For a case in which the day (UTC) must stay the same: waits for the next day when this one is over in a minute. The
 * tests' server runs on this machine and has its clock.
 */
void away_from_midnight(void);

/* The id as an SQL literal: x'…'. */
const char *sql_id(struct arena *arena, struct id id);

/* An active organisation. */
struct id given_organisation(struct database *database, struct arena *arena);

/* An active user of it with one role (NULL: none) and own permissions (may be NULL); the address is unlike
 * any other. */
struct user *given_user(struct database *database, struct arena *arena, struct id organisation, const char *role,
                        const char *permissions);

/* A session of the user, good for an hour. */
struct id given_session(struct database *database, struct arena *arena, struct id user);

/* A record that no other is like, not yet inserted. */
struct file_record a_file(struct arena *arena, struct id organisation, struct id user);

/* The same, inserted. */
struct file_record given_file(struct database *database, struct arena *arena, struct id organisation, struct id user);

/* Inserts in a transaction of its own; whether it was there already. */
bool insert_file(struct database *database, struct arena *arena, const struct file_record *record);

/*
 * Starts `count` processes that wait for one another and then call body(context, index) at once, each with a
 * connection of its own. results_out[index] is what it returned, 0 to 99; a body that dies gives 100.
 */
#define RACERS_MAX 50
void race(unsigned count, int (*body)(struct database *database, struct arena *arena, unsigned index, void *context),
          void *context, int results_out[RACERS_MAX]);

/* How many of the results equal `value`. */
unsigned race_count(const int results[RACERS_MAX], unsigned count, int value);

#endif

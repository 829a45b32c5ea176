/* SPDX-License-Identifier: MIT */
/* Servers of the tests written in Python, which print their port and do as they are told. */
#ifndef GATEHOUSE_TESTS_STORE_SCRIPT_SERVER_H
#define GATEHOUSE_TESTS_STORE_SCRIPT_SERVER_H

struct arena;

/*
 * Starts the script (its path within the sources) with `directory` and these arguments (NULL-terminated, at most 12);
 * it ends with the arena. Its port as text.
 */
const char *script_server_start(struct arena *arena, const char *script, const char *directory,
                                const char *const *arguments);

#endif

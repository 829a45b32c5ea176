/* SPDX-License-Identifier: MIT */
/*
 * Signing keys that were made before. To make one takes some 100 ms, and each embedded provider with a database of its
 * own makes one. A program of $(keys_sources) and $(keys_flags) makes some keys only, and takes them in turn. Its
 * forked children, which may be in a race for the first key, make keys of their own.
 */
#ifndef GATEHOUSE_TESTS_SUPPORT_KEYS_H
#define GATEHOUSE_TESTS_SUPPORT_KEYS_H

#include <stdbool.h>

/* Whether each key is a new one, for tests in which one database gets many. */
void keys_are_new(bool always);

#endif

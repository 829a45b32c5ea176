/* SPDX-License-Identifier: MIT */
/* Randomness from the kernel. Nothing here can fail: without randomness the process ends. */
#ifndef GATEHOUSE_CODEC_RANDOM_H
#define GATEHOUSE_CODEC_RANDOM_H

#include <stddef.h>

/* 20 characters of random_text() carry 115 bits, over the 112 that a generated password must have. */
#define RANDOM_PASSWORD_CHARACTERS 20

struct arena;

void random_bytes(void *bytes_out, size_t length);

/*
 * `characters` letters and digits of an alphabet of 55, which leaves out those that people confuse (0 O o 1 I l i);
 * 5.78 bits each.
 */
char *random_text(struct arena *arena, size_t characters);

/* `digits` decimal digits, leading zeros included, every code equally likely. */
char *random_code(struct arena *arena, size_t digits);

#endif

/* SPDX-License-Identifier: MIT */
/* Self-signed certificates for the tests' servers, made anew in each run. */
#ifndef GATEHOUSE_TESTS_STORE_CERTIFICATE_H
#define GATEHOUSE_TESTS_STORE_CERTIFICATE_H

struct arena;

/*
 * Writes <name>-cert.pem, which is its own authority, and <name>-key.pem into `directory`, for the DNS name
 * `host`, valid from now to `days` from now (negative: expired). The paths, without the "-cert.pem", in the
 * arena.
 */
const char *certificate_make(struct arena *arena, const char *directory, const char *name, const char *host, int days);

#endif

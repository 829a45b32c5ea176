/* SPDX-License-Identifier: MIT */
/* The circuit breaker, and the file that all processes of a host share for it and for the slots. */
#ifndef GATEHOUSE_IDENTITY_REMOTE_CIRCUIT_BREAKER_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_CIRCUIT_BREAKER_INT_H

#include "identity/remote_int.h"

enum circuit_breaker_event {
    CIRCUIT_BREAKER_LOOK,   /* nothing happened: the state is only read */
    CIRCUIT_BREAKER_SLOT,   /* this process has taken a slot */
    CIRCUIT_BREAKER_CALL,   /* may a call be made? */
    CIRCUIT_BREAKER_ANSWER, /* the provider has answered */
    CIRCUIT_BREAKER_FAILURE /* a call was made and the provider did not answer */
};

/* Opens slots_file unless it is open. Where it cannot be opened this process knows only its own calls. */
void circuit_breaker_open_file(struct remote *remote);

/* Closes it. */
void circuit_breaker_close_file(struct remote *remote);

/* Tries to lock (F_WRLCK) or unlocks (F_UNLCK) one byte of the file for this process; false: another one has it. */
bool circuit_breaker_lock_byte(const struct remote *remote, int64_t at, short kind);

/*
 * Tells the circuit breaker what happened; remote->breaker then is the state of the host. Of CIRCUIT_BREAKER_CALL
 * false: the call must not be made.
 */
bool circuit_breaker_note(struct remote *remote, enum circuit_breaker_event event);

#endif

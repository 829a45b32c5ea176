/* SPDX-License-Identifier: MIT */
/* Slots: how many processes of a host may wait for the provider at the same time. */
#ifndef GATEHOUSE_IDENTITY_REMOTE_SLOTS_INT_H
#define GATEHOUSE_IDENTITY_REMOTE_SLOTS_INT_H

#include "identity/remote_int.h"

/*
 * Takes a slot and holds it until remote_slot_leave(). Also around what waits for the provider by way of another
 * process. Calls made meanwhile need no other slot; taking it again only counts. False: all slots are taken, and
 * nothing is to be left.
 */
bool remote_slot_take(struct remote *remote);
void remote_slot_leave(struct remote *remote);

/* The reason that a call gives then. */
#define REMOTE_NO_SLOT "too many calls to it are waiting already"

#endif

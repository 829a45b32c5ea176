/* SPDX-License-Identifier: MIT */
/*
 * Slots of uploads under way, one 64-bit word each: 20 bits of the token's digest, 20 bits of the address's digest, one
 * bit that says that the slot is tentative, and 23 bits of the second at which it expires. A free slot is 0.
 *
 * A slot is tentative until the process that put it there has looked whether it admits the upload. A process that
 * sees too many because of other tentative slots gives its own back and tries again, so that one of them gets the last
 * place. Tentative slots expire soon: a process that is killed while it looks does not hold a place for long.
 *
 * No release frees a tentative slot: the words of one owner may be equal, and a release that took the slot of a process
 * which then gives up would leave its own upload's slot behind.
 *
 * Seconds are compared modulo 2^23, which is three months. Every look that finds room frees the expired slots, long
 * before their seconds could seem to lie in the future again.
 */
#include "base/host/upload_slots.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/host_memory_int.h"
#include "base/limits.h"

#define SECOND_BITS 23
#define DIGEST_BITS 20
#define SECOND_MASK ((UINT64_C(1) << SECOND_BITS) - 1)
#define TENTATIVE (UINT64_C(1) << SECOND_BITS)
#define ADDRESS_AT (SECOND_BITS + 1)
#define TOKEN_AT (ADDRESS_AT + DIGEST_BITS)
#define DIGEST_MASK ((UINT64_C(1) << DIGEST_BITS) - 1)
#define TRIES 64
#define TENTATIVE_SECONDS 2
/* How often a process tries for a place that others try for, too. It pauses between 10 and 20 ms in all. */
#define ROUNDS 10
#define PAUSE_NANOSECONDS 10000
/* A process may have read the clock so many seconds before or after another one. */
#define CLOCK_SECONDS 30
#define NO_SLOT SIZE_MAX

static _Atomic uint64_t *slot_at(size_t index)
{
    return &host_memory()->upload_slots[index];
}

static uint64_t token_of(uint64_t word)
{
    return word >> TOKEN_AT;
}

static uint64_t address_of(uint64_t word)
{
    return word >> ADDRESS_AT & DIGEST_MASK;
}

static uint64_t make_word(struct upload_slots_owner owner, int64_t until)
{
    return (owner.token & DIGEST_MASK) << TOKEN_AT | (owner.address & DIGEST_MASK) << ADDRESS_AT |
           ((uint64_t)until & SECOND_MASK);
}

/* Seconds until the slot expires; 0 for an expired or free one. */
static uint64_t seconds_left(uint64_t word, int64_t now)
{
    uint64_t left = (word - (uint64_t)(now / 1000)) & SECOND_MASK;
    return word == 0 || left > LIMIT_UPLOAD_SECONDS + CLOCK_SECONDS ? 0 : left;
}

/*
 * Whether an upload of this owner is one too many. It is among the slots already when `own` is tentative, and all slots
 * count then; else only those count that were admitted. Frees the expired slots that it meets.
 */
static bool exceeds(uint64_t own, const struct upload_slots_bounds *bounds, int64_t now)
{
    const bool is_there = (own & TENTATIVE) != 0;
    int64_t of_token = !is_there;
    int64_t of_address = !is_there;
    for (size_t i = 0; i < LIMIT_UPLOAD_SLOTS; i++) {
        uint64_t word = atomic_load(slot_at(i));
        if (word == 0)
            continue;
        /*
         * Another process may free an expired slot first. A slot that is no longer expired counts: its process has just
         * admitted the upload.
         */
        if (seconds_left(word, now) == 0 && (atomic_compare_exchange_strong(slot_at(i), &word, 0) || word == 0))
            continue;
        if (!is_there && (word & TENTATIVE) != 0)
            continue;
        of_token += token_of(word) == token_of(own);
        of_address += address_of(word) == address_of(own);
        /* The sooner a slot is given back, the fewer other processes see it. */
        if (of_token > bounds->per_token || of_address > bounds->per_address)
            return true;
    }
    return false;
}

/* The slot that expires first of those that are not tentative: that owner's, or (NULL) anybody's. NO_SLOT: none. */
static size_t find_oldest(const uint64_t *owner, int64_t now, uint64_t *word_out)
{
    size_t found = NO_SLOT;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < LIMIT_UPLOAD_SLOTS; i++) {
        uint64_t word = atomic_load(slot_at(i));
        uint64_t left = seconds_left(word, now);
        if (left == 0 || left >= least || (word & TENTATIVE) != 0)
            continue;
        if (owner != NULL && (word ^ *owner) >> SECOND_BITS != 0)
            continue;
        found = i;
        least = left;
        *word_out = word;
    }
    return found;
}

/* Writes the word into a slot and returns which. The search begins at a place that depends on the owner. */
static size_t put(uint64_t word, int64_t now)
{
    uint64_t old = 0;
    for (size_t i = 0; i < LIMIT_UPLOAD_SLOTS; i++) {
        size_t place = (size_t)((word >> ADDRESS_AT) + i) % LIMIT_UPLOAD_SLOTS;
        old = atomic_load(slot_at(place));
        if (seconds_left(old, now) == 0 && atomic_compare_exchange_strong(slot_at(place), &old, word))
            return place;
    }
    for (int try = 0; try < TRIES; try++) {
        size_t place = find_oldest(NULL, now, &old);
        if (place != NO_SLOT && atomic_compare_exchange_strong(slot_at(place), &old, word))
            return place;
    }
    return NO_SLOT;
}

/* Twice as long each time, and not as long in every process. */
static void pause_before(int round)
{
    struct timespec pause;
    (void)clock_gettime(CLOCK_MONOTONIC, &pause);
    const int64_t part = PAUSE_NANOSECONDS + pause.tv_nsec % PAUSE_NANOSECONDS;
    pause = (struct timespec){.tv_nsec = ((int64_t)1 << round) * part};
    (void)nanosleep(&pause, NULL);
}

/* Puts a tentative slot, and makes it the word where there is room. Else there is no slot; nor where it was lost. */
static bool try_to_take(uint64_t word, const struct upload_slots_bounds *bounds, int64_t now)
{
    uint64_t until = (uint64_t)(now / 1000 + TENTATIVE_SECONDS) & SECOND_MASK;
    uint64_t tentative = (word & ~SECOND_MASK) | TENTATIVE | until;
    size_t place = put(tentative, now);
    if (place == NO_SLOT)
        return false;
    bool admitted = !exceeds(tentative, bounds, now);
    return atomic_compare_exchange_strong(slot_at(place), &tentative, admitted ? word : 0) && admitted;
}

bool upload_slots_take(struct upload_slots_owner owner, const struct upload_slots_bounds *bounds, int64_t seconds,
                       int64_t now)
{
    uint64_t own = make_word(owner, now / 1000 + (seconds < LIMIT_UPLOAD_SECONDS ? seconds : LIMIT_UPLOAD_SECONDS));
    if (!host_memory_is_shared())
        return true;
    for (int round = 0; round < ROUNDS; round++) {
        if (round > 0)
            pause_before(round);
        if (exceeds(own, bounds, now))
            return false;
        if (try_to_take(own, bounds, now))
            return true;
    }
    return false;
}

void upload_slots_release(struct upload_slots_owner owner, int64_t now)
{
    const uint64_t own = make_word(owner, 0);
    uint64_t word;
    if (!host_memory_is_shared())
        return;
    for (int try = 0; try < TRIES; try++) {
        size_t place = find_oldest(&own, now, &word);
        if (place == NO_SLOT || atomic_compare_exchange_strong(slot_at(place), &word, 0))
            return;
    }
}

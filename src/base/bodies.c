/* SPDX-License-Identifier: MIT */
/*
 * A note is 20 bits of the token's digest, 20 of the address's, and 24 of the second at which it is forgotten. Seconds
 * are compared modulo 2^24, half a year; a look at the notes frees those whose time is over, long before they seem new
 * again.
 */
#include "base/bodies.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/metrics_int.h"

#define SECOND_BITS 24
#define DIGEST_BITS 20
#define SECOND_MASK ((UINT64_C(1) << SECOND_BITS) - 1)
#define DIGEST_MASK ((UINT64_C(1) << DIGEST_BITS) - 1)
#define TRIES 64
#define NO_NOTE SIZE_MAX

static _Atomic uint64_t *note(size_t index)
{
    return &metrics_area()->bodies[index];
}

static uint64_t token_of(uint64_t word)
{
    return word >> (SECOND_BITS + DIGEST_BITS);
}

static uint64_t address_of(uint64_t word)
{
    return word >> SECOND_BITS & DIGEST_MASK;
}

static uint64_t make_word(struct bodies_owner owner, int64_t until)
{
    return (owner.token & DIGEST_MASK) << (SECOND_BITS + DIGEST_BITS) | (owner.address & DIGEST_MASK) << SECOND_BITS |
           ((uint64_t)until & SECOND_MASK);
}

/* Seconds until the note is forgotten; 0 for one whose time is over, and for a free place. */
static uint64_t seconds_left(uint64_t word, int64_t now)
{
    uint64_t left = (word - (uint64_t)(now / 1000)) & SECOND_MASK;
    return word == 0 || left > LIMIT_UPLOAD_SECONDS ? 0 : left;
}

/* Whether the bodies under way and `more` of the owner's are too many. Frees the notes that are over. */
static bool exceeds(uint64_t own, const struct bodies_bounds *bounds, int64_t more, int64_t now)
{
    int64_t of_token = more;
    int64_t of_address = more;
    for (size_t i = 0; i < LIMIT_UPLOAD_NOTES; i++) {
        uint64_t word = atomic_load(note(i));
        if (word == 0)
            continue;
        if (seconds_left(word, now) == 0) {
            (void)atomic_compare_exchange_strong(note(i), &word, 0);
            continue;
        }
        of_token += token_of(word) == token_of(own);
        of_address += address_of(word) == address_of(own);
    }
    return of_token > bounds->per_token || of_address > bounds->per_address;
}

/* The note nearest to its end, of that owner or (NULL) of anybody. NO_NOTE when there is none. */
static size_t find_oldest(const uint64_t *owner, int64_t now, uint64_t *word_out)
{
    size_t found = NO_NOTE;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < LIMIT_UPLOAD_NOTES; i++) {
        uint64_t word = atomic_load(note(i));
        uint64_t left = seconds_left(word, now);
        if (left == 0 || left >= least || (owner != NULL && (word ^ *owner) >> SECOND_BITS != 0))
            continue;
        found = i;
        least = left;
        *word_out = word;
    }
    return found;
}

/* The place that the note got; owners begin at different ones, so that processes seldom meet. */
static size_t put(uint64_t word, int64_t now)
{
    uint64_t old = 0;
    for (size_t i = 0; i < LIMIT_UPLOAD_NOTES; i++) {
        size_t place = (size_t)((word >> SECOND_BITS) + i) % LIMIT_UPLOAD_NOTES;
        old = atomic_load(note(place));
        if (seconds_left(old, now) == 0 && atomic_compare_exchange_strong(note(place), &old, word))
            return place;
    }
    for (int try = 0; try < TRIES; try++) {
        size_t place = find_oldest(NULL, now, &old);
        if (place != NO_NOTE && atomic_compare_exchange_strong(note(place), &old, word))
            return place;
    }
    return NO_NOTE;
}

bool bodies_begin(struct bodies_owner owner, const struct bodies_bounds *bounds, int64_t seconds, int64_t now)
{
    uint64_t own = make_word(owner, now / 1000 + (seconds < LIMIT_UPLOAD_SECONDS ? seconds : LIMIT_UPLOAD_SECONDS));
    if (!metrics_are_shared())
        return true;
    if (exceeds(own, bounds, 1, now))
        return false;
    size_t place = put(own, now);
    /* Others may have put theirs since: whoever sees too many, its own among them, goes. */
    if (!exceeds(own, bounds, 0, now))
        return true;
    if (place != NO_NOTE)
        (void)atomic_compare_exchange_strong(note(place), &own, 0);
    return false;
}

void bodies_end(struct bodies_owner owner, int64_t now)
{
    const uint64_t own = make_word(owner, 0);
    uint64_t word;
    if (!metrics_are_shared())
        return;
    for (int try = 0; try < TRIES; try++) {
        size_t place = find_oldest(&own, now, &word);
        if (place == NO_NOTE || atomic_compare_exchange_strong(note(place), &word, 0))
            return;
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * Checks e-mail addresses: which are valid, how one is stored, and which are equal.
 *
 * One address has many spellings. Letters have two cases, an accent is part of its letter (NFC) or stands behind it
 * (NFD), there are full-width letters, signs and dots, and a domain is written in its own letters or in punycode. The
 * comparison key is the same text for all of them:
 *
 *   local part   Unicode normalisation form NFKC and full case folding of no particular language, so `ß` is `ss` and
 *                the dotless `ı` is not `i` (Unicode, chapter 3.13)
 *   domain       IDNA2008 with the mapping of UTS 46, non-transitional, in ASCII: `münchen.de` is `xn--mnchen-3ya.de`.
 *                `straße.de` and `strasse.de` are two domains and stay two
 *
 * The key of a key is the key itself. The key of an ASCII address is the address in lower case. Keys are compared byte
 * by byte.
 *
 * A valid address holds no invisible code points: those that Unicode says to ignore (U+00AD, U+034F, U+3164, tags,
 * variation selectors), zero widths, direction marks, blanks, controls, private use, and what is not assigned in
 * libunistring's version of Unicode.
 */
#ifndef GATEHOUSE_CODEC_ADDRESS_H
#define GATEHOUSE_CODEC_ADDRESS_H

#include <stdbool.h>

struct arena;

enum address_fault {
    ADDRESS_GOOD,
    ADDRESS_SHAPE,     /* no local part, no @, no domain of two names, or characters that are not allowed there */
    ADDRESS_INVISIBLE, /* an invisible code point */
    ADDRESS_DOMAIN,    /* a domain that IDNA does not allow */
    /* more than LIMIT_EMAIL_BYTES, or a local part over LIMIT_LOCAL_PART_BYTES, as typed or as a key */
    ADDRESS_LENGTH
};

/* Checks UTF-8 text of any length. */
enum address_fault address_validate(struct arena *arena, const char *text);

/* What is wrong, in words for a person: "must be an e-mail address". NULL for ADDRESS_GOOD. */
const char *address_fault_text(enum address_fault fault);

/*
 * The form in which an address is stored and written to: as typed, in NFC, with A to Z as a to z, with a plain @, and
 * with the domain in lower case and its letters and dots in their plain forms. In a text that is no valid address only
 * A to Z change.
 */
const char *address_clean(struct arena *arena, const char *text);

/*
 * The comparison key (see above), in the arena. A text that is no valid address, such as a name without a domain, is
 * its own key, with A to Z as a to z: it never equals the key of a valid address.
 */
const char *address_key(struct arena *arena, const char *text);

/* Whether both texts are spellings of one address; NULL equals nothing. */
bool address_same(struct arena *arena, const char *one, const char *other);

/*
 * NFKC and case folding of any text, for searches and for comparing names; in the arena. Invalid UTF-8 stays as it is.
 */
const char *address_fold(struct arena *arena, const char *text);

/* The address with its domain in ASCII, as mail servers take it; an invalid address is returned as it is. */
const char *address_wire(struct arena *arena, const char *address);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * E-mail addresses: which are good, how one is kept, and which are the same.
 *
 * One address has many spellings. Letters have two cases, an accent stands in its letter (NFC) or behind it (NFD),
 * there are full-width letters, signs and dots, and a domain is written in its own letters or in punycode. The
 * comparison key is the same text for all of them:
 *
 *   local part   Unicode normalisation form NFKC and full case folding of no particular language, so `ß` is `ss` and the
 *                dotless `ı` is not `i` (Unicode, chapter 3.13)
 *   domain       IDNA2008 with the mapping of UTS 46, non-transitional, in ASCII: `münchen.de` is `xn--mnchen-3ya.de`.
 *                `straße.de` and `strasse.de` are two domains and stay two
 *
 * A key is its own key. That of an ASCII address is the address in lower case. Keys are compared byte by byte.
 *
 * Code points that nobody sees are in no good address: what Unicode says to ignore (U+00AD, U+034F, U+3164, tags,
 * variation selectors), zero widths, marks of direction, blanks, controls, private use, and what is not assigned in
 * libunistring's version of Unicode.
 */
#ifndef GATEHOUSE_CODEC_ADDRESS_H
#define GATEHOUSE_CODEC_ADDRESS_H

#include <stdbool.h>

struct arena;

enum address_fault {
    ADDRESS_GOOD,
    ADDRESS_SHAPE,     /* no local part, no @, no domain of two names, or signs that cannot stand there */
    ADDRESS_INVISIBLE, /* a code point that nobody sees */
    ADDRESS_DOMAIN,    /* a domain that IDNA does not allow */
    ADDRESS_LENGTH     /* more than LIMIT_EMAIL_BYTES, or a local part over LIMIT_LOCAL_PART_BYTES, as typed or as a key */
};

/* Judges UTF-8 text of any length. */
enum address_fault address_validate(struct arena *arena, const char *text);

/* What is wrong, for a person: "must be an e-mail address". NULL for ADDRESS_GOOD. */
const char *address_fault_text(enum address_fault fault);

/*
 * The form in which an address is kept and written to: as typed, in NFC, with A to Z as a to z, with a plain @, and
 * with the domain in lower case, its letters and dots in their plain forms. What is no good address comes back with A
 * to Z as a to z and nothing else changed.
 */
const char *address_clean(struct arena *arena, const char *text);

/*
 * The comparison key (see above), in the arena. A text that is no good address, such as a name without a domain, is
 * compared as it is, with A to Z as a to z: it never has the key of a good one.
 */
const char *address_key(struct arena *arena, const char *text);

/* Whether both texts are spellings of one address; NULL is nobody's. */
bool address_same(struct arena *arena, const char *one, const char *other);

/*
 * NFKC and case folding of any text, for searches and for comparing names; in the arena. Invalid UTF-8 stays as it is.
 */
const char *address_fold(struct arena *arena, const char *text);

/* The address with its domain in ASCII, as mail servers take it; an address that is not good comes back as it is. */
const char *address_wire(struct arena *arena, const char *address);

#endif

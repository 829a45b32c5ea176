/* SPDX-License-Identifier: MIT */
/*
 * Checks e-mail addresses, and makes the form that is stored and the key that is compared. An address is split at its
 * last @ after NFKC, so that a full-width @ counts. Nearly all addresses are ASCII and never reach the libraries:
 * folding them is lower case, and NFKC does not change them.
 */
#include "codec/address.h"

#include <idn2.h>
#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <uninorm.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/visible.h"

/* The parts of an address that was checked. */
struct parts {
    const char *local;  /* NFKC, not folded */
    const char *domain; /* NFKC, dots plain */
    const char *ascii;  /* the domain in ASCII, lower case */
};

static bool is_ascii(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

/* ---- Unicode -------------------------------------------------------------------------------------- */

static bool is_seen(uint32_t code_point)
{
    return code_point < 0x80 || visible_code_point(code_point); /* a later step checks ASCII characters */
}

/* False for invalid UTF-8 as well. */
static bool is_visible(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t left = strlen(text), step; left > 0; left -= step, bytes += step) {
        uint32_t code_point = 0;
        step = utf8_next(bytes, left, &code_point);
        if (step == 0 || !is_seen(code_point))
            return false;
    }
    return true;
}

/* Copies a text that a library allocated, and frees it. `fallback` in place of NULL, which only invalid UTF-8 gives. */
static const char *keep(struct arena *arena, void *bytes, size_t length, const char *fallback)
{
    const char *kept = bytes == NULL ? fallback : arena_copy(arena, bytes, length);
    free(bytes);
    return kept;
}

static const char *normalise(struct arena *arena, uninorm_t form, const char *text)
{
    size_t length = 0;
    if (is_ascii(text))
        return text;
    uint8_t *bytes = u8_normalize(form, (const uint8_t *)text, strlen(text), NULL, &length);
    return keep(arena, bytes, length, text);
}

static const char *lower(struct arena *arena, const char *text)
{
    size_t length = 0;
    uint8_t *bytes = u8_tolower((const uint8_t *)text, strlen(text), NULL, UNINORM_NFC, NULL, &length);
    return keep(arena, bytes, length, text);
}

static const char *fold_once(struct arena *arena, const char *text)
{
    size_t length = 0;
    uint8_t *bytes = u8_casefold((const uint8_t *)text, strlen(text), NULL, UNINORM_NFKC, NULL, &length);
    return keep(arena, bytes, length, text);
}

/*
 * Folding can produce characters that compose again, so it is repeated until nothing changes (Unicode, D146). Twice has
 * always been enough.
 */
const char *address_fold(struct arena *arena, const char *text)
{
    if (is_ascii(text))
        return text_lowered(arena, text);
    const char *folded = fold_once(arena, normalise(arena, UNINORM_NFKC, text));
    for (;;) {
        const char *again = fold_once(arena, folded);
        if (strcmp(again, folded) == 0)
            return folded;
        folded = again;
    }
}

/* ---- the parts ------------------------------------------------------------------------------------ */

static bool local_part_is_good(const char *text)
{
    static const char specials[] = "!#$%&'*+-/=?^_`{|}~";
    size_t length = strlen(text);
    if (length == 0 || text[0] == '.' || text[length - 1] == '.')
        return false;
    for (size_t i = 0; i < length; i++) {
        char character = text[i];
        bool dot = character == '.' && text[i + 1] != '.';
        bool atom = text_is_alpha(character) || text_is_digit(character) || strchr(specials, character) != NULL;
        if (!dot && !atom && (unsigned char)character < 0x80)
            return false;
    }
    return true;
}

static bool label_is_good(const char *label, size_t length)
{
    if (length == 0 || length > 63 || label[0] == '-' || label[length - 1] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!text_is_alpha(label[i]) && !text_is_digit(label[i]) && label[i] != '-')
            return false;
    return true;
}

/* Two ASCII names or more. */
static bool domain_is_good(const char *domain)
{
    size_t labels = 0;
    while (*domain != '\0') {
        size_t length = strcspn(domain, ".");
        if (!label_is_good(domain, length))
            return false;
        labels++;
        domain += length;
        if (*domain != '.')
            continue;
        domain++;
        if (*domain == '\0')
            return false;
    }
    return labels >= 2;
}

/*
 * The domain with plain dots: NFKC leaves U+3002, and makes it of the half-width U+FF61. The capital sharp s becomes
 * the small one, which IDNA keeps; old and new libraries differ about it. The capital sigma becomes the small one, as
 * IDNA has it: lower case alone would make another letter of one at the end of a word, and so another domain.
 */
static const char *plain_domain(struct arena *arena, const char *domain)
{
    static const char *const forms[][2] = {
        {"\xe3\x80\x82", "."}, {"\xe1\xba\x9e", "\xc3\x9f"}, {"\xce\xa3", "\xcf\x83"}};
    const size_t count = sizeof forms / sizeof *forms;
    struct buffer out;
    buffer_init(&out, arena);
    while (*domain != '\0') {
        size_t form = 0;
        while (form < count && strncmp(domain, forms[form][0], strlen(forms[form][0])) != 0)
            form++;
        if (form < count)
            buffer_add_text(&out, forms[form][1]);
        else
            buffer_add_char(&out, *domain);
        domain += form < count ? strlen(forms[form][0]) : 1;
    }
    return out.bytes;
}

/* libidn2 drops other ASCII characters and reports nothing. */
static bool has_domain_signs(const char *domain)
{
    for (; *domain != '\0'; domain++)
        if ((unsigned char)*domain < 0x80 && !text_is_alpha(*domain) && !text_is_digit(*domain) &&
            strchr("-.", *domain) == NULL)
            return false;
    return true;
}

/* The domain in ASCII; NULL where IDNA does not allow it. Plain names stay as they are. */
static const char *domain_to_ascii(struct arena *arena, const char *domain)
{
    char *ascii = NULL;
    const char *lowered = text_lowered(arena, domain);
    if (is_ascii(lowered) && strstr(lowered, "xn--") == NULL)
        return lowered;
    int result = idn2_lookup_u8((const uint8_t *)lowered, (uint8_t **)&ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    const char *kept = result == IDN2_OK ? text_lowered(arena, ascii) : NULL;
    idn2_free(ascii);
    return kept;
}

static bool fits(const struct parts *parts)
{
    return strlen(parts->local) <= LIMIT_LOCAL_PART_BYTES &&
           strlen(parts->local) + 1 + strlen(parts->domain) <= LIMIT_EMAIL_BYTES;
}

/* The parts of an address; they are complete only with ADDRESS_GOOD. */
static enum address_fault take_apart(struct arena *arena, const char *text, struct parts *parts_out)
{
    if (strlen(text) > LIMIT_EMAIL_BYTES)
        return ADDRESS_LENGTH;
    if (!is_visible(text))
        return ADDRESS_INVISIBLE;
    const char *whole = normalise(arena, UNINORM_NFKC, text);
    const char *at = strrchr(whole, '@');
    if (at == NULL)
        return ADDRESS_SHAPE;
    parts_out->local = arena_copy(arena, whole, (size_t)(at - whole));
    parts_out->domain = plain_domain(arena, at + 1);
    if (!local_part_is_good(parts_out->local))
        return ADDRESS_SHAPE;
    if (!is_visible(parts_out->local))
        return ADDRESS_INVISIBLE;
    if (!has_domain_signs(parts_out->domain) || (is_ascii(parts_out->domain) && !domain_is_good(parts_out->domain)))
        return ADDRESS_SHAPE;
    parts_out->ascii = domain_to_ascii(arena, parts_out->domain);
    if (parts_out->ascii == NULL || !domain_is_good(parts_out->ascii))
        return ADDRESS_DOMAIN;
    const struct parts key = {.local = address_fold(arena, parts_out->local), .domain = parts_out->ascii};
    return fits(parts_out) && fits(&key) ? ADDRESS_GOOD : ADDRESS_LENGTH;
}

/* ---- what others ask ------------------------------------------------------------------------------ */

enum address_fault address_validate(struct arena *arena, const char *text)
{
    struct parts parts;
    return take_apart(arena, text, &parts);
}

const char *address_fault_text(enum address_fault fault)
{
    static const char *const texts[] = {
        [ADDRESS_SHAPE] = "must be an e-mail address",
        [ADDRESS_INVISIBLE] = "must be an e-mail address without characters that nobody sees",
        [ADDRESS_DOMAIN] = "must be an e-mail address whose domain can exist (IDNA)",
        [ADDRESS_LENGTH] = "must be an e-mail address of at most " LIMIT_TEXT(
            LIMIT_EMAIL_BYTES) " bytes, with at most " LIMIT_TEXT(LIMIT_LOCAL_PART_BYTES) " before the @",
    };
    return fault == ADDRESS_GOOD ? NULL : texts[fault];
}

/* As typed, up to the last @ of any of the three widths. */
static const char *typed_local_part(struct arena *arena, const char *text)
{
    static const char *const signs[] = {"@", "\xef\xbc\xa0", "\xef\xb9\xab"};
    const char *last = text;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (const char *at = text; (at = strstr(at, signs[i])) != NULL; at++)
            last = at > last ? at : last;
    return arena_copy(arena, text, (size_t)(last - text));
}

const char *address_clean(struct arena *arena, const char *text)
{
    struct parts parts;
    if (is_ascii(text) || take_apart(arena, text, &parts) != ADDRESS_GOOD)
        return text_lowered(arena, text);
    const char *local = normalise(arena, UNINORM_NFC, typed_local_part(arena, text));
    return arena_format(arena, "%s@%s", text_lowered(arena, local), lower(arena, parts.domain));
}

const char *address_key(struct arena *arena, const char *text)
{
    struct parts parts;
    if (is_ascii(text) || take_apart(arena, text, &parts) != ADDRESS_GOOD)
        return text_lowered(arena, text);
    return arena_format(arena, "%s@%s", address_fold(arena, parts.local), parts.ascii);
}

bool address_same(struct arena *arena, const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(address_key(arena, one), address_key(arena, other)) == 0;
}

const char *address_wire(struct arena *arena, const char *address)
{
    struct parts parts;
    const char *at = strrchr(address, '@');
    if (is_ascii(address) || at == NULL || take_apart(arena, address, &parts) != ADDRESS_GOOD)
        return address;
    return arena_format(arena, "%s@%s", arena_copy(arena, address, (size_t)(at - address)), parts.ascii);
}

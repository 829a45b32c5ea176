/* SPDX-License-Identifier: MIT */
/* Compares addresses as 128 bits: an IPv4 address as ::ffff:a.b.c.d, with a prefix 96 bits longer. */
#include "base/network.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#define ADDRESS_BYTES 16
#define ADDRESS_BITS (8 * ADDRESS_BYTES)
#define MAPPED_BITS 96
#define TEXT_BYTES 48

struct range {
    unsigned char address[ADDRESS_BYTES];
    unsigned bits; /* how many of them count */
};

static bool read_address(const char *text, unsigned char out[ADDRESS_BYTES], unsigned *prefix_out)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    *prefix_out = 0;
    if (inet_pton(AF_INET6, text, out) == 1)
        return true;
    memcpy(out, mapped, sizeof mapped);
    *prefix_out = MAPPED_BITS;
    return inet_pton(AF_INET, text, out + sizeof mapped) == 1;
}

static bool read_range(const char *text, struct range *range_out)
{
    char address[TEXT_BYTES];
    const char *slash = strchr(text, '/');
    size_t length = slash == NULL ? strlen(text) : (size_t)(slash - text);
    unsigned prefix = 0;
    int64_t bits = 0;
    if (length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    if (!read_address(address, range_out->address, &prefix))
        return false;
    range_out->bits = ADDRESS_BITS;
    if (slash == NULL)
        return true;
    if (!text_to_integer(slash + 1, 0, ADDRESS_BITS - prefix, &bits))
        return false;
    range_out->bits = prefix + (unsigned)bits;
    return true;
}

bool network_is_range(const char *text)
{
    struct range range;
    return read_range(text, &range);
}

static bool has(const struct range *range, const unsigned char address[ADDRESS_BYTES])
{
    size_t whole = range->bits / 8;
    unsigned rest = range->bits % 8;
    if (memcmp(range->address, address, whole) != 0)
        return false;
    return rest == 0 || ((range->address[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

bool network_is_loopback(const char *host)
{
    static const char *const loopback[] = {"127.0.0.0/8", "::1"};
    const struct text_list ranges = {.items = (const char **)(uintptr_t)loopback, .count = 2};
    char address[TEXT_BYTES];
    size_t length = strlen(host);
    if (text_equal_ignoring_case(host, "localhost"))
        return true;
    if (length < 3 || length >= sizeof address || host[0] != '[' || host[length - 1] != ']')
        return network_list_has(&ranges, host);
    memcpy(address, host + 1, length - 2);
    address[length - 2] = '\0';
    return strchr(address, ':') != NULL && network_list_has(&ranges, address);
}

bool network_list_has(const struct text_list *ranges, const char *address)
{
    unsigned char bytes[ADDRESS_BYTES];
    unsigned prefix;
    if (!read_address(address, bytes, &prefix))
        return false;
    for (size_t i = 0; i < ranges->count; i++) {
        struct range range;
        if (read_range(ranges->items[i], &range) && has(&range, bytes))
            return true;
    }
    return false;
}

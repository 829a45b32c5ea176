/* SPDX-License-Identifier: MIT */
/* Reads the list of database hosts. */
#include "store/database/host_list.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

#define NAME_MAX_BYTES 253
#define PORT_MAX 65535

static bool is_ipv6(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET6, text, &address) == 1;
}

static bool is_name(const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length > NAME_MAX_BYTES || text[0] == '-' || text[0] == '.')
        return false;
    for (const char *at = text; *at != '\0'; at++)
        if (!text_is_digit(*at) && !(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') && *at != '.' &&
            *at != '-' && *at != '_')
            return false;
    return true;
}

/* Reads one entry, which is the caller's to change. What is wrong with it; NULL: nothing. */
static const char *read_entry(char *entry, unsigned port, struct host *host_out)
{
    int64_t number = port;
    char *name = entry;
    char *rest = strchr(entry, ':');
    bool bracketed = entry[0] == '[';
    if (bracketed) {
        char *end = strchr(entry, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return "an address in brackets ends with ] or ]:PORT";
        rest = end[1] == ':' ? end + 1 : NULL;
        *end = '\0';
        name = entry + 1;
    } else if (rest != NULL && strchr(rest + 1, ':') != NULL) {
        rest = NULL; /* an IPv6 address without brackets has no port */
        bracketed = true;
    }
    if (rest != NULL) {
        *rest = '\0';
        if (!text_to_integer(rest + 1, 1, PORT_MAX, &number))
            return "its port is no number from 1 to 65535";
    }
    if (bracketed ? !is_ipv6(name) : !is_name(name))
        return bracketed ? "it is no IPv6 address" : "it is no host name and no address";
    *host_out = (struct host){.name = name, .port = (unsigned)number};
    return NULL;
}

static bool has(const struct host_list *list, const struct host *host)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].port == host->port && text_equal_ignoring_case(list->items[i].name, host->name))
            return true;
    return false;
}

static char *trimmed(struct arena *arena, const char *bytes, size_t length)
{
    while (length > 0 && (bytes[0] == ' ' || bytes[0] == '\t')) {
        bytes++;
        length--;
    }
    while (length > 0 && (bytes[length - 1] == ' ' || bytes[length - 1] == '\t'))
        length--;
    return arena_copy(arena, bytes, length);
}

/* One entry: added to the list, or its fault to `faults`. */
static void add(struct arena *arena, const char *entry, unsigned port, struct host_list *list, struct buffer *faults)
{
    struct host host;
    const char *fault = *entry == '\0' ? "it is empty" : read_entry(arena_text(arena, entry), port, &host);
    if (fault == NULL && has(list, &host))
        fault = "it is there already";
    if (fault == NULL && list->count == LIMIT_DATABASE_HOSTS)
        fault = "there are too many";
    if (fault == NULL)
        list->items[list->count++] = host;
    else
        buffer_add_format(faults, "%s\"%s\" (%s)", faults->length == 0 ? "" : ", ", entry, fault);
}

struct error *host_list_parse(struct arena *arena, const char *text, unsigned port, struct host_list *list_out)
{
    struct buffer faults;
    buffer_init(&faults, arena);
    *list_out = (struct host_list){.count = 0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        add(arena, trimmed(arena, at, length), port, list_out, &faults);
        at += length;
        if (*at == '\0')
            break;
    }
    if (faults.length == 0)
        return NULL;
    struct error *error = error_plain(arena, ERROR_INTERNAL);
    return error_message(error,
                         "[database] host is a list of up to %d hosts, such as \"db1, db2:3307, [2001:db8::3]\";"
                         " wrong in it: %s.",
                         LIMIT_DATABASE_HOSTS, faults.bytes);
}

/* SPDX-License-Identifier: MIT */
/* Writes and reads the records of FastCGI. */
#include "fastcgi_client.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/text.h"

enum { BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 };

static void put(int fd, int type, const void *bytes, size_t length)
{
    unsigned char head[8] = {1, (unsigned char)type, 0, 1, (unsigned char)(length >> 8), (unsigned char)length, 0, 0};
    (void)!send(fd, head, sizeof head, MSG_NOSIGNAL);
    if (length > 0)
        (void)!send(fd, bytes, length, MSG_NOSIGNAL);
}

void fastcgi_client_put(int fd, int role, bool keep, const char *parameters, const char *body)
{
    const unsigned char begin[8] = {0, (unsigned char)role, keep};
    char copy[1024], *rest = NULL;
    unsigned char pairs[1024];
    size_t length = 0;
    put(fd, BEGIN, begin, sizeof begin);
    (void)snprintf(copy, sizeof copy, "%s", parameters);
    for (char *one = strtok_r(copy, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest)) {
        size_t name = strcspn(one, "="), value = strlen(one + name + 1);
        pairs[length++] = (unsigned char)name;
        pairs[length++] = (unsigned char)value;
        memcpy(pairs + length, one, name);
        memcpy(pairs + length + name, one + name + 1, value);
        length += name + value;
    }
    if (length > 0)
        put(fd, PARAMS, pairs, length);
    put(fd, PARAMS, NULL, 0);
    if (body != NULL && *body != '\0')
        put(fd, STDIN, body, strlen(body));
    if (body != NULL)
        put(fd, STDIN, NULL, 0);
}

const char *fastcgi_client_take(struct arena *arena, int fd)
{
    struct buffer text;
    unsigned char head[8], bytes[65536];
    buffer_init(&text, arena);
    while (recv(fd, head, sizeof head, MSG_WAITALL) == (ssize_t)sizeof head) {
        size_t length = ((size_t)head[4] << 8 | head[5]) + head[6];
        if (length > 0 && recv(fd, bytes, length, MSG_WAITALL) != (ssize_t)length)
            return NULL;
        if (head[1] == STDOUT)
            buffer_add(&text, (char *)bytes, length - head[6]);
        if (head[1] == END)
            return text.bytes;
    }
    return NULL;
}

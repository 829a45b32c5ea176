/* SPDX-License-Identifier: MIT */
/* The reading function of libfcgi, with a guard in it. */
#include "http/fastcgi_input_int.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "http/fastcgi_guard_int.h"

/* As libfcgi's fcgios.h has it, which defines names of its own besides. */
int OS_Read(int fd, char *bytes, size_t capacity);

static struct {
    int fd;
    struct fastcgi_guard guard;
    bool told; /* why the guard is broken is in the log */
} input = {.fd = -1};

void fastcgi_input_start(int fd)
{
    input.fd = fd;
    input.told = false;
    fastcgi_guard_start(&input.guard);
}

void fastcgi_input_next(void)
{
    fastcgi_guard_next(&input.guard);
}

enum fastcgi_head fastcgi_input_head(void)
{
    if (!input.guard.begun)
        return FASTCGI_HEAD_UNSEEN;
    return input.guard.whole ? FASTCGI_HEAD_WHOLE : FASTCGI_HEAD_CUT;
}

static void tell(void)
{
    if (input.guard.stage != FASTCGI_STAGE_BROKEN || input.told)
        return;
    input.told = true;
    LOG(WARN, HTTP, "a FastCGI connection was cut: it is not what a web server sends",
        LOG_TEXT("problem", input.guard.problem));
}

/* The peer has to take an answer at once: it fits into the socket. */
static bool answer(void)
{
    unsigned char bytes[FASTCGI_ANSWER_BYTES];
    size_t length = fastcgi_guard_answer(&input.guard, bytes);
    return length == 0 || send(input.fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

/*
 * The one by which libfcgi reads. 0, the end of the connection, when the guard is broken, and -1 for a descriptor that
 * is not the connection's. A head that has not come whole is kept back, so that it reads on then.
 */
__attribute__((visibility("default"))) int OS_Read(int fd, char *bytes, size_t capacity)
{
    if (fd != input.fd || capacity < 2 * (size_t)FASTCGI_HEAD_BYTES) {
        errno = EBADF;
        return -1;
    }
    while (input.guard.stage != FASTCGI_STAGE_BROKEN) {
        size_t held = fastcgi_guard_held(&input.guard);
        ssize_t got = read(fd, bytes + held, capacity - held);
        if (got <= 0)
            return (int)got;
        size_t passed = fastcgi_guard_pass(&input.guard, (unsigned char *)bytes, (size_t)got);
        tell();
        if (!answer())
            return -1;
        if (passed > 0)
            return (int)passed;
    }
    tell();
    return 0;
}

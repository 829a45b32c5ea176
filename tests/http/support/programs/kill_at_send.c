/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program by the crash tests: ends it with SIGKILL just before its N-th message to the
 * database. The database's socket is named by CRASH_SOCKET; the messages are counted from the moment that the
 * file CRASH_FILE holds N. So a test can warm the program up first, and then try every N until the work gets
 * done. The file is opened when the program starts, since its sandbox does not let it open the file later.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int is_database(int fd)
{
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    const char *path = getenv("CRASH_SOCKET");
    memset(&peer, 0, sizeof peer);
    return path != NULL && getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sun_family == AF_UNIX &&
           strcmp(peer.sun_path, path) == 0;
}

static int number_file = -1;

__attribute__((constructor)) static void open_number_file(void)
{
    const char *path = getenv("CRASH_FILE");
    if (path != NULL)
        number_file = open(path, O_RDONLY | O_CLOEXEC);
}

/* N, or 0 while the file is empty. */
static long wanted(void)
{
    char text[32] = "";
    ssize_t length = number_file < 0 ? 0 : pread(number_file, text, sizeof text - 1, 0);
    return length > 0 ? strtol(text, NULL, 10) : 0;
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);
    static long count;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "send");
    if (is_database(fd) && wanted() > 0 && ++count == wanted())
        (void)raise(SIGKILL); /* the sandbox lets a program send signals to itself alone */
    return next(fd, bytes, length, flags);
}

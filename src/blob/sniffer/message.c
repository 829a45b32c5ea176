/* SPDX-License-Identifier: MIT */
/* Sends and receives the messages of message_int.h. */
#include "blob/sniffer/message_int.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

/* Room for one descriptor that comes along. */
union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void attach(struct msghdr *packet, union control *control, int descriptor)
{
    memset(control, 0, sizeof *control);
    packet->msg_control = control->bytes;
    packet->msg_controllen = sizeof control->bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
}

bool message_send(int socket, enum message_kind kind, uint64_t number, const void *bytes, size_t length, int attached)
{
    struct message head = {.kind = kind, .length = (uint32_t)length, .number = number};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, length}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = length > 0 ? 2 : 1};
    union control control;
    if (attached >= 0)
        attach(&packet, &control, attached);
    ssize_t sent;
    do
        sent = sendmsg(socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(sizeof head + length);
}

/* False when `until` comes first. */
static bool wait_for(int socket, int64_t until)
{
    struct pollfd one = {.fd = socket, .events = POLLIN};
    for (;;) {
        int64_t left = until - clock_monotonic();
        int ready = left <= 0 ? 0 : poll(&one, 1, (int)((left + 999) / 1000));
        if (ready > 0)
            return true;
        if (left <= 0 || (ready < 0 && errno != EINTR))
            return false;
    }
}

/* The descriptor that came along; -1: none. */
static int find_attached(struct msghdr *packet)
{
    int descriptor = -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(packet);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof descriptor))
        memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    return descriptor;
}

enum message_end message_receive(int socket, int64_t until, struct message *head_out, void *bytes_out, size_t capacity,
                                 int *descriptor_out)
{
    struct iovec parts[] = {{head_out, sizeof *head_out}, {bytes_out, capacity}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = capacity > 0 ? 2 : 1};
    union control control;
    if (descriptor_out != NULL) {
        *descriptor_out = -1;
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
    }
    if (until != 0 && !wait_for(socket, until))
        return MESSAGE_LATE;
    ssize_t got;
    do
        got = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return MESSAGE_ENDED;
    if (descriptor_out != NULL)
        *descriptor_out = find_attached(&packet);
    bool whole = (packet.msg_flags & MSG_TRUNC) == 0 && (size_t)got >= sizeof *head_out &&
                 head_out->length == (size_t)got - sizeof *head_out;
    return whole ? MESSAGE_GOT : MESSAGE_BROKEN;
}

void message_text(char *member, size_t capacity, const char *text)
{
    (void)snprintf(member, capacity, "%s", text == NULL ? "" : text);
}

/* SPDX-License-Identifier: MIT */
/*
 * The sniffer: it narrows itself, and answers one question after the other. A question that ends it is the worker's to
 * notice.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "blob/image_int.h"
#include "blob/sniff.h"
#include "blob/sniffer/child_int.h"
#include "blob/sniffer/message_int.h"

/* Reads the rest of a file by asking the worker for it. */
static size_t read_rest(void *context, uint64_t offset, void *bytes, size_t length)
{
    int socket = *(int *)context;
    struct message head;
    struct message_read wanted = {.length = (uint32_t)length};
    if (!message_send(socket, MESSAGE_READ, offset, &wanted, sizeof wanted, -1) ||
        message_receive(socket, 0, &head, bytes, length, NULL) != MESSAGE_GOT || head.kind != MESSAGE_REST)
        _exit(EXIT_FAILURE);
    return head.length;
}

/* Whether it has used so much of its share that the next question might end it. */
static bool is_spent(void)
{
    struct timespec used;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 && used.tv_sec >= LIMIT_SNIFFER_SECONDS / 2;
}

static bool answer(int socket, const struct sniffed *sniffed)
{
    struct message_answer answer;
    memset(&answer, 0, sizeof answer);
    answer.text = sniffed->text;
    answer.last = is_spent();
    message_text(answer.media_type, sizeof answer.media_type, sniffed->media_type);
    message_text(answer.complaint, sizeof answer.complaint, sniffed->complaint);
    return message_send(socket, MESSAGE_ANSWER, sniffed->pixels, &answer, sizeof answer, -1) && !answer.last;
}

static void serve(int socket, struct sniffer *sniffer, struct arena *arena)
{
    unsigned char *bytes = arena_alloc(arena, LIMIT_SNIFF_BYTES);
    struct arena *scratch = arena_new();
    struct message head;
    struct sniffed sniffed;
    const struct sniff_rest rest = {.read = read_rest, .context = &socket};
    do {
        arena_reset(scratch);
        if (message_receive(socket, 0, &head, bytes, LIMIT_SNIFF_BYTES, NULL) != MESSAGE_GOT ||
            head.kind != MESSAGE_EXAMINE)
            return;
        sniffed = sniff(sniffer, scratch, bytes, head.length, head.number != 0 ? &rest : NULL);
    } while (answer(socket, &sniffed));
}

void sniff_child_run(int socket, struct sniffer *sniffer, const struct sandbox_walls *walls)
{
    struct message_ready ready;
    const char *problem = walls == NULL ? NULL : walls->problem;
    memset(&ready, 0, sizeof ready);
    ready.bounds = sandbox_bound(LIMIT_SNIFFER_MEMORY_BYTES, LIMIT_SNIFFER_SECONDS);
    struct arena *arena = arena_new();
    if (walls != NULL) {
        ready.landlock = walls->landlock;
        ready.calls = walls->calls && sandbox_narrow(SANDBOX_CALLS_SNIFFER, &problem);
    }
    if (problem == NULL && ready.bounds == 0)
        problem = "the kernel refused a bound on memory, processor time, files or processes";
    message_text(ready.problem, sizeof ready.problem, problem);
    if (message_send(socket, MESSAGE_READY, 0, &ready, sizeof ready, -1))
        serve(socket, sniffer, arena);
    _exit(EXIT_SUCCESS);
}

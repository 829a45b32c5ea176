/* SPDX-License-Identifier: MIT */
/* The worker's side: asks the sniffer, believes it nothing that cannot be, and has it replaced. */
#include "blob/sniffer/sniffer.h"

#include <errno.h>
#include <magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"
#include "blob/image_int.h"
#include "blob/media_int.h"
#include "blob/sniffer/child_int.h"
#include "blob/sniffer/message_int.h"
#include "blob/sniffer/types_int.h"

struct sniff_process {
    pid_t keeper;
    int control; /* to the keeper */
    int socket;  /* to the sniffer; -1: there is none */
    bool ready;  /* it said so */
    bool walls;
    bool lost;
    const struct sniff_types *types;
    unsigned files; /* that this sniffer has seen */
    /* What the first one has, and each of its successors must have. */
    int landlock;
    bool calls;
    bool bounds;
};

#define PAUSE ((int64_t)LIMIT_SNIFFER_MILLISECONDS * 1000)

/* ---- the processes ------------------------------------------------------------------------------- */

static void drop(int *descriptor)
{
    if (*descriptor >= 0)
        (void)close(*descriptor);
    *descriptor = -1;
}

static void end_processes(void *argument)
{
    struct sniff_process *process = argument;
    int status;
    drop(&process->socket);
    drop(&process->control); /* the keeper ends when it notices */
    while (waitpid(process->keeper, &status, 0) < 0 && errno == EINTR)
        continue;
}

/* A sanitizer speaks on stderr, so that stays in a build with one. */
static void close_all_but(int control)
{
#if defined(__SANITIZE_ADDRESS__)
    const int kept = STDERR_FILENO;
#else
    const int kept = control;
#endif
    struct rlimit most = {.rlim_cur = 1024, .rlim_max = 1024};
    if (syscall(SYS_close_range, (unsigned)control + 1, ~0U, 0U) == 0) {
        for (int i = 0; i < control; i++)
            if (i != kept)
                (void)close(i);
        return;
    }
    (void)getrlimit(RLIMIT_NOFILE, &most);
    for (int i = 0; i < (int)most.rlim_cur; i++)
        if (i != control && i != kept)
            (void)close(i);
}

struct error *sniff_process_fork(struct arena *arena, char **arguments, struct sniff_process **process_out)
{
    int ends[2];
    pid_t worker = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_new(arena, ERROR_INTERNAL, "no socket for the sniffer: %s", strerror(errno));
    pid_t keeper = fork();
    if (keeper < 0) {
        struct error *error = error_new(arena, ERROR_INTERNAL, "no process for the sniffer: %s", strerror(errno));
        (void)close(ends[0]);
        (void)close(ends[1]);
        return error;
    }
    if (keeper == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != worker)
            _exit(EXIT_FAILURE);
        close_all_but(ends[1]);
        sniff_keeper_run(ends[1], arguments);
    }
    (void)close(ends[1]);
    struct sniff_process *process = arena_alloc(arena, sizeof *process);
    *process = (struct sniff_process){.keeper = keeper, .control = ends[0], .socket = -1};
    arena_defer(arena, end_processes, process);
    *process_out = process;
    return NULL;
}

/* Has the keeper end the sniffer and fork another one. */
static struct error *replace(struct sniff_process *process, struct arena *arena, struct message_started *started_out)
{
    int ends[2];
    struct message head;
    drop(&process->socket);
    process->ready = false;
    process->files = 0;
    process->lost = true;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return error_new(arena, ERROR_INTERNAL, "no socket for the sniffer: %s", strerror(errno));
    process->socket = ends[0];
    bool sent = message_send(process->control, MESSAGE_START, process->walls, NULL, 0, ends[1]);
    (void)close(ends[1]);
    if (!sent ||
        message_receive(process->control, clock_monotonic() + PAUSE, &head, started_out, sizeof *started_out, NULL) !=
            MESSAGE_GOT ||
        head.kind != MESSAGE_STARTED || head.length != sizeof *started_out)
        return error_new(arena, ERROR_INTERNAL, "the sniffer's keeper does not answer");
    started_out->problem[sizeof started_out->problem - 1] = '\0';
    if (started_out->pid < 0)
        return error_new(arena, ERROR_INTERNAL, "the sniffer cannot be started: %s", started_out->problem);
    process->lost = false;
    return NULL;
}

/* Drops a sniffer that holds less than the first one: whoever takes it over would get more. */
static struct error *expect_walls(struct sniff_process *process, struct arena *arena, const struct message_ready *ready)
{
    if (ready->landlock >= process->landlock && (ready->calls != 0 || !process->calls) &&
        (ready->bounds != 0 || !process->bounds))
        return NULL;
    drop(&process->socket);
    process->lost = true;
    return error_new(arena, ERROR_INTERNAL, "a new sniffer has fewer walls than the first: %s",
                     ready->problem[0] == '\0' ? "it does not say why" : ready->problem);
}

/* Waits until the sniffer is ready, once. */
static struct error *await(struct sniff_process *process, struct arena *arena, struct message_ready *ready_out)
{
    struct message head;
    if (message_receive(process->socket, clock_monotonic() + PAUSE, &head, ready_out, sizeof *ready_out, NULL) !=
            MESSAGE_GOT ||
        head.kind != MESSAGE_READY || head.length != sizeof *ready_out) {
        process->lost = true;
        return error_new(arena, ERROR_INTERNAL, "a new sniffer does not answer");
    }
    ready_out->problem[sizeof ready_out->problem - 1] = '\0';
    TRY(expect_walls(process, arena, ready_out));
    process->ready = true;
    return NULL;
}

struct error *sniff_process_start(struct sniff_process *process, struct arena *arena, bool sandbox,
                                  struct sandbox_walls *walls_out)
{
    struct message_started started;
    struct message_ready ready;
    process->walls = sandbox;
    process->types = sniff_types_load(arena, magic_getpath(NULL, 0));
    TRY(replace(process, arena, &started));
    TRY(await(process, arena, &ready));
    process->landlock = ready.landlock;
    process->calls = ready.calls != 0;
    process->bounds = ready.bounds != 0;
    *walls_out = (struct sandbox_walls){
        .landlock = ready.landlock,
        .calls = ready.calls != 0,
        .problem = ready.problem[0] == '\0' ? NULL : arena_text(arena, ready.problem),
    };
    return NULL;
}

bool sniff_process_lost(const struct sniff_process *process)
{
    return process->lost;
}

/* ---- one file ------------------------------------------------------------------------------------ */

/* What is asked about a file, and how long the sniffer may think. */
struct question {
    struct sniff_process *process;
    const struct sniff_rest *rest;
    int64_t until;
    unsigned reads;
    struct message_answer answer;
    uint64_t pixels;
};

/* Sends the bytes that it wants; the time that reading them takes is not its own. */
static bool send_rest(struct question *question, const struct message *head, const struct message_read *wanted)
{
    unsigned char bytes[IMAGE_READ_BYTES];
    if (head->length != sizeof *wanted || wanted->length > sizeof bytes || head->number > INT64_MAX ||
        question->rest == NULL || question->reads++ == IMAGE_READS_MAX)
        return false;
    int64_t from = clock_monotonic();
    size_t got = question->rest->read(question->rest->context, head->number, bytes, wanted->length);
    question->until += clock_monotonic() - from;
    return message_send(question->process->socket, MESSAGE_REST, 0, bytes, got, -1);
}

/* Whether an answer can be one: its texts end, and its type is a type. */
static bool is_sound(struct question *question, const struct message *head)
{
    struct message_answer *answer = &question->answer;
    question->pixels = head->number;
    answer->complaint[sizeof answer->complaint - 1] = '\0';
    return head->length == sizeof *answer && memchr(answer->media_type, '\0', sizeof answer->media_type) != NULL &&
           media_is_type(answer->media_type);
}

/* Listens until the answer is there; NULL, else why there is none. */
static const char *listen_to(struct question *question)
{
    for (;;) {
        struct message head;
        union {
            struct message_read read;
            struct message_answer answer;
        } body;
        switch (message_receive(question->process->socket, question->until, &head, &body, sizeof body, NULL)) {
        case MESSAGE_GOT:
            break;
        case MESSAGE_ENDED:
            return "it ended";
        case MESSAGE_LATE:
            return "it was silent for " LIMIT_TEXT(LIMIT_SNIFFER_MILLISECONDS) " ms";
        case MESSAGE_BROKEN:
            return "it said what is no message";
        }
        if (head.kind == MESSAGE_READ) {
            if (!send_rest(question, &head, &body.read))
                return "it wanted more of the file than it may";
            continue;
        }
        question->answer = body.answer;
        return head.kind == MESSAGE_ANSWER && is_sound(question, &head) ? NULL : "it said what is no answer";
    }
}

/* Whether a sniffer is there and has said nothing unasked. One that died meanwhile costs nobody anything. */
static struct error *have_sniffer(struct sniff_process *process, struct arena *arena)
{
    struct message_started started;
    struct message_ready ready;
    struct pollfd one = {.fd = process->socket, .events = POLLIN};
    if (process->socket < 0 || (process->ready && poll(&one, 1, 0) != 0)) {
        metrics_add(METRIC_SNIFFER_REPLACED, 1);
        LOG(WARN, BLOB, "the sniffer is replaced: it ended, or spoke unasked");
        TRY(replace(process, arena, &started));
    }
    return process->ready ? NULL : await(process, arena, &ready);
}

/* The next file finds another sniffer. The detail says how this one ended. */
static struct error *give_up(struct sniff_process *process, struct arena *arena, const char *reason)
{
    struct message_started started;
    metrics_add(METRIC_SNIFFER_REPLACED, 1);
    struct error *error = replace(process, arena, &started);
    if (error != NULL)
        return error_new(arena, ERROR_INTERNAL, "the sniffer was lost: %s; %s", reason, error->detail);
    return error_new(arena, ERROR_INTERNAL, "the sniffer was lost: %s (status %d, signal %d)", reason,
                     WIFEXITED(started.status) ? WEXITSTATUS(started.status) : 0,
                     WIFSIGNALED(started.status) ? WTERMSIG(started.status) : 0);
}

struct error *sniff_process_examine(struct sniff_process *process, struct arena *arena, const void *bytes,
                                    size_t length, const struct sniff_rest *rest, struct sniffed *sniffed_out)
{
    struct question question = {.process = process, .rest = rest};
    struct message_started started;
    if (length > LIMIT_SNIFF_BYTES)
        length = LIMIT_SNIFF_BYTES;
    TRY(have_sniffer(process, arena));
    question.until = clock_monotonic() + PAUSE;
    bool sent = message_send(process->socket, MESSAGE_EXAMINE, rest != NULL, bytes, length, -1);
    const char *reason = sent ? listen_to(&question) : "it does not listen";
    if (reason != NULL)
        return give_up(process, arena, reason);
    *sniffed_out = (struct sniffed){
        .media_type = arena_text(arena, sniff_types_bound(process->types, question.answer.media_type)),
        .text = question.answer.text != 0,
        .pixels = question.pixels,
        .complaint = question.answer.complaint[0] == '\0' ? NULL : arena_text(arena, question.answer.complaint),
    };
    if (sniffed_out->complaint != NULL)
        LOG(WARN, BLOB, "libmagic gave up on a file", LOG_TEXT("reason", sniffed_out->complaint));
    if (question.answer.last != 0 || ++process->files == LIMIT_SNIFFER_FILES)
        TRY(replace(process, arena, &started));
    return NULL;
}

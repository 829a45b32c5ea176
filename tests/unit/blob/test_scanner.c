/* SPDX-License-Identifier: MIT */
/* The virus scanner: what is sent to it, and every answer that it may give. */
#include "blob/scanner.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "blob/blob.h"
#include "blob/directory.h"
#include "blob/support.h"
#include "harness.h"

#define BYTES(literal) sizeof(literal) - 1, literal

/* What the daemon of a test does with one connection. */
struct script {
    const char *what;
    size_t answer_length;
    const char *answer;
    bool unread; /* it answers without reading a byte */
    bool hangs;  /* it never answers, and keeps the connection */
    bool fails;  /* no verdict */
    enum scan_result result;
    const char *signature;
};

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 8), 0);
    return fd;
}

/* Copies what comes into the file: the command, then chunks until the empty one ends them. */
static void read_stream(int fd, FILE *copy)
{
    unsigned char tail[4] = {1, 1, 1, 1};
    unsigned char byte = 0;
    while (read(fd, &byte, 1) == 1 && byte != '\0')
        (void)fputc(byte, copy);
    (void)fputc(byte, copy);
    while (memcmp(tail, "\0\0\0\0", 4) != 0 && read(fd, &byte, 1) == 1) {
        (void)fputc(byte, copy);
        memmove(tail, tail + 1, 3);
        tail[3] = byte;
    }
    (void)fflush(copy);
}

/* A daemon for one connection, in a process of its own. */
static pid_t serve(int listener, const struct script *script, const char *copy_path)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    int fd = accept(listener, NULL, NULL);
    FILE *copy = fopen(copy_path, "we");
    if (!script->unread && copy != NULL)
        read_stream(fd, copy);
    if (script->hangs)
        (void)pause();
    if (write(fd, script->answer, script->answer_length) < 0)
        _exit(1);
    _exit(0);
}

/* A blob of these bytes, all handed over. They hold no four zeros in a row, which the daemon takes for the end. */
static struct blob_writer *new_blob(struct arena *arena, const unsigned char *bytes, size_t length)
{
    struct blob_store *store;
    struct blob_writer *writer;
    uint8_t digest[DIGEST_BYTES];
    assert_null(blob_directory_open(arena, harness_directory(arena), NULL, &store));
    assert_null(blob_begin(store, arena, &writer));
    assert_null(blob_write(writer, bytes, length));
    blob_writer_digest(writer, digest);
    return writer;
}

static const struct script scripts[] = {
    {"clean", BYTES("stream: OK\0"), .result = SCAN_CLEAN},
    {"infected", BYTES("stream: Win.Test.EICAR_HDB-1 FOUND\0"), .result = SCAN_INFECTED,
     .signature = "Win.Test.EICAR_HDB-1"},
    {"infected with an odd name", BYTES("stream: a\nb\x80 FOUND FOUND\0"), .result = SCAN_INFECTED,
     .signature = "a?b? FOUND"},
    {"too large", BYTES("INSTREAM size limit exceeded. ERROR\0"), .unread = true, .result = SCAN_TOO_LARGE},
    {"too large, told at the end", BYTES("INSTREAM size limit exceeded. ERROR\0"), .result = SCAN_TOO_LARGE},
    {"another error", BYTES("stream: Can't open file or directory ERROR\0"), .fails = true},
    {"garbage", BYTES("what?\0"), .fails = true},
    {"an empty answer", BYTES("\0"), .fails = true},
    {"no answer", BYTES(""), .fails = true},
    {"no answer and nothing read", BYTES(""), .unread = true, .fails = true},
    {"a cut answer", BYTES("stream: OK"), .fails = true},
    {"an unnamed find", BYTES("stream:  FOUND\0"), .fails = true},
    {"a find and no more", BYTES("stream: FOUND\0"), .fails = true},
    {"more than a verdict", BYTES("stream: OK and more\0"), .fails = true},
    {"silence", BYTES(""), .hangs = true, .fails = true},
};

static void only_a_verdict_is_a_verdict(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    unsigned char *bytes = support_bytes(arena, 200000, 5);
    for (size_t i = 0; i < 200000; i++)
        bytes[i] |= 1;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const struct script *script = &scripts[i];
        const char *path = arena_format(arena, "%s/%zu.sock", directory, i);
        int listener = listen_at(path);
        pid_t daemon = serve(listener, script, arena_format(arena, "%s/copy", directory));
        struct scan_verdict verdict = {.result = SCAN_INFECTED};
        struct scanner *scanner = scanner_new(arena, path, script->hangs ? 1 : 30);
        struct error *error = scanner_scan(scanner, arena, new_blob(arena, bytes, 200000), &verdict);
        assert_int_equal(kill(daemon, SIGKILL) == 0 || errno == ESRCH, 1);
        assert_int_equal(waitpid(daemon, NULL, 0), daemon);
        (void)close(listener);
        if ((error != NULL) != script->fails)
            fail_msg("%s: %s", script->what, error == NULL ? "no error" : error->detail);
        if (error != NULL)
            assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
        else if (verdict.result != script->result)
            fail_msg("%s: another verdict", script->what);
        else if (script->signature != NULL)
            assert_string_equal(verdict.signature, script->signature);
    }
}

static void the_bytes_go_in_chunks_behind_their_lengths(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = arena_format(arena, "%s/clamd.sock", directory);
    const char *copy_path = arena_format(arena, "%s/copy", directory);
    static const unsigned char expected[] = "zINSTREAM\0\0\0\0\5hello\0\0\0\0";
    unsigned char got[64];
    struct scan_verdict verdict;
    int listener = listen_at(path);
    pid_t daemon = serve(listener, &scripts[0], copy_path);
    assert_null(scanner_scan(scanner_new(arena, path, 30), arena, new_blob(arena, (const unsigned char *)"hello", 5),
                             &verdict));
    assert_int_equal(waitpid(daemon, NULL, 0), daemon);
    (void)close(listener);
    FILE *copy = fopen(copy_path, "re");
    assert_non_null(copy);
    assert_int_equal(fread(got, 1, sizeof got, copy), sizeof expected - 1);
    assert_memory_equal(got, expected, sizeof expected - 1);
    (void)fclose(copy);
}

/* A store elsewhere is asked once for each chunk. */
static void a_chunk_has_a_mebibyte(void **state)
{
    enum { MEBIBYTE = 1024 * 1024, SIZE = MEBIBYTE + 5, COMMAND = sizeof "zINSTREAM" };
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = arena_format(arena, "%s/clamd.sock", directory);
    const char *copy_path = arena_format(arena, "%s/copy", directory);
    unsigned char *bytes = support_bytes(arena, SIZE, 6);
    unsigned char *got = arena_alloc(arena, SIZE + 100);
    struct scan_verdict verdict;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] |= 1;
    int listener = listen_at(path);
    pid_t daemon = serve(listener, &scripts[0], copy_path);
    assert_null(scanner_scan(scanner_new(arena, path, 60), arena, new_blob(arena, bytes, SIZE), &verdict));
    assert_int_equal(waitpid(daemon, NULL, 0), daemon);
    (void)close(listener);
    FILE *copy = fopen(copy_path, "re");
    assert_non_null(copy);
    assert_int_equal(fread(got, 1, SIZE + 100, copy), COMMAND + 4 + MEBIBYTE + 4 + 5 + 4);
    assert_memory_equal(got + COMMAND, "\0\x10\0\0", 4);
    assert_memory_equal(got + COMMAND + 4 + MEBIBYTE, "\0\0\0\5", 4);
    (void)fclose(copy);
}

static void count_call(void *context)
{
    size_t *count = context;
    ++*count;
}

static void who_watches_the_store_hears_while_the_daemon_says_nothing(void **state)
{
    struct arena *arena = harness_arena(state);
    const char *directory = harness_directory(arena);
    const char *path = arena_format(arena, "%s/clamd.sock", directory);
    const struct script silence = {"silence", BYTES(""), .hangs = true};
    struct blob_store *store;
    struct blob_writer *writer;
    struct scan_verdict verdict;
    uint8_t digest[DIGEST_BYTES];
    size_t count = 0;
    const struct blob_watch watch = {count_call, &count};
    int listener = listen_at(path);
    pid_t daemon = serve(listener, &silence, arena_format(arena, "%s/copy", directory));
    assert_null(blob_directory_open(arena, harness_directory(arena), NULL, &store));
    assert_null(blob_begin(store, arena, &writer));
    assert_null(blob_write(writer, "hello", 5));
    blob_writer_digest(writer, digest);
    blob_watch(store, &watch);
    assert_non_null(scanner_scan(scanner_new(arena, path, 6), arena, writer, &verdict));
    /* for the bytes, for their end, and each second */
    assert_in_range(count, 4, 20);
    assert_int_equal(kill(daemon, SIGKILL), 0);
    assert_int_equal(waitpid(daemon, NULL, 0), daemon);
    (void)close(listener);
}

static void a_daemon_that_is_not_there_is_an_error(void **state)
{
    struct arena *arena = harness_arena(state);
    struct scan_verdict verdict;
    const char *const paths[] = {arena_format(arena, "%s/none", harness_directory(arena)), "/",
                                 arena_format(arena, "/%0200d", 0)};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct scanner *scanner = scanner_new(arena, paths[i], 1);
        size_t open_before = support_descriptors();
        struct error *error = scanner_ping(scanner, arena);
        assert_non_null(error);
        assert_int_equal(error->code, ERROR_STORAGE_UNAVAILABLE);
        assert_null(strstr(error->message, "/"));
        assert_int_equal(support_descriptors(), open_before);
        assert_non_null(scanner_scan(scanner, arena, new_blob(arena, (const unsigned char *)"x", 1), &verdict));
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(only_a_verdict_is_a_verdict),
    HARNESS_TEST(the_bytes_go_in_chunks_behind_their_lengths),
    HARNESS_TEST(a_chunk_has_a_mebibyte),
    HARNESS_TEST(who_watches_the_store_hears_while_the_daemon_says_nothing),
    HARNESS_TEST(a_daemon_that_is_not_there_is_an_error),
};
HARNESS_MODULE(scanner, cases)

/* SPDX-License-Identifier: MIT */
/*
 * The bare Argon2id calls that logins cannot do without: one verification after the other, with the cost that the
 * service is configured for, on so many processes, for so many seconds. argon CONFIGURATION PROCESSES SECONDS [service]
 * prints one line of JSON for each process: {"times": [microseconds of each call], "microseconds": all of them
 * together}. With 0 processes it prints a hash of the password instead. "service" calls the library as the service
 * does, which brings the memory along.
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/password_hash.h"
#include "service/runtime/startup.h"

#define PASSWORD "a password for tools/bench"
#define TIMES_MAX 100000

static bool verify_bare(const char *hash)
{
    return crypto_pwhash_argon2id_str_verify(hash, PASSWORD, sizeof PASSWORD - 1) == 0;
}

/* Of whatever cost: the hash is right. */
static bool verify_as_service(const char *hash)
{
    enum password_match match =
        password_verify(hash, secret_of(PASSWORD), (struct password_cost){.memory_kib = 8, .passes = 1});
    return match == PASSWORD_RIGHT || match == PASSWORD_RIGHT_BUT_WEAK;
}

static _Noreturn void verify_for(bool (*verify)(const char *hash), const char *hash, int64_t seconds)
{
    static int64_t times[TIMES_MAX];
    size_t count = 0;
    int64_t started = clock_monotonic(), now = started;
    while (count < TIMES_MAX && now - started < seconds * 1000000) {
        if (!verify(hash))
            _exit(EXIT_FAILURE);
        int64_t ended = clock_monotonic();
        times[count++] = ended - now;
        now = ended;
    }
    (void)printf("{\"microseconds\":%" PRId64 ",\"times\":[", now - started);
    for (size_t i = 0; i < count; i++)
        (void)printf("%s%" PRId64, i == 0 ? "" : ",", times[i]);
    (void)printf("]}\n");
    _exit(fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static bool run(bool (*verify)(const char *hash), const char *hash, int64_t processes, int64_t seconds)
{
    bool good = true;
    int status;
    /* One line is one write: each has a buffer of its own that holds it whole. */
    static char buffer[1 << 20];
    (void)setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (int64_t i = 0; i < processes; i++) {
        pid_t child = fork();
        if (child == 0)
            verify_for(verify, hash, seconds);
        good = good && child > 0;
    }
    while (wait(&status) > 0)
        good = good && status == 0;
    return good;
}

int main(int argc, char **argv)
{
    int64_t processes, seconds;
    bool as_service = argc == 5 && strcmp(argv[4], "service") == 0;
    if ((argc != 4 && !as_service) || !text_to_integer(argv[2], 0, 1024, &processes) ||
        !text_to_integer(argv[3], 0, 3600, &seconds)) {
        (void)fprintf(stderr, "usage: argon CONFIGURATION PROCESSES SECONDS [service]\n");
        return 2;
    }
    struct arena *arena = arena_new();
    struct configuration *configuration;
    struct error *error = startup_load(arena, argv[1], NULL, &configuration);
    if (error != NULL) {
        startup_report(error);
        return EXIT_FAILURE;
    }
    char hash[crypto_pwhash_argon2id_STRBYTES];
    if (sodium_init() < 0 || crypto_pwhash_argon2id_str(hash, PASSWORD, sizeof PASSWORD - 1,
                                                        (unsigned long long)configuration->password.hash_passes,
                                                        (size_t)configuration->password.hash_memory_kib * 1024) != 0)
        return EXIT_FAILURE;
    if (processes == 0)
        (void)puts(hash);
    bool good = run(as_service ? verify_as_service : verify_bare, hash, processes, seconds);
    arena_free(&arena);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

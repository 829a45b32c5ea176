/* SPDX-License-Identifier: MIT */
/* The scrub reads files without filling the machine's memory with them, and without emptying it of others. */
#include "service/integrity/scrub.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "harness.h"
#include "service/support_maintenance.h"

#define STEPS_MAX 100000

/* One whole pass over all files, as fast as it goes. */
static void read_everything(struct keep *keep)
{
    const struct scrub_options options = {.every_days = 7, .now = true, .patient = true};
    struct scrub *scrub = scrub_new(&keep->service, &options);
    enum scrub_state state = SCRUB_READING;
    for (int i = 0; i < STEPS_MAX && state != SCRUB_DONE; i++)
        expect_ok(scrub_step(scrub, clock_monotonic(), &state));
    assert_int_equal(state, SCRUB_DONE);
    scrub_free(&scrub);
}

/* How many pages of the file are in memory. */
static size_t resident(const char *path, size_t length)
{
    unsigned char pages[1024] = {0};
    size_t count = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED && length / 4096 < sizeof pages && mincore(map, length, pages) == 0);
    for (size_t i = 0; i < (length + 4095) / 4096; i++)
        count += pages[i] & 1;
    (void)munmap(map, length);
    (void)close(fd);
    return count;
}

static void let_go_of(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fsync(fd), 0);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)close(fd);
}

/*
 * One round with a file that is not in memory and one that is. A third one, which nobody reads, shows what the kernel
 * did meanwhile: where it let go of that one too, it was short of memory, and the round says nothing. False then.
 */
static bool a_pass_leaves_memory_as_it_was(struct keep *keep, unsigned round)
{
    const size_t length = 1 << 20;
    const char *cold = keep_path(keep, keep_file(keep, length, 2 * round + 1, 0).id);
    const char *hot = keep_path(keep, keep_file(keep, length, 2 * round + 2, 0).id);
    const char *untouched = arena_format(keep->arena, "%s.untouched", hot);
    char *bytes = arena_alloc(keep->arena, length);
    int fd = open(untouched, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    memset(bytes, 'u', length);
    assert_int_equal(write(fd, bytes, length), length);
    (void)close(fd);
    let_go_of(cold);
    if (resident(cold, length) != 0)
        skip(); /* this file system keeps everything in memory */
    read_everything(keep);
    size_t of_hot = resident(hot, length);
    size_t of_cold = resident(cold, length);
    size_t of_untouched = resident(untouched, length);
    assert_int_equal(unlink(untouched), 0);
    if (of_untouched != length / 4096)
        return false;
    assert_int_equal(of_hot, length / 4096);
    assert_true(of_cold < length / 4096 / 4);
    return true;
}

static void what_is_in_memory_stays_and_what_is_not_does_not_come(void **state)
{
    struct keep *keep = keep_new(harness_arena(state));
    unsigned round = 0;
    while (round < 10 && !a_pass_leaves_memory_as_it_was(keep, round))
        round++;
    if (round == 10)
        skip(); /* this machine is short of memory all the time */
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(what_is_in_memory_stays_and_what_is_not_does_not_come),
};

HARNESS_MODULE(scrub_memory, cases)

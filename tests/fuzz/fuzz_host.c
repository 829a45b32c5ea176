/* SPDX-License-Identifier: MIT */
/* Targets for what the operator writes: the configuration, log filters, lists of networks and of hosts. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/log.h"
#include "base/network.h"
#include "base/text.h"
#include "fuzz.h"
#include "store/database/host_list.h"

void fuzz_configuration(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct configuration *configuration;
    int fd = memfd_create("gatehouse.conf", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    struct error *error = configuration_load(arena, arena_format(arena, "/proc/self/fd/%d", fd), &configuration);
    (void)close(fd);
    if (error != NULL) {
        fuzz_expect(error->entry_count > 0, "a refusal names its faults");
        return;
    }
    fuzz_expect(configuration->service.base_url != NULL && configuration->database.name != NULL,
                "a configuration that is taken is complete");
    size_t length = strlen(configuration->service.base_url);
    fuzz_expect(length > 0 && configuration->service.base_url[length - 1] != '/', "base_url has no slash at its end");
}

/* The level, then the filter. */
void fuzz_log_filter(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[2];
    enum log_level level = LOG_LEVEL_INFO;
    struct log_levels levels;
    fuzz_lines(arena, bytes, size, lines, 2);
    (void)log_level_parse(lines[0], &level);
    enum log_filter_result result = log_levels_read(level, lines[1], &levels);
    fuzz_expect((result == LOG_FILTER_GOOD) == (log_filter_sentence(result) == NULL), "a refusal has a sentence");
    for (size_t i = 0; result == LOG_FILTER_GOOD && i < LOG_MODULE_COUNT; i++)
        fuzz_expect(levels.of[i] < LOG_LEVEL_COUNT, "each module has a level");
}

void fuzz_host_list(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct host_list list, again;
    struct error *error = host_list_parse(arena, fuzz_text(arena, bytes, size), 3306, &list);
    if (error != NULL) {
        fuzz_expect(strstr(error->message, "wrong in it: \"") != NULL, "a refusal names an entry");
        return;
    }
    struct buffer text;
    buffer_init(&text, arena);
    fuzz_expect(list.count >= 1 && list.count <= LIMIT_DATABASE_HOSTS, "a list has some hosts");
    for (size_t i = 0; i < list.count; i++) {
        bool wide = strchr(list.items[i].name, ':') != NULL;
        fuzz_expect(list.items[i].name[0] != '\0', "a host has a name");
        fuzz_expect(list.items[i].port >= 1 && list.items[i].port <= 65535, "a host has a port");
        buffer_add_format(&text, "%s%s%s%s:%u", i == 0 ? "" : ",", wide ? "[" : "", list.items[i].name, wide ? "]" : "",
                          list.items[i].port);
    }
    fuzz_expect(host_list_parse(arena, text.bytes, 1, &again) == NULL && again.count == list.count,
                "a list that is written whole is the same list");
}

/* An address, then ranges. */
void fuzz_network(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[2];
    fuzz_lines(arena, bytes, size, lines, 2);
    struct text_list ranges = text_words(arena, lines[1]);
    bool inside = network_list_has(&ranges, lines[0]);
    bool any = false;
    for (size_t i = 0; i < ranges.count; i++) {
        struct text_list one = {&ranges.items[i], 1};
        bool has = network_list_has(&one, lines[0]);
        fuzz_expect(!has || network_is_range(ranges.items[i]), "a word that is no range contains nothing");
        any = any || has;
    }
    fuzz_expect(inside == any, "an address is in a list when it is in one of its ranges");
    if (network_is_range(lines[0]) && strchr(lines[0], '/') == NULL) {
        struct text_list own = {&lines[0], 1};
        fuzz_expect(network_list_has(&own, lines[0]), "an address is in the range that it is");
    }
    (void)network_is_loopback(lines[0]);
}

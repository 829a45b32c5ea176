/* SPDX-License-Identifier: MIT */
/*
 * gatehouse.fcgi, a worker: opens what it needs, serves one request at a time on descriptor 0, and forgets each request
 * completely. It ends when it is asked to, or after a number of requests; the supervisor starts the next one.
 */
#include "config.h"

#include <getopt.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/dispatch.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/host/process.h"
#include "base/log.h"
#include "base/sandbox/sandbox.h"
#include "base/secret.h"
#include "base/text.h"
#include "blob/sniffer/sniffer.h"
#include "http/fastcgi.h"
#include "http/reply.h"
#include "http/request.h"
#include "service/access/session_use.h"
#include "service/runtime/confinement.h"
#include "service/runtime/service.h"
#include "service/runtime/startup.h"
#include "service/runtime/use_log.h"
#include "store/cache/cache.h"

/* The path of base_url, with which the paths of all requests begin. */
static const char *base_path(const char *base_url)
{
    const char *host = strstr(base_url, "://");
    const char *path = host == NULL ? NULL : strchr(host + 3, '/');
    return path == NULL ? "" : path;
}

/* Adds the users that may connect beside our own and root. Unknown names are logged and left out. */
static void find_peers(const struct configuration *configuration, struct fastcgi_options *options)
{
    const struct text_list *names = &configuration->service.web_server_user;
    for (size_t i = 0; i < names->count && options->peer_count < FASTCGI_PEERS_MAX; i++) {
        const struct passwd *entry = getpwnam(names->items[i]);
        if (entry == NULL)
            LOG(WARN, WORKER, "service.web_server_user names an unknown user", LOG_TEXT("user", names->items[i]));
        else
            options->peers[options->peer_count++] = entry->pw_uid;
    }
}

/* The name of the socket that the worker serves, without its folder; "" for none that has a name. */
static void socket_name(char name_out[sizeof(((struct sockaddr_un *)NULL)->sun_path)])
{
    struct sockaddr_un address = {.sun_family = AF_UNSPEC};
    socklen_t length = sizeof address;
    name_out[0] = '\0';
    if (getsockname(STDIN_FILENO, (struct sockaddr *)(void *)&address, &length) != 0 || address.sun_family != AF_UNIX)
        return;
    const char *slash = strrchr(address.sun_path, '/');
    (void)snprintf(name_out, sizeof address.sun_path, "%s", slash == NULL ? address.sun_path : slash + 1);
}

/* When mod_fcgid starts the workers, each has a socket of its own, with two numbers as its name: 1234.5. */
static bool socket_is_own(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && name[digits] == '.' && name[digits + 1] >= '0' && name[digits + 1] <= '9';
}

/*
 * The name of the worker's pool: that of the socket that it serves, "login" for /run/gatehouse/login.sock. When the web
 * server starts the workers there is one pool, and NULL.
 */
static const char *pool_name(char name[])
{
    name[strcspn(name, ".")] = '\0';
    return text_is_alpha(name[0]) ? name : NULL;
}

/* The process, and the memory of the request that it serves. */
struct worker {
    struct service *service;
    struct arena *arena;
};

/* Whether the worker shall leave, and its successor take its place. */
static bool shall_leave(struct service *service, int64_t requests_left)
{
    return requests_left <= 0 || cache_spent(service->cache) || sniff_process_lost(service->sniffer) ||
           sandbox_is_outdated(clock_monotonic());
}

static void serve(const struct worker *worker, const struct configuration *configuration)
{
    struct service *service = worker->service;
    struct arena *arena = worker->arena;
    const char *base = base_path(configuration->service.base_url);
    int64_t left = configuration->service.requests_per_worker;
    bool leaving = false;
    struct request_source source;
    for (;;) {
        if (!leaving && shall_leave(service, left--)) {
            leaving = true;
            if (!fastcgi_refuse_more())
                break;
        }
        if (!fastcgi_accept(&source))
            break;
        struct request request;
        struct reply reply;
        request_init(&request, arena, &source, base);
        dispatch(service, &request, &reply);
        /* The client may take its time for a long reply. */
        if (reply.stream != NULL || reply.produce != NULL)
            use_log_flush(service, arena);
        if (!fastcgi_send(&reply))
            LOG(DEBUG, HTTP, "the peer left before the reply was sent");
        fastcgi_finish(request.body_left);
        session_use_write(service, arena);
        use_log_flush_due(service, arena);
        arena_reset(arena);
    }
    use_log_flush(service, arena);
}

/* What the worker does while nobody calls. */
static void idle(void *context)
{
    struct worker *worker = context;
    use_log_flush_due(worker->service, worker->arena);
    arena_reset(worker->arena);
    if (sandbox_is_outdated(clock_monotonic()))
        (void)raise(SIGTERM);
}

static const char *config_option(int argc, char **argv)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
    const char *config = NULL;
    int option;
    while ((option = getopt_long(argc, argv, "c:", options, NULL)) != -1) {
        if (option == 'v') {
            (void)printf("gatehouse %s\n", PACKAGE_VERSION);
            exit(EXIT_SUCCESS);
        }
        if (option != 'c') {
            (void)fprintf(stderr, "usage: gatehouse.fcgi [--config FILE]\n");
            exit(2);
        }
        config = optarg;
    }
    return config;
}

/* Opens what the worker needs. The sniffer's keeper comes first: it must see no secret and no file. */
static struct error *open_all(struct arena *arena, int argc, char **argv, struct configuration **configuration_out,
                              struct service *service_out)
{
    const char *config = config_option(argc, argv);
    struct sniff_process *sniffer;
    TRY(sniff_process_fork(arena, argv, &sniffer));
    TRY(startup_load(arena, config, "gatehouse", configuration_out));
    TRY(service_open(arena, *configuration_out, service_out));
    service_out->sniffer = sniffer;
    service_out->session_use = session_use_new(arena);
    return NULL;
}

/* Starts the sniffer, whose walls stand from the beginning, and raises those of this process. */
static struct error *confine(struct arena *arena, struct service *service)
{
    struct sandbox_walls walls;
    bool wanted = service->configuration->service.sandbox;
    TRY(sniff_process_start(service->sniffer, arena, wanted, &walls));
    if (walls.problem != NULL)
        LOG(WARN, WORKER, "the sniffer's sandbox is not whole", LOG_TEXT("missing", walls.problem));
    LOG(INFO, WORKER, "the sniffer is ready", LOG_INTEGER("landlock", walls.landlock),
        LOG_BOOLEAN("systemCalls", walls.calls));
    confinement_enter(arena, service->configuration);
    return NULL;
}

/* The supervisor starts another worker at once. A lasting fault must not keep the machine busy. */
static int fail(struct error *error)
{
    startup_report(error);
    (void)sleep(1);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct configuration *configuration;
    struct service service;
    struct fastcgi_options options = {.peer_count = 0};
    const char *problem = NULL;
    char pool[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

    secret_protect_process();
#ifdef M_TRIM_THRESHOLD
    /* One thread with small requests: give the memory of a large one back. musl has no such call. */
    (void)mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif

    struct error *error = open_all(arena, argc, argv, &configuration, &service);
    if (error != NULL)
        return fail(error);
    options.io_timeout_seconds = configuration->service.io_timeout_seconds;
    options.body_directory = configuration->files.body_directory;
    struct worker worker = {&service, arena_new()};
    options.idle = idle;
    options.idle_context = &worker;
    find_peers(configuration, &options);
    socket_name(pool);
    options.own_socket = socket_is_own(pool);
    if (!fastcgi_open(&options, &problem)) {
        LOG(FATAL, WORKER, problem);
        return EXIT_FAILURE;
    }
    dispatch_open();
    host_process_join(HOST_PROCESS_WORKER, pool_name(pool));
    error = confine(arena, &service);
    if (error != NULL)
        return fail(error);
    LOG(INFO, WORKER, "worker started");
    serve(&worker, configuration);
    arena_free(&worker.arena);
    LOG(INFO, WORKER, "worker ended");
    service_close(&service);
    host_process_close();
    arena_free(&arena);
    return EXIT_SUCCESS;
}

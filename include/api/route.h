/* SPDX-License-Identifier: MIT */
/*
 * The route table: one row for each endpoint (src/api/routes_*.c, a file for each tag). Dispatch, the OpenAPI document,
 * `gatehousectl routes`, the Allow header and the tests all read it, so none of them can differ from what runs.
 */
#ifndef GATEHOUSE_API_ROUTE_H
#define GATEHOUSE_API_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/id.h"
#include "http/request.h"
#include "service/access/caller.h"

struct file_record;
struct reply;
struct route_table;
struct schema;
struct service;

/* Who may call. There is no default: with a row that does not say it, no program starts. */
enum access {
    ACCESS_UNSAID,
    ACCESS_PUBLIC,    /* no token is needed */
    ACCESS_TOKEN,     /* any valid token */
    ACCESS_PERMISSION /* a valid token whose user holds the row's permission */
};

enum body_kind { BODY_NONE, BODY_JSON, BODY_MULTIPART, BODY_BYTES };

enum reply_kind {
    REPLY_SUCCESS,        /* {status, message}: call->success is the message */
    REPLY_OBJECT,         /* call->result, written by the row's reply schema */
    REPLY_OBJECT_OR_LIST, /* the same, or call->results as an array */
    REPLY_ONE_OF_TWO,     /* the same, or call->other_result, written by the row's other reply schema */
    REPLY_JSON,           /* the handler writes call->reply's body itself */
    REPLY_TEXT,           /* the same, with its Content-Type */
    REPLY_FILE,           /* the handler prepares the bytes of a file */
    REPLY_UPLOAD          /* the handler sets the status and, where there is a body, call->result */
};

/* One request on its way through dispatch. Handlers read and fill it. */
struct call {
    struct service *service;
    struct arena *arena;
    struct request *request;
    struct reply *reply;
    const struct route *route;
    const struct route_table *routes; /* the table with the row */
    struct caller caller;
    struct id id;             /* of a path with {id}: its first id; names_link: the link, none if it has no row */
    struct id second_id;      /* of a path with two ids, such as {id} and {sessionId} */
    struct file_record *file; /* names_file: the caller's file or NULL; names_link: the link's file */
    struct id link_maker;     /* names_link: who made the link */
    const void *query;        /* as the row's query schema reads it */
    uint64_t query_present;
    const void *body; /* as the row's body schema reads it */
    uint64_t body_present;
    const void *result;
    const void *const *results; /* REPLY_OBJECT_OR_LIST: an array when it is not NULL */
    size_t result_count;
    const void *other_result; /* REPLY_ONE_OF_TWO: what is written when it is not NULL */
    const char *success;
};

/* What a public row needs from the database and from what the process keeps. */
enum offline {
    OFFLINE_NOT,  /* needs it: fails when the newest change cannot be learned */
    OFFLINE_ALSO, /* answers without it, but learns of the newest change when the database can be asked */
    OFFLINE_ONLY  /* never needs it: waits for an unreachable database once, not at each request */
};

struct route {
    enum method method;
    const char
        *path; /* "/system/files/{id}": at most ROUTE_WORDS_MAX words in braces, each of them an id but for {token} */
    const char *operation;
    const char *tag;
    const char *summary;
    const char *description; /* may be NULL */
    enum access access;
    const char *permission; /* ACCESS_PERMISSION: one concrete permission */
    enum offline offline;   /* ACCESS_PUBLIC */
    bool names_link;        /* ACCESS_PUBLIC: {token} is a signed link, which stands in for a token and a permission */
    bool names_file;        /* {id} is a file, which is loaded in the same round trip as the principal */
    enum body_kind body_kind;
    const struct schema *headers; /* request headers that the handler reads; for the OpenAPI document */
    const struct schema *query;
    const struct schema *body; /* BODY_MULTIPART: the text fields */
    /* Checks the headers before the body is read; may be NULL. */
    struct error *(*check)(struct call *call);
    /*
     * Adds to `validation` what the schemas of query and body cannot see, so that every failing path is reported at
     * once; may be NULL.
     */
    struct error *(*validate)(struct call *call, struct validation *validation);
    /*
     * Decides whether the body of such a request may come, after token and permission (api/admission.h). Where it is
     * NULL, a question does not find the row.
     */
    struct error *(*admit)(struct call *call);
    enum reply_kind reply_kind;
    const struct schema *reply;
    const struct schema *other_reply;   /* REPLY_ONE_OF_TWO */
    const struct schema *reply_headers; /* headers of success that follow from nothing else; for the document */
    int success;                        /* REPLY_UPLOAD: the status of success */
    bool exports; /* the reply comes as text/csv or application/x-ndjson, too, where the client accepts that */
    bool tagged;  /* the reply has an ETag; If-None-Match with it is answered by 304 */
    bool reserves_conflict;        /* 409 is in the document, although the row has no code for it yet */
    const enum error_code *errors; /* beside those of every such row; ended by ERROR_CODE_COUNT */
    struct error *(*handler)(struct call *call);
};

/* The most words in braces that a path has. */
#define ROUTE_WORDS_MAX 2

/*
 * What is wrong with the path of a row, or with its access, as a phrase for the log; NULL: nothing. A row names a
 * permission when it asks for one, and only then. In module `sys` the permission has letter `a`: owners of
 * organisations hold rwx:*, and so every other letter there.
 */
const char *route_fault(const struct route *row);

#define ROUTES_MAX 128

/* All rows. None of them has a fault. */
struct route_table {
    const struct route *rows;
    size_t count;
};
/* The table of all rows; the program owns it. */
const struct route_table *routes(void);

/* The segments of a request's path in the places of the words in braces, in their order. */
struct route_segments {
    struct {
        const char *start;
        size_t length;
    } items[ROUTE_WORDS_MAX];
    size_t count;
};

/*
 * Whether `path` fits `pattern`, the path of a row. A word in braces takes one segment, which must not be empty.
 * *segments_out is complete only when the path fits.
 */
bool route_path_fits(const char *pattern, const char *path, struct route_segments *segments_out);

/* The name of word `index` (from 0) of a row's path, "id" for {id}, in the arena; NULL when there is no such word. */
const char *route_word(struct arena *arena, const struct route *row, size_t index);

/* What a path and a method lead to. */
struct route_match {
    const struct route *route;             /* NULL: none */
    const char *segments[ROUTE_WORDS_MAX]; /* raw; NULL: the path has no such word */
    char allow[64];                        /* the methods of the path; "": there is no such path */
};

/*
 * Finds the row of a method and a path (NULL: none matches). HEAD finds the row of GET. The segments lie in the arena.
 */
void route_find(struct arena *arena, enum method method, const char *path, struct route_match *match_out);

/*
 * Lists every code that the row can answer: its own, and those that follow from its access, body and query. Returns
 * their number.
 */
size_t route_errors(const struct route *route, enum error_code codes_out[ERROR_CODE_COUNT]);

#endif

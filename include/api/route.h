/* SPDX-License-Identifier: MIT */
/*
 * The route table: one row an endpoint (src/api/routes_*.c, a file for each tag). Dispatch, the OpenAPI document, `gatehousectl routes`, the
 * Allow header and the tests all read it, so none of them can disagree with what runs.
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

/* Who may call. There is no default: a row that says nothing does not start. */
enum access {
    ACCESS_UNSAID,
    ACCESS_PUBLIC,    /* no token is looked at */
    ACCESS_TOKEN,     /* any good token */
    ACCESS_PERMISSION /* a good token whose user holds the row's permission */
};

enum body_kind { BODY_NONE, BODY_JSON, BODY_MULTIPART };

enum reply_kind {
    REPLY_SUCCESS, /* {status, message}: call->success */
    REPLY_OBJECT,  /* call->result written with the row's reply schema */
    REPLY_OBJECT_OR_LIST, /* the same, or call->results as an array */
    REPLY_JSON,    /* the handler writes call->reply's body itself */
    REPLY_TEXT,    /* likewise, and its Content-Type */
    REPLY_FILE     /* the handler prepares the bytes of a file */
};

/* One request on its way through dispatch; handlers read and fill it. */
struct call {
    struct service *service;
    struct arena *arena;
    struct request *request;
    struct reply *reply;
    const struct route *route;
    const struct route_table *routes; /* the table that the row stands in */
    struct caller caller;
    struct id id;              /* of a path with {id}: its first id */
    struct id second_id;       /* of a path with two ids, such as {id} and {sessionId} */
    struct file_record *file;  /* where the row names_file: the caller's organisation's file, NULL when there is none; or the link's */
    const void *query;         /* as the row's query schema says */
    uint64_t query_present;
    const void *body;          /* as the row's body schema says */
    uint64_t body_present;
    const void *result;
    const void *const *results; /* REPLY_OBJECT_OR_LIST: an array when not NULL */
    size_t result_count;
    const char *success;
};

/* What a public row has to do with the database and what is kept from it. */
enum offline {
    OFFLINE_NOT,  /* uses it: fails where the newest change cannot be learned */
    OFFLINE_ALSO, /* answers without; but where the database can be asked, it knows of the newest change like any other */
    OFFLINE_ONLY  /* asks nothing by itself, and waits for a database that is away once, not time and again */
};

struct route {
    enum method method;
    const char *path; /* "/system/files/{id}": at most ROUTE_WORDS_MAX words in braces, each of them an id but for {token} */
    const char *operation;
    const char *tag;
    const char *summary;
    const char *description; /* may be NULL */
    enum access access;
    const char *permission; /* ACCESS_PERMISSION: one concrete permission */
    enum offline offline;   /* ACCESS_PUBLIC */
    bool names_link;        /* ACCESS_PUBLIC: {token} is a signed link; its file stands in for a caller's permission */
    bool names_file;        /* {id} is a file: its row is read in the same round trip as the principal */
    enum body_kind body_kind;
    const struct schema *headers; /* request headers that the handler reads itself; for the OpenAPI document */
    const struct schema *query;
    const struct schema *body; /* BODY_MULTIPART: the text fields */
    /* Adds what the body schema cannot see to `validation`, so that every failing path is told at once; may be NULL. */
    struct error *(*validate)(struct call *call, struct validation *validation);
    /*
     * Answers the web server's question whether the body of such a request may be received, once token and permission hold
     * (api/admission.h). Where it is NULL, the row is never found by a question.
     */
    struct error *(*admit)(struct call *call);
    enum reply_kind reply_kind;
    const struct schema *reply;
    bool reserves_conflict; /* 409 is documented, although the row answers no code of it yet */
    const enum error_code *errors; /* beyond those every such row has; ended by ERROR_CODE_COUNT */
    struct error *(*handler)(struct call *call);
};

/* The most words in braces that a path has. */
#define ROUTE_WORDS_MAX 2

/*
 * What is wrong with the path of a row or with who may call it, as a sentence for the log; NULL: nothing. A permission stands where the row asks for
 * one, and nowhere else. In module `sys` its letter is `a`, since whoever owns an organisation holds rwx:* and so every other
 * letter there.
 */
const char *route_fault(const struct route *row);

#define ROUTES_MAX 128

/* All rows, at most ROUTES_MAX. No row has a fault. */
struct route_table {
    const struct route *rows;
    size_t count;
};
const struct route_table *routes(void);

/* What the words of a path stand for: pieces of the request's path, in their order. */
struct route_segments {
    struct {
        const char *start;
        size_t length;
    } items[ROUTE_WORDS_MAX];
    size_t count;
};

/*
 * Whether `path` has the shape of `pattern`, a row's path. A word in braces stands for one segment that is not empty.
 * *segments_out is complete only when it has.
 */
bool route_path_fits(const char *pattern, const char *path, struct route_segments *segments_out);

/* The name of the word number `index` (from 0) of a row's path, "id" for {id}; NULL when there are not so many. In the arena. */
const char *route_word(struct arena *arena, const struct route *row, size_t index);

/* What a path and method lead to. */
struct route_match {
    const struct route *route;             /* NULL: none */
    const char *segments[ROUTE_WORDS_MAX]; /* what the words of the path stand for, raw; NULL where it has no such word */
    char allow[64];            /* the methods the path takes, "" when there is no such path */
};

void route_find(struct arena *arena, enum method method, const char *path, struct route_match *match_out);

/*
 * Every code the row can answer: the row's own and those that follow from its access, body and query. At most
 * ERROR_CODE_COUNT; returns the number.
 */
size_t route_errors(const struct route *route, enum error_code codes_out[ERROR_CODE_COUNT]);

#endif

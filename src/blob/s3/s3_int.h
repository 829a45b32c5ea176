/* SPDX-License-Identifier: MIT */
/*
 * What the files of the S3 store share: s3.c opens it, key.c makes keys, call.c makes calls, refusal.c reads refusals,
 * write.c and multipart.c commit blobs, compare.c resolves lost answers, read.c reads and removes blobs, list.c lists
 * them and moves them aside.
 */
#ifndef GATEHOUSE_BLOB_S3_S3_INT_H
#define GATEHOUSE_BLOB_S3_S3_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/secret.h"
#include "base/text.h"
#include "codec/digest.h"
#include "codec/sigv4.h"
#include "store/http_client.h"

struct arena;
struct blob_final;
struct blob_found;
struct blob_handover;
struct blob_part;
struct blob_partial_functions;
struct blob_reader;
struct blob_store;
struct blob_stray;
struct blob_watch;
struct error;
struct xml_element;

#define S3_QUARANTINE "quarantine/"
#define S3_PARTIAL "partial/"
#define S3_PARTS_MAX 10000
#define S3_CODE_BYTES 64
#define S3_MESSAGE_BYTES 256
#define S3_QUERY_MAX 6
#define S3_HEADERS_MAX 6
#define S3_UPLOAD_ID_BYTES 1024

/* A transfer gets a second more for so many bytes. */
#define S3_BYTES_PER_SECOND (UINT64_C(4) * 1024 * 1024)

/* The header beside an object that keeps its SHA-256, in hexadecimal digits. */
#define S3_DIGEST_HEADER "x-amz-meta-sha256"

struct s3 {
    struct arena *arena; /* the process's */
    struct text_list endpoints;
    size_t current; /* the endpoint that answered last */
    const char *bucket;
    const char *region;
    const char *prefix;
    const char *access_key;
    const char *secret_key_file;
    const char *ca_file;
    struct arena *secrets; /* holds the key */
    struct secret key;
    struct http_client *client;
    const struct blob_watch *watch; /* of the store */
    struct blob_store *spool;
    int64_t milliseconds;
    uint64_t multipart_bytes;
    uint64_t part_bytes;
    bool unconditional; /* the store does not know If-None-Match */
};

/* Bytes of the spool that a call sends: those from `first` on. */
struct s3_source {
    struct s3 *s3;
    struct arena *arena;
    void *state; /* of the spool's writer */
    uint64_t first;
    bool replaces;       /* what the key has may be replaced */
    struct error *error; /* why they could not be read */
};

struct s3_call {
    const char *method;
    const char *key; /* NULL: the bucket itself */
    struct sigv4_pair query[S3_QUERY_MAX];
    size_t query_count;
    struct http_client_header headers[S3_HEADERS_MAX];
    size_t header_count;
    const char *body;         /* NULL: none, or that of the source */
    struct s3_source *source; /* NULL: none */
    const char *payload;      /* of the source: its SHA-256 in hexadecimal digits */
    uint64_t bytes;           /* that the source gives, that the answer has, or that the store has to move */
    void *into;               /* for the answer; NULL: it is text */
    bool is_last;             /* only a short time is left for it */
};

/* The answer to a call, of any status. */
struct s3_reply {
    struct http_client_answer answer;
    const char *endpoint;
    char code[S3_CODE_BYTES]; /* of a refusal, "NoSuchKey"; "" where there is none */
    char message[S3_MESSAGE_BYTES];
    bool doubtful; /* an earlier try may have been carried out */
};

/* An object as a list names it. */
struct s3_object {
    const char *key; /* below the prefix */
    int64_t size;
    int64_t modified;
};

/* A blob on its way. The spool has its bytes from `first` on; objects of their own have those before (partial.c). */
struct s3_pending {
    void *spool;        /* the state of the spool's writer */
    const char *folder; /* of those objects, below the prefix; NULL: there are none */
    uint64_t first;
    uint64_t written;
    struct s3_tail {
        uint64_t first;
        uint64_t end; /* 0: none */
    } tails[2];       /* the last two objects that were made of a part that is not whole, the older one first */
};

/* ---- keys (key.c) ---------------------------------------------------------------------------------- */

struct s3 *s3_of(struct blob_store *store);

/* The key of a blob, and of another name below the prefix, in the arena. */
const char *s3_key(const struct s3 *s3, struct arena *arena, struct id id);
const char *s3_key_of(const struct s3 *s3, struct arena *arena, const char *name);

/* ---- calls (call.c) ----------------------------------------------------------------------------- */

/*
 * Makes a call, again at another endpoint or later where it is worth it, until there is an answer or the time is over:
 * then STORAGE_UNAVAILABLE.
 */
struct error *s3_send(struct s3 *s3, struct arena *arena, struct s3_call *call, struct s3_reply *reply_out);

/* The same error in another arena, for calls whose own arena goes. NULL stays NULL. */
struct error *s3_keep_error(struct arena *arena, const struct error *error);

/* Adds a parameter and a header. Both texts must live as long as the call. */
void s3_add_query(struct s3_call *call, const char *name, const char *value);
void s3_add_header(struct s3_call *call, const char *name, const char *value);

/* The path of an object, percent-encoded, "/bucket/key"; `key` NULL: that of the bucket. */
const char *s3_path(const struct s3 *s3, struct arena *arena, const char *key);

/* The host of an endpoint as requests name it. */
const char *s3_host(struct arena *arena, const char *endpoint);

/* ---- refusals (refusal.c) ----------------------------------------------------------------------- */

/* Reads code and message of a refusal into the reply, where it has them. */
void s3_read_refusal(struct s3_reply *reply);

/* The error for an answer that is not the wanted one; `what` is what was asked for: "to store an object". */
struct error *s3_refusal(const struct s3 *s3, struct arena *arena, const struct s3_reply *reply, const char *what)
    __attribute__((returns_nonnull));

/* ---- the functions of the store --------------------------------------------------------------------- */

/* spool.c */
struct error *s3_begin(struct blob_store *store, struct arena *arena, void **state_out);
struct error *s3_write(struct blob_store *store, struct arena *arena, void *state, const void *bytes, size_t length);
void s3_abort(struct blob_store *store, void *state);

/*
 * Sends bytes of the spool, of that SHA-256, as an object, on the condition that there is none unless source->replaces.
 */
struct error *s3_put(struct s3 *s3, struct s3_source *source, const char *key, uint64_t bytes, const char *digest,
                     struct s3_reply *reply_out);

/* The SHA-256 of `length` bytes of the spool, in hexadecimal digits. */
struct error *s3_digest_spool(struct s3 *s3, struct arena *arena, void *spool_state, uint64_t first, uint64_t length,
                              const char **digest_out);

/* write.c */
struct error *s3_read(struct blob_store *store, struct arena *arena, void *state, uint64_t offset, void *bytes,
                      size_t length, size_t *got_out);
struct error *s3_commit(struct blob_store *store, struct arena *arena, void *state, const struct blob_final *final);

/*
 * piece.c: the object with the bytes from `first` to `end`, the latter not included: its name below the prefix, and its
 * key.
 */
const char *s3_piece_name(struct arena *arena, const char *folder, uint64_t first, uint64_t end);
const char *s3_piece_key(const struct s3 *s3, struct arena *arena, const char *folder, uint64_t first, uint64_t end);

/* s3_read() for bytes that are no longer in the spool; they lie in one object as far as that goes. */
struct error *s3_piece_read(struct s3 *s3, struct arena *arena, const struct s3_pending *pending, uint64_t offset,
                            void *bytes, size_t length, size_t *got_out);

/* partial.c */
extern const struct blob_partial_functions s3_partials;

/* compare.c: whether the object is there, and whether it is what the commit has sent. */
enum s3_state { S3_ABSENT, S3_SAME, S3_OTHER };
struct error *s3_compare(struct s3 *s3, struct arena *arena, const struct blob_final *final, bool is_last,
                         enum s3_state *state_out);

/* multipart.c */
struct error *s3_commit_parts(struct s3 *s3, struct arena *arena, const struct s3_pending *pending,
                              const struct blob_final *final);
struct error *s3_sweep_uploads(struct s3 *s3, struct arena *arena, int64_t before, size_t *count_out);

/* read.c */
struct error *s3_open(struct blob_store *store, struct arena *arena, struct id id, struct blob_reader *reader_out);
struct error *s3_fetch(struct blob_reader *reader, uint64_t offset, void *bytes, size_t length, size_t *got_out);
void s3_close(struct blob_reader *reader);
/* Reads exactly `length` bytes of an object. */
struct error *s3_get(struct s3 *s3, struct arena *arena, const char *key, uint64_t offset, void *bytes, size_t length);
struct error *s3_look(struct blob_store *store, struct arena *arena, struct id id, struct blob_found *found_out,
                      bool *there_out);
struct error *s3_look_at(struct s3 *s3, struct arena *arena, const char *key, bool is_last,
                         struct blob_found *found_out, bool *there_out);
struct error *s3_remove(struct blob_store *store, struct arena *arena, struct id id);
struct error *s3_remove_key(struct s3 *s3, struct arena *arena, const char *key);
struct error *s3_hand_over(struct blob_store *store, struct arena *arena, struct id id, const char *method,
                           const struct blob_part *part, struct blob_handover *handover_out);

/* list.c */
/* Whether a key below the prefix is that of a blob, as s3_key() makes it. */
bool s3_is_blob(const char *key, struct id *id_out);
struct error *s3_each(struct blob_store *store, struct arena *arena,
                      struct error *(*visit)(void *context, const struct blob_found *found), void *context);
struct error *s3_each_stray(struct blob_store *store, struct arena *arena,
                            struct error *(*visit)(void *context, const struct blob_stray *stray), void *context);
struct error *s3_set_aside(struct blob_store *store, struct arena *arena, const char *folder, const char *name,
                           const char **where_out);

/* Calls `visit` for every object in a folder below the prefix, in the order of the keys; `folder` "": for all. */
struct error *s3_each_object(struct s3 *s3, struct arena *arena, const char *folder,
                             struct error *(*visit)(void *context, const struct s3_object *object), void *context);

/* Asks for one key of the bucket: whether the store knows bucket and key, and lets them be listed. */
struct error *s3_try_list(struct s3 *s3, struct arena *arena);

#endif

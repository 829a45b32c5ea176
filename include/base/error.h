/* SPDX-License-Identifier: MIT */
/*
 * The error object. It is made at the line that fails, traced on its way up with TRY, and turned into a reply by one
 * function (api/error_reply.c). Expected outcomes (a wrong password, an absent row) are not errors.
 *
 * It holds three texts for three readers: `message` is for the caller, `detail` for the log only, and `stack` for
 * developers, where expose_stack is on.
 */
#ifndef GATEHOUSE_BASE_ERROR_H
#define GATEHOUSE_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum error_code {
#define ERROR(symbol, status, text, sentence) ERROR_##symbol,
#include "base/errors.def"
#undef ERROR
    ERROR_CODE_COUNT
};

/* One failing path of the input (docs/api.md, "Errors"). */
struct error_entry {
    const char *path;
    const char *code;
    const char *message;
    struct error_entry *next;
};

/* One additional member of the reply's `body`, e.g. {"required": "cus:file:w"}. */
struct error_member {
    const char *name;
    const char *value;
    struct error_member *next;
};

struct error {
    struct arena *arena;
    enum error_code code;
    const char *message;         /* for the caller; never NULL */
    const char *detail;          /* for the log; may be NULL */
    struct error_entry *entries; /* in the order added */
    struct error_entry **entries_end;
    size_t entry_count;
    struct error_member *members;
    const char *stack;    /* "function (file:line)" lines, innermost first */
    unsigned retry_after; /* seconds, 0 for none */
};

/* Collects the faults that validation finds, before it is known whether there is an error at all. */
struct validation {
    struct arena *arena;
    struct error *error; /* NULL as long as nothing failed */
};

/*
 * A new error of `code` with the table's sentence as message. `format` (may be NULL) is the detail for the log; it must
 * not hold secrets. Use the macros below, which add file and line.
 */
struct error *error_make(struct arena *arena, enum error_code code, const char *function, const char *file, int line,
                         const char *format, ...) __attribute__((format(printf, 6, 7), returns_nonnull));

#define error_new(arena, code, ...) error_make((arena), (code), __func__, __FILE__, __LINE__, __VA_ARGS__)
#define error_plain(arena, code) error_make((arena), (code), __func__, __FILE__, __LINE__, NULL)

/* Replaces the sentence for the caller; returns the error. */
struct error *error_message(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

/* Adds a failing path; entries over LIMIT_VALIDATION_ENTRIES are dropped. Texts are copied. Returns the error. */
struct error *error_entry(struct error *error, const char *path, const char *code, const char *message)
    __attribute__((returns_nonnull));

/* Adds a text member to the reply's body. Texts are copied. Returns the error. */
struct error *error_member(struct error *error, const char *name, const char *value) __attribute__((returns_nonnull));

/*
 * Notes that the error passed through `function`, and returns it. The attribute tells the compiler that after TRY() no
 * caller goes on with results that were not written.
 */
struct error *error_trace(struct error *error, const char *function, const char *file, int line)
    __attribute__((returns_nonnull));

/* Passes an error to the caller and adds this place to its trace. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        struct error *try_error_ = (call);                                                                             \
        if (try_error_ != NULL) {                                                                                      \
            (void)error_trace(try_error_, __func__, __FILE__, __LINE__);                                               \
            return try_error_;                                                                                         \
        }                                                                                                              \
    } while (0)

int error_status(enum error_code code);
const char *error_code_text(enum error_code code);
const char *error_sentence(enum error_code code);

/* What an operator reads: the message, or the detail where the message is only the sentence of INTERNAL for callers. */
const char *error_words(const struct error *error);

/* Starts collecting; nothing has failed yet. */
void validation_init(struct validation *validation, struct arena *arena);

/* Records a failing path (the error becomes REQUEST_INVALID with the first). `path` takes a format. */
void validation_add(struct validation *validation, const char *code, const char *message, const char *path_format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether a fault of that path was recorded. */
bool validation_has(const struct validation *validation, const char *path);

#endif

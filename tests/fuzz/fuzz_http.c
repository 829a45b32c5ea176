/* SPDX-License-Identifier: MIT */
/* Targets for what HTTP brings: multipart bodies, ranges, conditions, file names, paths, queries, whole requests. */
#include <stdlib.h>
#include <string.h>

#include "api/route.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "codec/encoding.h"
#include "fuzz.h"
#include "http/disposition.h"
#include "http/multipart.h"
#include "http/multipart_int.h"
#include "http/range.h"
#include "http/request.h"
#include "http/schema.h"
#include "http/upload_header.h"

/* ---- multipart ------------------------------------------------------------------------------------ */

/* What the handler is told, as a text. */
struct heard {
    struct buffer text;
    bool in_data;
};

static struct error *hear_begin(void *context, const struct part_header *header)
{
    struct heard *heard = context;
    fuzz_expect(utf8_valid(header->name, strlen(header->name)), "a part's name is UTF-8");
    fuzz_expect(header->file_name == NULL || utf8_valid(header->file_name, strlen(header->file_name)),
                "a file's name is UTF-8");
    buffer_add_format(&heard->text, "\nbegin %s|%s|%s|%s\n", header->name,
                      header->file_name == NULL ? "-" : header->file_name,
                      header->content_type == NULL ? "-" : header->content_type,
                      header->transfer_encoding == NULL ? "-" : header->transfer_encoding);
    return NULL;
}

static struct error *hear_data(void *context, const void *bytes, size_t length)
{
    struct heard *heard = context;
    fuzz_expect(length > 0, "a piece of data has bytes");
    buffer_add(&heard->text, bytes, length);
    return NULL;
}

static struct error *hear_end(void *context)
{
    buffer_add_text(&((struct heard *)context)->text, "\nend\n");
    return NULL;
}

/* The body in pieces of `piece` bytes. */
static struct buffer hear(struct arena *arena, const uint8_t *bytes, size_t size, size_t piece)
{
    static const struct multipart_handler handler = {hear_begin, hear_data, hear_end};
    struct heard heard = {.in_data = false};
    buffer_init(&heard.text, arena);
    struct multipart *multipart = multipart_new(arena, "XbX", &handler, &heard);
    struct error *error = NULL;
    for (size_t at = 0; at < size && error == NULL; at += piece)
        error = multipart_feed(multipart, bytes + at, piece < size - at ? piece : size - at);
    fuzz_expect(error == NULL || multipart_finish(multipart) != NULL, "an error stays");
    if (error == NULL)
        error = multipart_finish(multipart);
    fuzz_expect(multipart_count(multipart) <= LIMIT_PARTS, "the number of parts is bounded");
    buffer_add_text(&heard.text, error == NULL ? "good" : error_code_text(error->code));
    if (error != NULL && error->entry_count > 0)
        buffer_add_text(&heard.text, error->entries->message);
    return heard.text;
}

/* However a body is cut, the handler hears the same. */
void fuzz_multipart(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct buffer whole = hear(arena, bytes, size, size + 1);
    static const size_t pieces[] = {1, 3, 7};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct buffer cut = hear(arena, bytes, size, pieces[i]);
        fuzz_expect(cut.length == whole.length && memcmp(cut.bytes, whole.bytes, cut.length) == 0,
                    "how a body is cut changes nothing");
    }
}

void fuzz_part_header(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct part_header header = {0};
    /* multipart.c hands over whole lines without control characters. */
    const char *lines[16];
    struct buffer text;
    buffer_init(&text, arena);
    fuzz_lines(arena, bytes, size, lines, sizeof lines / sizeof *lines);
    for (size_t i = 0; i < sizeof lines / sizeof *lines && *lines[i] != '\0'; i++) {
        for (const char *at = lines[i]; *at != '\0'; at++)
            buffer_add_char(&text, (unsigned char)*at < ' ' && *at != '\t' ? '.' : *at == '\x7f' ? '.' : *at);
        buffer_add_text(&text, "\r\n");
    }
    buffer_add_text(&text, "\r\n");
    if (multipart_header_parse(arena, text.bytes, text.length, &header) != NULL)
        return;
    fuzz_expect(header.name != NULL, "a part that is taken has a name");
    fuzz_expect(utf8_valid(header.name, strlen(header.name)), "a part's name is UTF-8");
    const char *boundary;
    if (header.content_type != NULL && multipart_boundary(arena, header.content_type, &boundary) == NULL)
        fuzz_expect(*boundary != '\0' && strlen(boundary) <= LIMIT_BOUNDARY_BYTES, "a boundary has 1 to 70 characters");
}

/* ---- ranges and conditions ------------------------------------------------------------------------- */

#define ETAG "\"0123abcd\""

/* The first line is the header, the second the size of the file. */
void fuzz_range(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[2];
    int64_t length = 1000;
    struct range range;
    fuzz_lines(arena, bytes, size, lines, 2);
    (void)text_to_integer(lines[1], 0, INT64_MAX, &length);
    enum range_result result = range_parse(lines[0], (uint64_t)length, &range);
    if (result == RANGE_OK) {
        fuzz_expect(range.first <= range.last, "a range begins before it ends");
        fuzz_expect(range.last < (uint64_t)length, "a range ends in the file");
        struct range again;
        const char *text =
            arena_format(arena, "bytes=%llu-%llu", (unsigned long long)range.first, (unsigned long long)range.last);
        fuzz_expect(range_parse(text, (uint64_t)length, &again) == RANGE_OK && again.first == range.first &&
                        again.last == range.last,
                    "a range that is written plainly is the same range");
        fuzz_expect(strncmp(range_format(arena, &range, (uint64_t)length), "bytes ", 6) == 0,
                    "Content-Range is in bytes");
    }
    if (range_is_plain(lines[0]) && result == RANGE_NONE) {
        const char *first = lines[0] + strlen("bytes=");
        bool reversed = *first != '-' && strtoull(first, NULL, 10) > strtoull(strchr(first, '-') + 1, NULL, 10);
        fuzz_expect(reversed || length == 0, "a plain range is understood");
    }
}

/* If-Match, If-None-Match, If-Range, Range; an empty line is an absent header. */
void fuzz_conditions(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[4];
    fuzz_lines(arena, bytes, size, lines, 4);
    for (size_t i = 0; i < 4; i++)
        lines[i] = *lines[i] == '\0' ? NULL : lines[i];
    struct range_conditions conditions = {
        .if_match = lines[0], .if_none_match = lines[1], .if_range = lines[2], .range = lines[3]};
    struct range range;
    enum range_answer get = range_decide(&conditions, true, ETAG, 1000, &range);
    enum range_answer other = range_decide(&conditions, false, ETAG, 1000, &range);
    if (lines[0] != NULL)
        fuzz_expect(range_names(lines[0], ETAG, false) == (get != RANGE_ANSWER_FAILED || lines[1] != NULL) ||
                        get == RANGE_ANSWER_FAILED,
                    "If-Match that fails is 412");
    else if (lines[1] == NULL)
        fuzz_expect(get != RANGE_ANSWER_FAILED && get != RANGE_ANSWER_NOT_MODIFIED, "no condition, no 304 and no 412");
    fuzz_expect(other != RANGE_ANSWER_PART && other != RANGE_ANSWER_UNSATISFIABLE, "only GET has ranges");
    if (lines[0] != NULL && range_names(lines[0], ETAG, false))
        fuzz_expect(range_names(lines[0], ETAG, true), "what matches strongly matches weakly");
}

/* ---- names of files --------------------------------------------------------------------------------- */

void fuzz_disposition(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *name = disposition_clean_name(arena, fuzz_text(arena, bytes, size));
    if (name == NULL)
        return;
    fuzz_expect(*name != '\0' && strpbrk(name, "/\\") == NULL, "a clean name has no path");
    fuzz_expect(utf8_valid(name, strlen(name)), "a clean name is UTF-8");
    const char *again = disposition_clean_name(arena, name);
    fuzz_expect(again != NULL && strcmp(again, name) == 0, "a clean name stays as it is");
    const char *header = disposition_format(arena, false, name);
    for (const char *at = header; *at != '\0'; at++)
        fuzz_expect(*at >= ' ' && *at <= '~', "a header is visible ASCII");
    static const char quoted[] = "attachment; filename=\"";
    static const char begin[] = "\"; filename*=UTF-8''";
    fuzz_expect(strncmp(header, quoted, sizeof quoted - 1) == 0, "the header has a name in quotes");
    const char *exact = strchr(header + sizeof quoted - 1, '"');
    fuzz_expect(exact != NULL && strncmp(exact, begin, sizeof begin - 1) == 0, "the header has the exact name");
    exact += sizeof begin - 1;
    char *decoded;
    fuzz_expect(percent_decode(arena, exact, strlen(exact), false, &decoded, NULL) && strcmp(decoded, name) == 0,
                "the exact name is the name");
}

/* ---- paths, queries, requests ------------------------------------------------------------------------ */

void fuzz_path(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_text(arena, bytes, size);
    struct route_match match;
    bool fits_one = false;
    for (size_t i = 0; i < routes()->count; i++) {
        const struct route *row = &routes()->rows[i];
        struct route_segments segments;
        bool fits = route_path_fits(row->path, path, &segments);
        fits_one = fits_one || fits;
        if (strchr(row->path, '{') == NULL)
            fuzz_expect(fits == (strcmp(row->path, path) == 0), "a path without words fits itself alone");
        for (size_t j = 0; fits && j < segments.count; j++)
            fuzz_expect(segments.items[j].length > 0 &&
                            memchr(segments.items[j].start, '/', segments.items[j].length) == NULL,
                        "a word is one segment");
    }
    for (int method = METHOD_GET; method <= METHOD_OTHER; method++) {
        route_find(arena, (enum method)method, path, &match);
        fuzz_expect((match.allow[0] != '\0') == fits_one, "Allow names methods where the path is known");
        fuzz_expect(match.route == NULL || fits_one, "an unknown path has no row");
    }
}

void fuzz_query(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct schema_pair *pairs;
    size_t count;
    if (schema_split_query(arena, fuzz_text(arena, bytes, size), &pairs, &count) != NULL)
        return;
    fuzz_expect(count <= LIMIT_QUERY_PARAMETERS, "the number of parameters is bounded");
    for (size_t i = 0; i < count; i++)
        fuzz_expect(utf8_valid(pairs[i].name, strlen(pairs[i].name)) &&
                        utf8_valid(pairs[i].value, strlen(pairs[i].value)),
                    "names and values are UTF-8");
    for (size_t i = 0; i < routes()->count; i++) {
        struct validation validation;
        uint64_t present;
        if (routes()->rows[i].query == NULL)
            continue;
        validation_init(&validation, arena);
        const void *values = schema_read_pairs(routes()->rows[i].query, pairs, count, &validation, &present);
        fuzz_expect(values != NULL, "a query is read into a struct");
    }
}

/* Each line is NAME=VALUE, a CGI parameter; what follows an empty line is the body. */
struct fuzz_source {
    const char *lines[24];
    const char *body;
    size_t at;
};

static const char *source_parameter(void *context, const char *name)
{
    struct fuzz_source *source = context;
    for (size_t i = 0; i < 23; i++)
        if (strncmp(source->lines[i], name, strlen(name)) == 0 && source->lines[i][strlen(name)] == '=')
            return source->lines[i] + strlen(name) + 1;
    return NULL;
}

static long source_read(void *context, void *bytes, size_t size)
{
    struct fuzz_source *source = context;
    size_t left = strlen(source->body) - source->at;
    size_t take = size < left ? size : left;
    memcpy(bytes, source->body + source->at, take);
    source->at += take;
    return (long)take;
}

void fuzz_request(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct fuzz_source source = {.at = 0};
    struct request request;
    fuzz_lines(arena, bytes, size, source.lines, sizeof source.lines / sizeof *source.lines);
    source.body = source.lines[23];
    struct request_source given = {.context = &source, .parameter = source_parameter, .read = source_read};
    request_init(&request, arena, &given, "/api");
    fuzz_expect(request.query != NULL && request.request_id != NULL && request.client_address != NULL,
                "a request has a query, an id and an address");
    fuzz_expect(strlen(request.request_id) >= LIMIT_REQUEST_ID_MIN &&
                    strlen(request.request_id) <= LIMIT_REQUEST_ID_MAX,
                "a request's id is bounded");
    fuzz_expect(request.path == NULL || *request.path == '/', "a path begins with a slash");
    char *body;
    size_t length;
    if (request.content_length >= 0 && request_read_all(&request, LIMIT_JSON_BYTES, &body, &length) == NULL)
        fuzz_expect(length <= LIMIT_JSON_BYTES, "a body is bounded");
    (void)request_require_type(&request, "application/json");
}

/* ---- the headers of resumable uploads ------------------------------------------------------------- */

static void write_back(struct arena *arena, const struct upload_metadata *metadata, struct buffer *text)
{
    buffer_init(text, arena);
    for (size_t i = 0; i < metadata->count; i++) {
        const struct upload_metadata_pair *pair = &metadata->pairs[i];
        buffer_add_format(text, "%s%s %s", i == 0 ? "" : ",", pair->key,
                          base64_encode(arena, pair->value, strlen(pair->value)));
    }
}

/* Metadata, a checksum and a number, a line each. */
void fuzz_upload_header(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[3];
    struct upload_metadata first;
    struct upload_metadata second;
    struct buffer text;
    uint8_t digest[DIGEST_BYTES];
    int64_t number = 0;
    fuzz_lines(arena, bytes, size, lines, 3);
    if (upload_metadata_read(arena, lines[0], &first) == NULL) {
        write_back(arena, &first, &text);
        fuzz_expect(text.length > UPLOAD_METADATA_BYTES || upload_metadata_read(arena, text.bytes, &second) == NULL,
                    "what was read is written so that it can be read");
        fuzz_expect(text.length > UPLOAD_METADATA_BYTES || first.count == second.count, "no pair is lost");
        for (size_t i = 0; i < first.count; i++)
            fuzz_expect(utf8_valid(first.pairs[i].value, strlen(first.pairs[i].value)), "a value is UTF-8");
    }
    if (upload_checksum_read(arena, lines[1], digest) == UPLOAD_CHECKSUM_GOOD)
        fuzz_expect(strcmp(lines[1], arena_format(arena, "sha256 %s", base64_encode(arena, digest, sizeof digest))) ==
                        0,
                    "a checksum has one spelling");
    if (upload_number_read(lines[2], &number))
        fuzz_expect(number >= 0 && strcmp(lines[2], arena_format(arena, "%lld", (long long)number)) == 0,
                    "a number has one spelling");
}

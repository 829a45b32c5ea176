/* SPDX-License-Identifier: MIT */
/* Makes a request from what the web server passes on: method, path, query, headers, addresses. */
#include "http/request.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/id.h"
#include "base/limits.h"
#include "base/text.h"

static const char *const method_texts[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};

#define METHOD_TEXTS (sizeof method_texts / sizeof *method_texts)

const char *request_method_text(enum method method)
{
    return method < METHOD_TEXTS ? method_texts[method] : "OTHER";
}

static enum method parse_method(const char *text)
{
    for (size_t i = 0; text != NULL && i < METHOD_TEXTS; i++)
        if (strcmp(text, method_texts[i]) == 0)
            return (enum method)i;
    return METHOD_OTHER;
}

static bool request_id_is_good(const char *text)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return text[length] == '\0' && length >= LIMIT_REQUEST_ID_MIN && length <= LIMIT_REQUEST_ID_MAX;
}

static const char *take_request_id(const struct request *request)
{
    const struct request_source *source = &request->source;
    const char *sent = source->kind == REQUEST_WHOLE ? NULL : source->parameter(source->context, REQUEST_ID_PARAMETER);
    if (sent == NULL)
        sent = request_header(request, "X_REQUEST_ID");
    if (sent != NULL && request_id_is_good(sent))
        return arena_text(request->arena, sent);
    return id_text(request->arena, id_new());
}

/* REQUEST_URI is the target as the client sent it; some clients send the absolute form (RFC 9112, section 3.2.2). */
static const char *path_of_target(const char *target)
{
    if (strncmp(target, "http://", 7) != 0 && strncmp(target, "https://", 8) != 0)
        return target;
    const char *path = strchr(strstr(target, "://") + 3, '/');
    return path == NULL ? "/" : path;
}

static void split_target(struct request *request, const char *base_path)
{
    const char *target = request->source.parameter(request->source.context, "REQUEST_URI");
    if (target == NULL || *target == '\0')
        return;
    target = path_of_target(target);
    const char *question = strchr(target, '?');
    size_t length = question == NULL ? strlen(target) : (size_t)(question - target);
    size_t base_length = strlen(base_path);
    if (length > LIMIT_PATH_BYTES || *target != '/' || strncmp(target, base_path, base_length) != 0 ||
        (length > base_length && target[base_length] != '/'))
        return;
    request->path =
        length == base_length ? "/" : arena_copy(request->arena, target + base_length, length - base_length);
    if (question != NULL)
        request->query = arena_text(request->arena, question + 1);
}

static int64_t parse_length(const char *text)
{
    int64_t length = 0;
    if (text == NULL || *text == '\0')
        return 0;
    return text_to_integer(text, 0, INT64_MAX, &length) ? length : -1;
}

/* A chunked body that the web server has not received whole has no length. */
static int64_t content_length(const struct request_source *source)
{
    const char *text = source->parameter(source->context, "CONTENT_LENGTH");
    const char *coding = source->parameter(source->context, "HTTP_TRANSFER_ENCODING");
    bool unsaid = source->kind == REQUEST_WHOLE && (text == NULL || *text == '\0') && coding != NULL && *coding != '\0';
    return unsaid ? REQUEST_LENGTH_UNSAID : parse_length(text);
}

/* The length of body that a question asks about; a chunked body has none. */
static int64_t announced_length(const struct request_source *source)
{
    int64_t length = -1;
    const char *text = source->parameter(source->context, ANNOUNCED_PARAMETER);
    if (source->kind == REQUEST_WHOLE || text == NULL || !text_to_integer(text, 0, INT64_MAX, &length))
        return -1;
    return length;
}

void request_init(struct request *request, struct arena *arena, const struct request_source *source,
                  const char *base_path)
{
    *request = (struct request){.arena = arena, .source = *source, .query = "", .client_address = ""};
    request->method = parse_method(source->parameter(source->context, "REQUEST_METHOD"));
    const char *address = source->parameter(source->context, "REMOTE_ADDR");
    if (address != NULL && strlen(address) <= 45)
        request->client_address = arena_text(arena, address);
    request->content_length = content_length(source);
    request->body_left = request->content_length > 0 ? request->content_length : 0;
    request->announced_length = announced_length(source);
    request->request_id = take_request_id(request);
    split_target(request, base_path);
}

#define PARAMETER_BYTES 64

/* The name of a header's parameter; false: it is too long. */
static bool parameter_of(const char *name, char parameter_out[PARAMETER_BYTES])
{
    size_t length = strlen(name);
    if (length >= PARAMETER_BYTES - 5)
        return false;
    memcpy(parameter_out, "HTTP_", 5);
    memcpy(parameter_out + 5, name, length + 1);
    return true;
}

const char *request_header(const struct request *request, const char *name)
{
    char parameter[PARAMETER_BYTES];
    return parameter_of(name, parameter) ? request->source.parameter(request->source.context, parameter) : NULL;
}

bool request_header_repeated(const struct request *request, const char *name)
{
    char parameter[PARAMETER_BYTES];
    const struct request_source *source = &request->source;
    return source->repeated != NULL && parameter_of(name, parameter) && source->repeated(source->context, parameter);
}

const char *request_content_type(const struct request *request)
{
    const char *type = request->source.parameter(request->source.context, "CONTENT_TYPE");
    return type == NULL || *type == '\0' ? NULL : type;
}

static struct error *broken_body(const struct request *request)
{
    return error_message(error_new(request->arena, ERROR_REQUEST_MALFORMED, "%lld bytes of the body are missing",
                                   (long long)request->body_left),
                         "The body ended before its announced length. Send the request again.");
}

struct error *request_read(struct request *request, void *bytes, size_t size, size_t *got_out)
{
    *got_out = 0;
    if (request->content_length < 0)
        return error_message(error_plain(request->arena, ERROR_REQUEST_MALFORMED), "Content-Length is not a number.");
    if ((int64_t)size > request->body_left)
        size = (size_t)request->body_left;
    if (size == 0)
        return NULL;
    long got = request->source.read(request->source.context, bytes, size);
    if (got == REQUEST_SOURCE_FAULT)
        return error_new(request->arena, ERROR_STORAGE_UNAVAILABLE, "the spooled body cannot be read");
    if (got == 0 && request->content_length == REQUEST_LENGTH_UNSAID) {
        request->body_left = 0;
        return NULL;
    }
    if (got <= 0)
        return broken_body(request);
    request->body_left -= got;
    *got_out = (size_t)got;
    return NULL;
}

static struct error *too_large(const struct request *request, int64_t maximum)
{
    return error_message(error_plain(request->arena, ERROR_TOO_LARGE), "The body is larger than %lld bytes.",
                         (long long)maximum);
}

struct error *request_read_all(struct request *request, int64_t maximum, char **bytes_out, size_t *length_out)
{
    bool unsaid = request->content_length == REQUEST_LENGTH_UNSAID;
    if (request->content_length > maximum && !unsaid)
        return too_large(request, maximum);
    size_t length = (size_t)(unsaid ? maximum + 1 : request->body_left);
    char *bytes = arena_alloc(request->arena, length + 1);
    size_t filled = 0;
    size_t got = 0;
    do {
        TRY(request_read(request, bytes + filled, length - filled, &got));
        filled += got;
    } while (got != 0 && filled < length);
    if ((int64_t)filled > maximum)
        return too_large(request, maximum);
    *bytes_out = bytes;
    *length_out = filled;
    return NULL;
}

static bool media_type_is(const char *content_type, const char *media_type)
{
    size_t length = strlen(media_type);
    for (size_t i = 0; i < length; i++)
        if (text_lower(content_type[i]) != media_type[i])
            return false;
    const char *rest = content_type + length;
    rest += strspn(rest, " \t");
    return *rest == '\0' || *rest == ';';
}

struct error *request_require_type(const struct request *request, const char *media_type)
{
    const char *encoding = request_header(request, "CONTENT_ENCODING");
    if (encoding != NULL && *encoding != '\0')
        return error_message(error_plain(request->arena, ERROR_MEDIA_TYPE),
                             "The body must not have a Content-Encoding. Send it plain.");
    const char *type = request_content_type(request);
    if (type == NULL || !media_type_is(type, media_type))
        return error_message(error_plain(request->arena, ERROR_MEDIA_TYPE), "This path takes a body of type %s.",
                             media_type);
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Targets for codecs: JSON, schemas, e-mail addresses, names, signed requests, XML. */
#include <string.h>

#include "api/route.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/name.h"
#include "base/text.h"
#include "codec/address.h"
#include "codec/document.h"
#include "codec/encoding.h"
#include "codec/sigv4.h"
#include "codec/visible.h"
#include "codec/xml.h"
#include "domain/settings.h"
#include "fuzz.h"
#include "http/schema.h"

/* ---- JSON ----------------------------------------------------------------------------------------- */

static const char *written(struct arena *arena, const struct document *document, int indent)
{
    struct buffer text;
    buffer_init(&text, arena);
    document_write(document, indent, &text);
    return text.bytes;
}

void fuzz_document(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct document *document;
    struct document *again;
    struct error *error = document_parse(arena, (const char *)bytes, size, &document);
    if (error != NULL) {
        fuzz_expect(error->code == ERROR_REQUEST_MALFORMED && error->entry_count > 0, "a refusal names its fault");
        return;
    }
    fuzz_expect(utf8_valid((const char *)bytes, size), "JSON is UTF-8");
    const char *line = written(arena, document, -1);
    fuzz_expect(document_parse(arena, line, strlen(line), &again) == NULL, "what is written can be read");
    fuzz_expect(strcmp(written(arena, again, -1), line) == 0, "what is read again is the same");
    const char *lines = written(arena, document, 0);
    fuzz_expect(document_parse(arena, lines, strlen(lines), &again) == NULL &&
                    strcmp(written(arena, again, -1), line) == 0,
                "indenting changes nothing");
}

/* The document as the body of each end point. */
void fuzz_schema(struct arena *arena, const uint8_t *bytes, size_t size)
{
    struct document *document;
    if (document_parse(arena, (const char *)bytes, size, &document) != NULL)
        return;
    for (size_t i = 0; i < routes()->count; i++) {
        const struct schema *schema = routes()->rows[i].body;
        struct validation validation;
        uint64_t present = 0;
        if (schema == NULL)
            continue;
        validation_init(&validation, arena);
        const void *values = schema_read(schema, document, &validation, &present);
        fuzz_expect(values != NULL, "a body is read into a struct");
        fuzz_expect(validation.error == NULL || validation.error->entry_count > 0, "a refusal names its paths");
        fuzz_expect(document_kind(document) == DOCUMENT_OBJECT || validation.error != NULL, "a body is an object");
        if (validation.error != NULL)
            continue;
        struct buffer text;
        buffer_init(&text, arena);
        schema_write(&text, schema, values);
        struct document *reply;
        fuzz_expect(document_parse(arena, text.bytes, text.length, &reply) == NULL, "what is written is JSON");
    }
}

void fuzz_settings(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *damage = NULL;
    const struct settings *settings = settings_read(arena, (const char *)bytes, size, &damage);
    fuzz_expect((settings == NULL) == (damage != NULL), "a document that is refused says why");
    if (settings == NULL)
        return;
    const char *text = settings_text(arena, settings);
    const struct settings *again = settings_read(arena, text, strlen(text), &damage);
    fuzz_expect(again != NULL && memcmp(&again->levels, &settings->levels, sizeof again->levels) == 0,
                "what is written is the same settings");
}

/* ---- addresses and names ---------------------------------------------------------------------------- */

void fuzz_address(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *text = fuzz_text(arena, bytes, size);
    if (!utf8_valid(text, strlen(text)))
        return;
    enum address_fault fault = address_validate(arena, text);
    const char *key = address_key(arena, text);
    fuzz_expect(strcmp(address_key(arena, key), key) == 0, "the key of a key is the key");
    fuzz_expect(address_same(arena, text, text), "an address equals itself");
    fuzz_expect(utf8_valid(address_fold(arena, text), strlen(address_fold(arena, text))), "folding gives UTF-8");
    if (fault != ADDRESS_GOOD) {
        fuzz_expect(address_fault_text(fault) != NULL, "a refusal has a sentence");
        return;
    }
    const char *clean = address_clean(arena, text);
    fuzz_expect(address_validate(arena, clean) == ADDRESS_GOOD, "a stored address is valid");
    fuzz_expect(strcmp(address_key(arena, clean), key) == 0, "the stored form is the same address");
    fuzz_expect(strcmp(address_clean(arena, clean), clean) == 0, "the stored form stays as it is");
    fuzz_expect(address_validate(arena, key) == ADDRESS_GOOD, "a key is a valid address");
    fuzz_expect(strchr(key, '@') == strrchr(key, '@') && strpbrk(key, " \t\r\n<>") == NULL,
                "a key is safe in a header");
    const char *wire = address_wire(arena, text);
    fuzz_expect(strpbrk(wire, "\r\n") == NULL, "an address on the wire is one line");
}

void fuzz_name(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *text = fuzz_text(arena, bytes, size);
    bool good = name_is_good(text);
    if (good)
        fuzz_expect(strpbrk(text, ":/\\<>@\r\n") == NULL, "a good name carries no link");
    if (good)
        fuzz_expect(utf8_valid(text, strlen(text)), "a good name is UTF-8");
    (void)visible_text(text);
    if (utf8_valid(text, strlen(text))) {
        const char *mailed = name_for_mail(arena, text);
        fuzz_expect(name_is_good(mailed), "a name that is mailed is a good one");
        fuzz_expect(strcmp(name_for_mail(arena, mailed), mailed) == 0, "a name that is mailed stays as it is");
    }
}

/* ---- signed requests -------------------------------------------------------------------------------- */

/* Method, path, a header's value, then pairs of parameters. */
void fuzz_sigv4(struct arena *arena, const uint8_t *bytes, size_t size)
{
    const char *lines[11];
    fuzz_lines(arena, bytes, size, lines, 11);
    const struct sigv4_pair headers[] = {{"Host", "store.example"}, {"X-Amz-Meta-Note", lines[2]}};
    struct sigv4_pair pairs[4];
    size_t count = 0;
    for (size_t i = 3; i + 1 < 11; i += 2)
        if (*lines[i] != '\0' && utf8_valid(lines[i], strlen(lines[i])) &&
            utf8_valid(lines[i + 1], strlen(lines[i + 1])))
            pairs[count++] = (struct sigv4_pair){lines[i], lines[i + 1]};
    char payload[SIGV4_PAYLOAD_BYTES];
    sigv4_payload(bytes, size, payload);
    const char *query = sigv4_query(arena, pairs, count);
    struct schema_pair *back;
    size_t found;
    if (schema_split_query(arena, query, &back, &found) == NULL)
        fuzz_expect(found == count, "a query has as many parameters as were given");
    const struct sigv4_scope scope = {"eu-central-1", "s3", "AKIDEXAMPLE", secret_of("secret")};
    const struct sigv4_request request = {.method = *lines[0] == '\0' ? "GET" : lines[0],
                                          .path = *lines[1] == '/' ? lines[1] : "/",
                                          .query = query,
                                          .headers = headers,
                                          .header_count = 2,
                                          .time = "20150830T123600Z",
                                          .payload = payload};
    const char *first = sigv4_authorization(arena, &scope, &request);
    fuzz_expect(strcmp(first, sigv4_authorization(arena, &scope, &request)) == 0, "a signature can be made again");
    fuzz_expect(strpbrk(first, "\r\n") == NULL, "a header is one line");
    const char *url = sigv4_presign(arena, &scope, &request, pairs, count, 60);
    fuzz_expect(strstr(url, "X-Amz-Signature=") != NULL, "a signed URL has its signature");
}

/* ---- answers of a store ------------------------------------------------------------------------------ */

static bool look_at_element(void *context, const struct xml_element *element)
{
    size_t *count = context;
    (*count)++;
    fuzz_expect(*element->path == '/' && strlen(element->path) <= LIMIT_XML_PATH_BYTES, "a path is bounded");
    fuzz_expect(strlen(element->text) <= LIMIT_XML_TEXT_BYTES, "a text is bounded");
    fuzz_expect(utf8_valid(element->path, strlen(element->path)), "a path is UTF-8");
    fuzz_expect(utf8_valid(element->text, strlen(element->text)), "a text is UTF-8");
    return true;
}

void fuzz_xml(struct arena *arena, const uint8_t *bytes, size_t size)
{
    size_t count = 0, again = 0;
    const char *text = arena_copy(arena, bytes, size);
    bool good = xml_read(text, size, look_at_element, &count);
    fuzz_expect(!good || count > 0, "a document has an element");
    fuzz_expect(xml_read(text, size, look_at_element, &again) == good && again == count, "a document reads the same");
}

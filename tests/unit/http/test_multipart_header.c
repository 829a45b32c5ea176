/* SPDX-License-Identifier: MIT */
/* The texts round a multipart body: the header of each part, the boundary in the request's Content-Type. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"
#include "http/multipart.h"
#include "record.h"

#define LINES(lines) "--XbX\r\n" lines "\r\n\r\nx\r\n--XbX--\r\n"
#define D "Content-Disposition: form-data; name=a"
static const struct example header_faults[] = {
    {"--XbX\r\n\r\nx\r\n--XbX--\r\n", BAD("a part has no Content-Disposition")},
    {LINES("Content-Type: text/plain"), BAD("a part has no Content-Disposition")},
    {LINES("Content-Disposition: attachment; name=a"), BAD("a part's Content-Disposition is not form-data")},
    {LINES("Content-Disposition: form-datax; name=a"), BAD("a part's Content-Disposition is not form-data")},
    {LINES("Content-Disposition:"), BAD("a part's Content-Disposition is not form-data")},
    {LINES("Content-Disposition: form-data"), BAD("a part has no name")},
    {LINES("Content-Disposition: form-data; filename=a"), BAD("a part has no name")},
    {LINES(D "\r\n" D), BAD("a part has two Content-Disposition fields")},
    {LINES(D "\r\nContent-Type: a/b\r\nContent-type: a/b"), BAD("a part has two Content-Type fields")},
    {LINES(D "\r\nContent-Transfer-Encoding: 8bit\r\nContent-Transfer-Encoding: 8bit"),
     BAD("a part has two Content-Transfer-Encoding fields")},
    {LINES(D "; name=b"), BAD("a part has two names")},
    {LINES(D "; Name=\"a\""), BAD("a part has two names")},
    {LINES(D "; filename=a; filename=b"), BAD("a part has two file names")},
    {LINES(D "; filename*=UTF-8''a; filename*=UTF-8''b"), BAD("a part has two parameters filename*")},
    {LINES(D "; name*=UTF-8''b"), BAD("a part's Content-Disposition has an extended parameter other than filename*")},
    {LINES(D "; filename*0=b"), BAD("a part's Content-Disposition has an extended parameter other than filename*")},
    {LINES(D "\r\n folded"), BAD("a line of a part's header is folded")},
    {LINES(" " D), BAD("a line of a part's header is folded")},
    {LINES("\t" D), BAD("a line of a part's header is folded")},
    {LINES(D "\r\nno field"), BAD("a line of a part's header is not a field")},
    {LINES(D "\r\n: x"), BAD("a line of a part's header is not a field")},
    {LINES("Content-Disposition : form-data; name=a"), BAD("a line of a part's header is not a field")},
    {LINES("Content-Disposition"), BAD("a line of a part's header is not a field")},
    {LINES(D "\nX: y"), BAD("a line of a part's header does not end in CR LF")},
    {LINES(D "\rX: y"), BAD("a line of a part's header does not end in CR LF")},
    {"--XbX\r\n\n", BAD("a line of a part's header does not end in CR LF")},
    {LINES(D "\x01"), BAD("a part's header holds a control character")},
    {LINES(D "\x7f"), BAD("a part's header holds a control character")},
    {LINES(D "\x1b[2J"), BAD("a part's header holds a control character")},
    {LINES("Content-Disposition: form-data; name=\"a\x01\""), BAD("a part's header holds a control character")},
    {LINES(D "\r\nContent-Type: a/b; c=\"\x01\""), BAD("a part's header holds a control character")},
    {LINES(D "\r\nContent-Transfer-Encoding: \"\x7f\""), BAD("a part's header holds a control character")},
    {LINES("Content-Disposition: form-data; name=\"\xff\""), BAD("a part's header is not UTF-8")},
    {LINES(D "; filename=\"\xc3\""), BAD("a part's header is not UTF-8")},
    {LINES(D "; filename=\"\xc0\xaf\""), BAD("a part's header is not UTF-8")},
    {LINES(D "; filename=\"\xed\xa0\x80\""), BAD("a part's header is not UTF-8")},
    {LINES(D " x"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename="), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; =x"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename =x"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename= x"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename=a b"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename=\"a"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename=\"a\\\""), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename=\"a\"b"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D ", filename=b"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename=\xc3\xa4"), BAD("a part's Content-Disposition is not well formed")},
    {LINES(D "; filename*=ISO-8859-1''a"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=UTF-8'a"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=a"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=utf-8''%ff"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=utf-8''a%00b"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=utf-8''%4"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=utf-8''a*b"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=utf-8''a'b"), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
    {LINES(D "; filename*=\"utf-8''a\""), BAD("a part's filename* is not UTF-8 as RFC 8187 writes it")},
};

static void header_faults_are_refused(void **state)
{
    CHECK_ALL(state, header_faults);
}

static void nul_in_a_header_is_refused(void **state)
{
    static const char body[] = "--XbX\r\nContent-Disposition: form-data; name=\"a\0b\"\r\n\r\nx\r\n--XbX--\r\n";
    struct buffer events = record_every_way(harness_arena(state), body, sizeof body - 1);
    assert_string_equal(events.bytes, BAD("a part's header holds a control character"));
}

static void file_names_come_in_every_dialect(void **state)
{
#define FILE_GIVES(file) "begin [a] file [" file "]\ndata x\nend\ngood"
    static const struct example examples[] = {
        {FILE_A("filename=\"plain.txt\""), FILE_GIVES("plain.txt")},
        {FILE_A("filename=token.txt"), FILE_GIVES("token.txt")},
        {FILE_A("filename=\"\""), FILE_GIVES("")},
        {FILE_A("filename=\"gr\xc3\xb6\xc3\x9f"
                "e \xe2\x82\xac.csv\""),
         FILE_GIVES("gr\xc3\xb6\xc3\x9f"
                    "e \xe2\x82\xac.csv")},
        {FILE_A("filename=\"a;b=c, d.txt\""), FILE_GIVES("a;b=c, d.txt")},
        /* browsers */
        {FILE_A("filename=\"say %22hi%22%0D%0a.txt\""), FILE_GIVES("say \"hi\"\r\n.txt")},
        {FILE_A("filename=\"100%25 %2 %20 %zz %\""), FILE_GIVES("100%25 %2 %20 %zz %")},
        {FILE_A("filename=\"%0\""), FILE_GIVES("%0")},
        {FILE_A("filename=a%22b"), FILE_GIVES("a%22b")},
        /* curl, RFC 2183 */
        {FILE_A("filename=\"say \\\"hi\\\" \\\\ there\""), FILE_GIVES("say \"hi\" \\ there")},
        /* Windows clients that do not escape */
        {FILE_A("filename=\"C:\\Users\\new.txt\""), FILE_GIVES("C:\\Users\\new.txt")},
        {FILE_A("filename=\"..\\..\\x/../y\""), FILE_GIVES("..\\..\\x/../y")},
        /* RFC 8187, which wins wherever it stands */
        {FILE_A("filename*=UTF-8''%e2%82%ac%20rates.txt"), FILE_GIVES("\xe2\x82\xac rates.txt")},
        {FILE_A("filename*=utf-8'en'a%2Fb; filename=\"c\""), FILE_GIVES("a/b")},
        {FILE_A("filename=\"c\"; filename*=UTF-8''d"), FILE_GIVES("d")},
        {FILE_A("filename*=UTF-8''"), FILE_GIVES("")},
        {ONE("; filename=\"f\"; name=\"q%22\\\"\"", "x"), "begin [q\"\"] file [f]\ndata x\nend\ngood"},
    };
    CHECK_ALL(state, examples);
}

static void a_header_may_have_just_so_many_bytes(void **state)
{
    struct arena *arena = harness_arena(state);
    static const char start[] = "Content-Disposition: form-data; name=\"a\"\r\nX: ";
    for (int more = 0; more < 2; more++) {
        size_t fill = LIMIT_PART_HEADER_BYTES - (sizeof start - 1) - 4 + (size_t)more;
        char *filler = arena_alloc(arena, fill + 1);
        memset(filler, 'f', fill);
        char *body = arena_format(arena, "--XbX\r\n%s%s\r\n\r\nx\r\n--XbX--\r\n", start, filler);
        struct buffer events = record_run(arena, RECORD_BOUNDARY, body, strlen(body), NULL, 0);
        assert_string_equal(events.bytes, more == 0 ? GIVES("a", "x") : BAD("a part's header is too long"));
    }
}

struct type_example {
    const char *content_type;
    const char *boundary; /* or the code of the error */
};

static void the_boundary_is_found(void **state)
{
#define SEVENTY "0123456789012345678901234567890123456789012345678901234567890123456789"
    static const struct type_example examples[] = {
        {"multipart/form-data; boundary=XbX", "XbX"},
        {"  Multipart/FORM-data ;\tBOUNDARY=\"a b\"", "a b"},
        {"multipart/form-data; charset=utf-8; boundary=----WebKitFormBoundary7MA4", "----WebKitFormBoundary7MA4"},
        {"multipart/form-data; boundary=XbX; charset=\"utf-8\"", "XbX"},
        {"multipart/form-data; boundary=XbX;", "XbX"},
        {"multipart/form-data;; boundary=XbX ", "XbX"},
        {"multipart/form-data; boundary====1234==", "===1234=="},
        {"multipart/form-data; boundary=\"'()+_,-./:=?\"", "'()+_,-./:=?"},
        {"multipart/form-data; boundary=" SEVENTY, SEVENTY},
        {"multipart/form-data; boundary=0" SEVENTY, "request.malformed"},
        {"multipart/form-data", "request.malformed"},
        {"multipart/form-data; boundary", "request.malformed"},
        {"multipart/form-data; boundary=", "request.malformed"},
        {"multipart/form-data; boundary=\"\"", "request.malformed"},
        {"multipart/form-data; boundary=\"a ", "request.malformed"},
        {"multipart/form-data; boundary=\"a \"", "request.malformed"},
        {"multipart/form-data; boundary=\"a\\\"b\"", "request.malformed"},
        {"multipart/form-data; boundary=\"a\r\nb\"", "request.malformed"},
        {"multipart/form-data; boundary=a b", "request.malformed"},
        {"multipart/form-data; boundary=\xc3\xa4", "request.malformed"},
        {"multipart/form-data; boundary=a\xc3\xa4", "request.malformed"},
        {"multipart/form-data; boundary=a; boundary=a", "request.malformed"},
        {"multipart/form-data; boundary=a; Boundary=b", "request.malformed"},
        {"multipart/form-data; boundary=a, multipart/form-data; boundary=a", "request.malformed"},
        {"multipart/form-data; boundary=a,multipart/form-data; boundary=a", "request.malformed"},
        {"multipart/form-data boundary=a", "request.malformed"},
        {"multipart/form-data, boundary=a", "request.mediaType"},
        {"multipart/form-datax; boundary=a", "request.mediaType"},
        {"multipart/mixed; boundary=a", "request.mediaType"},
        {"application/json", "request.mediaType"},
        {"", "request.mediaType"},
        {NULL, "request.mediaType"},
    };
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *boundary = "untouched";
        struct error *error = multipart_boundary(arena, examples[i].content_type, &boundary);
        assert_string_equal(error == NULL ? boundary : error_code_text(error->code), examples[i].boundary);
        if (error != NULL)
            assert_string_equal(boundary, "untouched");
    }
}

static const struct CMUnitTest cases[] = {
    HARNESS_TEST(header_faults_are_refused),
    HARNESS_TEST(nul_in_a_header_is_refused),
    HARNESS_TEST(file_names_come_in_every_dialect),
    HARNESS_TEST(a_header_may_have_just_so_many_bytes),
    HARNESS_TEST(the_boundary_is_found),
};
HARNESS_MODULE(multipart_header, cases)

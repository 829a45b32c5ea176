/* SPDX-License-Identifier: MIT */
/* The reader of a store's answers. */
#include "codec/xml.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/text.h"
#include "harness.h"

static bool note(void *context, const struct xml_element *element)
{
    buffer_add_format(context, "%s=%s;", element->path, element->text);
    return true;
}

/* The elements as "path=text;", or NULL. */
static const char *elements(struct arena *arena, const char *text)
{
    struct buffer found;
    buffer_init(&found, arena);
    buffer_reserve(&found, 0);
    return xml_read(text, strlen(text), note, &found) ? found.bytes : NULL;
}

static void elements_are_given_where_they_end(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(elements(arena, "<?xml version=\"1.0\"?>\n<a xmlns='x'>\n <b>one</b><!-- c --><b/>\n</a>\n"),
                        "/a/b=one;/a/b=;/a=;");
    assert_string_equal(elements(arena, "\xef\xbb\xbf<s3:Error ><s3:Code y = \"<>\">No</s3:Code ></s3:Error>"),
                        "/Error/Code=No;/Error=;");
    assert_string_equal(elements(arena, "<a> x </a>"), "/a= x ;");
}

static void references_are_decoded(void **state)
{
    struct arena *arena = harness_arena(state);
    assert_string_equal(elements(arena, "<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x7a;&#xe9;&#x20AC;&#x1f600;</a>"),
                        "/a=<>&\"'Az\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80;");
}

static void what_is_no_such_document_is_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "text",
                                        "<a>",
                                        "</a>",
                                        "<a></b>",
                                        "<a><b></a></b>",
                                        "<a/><b/>",
                                        "<a/>text",
                                        "<a><b/>text</a>",
                                        "<!DOCTYPE html><html></html>",
                                        "<a><![CDATA[x]]></a>",
                                        "<a>&unknown;</a>",
                                        "<a>&#0;</a>",
                                        "<a>&#xd800;</a>",
                                        "<a>&#x110000;</a>",
                                        "<a>&#999999999;</a>",
                                        "<a>&#;</a>",
                                        "<a>&#12",
                                        "<a>&</a>",
                                        "<a>\xff</a>",
                                        "<a b></a>",
                                        "<a b=c></a>",
                                        "<a b='c></a>",
                                        "<",
                                        "<>",
                                        "<?xml",
                                        "<!-- ",
                                        "<a/",
                                        "<x:/>",
                                        "<1><2><3><4><5><6><7><8><9></9></8></7></6></5></4></3></2></1>"};
    struct arena *arena = harness_arena(state);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (elements(arena, texts[i]) != NULL)
            fail_msg("%s", texts[i]);
    assert_false(xml_read("<a>\0</a>", 8, note, NULL));
}

static void paths_and_texts_are_bounded(void **state)
{
    struct arena *arena = harness_arena(state);
    char text[LIMIT_XML_TEXT_BYTES + 2] = "";
    memset(text, 'x', LIMIT_XML_TEXT_BYTES);
    assert_non_null(elements(arena, arena_format(arena, "<a>%s</a>", text)));
    text[LIMIT_XML_TEXT_BYTES] = 'x';
    assert_null(elements(arena, arena_format(arena, "<a>%s</a>", text)));
    text[LIMIT_XML_PATH_BYTES - 1] = '\0';
    assert_non_null(elements(arena, arena_format(arena, "<%s/>", text)));
    assert_null(elements(arena, arena_format(arena, "<%sx/>", text)));
}

static bool stop(void *context, const struct xml_element *element)
{
    (void)element;
    return --*(int *)context > 0;
}

static void the_visitor_ends_the_reading(void **state)
{
    int left = 2;
    (void)state;
    assert_false(xml_read("<a><b/><b/><b/></a>", 19, stop, &left));
    assert_int_equal(left, 0);
}

static const struct CMUnitTest tests[] = {
    HARNESS_TEST(elements_are_given_where_they_end),   HARNESS_TEST(references_are_decoded),
    HARNESS_TEST(what_is_no_such_document_is_refused), HARNESS_TEST(paths_and_texts_are_bounded),
    HARNESS_TEST(the_visitor_ends_the_reading),
};
HARNESS_MODULE(xml, tests)

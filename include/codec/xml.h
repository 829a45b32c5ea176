/* SPDX-License-Identifier: MIT */
/*
 * Reads the small XML documents with which a store of the S3 protocol answers (XML 1.0, without a document type). The
 * reader keeps one path and one text, both bounded, so that its memory does not grow with the document.
 */
#ifndef GATEHOUSE_CODEC_XML_H
#define GATEHOUSE_CODEC_XML_H

#include <stdbool.h>
#include <stddef.h>

/* An element that has ended. */
struct xml_element {
    const char *path; /* "/ListBucketResult/Contents/Key", without prefixes of namespaces */
    const char *text; /* its text, decoded; "" where it has elements in it */
};

/*
 * Calls `visit` for each element where it ends, the inner ones first, until it returns false. False also for what is
 * not well-formed or not UTF-8, has a document type, or exceeds LIMIT_XML_PATH_BYTES, LIMIT_XML_DEPTH or
 * LIMIT_XML_TEXT_BYTES. The texts of an element last until `visit` returns.
 */
bool xml_read(const char *text, size_t length, bool (*visit)(void *context, const struct xml_element *element),
              void *context);

#endif

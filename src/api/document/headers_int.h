/* SPDX-License-Identifier: MIT */
/* Writes the headers of replies for the OpenAPI document: those that follow from a status, and those of the rows. */
#ifndef GATEHOUSE_API_DOCUMENT_HEADERS_INT_H
#define GATEHOUSE_API_DOCUMENT_HEADERS_INT_H

struct buffer;
struct route;

/* Adds ,"headers":{…} of the row's reply with that status. */
void headers_write(struct buffer *buffer, const struct route *route, int status);

/* Adds "headers":{…} for the components: the headers that replies of several rows have. */
void headers_write_components(struct buffer *buffer);

#endif

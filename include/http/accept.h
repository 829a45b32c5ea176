/* SPDX-License-Identifier: MIT */
/* Which of several media types a client wants: the header Accept (RFC 9110, section 12.5.1). */
#ifndef GATEHOUSE_HTTP_ACCEPT_H
#define GATEHOUSE_HTTP_ACCEPT_H

#include <stddef.h>

/*
 * The index of the type that the client wants most. `header` is the value of Accept, NULL where there is none; `types`
 * are `count` (at least 1) types in lower case without parameters, the preferred one first. The quality of a type is
 * that of the range that names it most exactly. Of several types with the best quality, one that is named wins over one
 * that only fits a range, then the earlier one. 0, the preferred type, where the client takes none of them. Parts of
 * the header that cannot be read are left out; parameters other than q are not looked at.
 */
size_t accept_choose(const char *header, const char *const *types, size_t count);

#endif

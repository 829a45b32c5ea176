/* SPDX-License-Identifier: MIT */
/*
 * A browser's session: the refresh token lies in a cookie that no script can read and that the browser sends to the
 * path of refresh alone (docs/accounts.md, "Sessions in a browser"). Only refresh looks at it. A second cookie, for the
 * path of login, has the mark by which the device is known there.
 *
 * A browser adds its cookies to whatever asks for them. So a request that sets or uses the cookie must come from a page
 * of this service:
 *
 * - Sec-Fetch-Site says "same-origin", and Origin, where it is there, is one of ours; or
 * - Sec-Fetch-Site is not there, or says "same-site" for pages of another origin, and Origin is one of ours.
 *
 * Ours are the origins of base_url and web_url. Where base_url is this machine over http, its other names are as good.
 */
#ifndef GATEHOUSE_API_SESSION_COOKIE_INT_H
#define GATEHOUSE_API_SESSION_COOKIE_INT_H

#include <stdint.h>

struct call;
struct error;

/* The value of `session` in a body that asks for the cookie. */
#define SESSION_COOKIE_CHOICE "cookie"

/* ORIGIN unless the request comes from a page of this service. */
struct error *session_cookie_check_origin(const struct call *call);

/* ORIGIN where the cookie comes along with a body that is not JSON: a form of any other page can send that. */
struct error *session_cookie_check_type(struct call *call);

/*
 * The refresh token in the cookie, in the arena. TOKEN_MISSING when there is none, REQUEST_INVALID (path `cookie`, code
 * `duplicate`) when there are several: one may be from another host of the same domain.
 */
struct error *session_cookie_read(const struct call *call, const char **token_out);

/* Has the browser keep the refresh token for so many seconds. */
void session_cookie_set(const struct call *call, const char *token, int64_t seconds);

/* Has the browser forget it. */
void session_cookie_clear(const struct call *call);

/*
 * The mark of a browser's device, in a cookie of its own that comes with a login alone (docs/accounts.md, "Waits after
 * failures"). An empty text where there is none, or where there are several.
 */
const char *session_cookie_device(const struct call *call);
void session_cookie_set_device(const struct call *call, const char *mark);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Before a web server receives the body of an upload, it asks a worker whether it may: with the parameters of the request
 * and no body, in the FastCGI role of an authoriser or with the parameter GATEHOUSE_ADMISSION. The worker finds the row of
 * the request and judges token, permission and what the row's `admit` looks at. Such a question has no path of its own,
 * so nobody outside can ask it.
 *
 * Neither nginx nor mod_fcgid hands on the body of a refusal, or another status than 401 and 403. So the answer carries
 * the refusal in headers, and the web server's site makes the reply of them:
 *
 *     Variable-GATEHOUSE_STATUS            the status of the reply, 200 when the body may come
 *     Variable-GATEHOUSE_BODY              its body, one line of JSON
 *     Variable-GATEHOUSE_AUTHENTICATE      its WWW-Authenticate
 *     Variable-GATEHOUSE_RETRY_AFTER       its Retry-After
 *     Variable-GATEHOUSE_VARY              its Vary
 *     Variable-GATEHOUSE_ORIGIN            its Access-Control-Allow-Origin
 *     Variable-GATEHOUSE_EXPOSE            its Access-Control-Expose-Headers
 *     Variable-GATEHOUSE_USER              the id of the user whose body may come
 *
 * Apache makes environment variables of them, by the names behind Variable-.
 */
#ifndef GATEHOUSE_API_ADMISSION_H
#define GATEHOUSE_API_ADMISSION_H

struct call;

/*
 * Turns the reply of a question into the answer to the web server. Its own status is 200 when the body may come. For a
 * refusal it is 403, which nginx understands; an authoriser answers 200, since Apache takes the variables of no other.
 * A question about a row without `admit` keeps its reply, a plain 404: no site asks it.
 */
void admission_answer(const struct call *call);

#endif

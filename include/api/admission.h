/* SPDX-License-Identifier: MIT */
/*
 * Answers the web server's question whether the body of an upload may come. Before a web server receives such a body,
 * it asks a worker: with the parameters of the request and no body, in the FastCGI role of an authoriser or with the
 * parameter GATEHOUSE_ADMISSION. The worker finds the row of the request and checks token, permission and what the
 * row's `admit` asks for. Such a question has no path of its own, so nobody outside can ask it.
 *
 * Neither nginx nor mod_fcgid passes on the body of a refusal, or another status than 401 and 403. So the answer
 * carries the refusal in headers, and the configuration of the web server makes the reply from them:
 *
 *     Variable-GATEHOUSE_STATUS            the status of the reply, 200 when the body may come
 *     Variable-GATEHOUSE_BODY              its body, one line of JSON
 *     Variable-GATEHOUSE_AUTHENTICATE      its WWW-Authenticate
 *     Variable-GATEHOUSE_RETRY_AFTER       its Retry-After
 *     Variable-GATEHOUSE_VARY              its Vary
 *     Variable-GATEHOUSE_ORIGIN            its Access-Control-Allow-Origin
 *     Variable-GATEHOUSE_EXPOSE            its Access-Control-Expose-Headers
 *     Variable-GATEHOUSE_TUS               its Tus-Resumable
 *     Variable-GATEHOUSE_ALLOW             its Allow
 *     Variable-GATEHOUSE_USER              the id of the user whose body may come
 *
 * Apache makes environment variables of them, with the names after "Variable-".
 */
#ifndef GATEHOUSE_API_ADMISSION_H
#define GATEHOUSE_API_ADMISSION_H

struct call;

/*
 * Turns the reply to a question into the answer to the web server. The answer has status 200 when the body may come. A
 * refusal has 403, which nginx understands; to an authoriser it has 200, since Apache takes variables from no other
 * status. A question about a row without `admit` keeps its reply, a plain 404: no web server asks it.
 */
void admission_answer(const struct call *call);

#endif

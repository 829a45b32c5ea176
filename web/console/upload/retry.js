/* SPDX-License-Identifier: MIT */
/*
 * Which failures of an upload are worth another try, and when. Only those that may go away by themselves: no answer at
 * all (0), too many requests (429), another request that holds the upload (423), and faults of the service (5xx).
 */
const TRIES = 5;
const FIRST_SECONDS = 2;
const LONGEST_SECONDS = 60;

export function mayPass(status) {
    return status === 0 || status === 423 || status === 429 || status >= 500;
}

/*
 * Seconds to wait before the next try, after `tries` that have failed since bytes last moved; -1: stop, and let the
 * person decide. The service's own Retry-After holds where it is given.
 */
export function waitBefore(status, retryAfter, tries) {
    if (!mayPass(status) || tries >= TRIES) {
        return -1;
    }
    const own = Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** (tries - 1));
    return Math.max(retryAfter, own);
}

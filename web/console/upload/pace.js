/* SPDX-License-Identifier: MIT */
/* The pace of uploads: how fast bytes leave, and when a try that has failed is repeated. */

/* ---- measuring ---- */

/* How fast bytes leave, and how long the rest takes, from what was measured in the last seconds. */

const WINDOW_MS = 10000;
/* Before so much time was measured, nothing is said. */
const LEAST_MS = 2000;

/* A meter. add(bytes, now) counts bytes that have left; perSecond(now) is 0 while too little is known. */
export function makeRate() {
    let samples = [];
    const drop = (now) => {
        samples = samples.filter((sample) => now - sample.at <= WINDOW_MS);
    };
    return {
        add(bytes, now) {
            drop(now);
            samples.push({ bytes, at: now });
        },
        perSecond(now) {
            drop(now);
            const time = samples.length === 0 ? 0 : now - samples[0].at;
            if (time < LEAST_MS) {
                return 0;
            }
            const sum = samples.slice(1).reduce((total, sample) => total + sample.bytes, 0);
            return sum / (time / 1000);
        },
    };
}

/* Seconds for `bytes`, rounded up; 0: not known. */
export function secondsFor(bytes, perSecond) {
    return perSecond <= 0 ? 0 : Math.max(1, Math.ceil(bytes / perSecond));
}

/* ---- trying again ---- */

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

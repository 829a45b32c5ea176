/* SPDX-License-Identifier: MIT */
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

/* SPDX-License-Identifier: MIT */
/* A file that goes to the service whole, as a form (POST /system/files). */

/*
 * Sends the job {file, bucket, type, tags, progress(bytes)} and resolves to the reply: the record, or what stood in the
 * way. `call` is upload() of api.js; signal ends it.
 */
export function sendWhole(job, call, signal) {
    const form = new FormData();
    form.append("bucket", job.bucket);
    form.append("type", job.type);
    for (const tag of job.tags) {
        form.append("tags", tag);
    }
    form.append("file", job.file, job.file.name);
    return call({
        method: "POST", path: "/system/files", body: form, signal,
        /* The lines of the form count as bytes, too: more than all never left. */
        onProgress: (sent) => job.progress(Math.min(sent, job.file.size)),
    });
}

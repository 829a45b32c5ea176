// SPDX-License-Identifier: MIT
// Uploads that go on after a break, by the protocol tus 1.0.0 at /system/uploads.
//
// The file is sent in pieces. After a broken connection, or an answer that the service is not there for the moment or
// has too much to do, the upload waits, asks how many bytes are safe and goes on behind them. A piece that is sent at
// the end of a file that is whole already answers its record once more, so that a lost last answer does no harm.
//
// The request that makes the upload is sent again only where the service has refused it and says how long to wait:
// nothing was made then. Without an answer an upload may have been made, and another one would be left behind.

import { GatehouseError, NotFoundError, RateLimitedError, UnavailableError } from "./errors.js";
import type { FileRecord } from "./generated/models/index.js";
import type { Transport } from "./transport.js";

const PATH = "/system/uploads";
const VERSION = { "Tus-Resumable": "1.0.0" };
const PIECE_BYTES = 4 * 1024 * 1024;
// How long to wait before each try that follows a break; a try that brings the upload on begins at the first again.
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 16000];
// An answer that asks for a longer wait ends the upload: the program decides when it goes on.
const LONGEST_WAIT_SECONDS = 60;
// What passes: another request that writes still, and an offset that HEAD puts right.
const PASSING = ["upload.locked", "upload.offset"];

export interface UploadOptions {
    bucket: string;
    type: string;
    /** The name of a File where it is left out. */
    name?: string;
    tags?: string[];
    /** Is called with the bytes that are safe, and the size. */
    progress?: (safe: number, size: number) => void;
    /** Gets the id of the upload, with which a program that was stopped can go on. */
    onBegin?: (id: string) => void | Promise<void>;
    /** Goes on with the upload of that id, and the same bytes. */
    resume?: string;
    pieceBytes?: number;
    /** The waits after breaks, in milliseconds. */
    waits?: readonly number[];
    /** Stops the upload. What is safe stays, for `resume`. */
    signal?: AbortSignal;
}

function base64(text: string): string {
    return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Makes an upload of a file of that size, and returns its id. */
async function begin(transport: Transport, size: number, name: string, options: UploadOptions): Promise<string> {
    const fields: [string, string][] = [["bucket", options.bucket], ["type", options.type], ["filename", name]];
    if (options.tags !== undefined && options.tags.length > 0) {
        fields.push(["tags", options.tags.join("\n")]);
    }
    const headers = { ...VERSION, "Upload-Length": String(size),
        "Upload-Metadata": fields.map(([key, value]) => `${key} ${base64(value)}`).join(",") };
    for (let failed = 0; ; failed += 1) {
        try {
            const response = await transport.send("POST", PATH, headers, undefined, options.signal);
            // The service names itself by its own address, which need not be the one that it was reached by.
            return (response.headers.get("Location") ?? "").split("/").at(-1) ?? "";
        } catch (error) {
            if (!passes(error) || error.retryAfter === undefined) {
                throw error;
            }
            await waitAfter(error, failed, options);
        }
    }
}

function passes(error: unknown): error is GatehouseError {
    return error instanceof UnavailableError || error instanceof RateLimitedError
        || (error instanceof GatehouseError && PASSING.includes(error.code));
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
        const stop = (): void => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", stop);
            resolve();
        }, milliseconds);
        signal?.addEventListener("abort", stop, { once: true });
    });
}

/** Waits before the try that follows that many failed ones. Fails with the error where there is to be none. */
async function waitAfter(error: GatehouseError, failed: number, options: UploadOptions): Promise<void> {
    const wait = (options.waits ?? WAITS_MS)[failed];
    const asked = error.retryAfter ?? 0;
    if (wait === undefined || asked > LONGEST_WAIT_SECONDS) {
        throw error;
    }
    await pause(Math.max(wait, asked * 1000), options.signal);
}

class Upload {
    constructor(private readonly transport: Transport, private readonly id: string, private readonly source: Blob,
        private readonly options: UploadOptions) {}

    /** Sends what is missing behind the offset (undefined: asks for it), and returns the record of the file. */
    async run(first: number | undefined): Promise<FileRecord> {
        let offset = first;
        let failed = 0;
        let reached = -1;
        for (;;) {
            this.options.signal?.throwIfAborted();
            try {
                offset ??= await this.#safe();
                if (offset > reached) {
                    [failed, reached] = [0, offset];
                }
                this.options.progress?.(offset, this.source.size);
                const done = await this.#piece(offset);
                if (typeof done !== "number") {
                    this.options.progress?.(this.source.size, this.source.size);
                    return done;
                }
                offset = done;
            } catch (error) {
                if (!passes(error)) {
                    throw error;
                }
                await waitAfter(error, failed, this.options);
                failed += 1;
                offset = undefined;
            }
        }
    }

    /* How many bytes the service has. Fails with RangeError where the upload is that of a file of another size. */
    async #safe(): Promise<number> {
        const { headers } = await this.#ask();
        const length = headers.get("Upload-Length");
        if (length !== null && Number(length) !== this.source.size) {
            throw new RangeError(
                `the upload is that of a file of ${length} bytes, but the source has ${this.source.size}`);
        }
        return Number(headers.get("Upload-Offset"));
    }

    async #ask(): Promise<Response> {
        try {
            return await this.transport.send("HEAD", `${PATH}/${this.id}`, VERSION, undefined, this.options.signal);
        } catch (error) {
            if (!(error instanceof NotFoundError)) {
                throw error;
            }
            // The answer to HEAD has no body to say it.
            throw new NotFoundError({ status: error.status, requestId: error.requestId,
                code: error.status === 410 ? "upload.expired" : "upload.unknown",
                message: "There is no such upload any more. Begin a new one." }, error);
        }
    }

    /* Sends a piece. Returns where the next one begins, or the record of a file that is whole. */
    async #piece(offset: number): Promise<number | FileRecord> {
        const piece = this.source.slice(offset, offset + (this.options.pieceBytes ?? PIECE_BYTES));
        const response = await this.transport.send("PATCH", `${PATH}/${this.id}`, { ...VERSION,
            "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream",
            Accept: "application/json" }, piece, this.options.signal);
        if (response.status === 200) {
            return await response.json() as FileRecord;
        }
        const reached = Number(response.headers.get("Upload-Offset"));
        if (!(reached > offset)) {
            throw new GatehouseError({ status: response.status, code: "upload.stopped",
                requestId: response.headers.get("X-Request-Id") ?? undefined,
                message: `The upload does not go on: ${piece.size} bytes were sent at ${offset} of `
                    + `${this.source.size}, and the service is at ${reached}.` });
        }
        return reached;
    }
}

function nameOf(source: Blob, options: UploadOptions): string {
    const name = options.name ?? (source as Partial<File>).name;
    if (name === undefined) {
        throw new TypeError("a Blob has no name: give one");
    }
    return name;
}

/** Stores one file of any size, and goes on by itself after a break. */
export async function upload(transport: Transport, source: Blob, options: UploadOptions): Promise<FileRecord> {
    let id = options.resume;
    if (id === undefined) {
        id = await begin(transport, source.size, nameOf(source, options), options);
        await options.onBegin?.(id);
    }
    return new Upload(transport, id, source, options).run(options.resume === undefined ? 0 : undefined);
}

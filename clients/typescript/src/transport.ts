// SPDX-License-Identifier: MIT
// How calls go out: with the session's token, once more after it was renewed, and with every failure as an error. The
// generated operations come here by their `Configuration`, what is written by hand calls `send`.

import { fromReply, GatehouseError, notReached } from "./errors.js";
import { Configuration, type FetchAPI } from "./generated/runtime.js";
import type { RefreshReply, Tokens } from "./generated/models/index.js";
import { type OnTokens, type SessionTokens, TokenKeeper } from "./session.js";

const BEARER = "Bearer ";
// What another access token of the same session can put right. The answer to HEAD has no body, and so no code.
const RENEWABLE = ["auth.tokenExpired", "auth.tokenInvalid", "http.401"];

export interface Options {
    /** Goes on with a session of before. */
    tokens?: SessionTokens;
    /** Is told of new tokens before they are used, so that a program can keep them. */
    onTokens?: OnTokens;
    /** How long to wait until an answer begins, in milliseconds. */
    timeout?: number;
    /** Another function than the global fetch. */
    fetch?: FetchAPI;
}

/** What the program keeps of the tokens in an answer. */
export function tokensOf(reply: Tokens): SessionTokens {
    return { accessToken: reply.accessToken, refreshToken: reply.refreshToken ?? "",
        expiresAt: Date.now() + reply.expiresIn * 1000 };
}

export class Transport {
    readonly keeper: TokenKeeper;
    readonly configuration: Configuration;

    constructor(private readonly baseUrl: string, private readonly options: Options) {
        this.keeper = new TokenKeeper((token) => this.#refresh(token), options.onTokens, options.tokens);
        this.configuration = new Configuration({
            basePath: baseUrl,
            accessToken: () => this.keeper.accessToken(),
            fetchApi: (url, init) => this.#fetch(String(url), init ?? {}),
            // The runtime would wrap our errors in one of its own.
            middleware: [{ onError: async ({ error }) => { throw error; } }],
        });
    }

    /** One request below the address of the service, with the session's token. */
    async send(method: string, path: string, headers: Record<string, string>, body?: Blob,
        signal?: AbortSignal): Promise<Response> {
        const token = await this.keeper.accessToken();
        return this.#fetch(this.baseUrl + path, {
            method, headers: { ...headers, Authorization: BEARER + token }, body: body ?? null,
            signal: signal ?? null });
    }

    async #fetch(url: string, init: RequestInit): Promise<Response> {
        const headers = new Headers(init.headers);
        const sent = headers.get("Authorization")?.slice(BEARER.length);
        try {
            return await this.#once(url, init);
        } catch (error) {
            if (sent === undefined || !(error instanceof GatehouseError) || error.status !== 401
                || !RENEWABLE.includes(error.code)) {
                throw error;
            }
        }
        headers.set("Authorization", BEARER + await this.keeper.renew(sent));
        return this.#once(url, { ...init, headers });
    }

    /* The timeout ends with the head of the answer: a long body may take its time. */
    async #once(url: string, init: RequestInit): Promise<Response> {
        const late = new AbortController();
        const timer = setTimeout(() => late.abort(new Error("no answer in time")), this.options.timeout ?? 120_000);
        const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
        let response: Response;
        try {
            response = await (this.options.fetch ?? fetch)(url, { ...init, signal, redirect: "manual" });
        } catch (error) {
            init.signal?.throwIfAborted();
            throw notReached(error);
        } finally {
            clearTimeout(timer);
        }
        if (response.status >= 300 || response.type === "opaqueredirect") {
            throw await fromReply(response);
        }
        return response;
    }

    async #refresh(refreshToken: string): Promise<SessionTokens> {
        const response = await this.#once(`${this.baseUrl}/customers/refresh`, {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ refreshToken }) });
        return tokensOf((await response.json() as RefreshReply).tokens);
    }
}

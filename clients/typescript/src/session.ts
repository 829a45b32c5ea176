// SPDX-License-Identifier: MIT
// The tokens of a signed-in user, and how they are renewed: once at a time, all that need new ones wait for it.

import { AuthenticationError } from "./errors.js";

// An access token is renewed this long before it expires, so that it holds while the request is on its way.
const EARLY_MS = 30_000;

/** What a program keeps to stay signed in. A refresh token is used once: the next tokens replace these. */
export interface SessionTokens {
    readonly accessToken: string;
    readonly refreshToken: string;
    /** When the access token expires, in milliseconds since 1970. */
    readonly expiresAt: number;
}

/** Is told of every change before anybody uses the new tokens; undefined when the session has ended. */
export type OnTokens = (tokens: SessionTokens | undefined) => void | Promise<void>;

export class TokenKeeper {
    #tokens: SessionTokens | undefined;
    #renewal: Promise<void> | undefined;

    constructor(private readonly refresh: (refreshToken: string) => Promise<SessionTokens>,
        private readonly onTokens: OnTokens | undefined, tokens: SessionTokens | undefined) {
        this.#tokens = tokens;
    }

    get tokens(): SessionTokens | undefined {
        return this.#tokens;
    }

    /** Takes the tokens of a new session; undefined ends it. */
    async keep(tokens: SessionTokens | undefined): Promise<void> {
        await this.onTokens?.(tokens);
        this.#tokens = tokens;
    }

    /** An access token that holds, renewed if need be. Fails with AuthenticationError where nobody is signed in. */
    async accessToken(): Promise<string> {
        const tokens = this.#required();
        return Date.now() < tokens.expiresAt - EARLY_MS ? tokens.accessToken : this.renew(tokens.accessToken);
    }

    /** Another access token than the stale one: that which has come meanwhile, or a new one. */
    async renew(stale: string): Promise<string> {
        if (this.#required().accessToken === stale) {
            this.#renewal ??= this.#renewNow().finally(() => {
                this.#renewal = undefined;
            });
            await this.#renewal;
        }
        return this.#required().accessToken;
    }

    async #renewNow(): Promise<void> {
        try {
            await this.keep(await this.refresh(this.#required().refreshToken));
        } catch (error) {
            if (error instanceof AuthenticationError) {
                await this.keep(undefined);
            }
            throw error;
        }
    }

    #required(): SessionTokens {
        if (this.#tokens === undefined) {
            throw new AuthenticationError(
                { status: 401, code: "auth.tokenMissing", message: "Nobody is signed in. Call signIn first." });
        }
        return this.#tokens;
    }
}

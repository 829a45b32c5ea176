// SPDX-License-Identifier: MIT
// The client of a Gatehouse service: the generated operations, with a session that renews itself, errors by code, and
// uploads that go on after a break.

import { AccountsApi, FilesApi, OrganisationsApi, ServiceApi } from "./generated/apis/index.js";
import type { FileRecord, User } from "./generated/models/index.js";
import type { UploadFilesBucketEnum, UploadFilesTypeEnum } from "./generated/apis/FilesApi.js";
import type { SessionTokens } from "./session.js";
import { type Options, tokensOf, Transport } from "./transport.js";
import { upload, type UploadOptions } from "./uploads.js";

/** A service and, once somebody has signed in, their session. */
export class Gatehouse {
    /** People, sign-in, roles and permissions. */
    readonly accounts: AccountsApi;
    /** Organisations. */
    readonly organisations: OrganisationsApi;
    /** Files, links and lists of them. */
    readonly files: FilesApi;
    /** The service: settings, cache, audit trail, health. */
    readonly service: ServiceApi;
    readonly #transport: Transport;

    constructor(baseUrl: string, options: Options = {}) {
        this.#transport = new Transport(baseUrl.replace(/\/+$/, ""), options);
        const configuration = this.#transport.configuration;
        this.accounts = new AccountsApi(configuration);
        this.organisations = new OrganisationsApi(configuration);
        this.files = new FilesApi(configuration);
        this.service = new ServiceApi(configuration);
    }

    /** Those of the session; undefined: nobody is signed in. */
    get tokens(): SessionTokens | undefined {
        return this.#transport.keeper.tokens;
    }

    /** Begins a session. A temporary password wants a new one beside it (NewPasswordRequiredError). */
    async signIn(username: string, password: string, newPassword?: string): Promise<User> {
        const reply = await this.accounts.login({
            loginRequest: { username, password, ...(newPassword === undefined ? {} : { newPassword }) } });
        await this.#transport.keeper.keep(tokensOf(reply.tokens));
        return reply.user;
    }

    /** Ends the session, or all sessions of the user. */
    async signOut(options: { everywhere?: boolean } = {}): Promise<void> {
        await this.accounts.logout({ logoutRequest: options });
        await this.#transport.keeper.keep(undefined);
    }

    /** Stores one file of any size, and goes on by itself after a break. */
    upload(source: Blob, options: UploadOptions): Promise<FileRecord> {
        return upload(this.#transport, source, options);
    }

    /** Stores up to ten files in one request: all of them or none. */
    async uploadTogether(files: File[], options: { bucket: UploadFilesBucketEnum; type: UploadFilesTypeEnum;
        tags?: string[] }): Promise<FileRecord[]> {
        const reply = await this.files.uploadFiles({ ...options, file: files });
        return Array.isArray(reply) ? reply : [reply];
    }
}

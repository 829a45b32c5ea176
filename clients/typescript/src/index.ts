// SPDX-License-Identifier: MIT
// A client of Gatehouse: accounts, permissions and files of organisations.

export { Gatehouse } from "./client.js";
export * from "./errors.js";
export { iterate, type Page } from "./pages.js";
export type { OnTokens, SessionTokens } from "./session.js";
export type { Options } from "./transport.js";
export type { UploadOptions } from "./uploads.js";
export * from "./generated/models/index.js";

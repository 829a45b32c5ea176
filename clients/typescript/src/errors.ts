// SPDX-License-Identifier: MIT
// What the service refuses, as errors: one class for all, and one for each thing that a program handles.

/** One value of the request that is wrong: its path (`organisation.name`, `roles[1]`), what is wrong, and a code. */
export interface Fault {
    readonly path: string;
    readonly message: string;
    readonly code: string;
}

export interface ErrorFacts {
    /** 0 where no answer came. */
    status: number;
    /** Stable, for programs: `file.duplicate`. */
    code: string;
    /** One sentence for a person, which says what to do. */
    message: string;
    requestId?: string;
    details?: Record<string, unknown>;
    validation?: Fault[];
    retryAfter?: number;
}

/** Every failure of a call. */
export class GatehouseError extends Error {
    readonly status: number;
    readonly code: string;
    /** What the operator finds the call by in the log. */
    readonly requestId: string | undefined;
    /** What belongs to the code, such as the id of the file that is there already. */
    readonly details: Record<string, unknown>;
    /** Every value of the request that is wrong. */
    readonly validation: readonly Fault[];
    /** Seconds to wait before the call can succeed, where the service says it. */
    readonly retryAfter: number | undefined;

    constructor(facts: ErrorFacts, cause?: unknown) {
        super(facts.message, cause === undefined ? undefined : { cause });
        this.name = new.target.name;
        this.status = facts.status;
        this.code = facts.code;
        this.requestId = facts.requestId;
        this.details = facts.details ?? {};
        this.validation = facts.validation ?? [];
        this.retryAfter = facts.retryAfter;
    }
}

/** 400, 413 and 415: values are wrong, or name what is not there. `validation` lists them. */
export class InvalidRequestError extends GatehouseError {}

/** The password is a temporary one: sign in with a new one beside it. */
export class NewPasswordRequiredError extends InvalidRequestError {}

/** 401: wrong credentials, or a session that has ended. Sign in again. */
export class AuthenticationError extends GatehouseError {}

/** 403: the caller may not do this. */
export class PermissionDeniedError extends GatehouseError {
    /** The permission that is missing, where one is. */
    get required(): string | undefined {
        return textOf(this.details["required"]);
    }
}

/** 404 and 410: there is no such path, or no such upload any more. */
export class NotFoundError extends GatehouseError {}

/** 409 and 412: the state of the thing, or another thing, stands in the way. */
export class ConflictError extends GatehouseError {}

/** The very file is there already. */
export class DuplicateFileError extends ConflictError {
    /** The id of the file that is there. */
    get fileId(): string | undefined {
        return textOf(this.details["id"]);
    }
}

/** The organisation's storage is used up. */
export class QuotaExceededError extends ConflictError {}

/** 429: too many tries. `retryAfter` says how long to wait. */
export class RateLimitedError extends GatehouseError {}

/** The service, or a part that it needs, is down for the moment, or cannot be reached. Try again later. */
export class UnavailableError extends GatehouseError {}

type ErrorClass = new (facts: ErrorFacts, cause?: unknown) => GatehouseError;

const BY_CODE: Record<string, ErrorClass> = {
    "auth.newPasswordRequired": NewPasswordRequiredError,
    "file.duplicate": DuplicateFileError,
    "quota.exceeded": QuotaExceededError,
    "database.unavailable": UnavailableError,
    "identityProvider.unavailable": UnavailableError,
    "storage.unavailable": UnavailableError,
    "storage.full": UnavailableError,
};

const BY_STATUS: Record<number, ErrorClass> = {
    400: InvalidRequestError, 401: AuthenticationError, 403: PermissionDeniedError, 404: NotFoundError,
    409: ConflictError, 410: NotFoundError, 412: ConflictError, 413: InvalidRequestError, 415: InvalidRequestError,
    429: RateLimitedError, 502: UnavailableError, 503: UnavailableError, 504: UnavailableError,
};

/** The error of a call that got no answer. */
export function notReached(cause: unknown): UnavailableError {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new UnavailableError(
        { status: 0, code: "service.notReached", message: `The service cannot be reached: ${why}` }, cause);
}

/** The error that a reply of 300 or more stands for. Whatever came, there is one. */
export async function fromReply(response: Response): Promise<GatehouseError> {
    const told = record(await response.json().catch(() => undefined));
    const known = record(told["body"]);
    const { requestId, ...details } = known;
    const code = textOf(told["code"]) ?? `http.${response.status}`;
    const wait = response.headers.get("Retry-After") ?? "";
    const kind = BY_CODE[code] ?? BY_STATUS[response.status] ?? GatehouseError;
    return new kind({
        status: response.status,
        code,
        message: textOf(told["message"]) ?? `The service answered ${response.status}.`,
        requestId: textOf(requestId) ?? response.headers.get("X-Request-Id") ?? undefined,
        details,
        validation: faults(told["validation"]),
        retryAfter: /^[0-9]+$/.test(wait) ? Number(wait) : undefined,
    });
}

function textOf(value: unknown): string | undefined {
    return typeof value === "string" ? value : undefined;
}

function record(value: unknown): Record<string, unknown> {
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function faults(entries: unknown): Fault[] {
    return (Array.isArray(entries) ? entries : []).map(record).map((entry) => (
        { path: textOf(entry["path"]) ?? "", message: textOf(entry["message"]) ?? "",
            code: textOf(entry["code"]) ?? "" }));
}

/* tslint:disable */
/* eslint-disable */
/**
 *
 * @export
 * @interface AdminSetPasswordRequest
 */
export interface AdminSetPasswordRequest {
    /**
     * The e-mail address in any spelling, or the user id.
     */
    username: string;
    /**
     *
     */
    password: string;
    /**
     * Otherwise the user must choose another password at the next login.
     */
    permanent?: boolean;
}
/**
 *
 * @export
 * @interface AuditItem
 */
export interface AuditItem {
    /**
     *
     */
    id: string;
    /**
     *
     */
    at: string;
    /**
     *
     */
    action: string;
    /**
     *
     */
    organisationId: string | null;
    /**
     *
     */
    userId: string | null;
    /**
     *
     */
    targetType: string | null;
    /**
     *
     */
    targetId: string | null;
    /**
     *
     */
    clientAddress: string | null;
    /**
     *
     */
    requestId: string | null;
    /**
     *
     */
    outcome: AuditItemOutcomeEnum;
    /**
     *
     */
    details: object;
}


/**
 * @export
 */
export const AuditItemOutcomeEnum = {
    Success: 'success',
    Failure: 'failure',
} as const;
export type AuditItemOutcomeEnum = typeof AuditItemOutcomeEnum[keyof typeof AuditItemOutcomeEnum];

/**
 *
 * @export
 * @interface AuditPage
 */
export interface AuditPage {
    /**
     *
     */
    items: Array<AuditItem>;
    /**
     *
     */
    nextCursor: string | null;
}
/**
 *
 * @export
 * @interface AuthoriseList
 */
export interface AuthoriseList {
    /**
     *
     */
    items: Array<AuthoriseReply>;
}
/**
 *
 * @export
 * @interface AuthoriseReply
 */
export interface AuthoriseReply {
    /**
     *
     */
    allowed: boolean;
    /**
     *
     */
    required: string;
    /**
     *
     */
    grantedBy: Array<PermissionSource>;
    /**
     *
     */
    missing: string | null;
}
/**
 * @type AuthoriseReplyOrList
 *
 * @export
 */
export type AuthoriseReplyOrList = AuthoriseList | AuthoriseReply;
/**
 * Exactly one of permission and permissions.
 * @export
 * @interface AuthoriseRequest
 */
export interface AuthoriseRequest {
    /**
     * One concrete permission, such as cus:file:w. Either this or permissions.
     */
    permission?: string;
    /**
     * Several of them, to be explained in this order.
     */
    permissions?: Array<string>;
    /**
     * Somebody else of the organisation; needs cus:user:r. Anybody; needs cus:user:a.
     */
    userId?: string;
}
/**
 *
 * @export
 * @interface Branding
 */
export interface Branding {
    /**
     *
     */
    name: string;
    /**
     *
     */
    logos: Logos;
    /**
     * A colour: # and six hexadecimal digits.
     */
    accent: string;
    /**
     * Where people find help: an address with https, http or mailto.
     */
    support: string | null;
    /**
     * The languages of e-mails and pages, as BCP 47 writes them; the installation's own comes first.
     */
    languages: Array<string>;
}
/**
 *
 * @export
 * @interface Bucket
 */
export interface Bucket {
    /**
     *
     */
    name: BucketNameEnum;
    /**
     *
     */
    types: Array<BucketType>;
}


/**
 * @export
 */
export const BucketNameEnum = {
    Images: 'images',
    Files: 'files',
} as const;
export type BucketNameEnum = typeof BucketNameEnum[keyof typeof BucketNameEnum];

/**
 *
 * @export
 * @interface BucketType
 */
export interface BucketType {
    /**
     *
     */
    name: BucketTypeNameEnum;
    /**
     * pictures: the media types of pictureTypes. anything: all but programs and installers.
     */
    content: BucketTypeContentEnum;
}


/**
 * @export
 */
export const BucketTypeNameEnum = {
    Sample: 'sample',
    Avatar: 'avatar',
    Weighbridge: 'weighbridge',
    Contract: 'contract',
    Image: 'image',
    Logo: 'logo',
    Misc: 'misc',
    Vehicle: 'vehicle',
    TermsConditions: 'terms-conditions',
    LogisticsDelivery: 'logistics-delivery',
    LogisticsLoad: 'logistics-load',
} as const;
export type BucketTypeNameEnum = typeof BucketTypeNameEnum[keyof typeof BucketTypeNameEnum];

/**
 * @export
 */
export const BucketTypeContentEnum = {
    Pictures: 'pictures',
    Anything: 'anything',
} as const;
export type BucketTypeContentEnum = typeof BucketTypeContentEnum[keyof typeof BucketTypeContentEnum];

/**
 * Of the host that answers.
 * @export
 * @interface CacheNumbers
 */
export interface CacheNumbers {
    /**
     * Those whose time is not over; where a prefix has too many to count, all that are stored.
     */
    entries: number;
    /**
     * Of the file, in use.
     */
    bytes: number;
    /**
     * The size of the file. When half of it is in use, the oldest entries go. 0: there is no cache.
     */
    maximumBytes: number;
    /**
     * Look-ups that found a value, of all processes of the host since it counts.
     */
    hits: number;
    /**
     *
     */
    misses: number;
    /**
     *
     */
    prefixes: Array<CachePrefix>;
}
/**
 *
 * @export
 * @interface CachePrefix
 */
export interface CachePrefix {
    /**
     *
     */
    prefix: string;
    /**
     * null where there are too many to count.
     */
    entries: number | null;
}
/**
 *
 * @export
 * @interface CacheUpdate
 */
export interface CacheUpdate {
    /**
     * Entries by their keys, for example jwks:embedded.
     */
    keys?: Array<string>;
    /**
     * Entries by what their keys begin with: jwks: (public keys of identity providers), settings: (the settings), token: (verified tokens, and ours for a provider).
     */
    prefixes?: Array<string>;
    /**
     * Every entry.
     */
    flush?: boolean | null;
    /**
     * Every worker reads its secrets again: database, SMTP and provider credentials, signing keys, key sets.
     */
    secrets?: boolean | null;
}
/**
 *
 * @export
 * @interface CatalogueItem
 */
export interface CatalogueItem {
    /**
     *
     */
    permission: string;
    /**
     * The operationId of each endpoint that asks for it.
     */
    operations: Array<string>;
    /**
     * Whether the caller may give it to somebody.
     */
    grantable: boolean;
}
/**
 *
 * @export
 * @interface ChangeEmailRequest
 */
export interface ChangeEmailRequest {
    /**
     *
     */
    newEmail: string;
    /**
     * The current one.
     */
    password: string;
}
/**
 *
 * @export
 * @interface ChangePasswordRequest
 */
export interface ChangePasswordRequest {
    /**
     * The current one.
     */
    password: string;
    /**
     *
     */
    newPassword: string;
}
/**
 *
 * @export
 * @interface ConfirmEmailRequest
 */
export interface ConfirmEmailRequest {
    /**
     * The one that was mailed to the new address.
     */
    confirmationCode: string;
}
/**
 *
 * @export
 * @interface ConfirmRequest
 */
export interface ConfirmRequest {
    /**
     * The e-mail address in any spelling, or the user id.
     */
    username: string;
    /**
     *
     */
    confirmationCode: string;
}
/**
 *
 * @export
 * @interface EffectivePermission
 */
export interface EffectivePermission {
    /**
     *
     */
    permission: string;
    /**
     * role:<id> for each role that grants it, and user for the user's own permissions.
     */
    sources: Array<string>;
    /**
     * The day on which the user last did something that it grants, at midnight UTC; null when that was not within the last 90 days.
     */
    lastUsedAt: string | null;
}
/**
 *
 * @export
 * @interface EffectivePermissions
 */
export interface EffectivePermissions {
    /**
     *
     */
    items: Array<EffectivePermission>;
}
/**
 * What every failure answers.
 * @export
 * @interface ErrorBody
 */
export interface ErrorBody {
    /**
     *
     */
    status: ErrorBodyStatusEnum;
    /**
     * One sentence for a person, naming what to do.
     */
    message: string;
    /**
     * The call chain of the failure where the operator switched that on, else empty.
     */
    stack: string;
    /**
     * Stable, for a program.
     */
    code: string;
    /**
     * The request id and what else belongs to the code.
     */
    body: object;
    /**
     *
     */
    validation: Array<ErrorEntry>;
}


/**
 * @export
 */
export const ErrorBodyStatusEnum = {
    Error: 'error',
} as const;
export type ErrorBodyStatusEnum = typeof ErrorBodyStatusEnum[keyof typeof ErrorBodyStatusEnum];

/**
 * One failing path.
 * @export
 * @interface ErrorEntry
 */
export interface ErrorEntry {
    /**
     * JSON path or part name of what is wrong; empty for the body as a whole.
     */
    path: string;
    /**
     *
     */
    message: string;
    /**
     *
     */
    code: ErrorEntryCodeEnum;
}


/**
 * @export
 */
export const ErrorEntryCodeEnum = {
    Required: 'required',
    Unknown: 'unknown',
    Unexpected: 'unexpected',
    Type: 'type',
    Format: 'format',
    Choice: 'choice',
    Length: 'length',
    Range: 'range',
    Count: 'count',
    Duplicate: 'duplicate',
    Same: 'same',
    Taken: 'taken',
    State: 'state',
    Syntax: 'syntax',
    Depth: 'depth',
    Encoding: 'encoding',
    Character: 'character',
    Multipart: 'multipart',
    TooMany: 'tooMany',
    TooLarge: 'tooLarge',
    TransferEncoding: 'transferEncoding',
    Empty: 'empty',
    FileName: 'fileName',
    ContentType: 'contentType',
    Mismatch: 'mismatch',
    Pixels: 'pixels',
    Infected: 'infected',
    Common: 'common',
    Personal: 'personal',
    Provider: 'provider',
    NotGrantable: 'notGrantable',
} as const;
export type ErrorEntryCodeEnum = typeof ErrorEntryCodeEnum[keyof typeof ErrorEntryCodeEnum];

/**
 *
 * @export
 * @interface FileIds
 */
export interface FileIds {
    /**
     * Ids of files, each once.
     */
    ids: Array<string>;
}
/**
 * File information.
 * @export
 * @interface FileInfo
 */
export interface FileInfo {
    /**
     *
     */
    bucket: FileInfoBucketEnum;
    /**
     *
     */
    type: FileInfoTypeEnum;
    /**
     *
     */
    organisationId: string;
    /**
     *
     */
    name: string;
    /**
     * SHA-256 of the bytes in lower-case hexadecimal; in quotes, the ETag of the download.
     */
    hash: string;
    /**
     * What the bytes are, never what the client said.
     */
    contentType: string;
    /**
     * The download path, relative to the service's base URL; needs the same permission.
     */
    url: string;
    /**
     *
     */
    userId: string;
    /**
     *
     */
    size: number;
}


/**
 * @export
 */
export const FileInfoBucketEnum = {
    Images: 'images',
    Files: 'files',
} as const;
export type FileInfoBucketEnum = typeof FileInfoBucketEnum[keyof typeof FileInfoBucketEnum];

/**
 * @export
 */
export const FileInfoTypeEnum = {
    Sample: 'sample',
    Avatar: 'avatar',
    Weighbridge: 'weighbridge',
    Contract: 'contract',
    Image: 'image',
    Logo: 'logo',
    Misc: 'misc',
    Vehicle: 'vehicle',
    TermsConditions: 'terms-conditions',
    LogisticsDelivery: 'logistics-delivery',
    LogisticsLoad: 'logistics-load',
} as const;
export type FileInfoTypeEnum = typeof FileInfoTypeEnum[keyof typeof FileInfoTypeEnum];

/**
 *
 * @export
 * @interface FileLimits
 */
export interface FileLimits {
    /**
     * The name, in UTF-8.
     */
    nameBytes: number;
    /**
     * Tags of one file.
     */
    tags: number;
    /**
     * One tag.
     */
    tagCharacters: number;
    /**
     * The size of a picture, in millions of pixels.
     */
    megapixels: number;
}
/**
 *
 * @export
 * @interface FileLink
 */
export interface FileLink {
    /**
     *
     */
    id: string;
    /**
     *
     */
    createdAt: string;
    /**
     *
     */
    expiresAt: string;
    /**
     * Who made the link. It opens the file only while this person may read it.
     */
    userId: string;
    /**
     * How often it gave the file from its first byte on; counted a moment after each download.
     */
    uses: number;
}
/**
 *
 * @export
 * @interface FileLinks
 */
export interface FileLinks {
    /**
     *
     */
    items: Array<FileLink>;
    /**
     *
     */
    nextCursor: string | null;
}
/**
 *
 * @export
 * @interface FileList
 */
export interface FileList {
    /**
     *
     */
    items: Array<FileRecord>;
    /**
     *
     */
    nextCursor: string | null;
    /**
     * How many files all pages hold together; null where only counting would tell. It is known on a first page that holds all, and with status=all where no other filter is set.
     */
    total: number | null;
}
/**
 * At least one member.
 * @export
 * @interface FilePatch
 */
export interface FilePatch {
    /**
     * At most 255 bytes, cleaned of paths and control characters; its ending must not stand for another kind of file.
     */
    name?: string;
    /**
     * All of them: [] leaves none.
     */
    tags?: Array<string>;
}
/**
 *
 * @export
 * @interface FileRecord
 */
export interface FileRecord {
    /**
     *
     */
    id: string;
    /**
     *
     */
    tags: Array<string>;
    /**
     *
     */
    info: FileInfo;
    /**
     *
     */
    organisationId: string;
    /**
     *
     */
    userId: string;
    /**
     *
     */
    type: FileRecordTypeEnum;
    /**
     *
     */
    status: FileRecordStatusEnum;
    /**
     *
     */
    createdAt: string;
    /**
     * When the record last changed: name, tags or status.
     */
    updatedAt: string;
    /**
     * null while the file is active.
     */
    archivedAt: string | null;
    /**
     * First and last name of the person who uploaded the file, as they are now; null once the person is erased.
     */
    userName: string | null;
}


/**
 * @export
 */
export const FileRecordTypeEnum = {
    Sample: 'sample',
    Avatar: 'avatar',
    Weighbridge: 'weighbridge',
    Contract: 'contract',
    Image: 'image',
    Logo: 'logo',
    Misc: 'misc',
    Vehicle: 'vehicle',
    TermsConditions: 'terms-conditions',
    LogisticsDelivery: 'logistics-delivery',
    LogisticsLoad: 'logistics-load',
} as const;
export type FileRecordTypeEnum = typeof FileRecordTypeEnum[keyof typeof FileRecordTypeEnum];

/**
 * @export
 */
export const FileRecordStatusEnum = {
    Active: 'active',
    Archived: 'archived',
} as const;
export type FileRecordStatusEnum = typeof FileRecordStatusEnum[keyof typeof FileRecordStatusEnum];

/**
 * @type FileRecordOrList
 *
 * @export
 */
export type FileRecordOrList = Array<FileRecord> | FileRecord;
/**
 *
 * @export
 * @interface FileRecords
 */
export interface FileRecords {
    /**
     *
     */
    items: Array<FileRecord>;
}
/**
 *
 * @export
 * @interface Health
 */
export interface Health {
    /**
     *
     */
    status: HealthStatusEnum;
    /**
     *
     */
    database?: HealthDatabaseEnum;
    /**
     *
     */
    migrations?: HealthMigrationsEnum;
    /**
     *
     */
    storage?: HealthStorageEnum;
    /**
     *
     */
    identityProvider?: HealthIdentityProviderEnum;
    /**
     *
     */
    secrets?: HealthSecretsEnum;
    /**
     *
     */
    outbox?: HealthOutboxEnum;
    /**
     *
     */
    _configuration?: HealthConfigurationEnum;
    /**
     *
     */
    log?: HealthLogEnum;
    /**
     *
     */
    cache?: HealthCacheEnum;
    /**
     *
     */
    mail?: HealthMailEnum;
    /**
     *
     */
    scrub?: HealthScrubEnum;
}


/**
 * @export
 */
export const HealthStatusEnum = {
    Ok: 'ok',
} as const;
export type HealthStatusEnum = typeof HealthStatusEnum[keyof typeof HealthStatusEnum];

/**
 * @export
 */
export const HealthDatabaseEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthDatabaseEnum = typeof HealthDatabaseEnum[keyof typeof HealthDatabaseEnum];

/**
 * @export
 */
export const HealthMigrationsEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthMigrationsEnum = typeof HealthMigrationsEnum[keyof typeof HealthMigrationsEnum];

/**
 * @export
 */
export const HealthStorageEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthStorageEnum = typeof HealthStorageEnum[keyof typeof HealthStorageEnum];

/**
 * @export
 */
export const HealthIdentityProviderEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthIdentityProviderEnum = typeof HealthIdentityProviderEnum[keyof typeof HealthIdentityProviderEnum];

/**
 * @export
 */
export const HealthSecretsEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthSecretsEnum = typeof HealthSecretsEnum[keyof typeof HealthSecretsEnum];

/**
 * @export
 */
export const HealthOutboxEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthOutboxEnum = typeof HealthOutboxEnum[keyof typeof HealthOutboxEnum];

/**
 * @export
 */
export const HealthConfigurationEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthConfigurationEnum = typeof HealthConfigurationEnum[keyof typeof HealthConfigurationEnum];

/**
 * @export
 */
export const HealthLogEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthLogEnum = typeof HealthLogEnum[keyof typeof HealthLogEnum];

/**
 * @export
 */
export const HealthCacheEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthCacheEnum = typeof HealthCacheEnum[keyof typeof HealthCacheEnum];

/**
 * @export
 */
export const HealthMailEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthMailEnum = typeof HealthMailEnum[keyof typeof HealthMailEnum];

/**
 * @export
 */
export const HealthScrubEnum = {
    Ok: 'ok',
    Warning: 'warning',
    Unknown: 'unknown',
} as const;
export type HealthScrubEnum = typeof HealthScrubEnum[keyof typeof HealthScrubEnum];

/**
 *
 * @export
 * @interface HostMinute
 */
export interface HostMinute {
    /**
     *
     */
    host: string;
    /**
     * When it began.
     */
    minute: string;
    /**
     * Answered, of all endpoints.
     */
    requests: number;
    /**
     * Answered with 500 or more.
     */
    errors: number;
    /**
     * Half of the requests took no longer, in milliseconds; null without requests.
     */
    p50Ms: number | null;
    /**
     * 99 of 100 took no longer; null without requests.
     */
    p99Ms: number | null;
    /**
     * Logins that succeeded.
     */
    logins: number;
    /**
     * Logins answered with 401 or 429.
     */
    loginFailures: number;
    /**
     * Files stored.
     */
    uploads: number;
    /**
     * Their bytes.
     */
    uploadBytes: number;
    /**
     * Jobs that waited at its end, of all hosts together.
     */
    outboxDepth: number;
    /**
     * Of the files directory, at its end.
     */
    freeBytes: number;
}
/**
 * What a client must know before it sends: each number is the most.
 * @export
 * @interface Limits
 */
export interface Limits {
    /**
     * The bytes of one file.
     */
    maxFileBytes: number;
    /**
     * A JSON body.
     */
    maxJsonBytes: number;
    /**
     *
     */
    upload: UploadLimits;
    /**
     *
     */
    file: FileLimits;
    /**
     *
     */
    people: PeopleLimits;
    /**
     *
     */
    password: PasswordLimits;
    /**
     *
     */
    list: Range;
    /**
     *
     */
    linkSeconds: Range;
    /**
     * Files that one request archives or restores.
     */
    bulkIds: number;
    /**
     *
     */
    buckets: Array<Bucket>;
    /**
     * The media types that count as pictures.
     */
    pictureTypes: Array<string>;
    /**
     *
     */
    services: Array<LimitsServicesEnum>;
    /**
     * The languages of e-mails and pages, as BCP 47 writes them; the installation's own comes first.
     */
    languages: Array<string>;
}


/**
 * @export
 */
export const LimitsServicesEnum = {
    Inventory: 'inventory',
    Logistics: 'logistics',
} as const;
export type LimitsServicesEnum = typeof LimitsServicesEnum[keyof typeof LimitsServicesEnum];

/**
 *
 * @export
 * @interface Link
 */
export interface Link {
    /**
     * Absolute. Whoever holds it may fetch the file, so it is a secret until it ends.
     */
    url: string;
    /**
     *
     */
    expiresAt: string;
}
/**
 *
 * @export
 * @interface LinkRequest
 */
export interface LinkRequest {
    /**
     * Seconds.
     */
    expiresIn?: number;
}
/**
 *
 * @export
 * @interface Logging
 */
export interface Logging {
    /**
     *
     */
    level: LoggingLevelEnum;
    /**
     * Comma-separated module=level, * for every module; holds over level for the modules it names, the last one wins.
     */
    filter: string;
}


/**
 * @export
 */
export const LoggingLevelEnum = {
    Fatal: 'fatal',
    Error: 'error',
    Warn: 'warn',
    Info: 'info',
    Debug: 'debug',
    Trace: 'trace',
} as const;
export type LoggingLevelEnum = typeof LoggingLevelEnum[keyof typeof LoggingLevelEnum];

/**
 *
 * @export
 * @interface LoggingChange
 */
export interface LoggingChange {
    /**
     *
     */
    level?: LoggingChangeLevelEnum;
    /**
     * Comma-separated module=level, * for every module; holds over level for the modules it names, the last one wins.
     */
    filter?: string;
}


/**
 * @export
 */
export const LoggingChangeLevelEnum = {
    Fatal: 'fatal',
    Error: 'error',
    Warn: 'warn',
    Info: 'info',
    Debug: 'debug',
    Trace: 'trace',
} as const;
export type LoggingChangeLevelEnum = typeof LoggingChangeLevelEnum[keyof typeof LoggingChangeLevelEnum];

/**
 *
 * @export
 * @interface LoginReply
 */
export interface LoginReply {
    /**
     *
     */
    tokens: Tokens;
    /**
     *
     */
    user: User;
    /**
     * To keep and to send with the next login; only where deviceMark was sent without session.
     */
    deviceMark?: string;
}
/**
 *
 * @export
 * @interface LoginRequest
 */
export interface LoginRequest {
    /**
     * The e-mail address in any spelling, or the user id.
     */
    username: string;
    /**
     * The current or the temporary password.
     */
    password: string;
    /**
     * With a temporary password: the one to set.
     */
    newPassword?: string;
    /**
     * With cookie the refresh token comes and goes in a cookie that no script can read, __Secure-gatehouse-refresh. The request must come from a page of this service: Sec-Fetch-Site same-origin, or the Origin of base_url or web_url.
     */
    session?: LoginRequestSessionEnum;
    /**
     * The mark from this client's last login of the user, so that the wrong passwords of strangers do not hold it up; empty asks for a first one. With session the mark comes and goes in a cookie, __Secure-gatehouse-device, and the text is not looked at.
     */
    deviceMark?: string;
}


/**
 * @export
 */
export const LoginRequestSessionEnum = {
    Cookie: 'cookie',
} as const;
export type LoginRequestSessionEnum = typeof LoginRequestSessionEnum[keyof typeof LoginRequestSessionEnum];

/**
 *
 * @export
 * @interface Logos
 */
export interface Logos {
    /**
     * The address of a picture for a light ground.
     */
    light: string | null;
    /**
     * The same for a dark ground.
     */
    dark: string | null;
}
/**
 *
 * @export
 * @interface LogoutRequest
 */
export interface LogoutRequest {
    /**
     * End all sessions of the user, not only this one.
     */
    everywhere?: boolean;
    /**
     * End all sessions of the user but this one.
     */
    others?: boolean;
}
/**
 *
 * @export
 * @interface Me
 */
export interface Me {
    /**
     *
     */
    user: User;
    /**
     *
     */
    organisation: Organisation;
    /**
     * Effective: the user's own and those of the roles, as of this request.
     */
    permissions: Array<string>;
}
/**
 * At least one member.
 * @export
 * @interface MePatch
 */
export interface MePatch {
    /**
     *
     */
    firstName?: string;
    /**
     *
     */
    lastName?: string;
    /**
     * null clears it. Another number is not verified.
     */
    phone?: string | null;
    /**
     * A language tag (BCP 47) without private use, such as de-CH; null clears it.
     */
    locale?: string | null;
}
/**
 *
 * @export
 * @interface NewOrganisation
 */
export interface NewOrganisation {
    /**
     *
     */
    name: string;
}
/**
 *
 * @export
 * @interface NewUser
 */
export interface NewUser {
    /**
     *
     */
    email: string;
    /**
     * Without it the member is invited: the e-mail brings a temporary password.
     */
    password?: string;
    /**
     *
     */
    firstName: string;
    /**
     *
     */
    lastName: string;
    /**
     *
     */
    phone?: string | null;
    /**
     *
     */
    roles?: Array<string>;
    /**
     * All effective permissions, those of the roles included, have at most 2048 bytes as text with a blank between two.
     */
    permissions?: Array<string>;
}
/**
 *
 * @export
 * @interface NotGrantable
 */
export interface NotGrantable {
    /**
     *
     */
    path: string;
    /**
     *
     */
    message: string;
    /**
     *
     */
    code: NotGrantableCodeEnum;
}


/**
 * @export
 */
export const NotGrantableCodeEnum = {
    NotGrantable: 'notGrantable',
} as const;
export type NotGrantableCodeEnum = typeof NotGrantableCodeEnum[keyof typeof NotGrantableCodeEnum];

/**
 *
 * @export
 * @interface Organisation
 */
export interface Organisation {
    /**
     *
     */
    id: string;
    /**
     *
     */
    name: string;
    /**
     *
     */
    services: Array<OrganisationServicesEnum>;
    /**
     *
     */
    status: OrganisationStatusEnum;
    /**
     *
     */
    createdAt: string;
    /**
     *
     */
    updatedAt: string;
    /**
     * The most bytes that its files may have, archived ones included; null: no bound.
     */
    quotaBytes: number | null;
    /**
     * How many files it may have, archived ones included; null: no bound.
     */
    quotaFiles: number | null;
    /**
     * As quotaBytes counts them.
     */
    usedBytes: number;
    /**
     * As quotaFiles counts them.
     */
    usedFiles: number;
    /**
     * Its people in every status, without those who are erased.
     */
    userCount: number;
}


/**
 * @export
 */
export const OrganisationServicesEnum = {
    Inventory: 'inventory',
    Logistics: 'logistics',
} as const;
export type OrganisationServicesEnum = typeof OrganisationServicesEnum[keyof typeof OrganisationServicesEnum];

/**
 * @export
 */
export const OrganisationStatusEnum = {
    Active: 'active',
    Disabled: 'disabled',
} as const;
export type OrganisationStatusEnum = typeof OrganisationStatusEnum[keyof typeof OrganisationStatusEnum];

/**
 *
 * @export
 * @interface OrganisationList
 */
export interface OrganisationList {
    /**
     *
     */
    items: Array<Organisation>;
    /**
     *
     */
    nextCursor: string | null;
}
/**
 * At least one member.
 * @export
 * @interface OrganisationPatch
 */
export interface OrganisationPatch {
    /**
     *
     */
    name?: string;
    /**
     *
     */
    services?: Array<OrganisationPatchServicesEnum>;
    /**
     *
     */
    status?: OrganisationPatchStatusEnum;
    /**
     * null: no bound.
     */
    quotaBytes?: number | null;
    /**
     * null: no bound.
     */
    quotaFiles?: number | null;
}


/**
 * @export
 */
export const OrganisationPatchServicesEnum = {
    Inventory: 'inventory',
    Logistics: 'logistics',
} as const;
export type OrganisationPatchServicesEnum = typeof OrganisationPatchServicesEnum[keyof typeof OrganisationPatchServicesEnum];

/**
 * @export
 */
export const OrganisationPatchStatusEnum = {
    Active: 'active',
    Disabled: 'disabled',
} as const;
export type OrganisationPatchStatusEnum = typeof OrganisationPatchStatusEnum[keyof typeof OrganisationPatchStatusEnum];

/**
 *
 * @export
 * @interface OrganisationReply
 */
export interface OrganisationReply {
    /**
     *
     */
    organisation: Organisation;
}
/**
 * At least one member.
 * @export
 * @interface OwnOrganisationPatch
 */
export interface OwnOrganisationPatch {
    /**
     *
     */
    name?: string;
}
/**
 * The length of a new password, in characters.
 * @export
 * @interface PasswordLimits
 */
export interface PasswordLimits {
    /**
     *
     */
    minimum: number;
    /**
     *
     */
    maximum: number;
}
/**
 *
 * @export
 * @interface PeopleLimits
 */
export interface PeopleLimits {
    /**
     * A first name, and a last name.
     */
    nameCharacters: number;
    /**
     * An e-mail address.
     */
    emailBytes: number;
    /**
     * Roles of one person.
     */
    roles: number;
    /**
     * Permissions of one person, those of roles not counted.
     */
    permissions: number;
    /**
     * The name of an organisation.
     */
    organisationNameCharacters: number;
}
/**
 *
 * @export
 * @interface PermissionCatalogue
 */
export interface PermissionCatalogue {
    /**
     *
     */
    items: Array<CatalogueItem>;
}
/**
 *
 * @export
 * @interface PermissionSource
 */
export interface PermissionSource {
    /**
     * role:<id>, or user for the user's own permissions.
     */
    source: string;
    /**
     *
     */
    permission: string;
}
/**
 *
 * @export
 * @interface Range
 */
export interface Range {
    /**
     *
     */
    minimum: number;
    /**
     *
     */
    maximum: number;
    /**
     * What holds where nothing is sent.
     */
    _default: number;
}
/**
 *
 * @export
 * @interface RefreshReply
 */
export interface RefreshReply {
    /**
     *
     */
    tokens: Tokens;
}
/**
 *
 * @export
 * @interface RefreshRequest
 */
export interface RefreshRequest {
    /**
     *
     */
    refreshToken?: string;
    /**
     * With cookie the refresh token comes and goes in a cookie that no script can read, __Secure-gatehouse-refresh. The request must come from a page of this service: Sec-Fetch-Site same-origin, or the Origin of base_url or web_url.
     */
    session?: RefreshRequestSessionEnum;
}


/**
 * @export
 */
export const RefreshRequestSessionEnum = {
    Cookie: 'cookie',
} as const;
export type RefreshRequestSessionEnum = typeof RefreshRequestSessionEnum[keyof typeof RefreshRequestSessionEnum];

/**
 *
 * @export
 * @interface ResetPasswordRequest
 */
export interface ResetPasswordRequest {
    /**
     * The e-mail address in any spelling, or the user id.
     */
    username: string;
    /**
     *
     */
    confirmationCode: string;
    /**
     *
     */
    newPassword: string;
}
/**
 *
 * @export
 * @interface Role
 */
export interface Role {
    /**
     *
     */
    id: string;
    /**
     *
     */
    description: string;
    /**
     *
     */
    permissions: Array<string>;
    /**
     * Whether the caller may give it to somebody.
     */
    grantable: boolean;
}
/**
 *
 * @export
 * @interface RoleList
 */
export interface RoleList {
    /**
     *
     */
    items: Array<Role>;
}
/**
 *
 * @export
 * @interface Session
 */
export interface Session {
    /**
     *
     */
    id: string;
    /**
     * When the user signed in.
     */
    createdAt: string;
    /**
     * Noted once a minute.
     */
    lastUsedAt: string;
    /**
     *
     */
    expiresAt: string;
    /**
     * From where it was used then.
     */
    clientAddress: string | null;
    /**
     * The program that used it then, by its own words: at most 200 characters, none that is invisible.
     */
    userAgent: string | null;
    /**
     * It is the session of the token that asks.
     */
    current: boolean;
}
/**
 *
 * @export
 * @interface SessionList
 */
export interface SessionList {
    /**
     *
     */
    items: Array<Session>;
}
/**
 *
 * @export
 * @interface Settings
 */
export interface Settings {
    /**
     *
     */
    logging: Logging;
}
/**
 *
 * @export
 * @interface SettingsChange
 */
export interface SettingsChange {
    /**
     *
     */
    logging: LoggingChange;
}
/**
 *
 * @export
 * @interface SettingsHistory
 */
export interface SettingsHistory {
    /**
     *
     */
    items: Array<SettingsVersion>;
    /**
     *
     */
    nextCursor: string | null;
}
/**
 *
 * @export
 * @interface SettingsVersion
 */
export interface SettingsVersion {
    /**
     *
     */
    version: number;
    /**
     *
     */
    settings: Settings | null;
    /**
     * Who wrote it; null for the operator's command.
     */
    userId: string | null;
    /**
     *
     */
    at: string;
}
/**
 *
 * @export
 * @interface SignupReply
 */
export interface SignupReply {
    /**
     *
     */
    organisation: Organisation;
    /**
     *
     */
    user: User;
}
/**
 *
 * @export
 * @interface SignupRequest
 */
export interface SignupRequest {
    /**
     *
     */
    organisation: NewOrganisation;
    /**
     *
     */
    email: string;
    /**
     *
     */
    firstName: string;
    /**
     *
     */
    lastName: string;
    /**
     *
     */
    phone?: string | null;
    /**
     *
     */
    services?: Array<SignupRequestServicesEnum>;
}


/**
 * @export
 */
export const SignupRequestServicesEnum = {
    Inventory: 'inventory',
    Logistics: 'logistics',
} as const;
export type SignupRequestServicesEnum = typeof SignupRequestServicesEnum[keyof typeof SignupRequestServicesEnum];

/**
 *
 * @export
 * @interface SimulateReply
 */
export interface SimulateReply {
    /**
     * The effective permissions that the change asks for.
     */
    permissions: Array<string>;
    /**
     * The operationId of each endpoint that these permissions grant and those of now do not.
     */
    gained: Array<string>;
    /**
     * The operationId of each endpoint that the permissions of now grant and these do not.
     */
    lost: Array<string>;
    /**
     *
     */
    notGrantable: Array<NotGrantable>;
}
/**
 * userId, and roles or permissions or both, as for a change of the user.
 * @export
 * @interface SimulateRequest
 */
export interface SimulateRequest {
    /**
     *
     */
    userId: string;
    /**
     *
     */
    roles?: Array<string>;
    /**
     * All effective permissions, those of the roles included, have at most 2048 bytes as text with a blank between two.
     */
    permissions?: Array<string>;
}
/**
 *
 * @export
 * @interface Stats
 */
export interface Stats {
    /**
     *
     */
    items: Array<HostMinute>;
}
/**
 *
 * @export
 * @interface Success
 */
export interface Success {
    /**
     *
     */
    status: SuccessStatusEnum;
    /**
     *
     */
    message: string;
}


/**
 * @export
 */
export const SuccessStatusEnum = {
    Success: 'success',
} as const;
export type SuccessStatusEnum = typeof SuccessStatusEnum[keyof typeof SuccessStatusEnum];

/**
 *
 * @export
 * @interface Tokens
 */
export interface Tokens {
    /**
     *
     */
    accessToken: string;
    /**
     *
     */
    idToken: string;
    /**
     * Absent where it was asked for in a cookie.
     */
    refreshToken?: string;
    /**
     *
     */
    tokenType: TokensTokenTypeEnum;
    /**
     * Seconds that the access token is good for.
     */
    expiresIn: number;
}


/**
 * @export
 */
export const TokensTokenTypeEnum = {
    Bearer: 'Bearer',
} as const;
export type TokensTokenTypeEnum = typeof TokensTokenTypeEnum[keyof typeof TokensTokenTypeEnum];

/**
 *
 * @export
 * @interface UploadLimits
 */
export interface UploadLimits {
    /**
     * Files in one request.
     */
    files: number;
    /**
     * Parts of the form, the files included.
     */
    parts: number;
    /**
     * The value of a part that is no file.
     */
    fieldBytes: number;
    /**
     * The whole body without the bytes of the files.
     */
    formBytes: number;
}
/**
 *
 * @export
 * @interface User
 */
export interface User {
    /**
     *
     */
    id: string;
    /**
     *
     */
    organisationId: string;
    /**
     *
     */
    email: string;
    /**
     *
     */
    phone: string | null;
    /**
     *
     */
    firstName: string;
    /**
     *
     */
    lastName: string;
    /**
     * Role ids; what they grant is looked up on each request.
     */
    roles: Array<string>;
    /**
     * The user's own permissions, beside those of the roles.
     */
    permissions: Array<string>;
    /**
     *
     */
    status: UserStatusEnum;
    /**
     *
     */
    emailVerified: boolean;
    /**
     *
     */
    phoneVerified: boolean;
    /**
     *
     */
    createdAt: string;
    /**
     *
     */
    updatedAt: string;
    /**
     * The user's language, as BCP 47 writes it; null where it is not known.
     */
    locale: string | null;
    /**
     * Null where no login is known.
     */
    lastLoginAt: string | null;
    /**
     * While the user awaits the first login: when the temporary password expires, or has expired.
     */
    invitationExpiresAt: string | null;
    /**
     * While failed logins make the account wait: when the next one may be tried. The waits of known devices (deviceMark) are not in it.
     */
    lockedUntil: string | null;
}


/**
 * @export
 */
export const UserStatusEnum = {
    AwaitingFirstLogin: 'awaiting-first-login',
    AwaitingConfirmation: 'awaiting-confirmation',
    Active: 'active',
    Disabled: 'disabled',
} as const;
export type UserStatusEnum = typeof UserStatusEnum[keyof typeof UserStatusEnum];

/**
 *
 * @export
 * @interface UserList
 */
export interface UserList {
    /**
     *
     */
    items: Array<User>;
    /**
     *
     */
    nextCursor: string | null;
}
/**
 * At least one member.
 * @export
 * @interface UserPatch
 */
export interface UserPatch {
    /**
     *
     */
    firstName?: string;
    /**
     *
     */
    lastName?: string;
    /**
     * null clears it.
     */
    phone?: string | null;
    /**
     *
     */
    roles?: Array<string>;
    /**
     * All effective permissions, those of the roles included, have at most 2048 bytes as text with a blank between two.
     */
    permissions?: Array<string>;
    /**
     *
     */
    status?: UserPatchStatusEnum;
}


/**
 * @export
 */
export const UserPatchStatusEnum = {
    Active: 'active',
    Disabled: 'disabled',
} as const;
export type UserPatchStatusEnum = typeof UserPatchStatusEnum[keyof typeof UserPatchStatusEnum];

/**
 *
 * @export
 * @interface UserReply
 */
export interface UserReply {
    /**
     *
     */
    user: User;
}
/**
 *
 * @export
 * @interface UsernameRequest
 */
export interface UsernameRequest {
    /**
     * The e-mail address in any spelling, or the user id.
     */
    username: string;
}
/**
 *
 * @export
 * @interface Version
 */
export interface Version {
    /**
     *
     */
    name: string;
    /**
     *
     */
    version: string;
    /**
     *
     */
    apiVersion: string;
}

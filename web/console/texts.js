/* SPDX-License-Identifier: MIT */
/*
 * The words of the console, its dates and its numbers, and what refusals of the service mean. The sources are written
 * in English; texts/<language>.js has the translation of each text that stands in a call of t() or plural().
 * tools/checks/check-console holds the tables complete.
 */

export const LANGUAGES = { en: "English", de: "Deutsch" };
const LOCALES = { en: "en-GB", de: "de-DE" };

let table = {};
let locale = "en-GB";

/* The first of the wanted languages (BCP 47) that there is. */
export function pickLanguage(wanted) {
    const known = wanted.filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]);
    return known.find((tag) => LANGUAGES[tag] !== undefined) || "en";
}

/* Sets the language. What is on the screen has to be shown again. */
export async function setLanguage(language) {
    const module = language === "en" ? { default: {} }
        : await import(`./texts/${language}.js`).catch(() => ({ default: {} }));
    table = module.default;
    locale = LOCALES[language];
    document.documentElement.lang = locale;
}

function filled(text, values) {
    return values === undefined ? text : text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/* The text in the reader's language; {name} in it is taken from `values`. */
export function t(text, values) {
    return filled(table[text] ?? text, values);
}

/* One of two texts by the number `n`, which stands in them as {n}. */
export function plural(one, many, n, values) {
    const text = new Intl.PluralRules(locale).select(n) === "one" ? one : many;
    return filled(table[text] ?? text, { n: number(n), ...values });
}

/* ---- numbers ---- */

export function number(value, digits = 0) {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
}

export function percent(part) {
    return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: part < 0.1 ? 1 : 0 }).format(part);
}

/* A size for people: 1.5 MB. Units are decimal, as those of disks and networks. */
export function bytes(value) {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];
    const step = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3 + 1e-9));
    return new Intl.NumberFormat(locale, {
        style: "unit", unit: units[step], unitDisplay: step === 0 ? "long" : "short",
        maximumFractionDigits: step < 2 ? 0 : 1,
    }).format(value / 1000 ** step);
}

/* ---- dates: each takes the text of the service (RFC 3339) ---- */

export function dateTime(at) {
    return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(at));
}

export function date(at) {
    return new Intl.DateTimeFormat(locale, { dateStyle: "medium" }).format(new Date(at));
}

/* A point of time on the axis of a plot. */
export function clock(at) {
    return new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(new Date(at));
}

const STEPS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];

/* How long ago, or in how long: "3 minutes ago", "in 2 days". */
export function relative(at, now = Date.now()) {
    const seconds = (new Date(at).getTime() - now) / 1000;
    const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= size) || ["second", 1];
    const amount = unit === "second" ? 0 : Math.trunc(seconds / length);
    return new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(amount, unit);
}

/* A time to wait: "40 seconds", "2 minutes". */
export function duration(seconds) {
    const [unit, amount] = seconds < 90 ? ["second", Math.ceil(seconds)] : ["minute", Math.ceil(seconds / 60)];
    return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(amount);
}

/* ---- refusals ---- */

/* What a refusal of the service means, in the reader's words: by its code, else as the service says it. */

/* A function for each code, so that each text is looked up when it is shown. */
const WORDS = {
    "auth.credentials": () => t("The e-mail address or the password is wrong."),
    "auth.userDisabled": () => t("This account is disabled. Ask the owner of your organisation."),
    "auth.origin": () => t("The service does not expect you at this address. Open the console at its own address."),
    "database.unavailable": () => t("The database cannot be reached at the moment. Try again shortly."),
    "file.active": () => t("The file is not archived any more."),
    "file.archived": () => t("The file is archived. Restore it first."),
    "file.duplicate": () => t("You have exactly this file already."),
    "file.unknown": () => t("This file is no longer there."),
    "identityProvider.unavailable": () => t("Signing in does not work at the moment. Try again shortly."),
    "internal": () => t("Something went wrong on our side. Try again; if it stays, report the request id."),
    "link.invalid": () => t("The link does not work any more."),
    "quota.exceeded": () => t("There is no room left for this. Remove files, or ask for a larger quota."),
    "role.notGrantable": () => t("You cannot give away more than you have yourself."),
    "service.timeout": () => t("The service did not answer in time. Try again shortly."),
    "service.unavailable": () => t("The service cannot be reached at the moment. Try again shortly."),
    "settings.stale": () => t("Somebody else has changed the settings meanwhile."),
    "storage.full": () => t("The file store is full at the moment. Try again later."),
    "storage.unavailable": () => t("The file store cannot be reached at the moment. Try again shortly."),
    "user.exists": () => t("There is an account with this e-mail address already."),
    "user.lastOwner": () => t("This is the last owner. Make somebody else an owner first."),
    "user.self": () => t("You cannot do this to your own account."),
    "user.state": () => t("The account is not in a state for this."),
    "user.unknown": () => t("This person is no longer there."),
};

/* One sentence or two: what happened, and what to do. */
export function errorText(error) {
    if (error.code === "auth.permission") {
        return error.required === "" ? t("You may not do this. Ask the owner of your organisation.")
            : t("This needs the permission {permission}. Ask the owner of your organisation for it.",
                { permission: error.required });
    }
    if (error.status === 429) {
        return t("Too many tries. Try again in {time}.", { time: duration(Math.max(1, error.retryAfter)) });
    }
    if (error.status === 0) {
        return t("The service could not be reached. Check your connection and try again.");
    }
    const words = WORDS[error.code];
    return words === undefined ? error.message : words();
}

/* Whether trying again can help: there was no answer, too many tries, or a fault of the service. */
export function passes(error) {
    return error.status === 0 || error.status === 429 || error.status >= 500;
}

/* SPDX-License-Identifier: MIT */
/* What a refusal of the service means, in the reader's words: by its code, else as the service says it. */
import { duration, t } from "./texts.js";

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

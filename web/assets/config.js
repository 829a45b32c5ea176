/* SPDX-License-Identifier: MIT */
/*
 * What an installer may set for the pages. Serve a copy of your own in this file's place, so that the next
 * installation does not overwrite it.
 */

/*
 * The address of the interface ([service] base_url), for example "https://api.example.org". Empty: the pages stand at
 * the very same address. Another origin must allow this one in [service] cors_origins, and the web server's
 * Content-Security-Policy for the pages must name it in connect-src.
 */
export const api = "";

/*
 * Where people sign in once they have a password, for example "https://app.example.org/". Empty: in the console.
 */
export const signIn = "";

/*
 * The languages of the pages: English, and those that have a table beside this file (texts-de.js). Add one here when
 * you add its table.
 */
export const languages = ["en", "de"];

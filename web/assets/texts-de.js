/* SPDX-License-Identifier: MIT */
/*
 * The pages in German: each English text of the pages, and of the service's refusals that the pages show, with its
 * translation. Numbers stand as {}.
 */
export default {
    /* ---- on several pages ---- */
    "This page needs JavaScript. Switch it on for this page and load it again.":
        "Diese Seite braucht JavaScript. Bitte schalten Sie es für diese Seite ein und laden Sie sie neu.",
    "E-mail address": "E-Mail-Adresse",
    "Code": "Code",
    "Password": "Passwort",
    "New password": "Neues Passwort",
    "New password again": "Neues Passwort noch einmal",
    "Temporary password": "Vorläufiges Passwort",
    "Show the password": "Passwort anzeigen",
    "Show the passwords": "Passwörter anzeigen",
    "Set my password": "Passwort setzen",
    "Send it again": "Noch einmal senden",
    "Sign in": "Anmelden",
    "Go on to sign in": "Weiter zur Anmeldung",
    "The one that the e-mail was sent to.": "Die Adresse, an die die E-Mail ging.",
    "Six digits, alone on a line of the e-mail.":
        "Sechs Ziffern; sie stehen in der E-Mail allein in einer Zeile.",
    ["Use {} characters or more, for example a few words. Your name alone, your e-mail address alone and "
        + "passwords that many people use are not taken."]:
        "Mindestens {} Zeichen, zum Beispiel einige Wörter. Ihr Name allein, Ihre E-Mail-Adresse allein und "
        + "Passwörter, die viele benutzen, werden nicht angenommen.",
    "Sending …": "Wird gesendet …",
    "This is not an e-mail address. It looks like ann@example.org.":
        "Das ist keine E-Mail-Adresse. Sie sieht aus wie ann@example.org.",
    "You are not signed in": "Sie sind nicht angemeldet",
    "The password is wrong.": "Das Passwort ist falsch.",
    "Your password is set": "Ihr Passwort ist gesetzt",
    "Error:": "Fehler:",
    "If you need help:": "Wenn Sie Hilfe brauchen:",
    "If you ask for help, mention this:": "Wenn Sie um Hilfe bitten, nennen Sie dies:",
    "Check what you have entered": "Bitte prüfen Sie Ihre Eingaben",
    "Check the e-mail address, too.": "Prüfen Sie auch die E-Mail-Adresse.",
    "Enter your e-mail address.": "Geben Sie Ihre E-Mail-Adresse ein.",
    "Enter your password.": "Geben Sie Ihr Passwort ein.",
    "Enter the code from the e-mail. It has six digits.":
        "Geben Sie den Code aus der E-Mail ein. Er hat sechs Ziffern.",
    "Choose a new password.": "Wählen Sie ein neues Passwort.",
    "The two new passwords are not the same. Type the new one again.":
        "Die beiden neuen Passwörter sind verschieden. Geben Sie das neue noch einmal ein.",
    "Your password has not been set": "Ihr Passwort wurde nicht gesetzt",
    "No e-mail has been asked for": "Es wurde keine E-Mail angefordert",
    ".": ".",

    /* ---- confirm ---- */
    "Confirm your account": "Bestätigen Sie Ihr Konto",
    ["Somebody in your organisation has made an account for you. Enter the code from the e-mail. It shows "
        + "that the e-mail address is yours."]:
        "In Ihrer Organisation wurde für Sie ein Konto angelegt. Geben Sie den Code aus der E-Mail ein. Er "
        + "zeigt, dass die E-Mail-Adresse Ihnen gehört.",
    "Confirm my account": "Konto bestätigen",
    "No e-mail, or the code does not work?": "Keine E-Mail, oder der Code gilt nicht?",
    ["Look into the spam folder of your mailbox first. A code works once, for one day, and for five "
        + "tries. Another e-mail brings a new code; then the old one no longer works. You can get five e-mails "
        + "in a day."]:
        "Sehen Sie zuerst im Spam-Ordner Ihres Postfachs nach. Ein Code gilt einmal, einen Tag lang und für "
        + "fünf Versuche. Eine weitere E-Mail bringt einen neuen Code; der alte gilt dann nicht mehr. Sie "
        + "können fünf E-Mails am Tag erhalten.",
    "Your account is confirmed": "Ihr Konto ist bestätigt",
    ["From now on sign in with your e-mail address and the password that was chosen for you. You can "
        + "delete the e-mail."]:
        "Melden Sie sich ab jetzt mit Ihrer E-Mail-Adresse und dem Passwort an, das für Sie gewählt wurde. "
        + "Die E-Mail können Sie löschen.",
    "If nobody has told you that password,": "Wenn Ihnen niemand dieses Passwort genannt hat,",
    "choose one yourself": "wählen Sie selbst eines",
    "Your account has not been confirmed": "Ihr Konto wurde nicht bestätigt",
    ["The code was not accepted. Compare its six digits. It may be older than a day: then ask for another "
        + "e-mail below. If you have confirmed the account already, just sign in."]:
        "Der Code wurde nicht angenommen. Vergleichen Sie die sechs Ziffern. Vielleicht ist er älter als ein "
        + "Tag: Dann fordern Sie unten eine weitere E-Mail an. Wenn Sie das Konto schon bestätigt haben, melden "
        + "Sie sich einfach an.",
    "If this account still awaits its confirmation, an e-mail with a new code is on its way.":
        "Wenn dieses Konto noch auf seine Bestätigung wartet, ist eine E-Mail mit einem neuen Code unterwegs.",

    /* ---- first sign-in ---- */
    "Choose your password": "Wählen Sie Ihr Passwort",
    "Your account is ready. Enter the temporary password from the e-mail, then a password of your own.":
        "Ihr Konto ist bereit. Geben Sie das vorläufige Passwort aus der E-Mail ein, danach ein eigenes.",
    "It stands alone on a line of the e-mail. Copy and paste it.":
        "Es steht in der E-Mail allein in einer Zeile. Kopieren Sie es und fügen Sie es hier ein.",
    "No e-mail, or the temporary password does not work?":
        "Keine E-Mail, oder das vorläufige Passwort gilt nicht?",
    ["Look into the spam folder of your mailbox first. A temporary password works once, and for some days "
        + "only. Another e-mail brings a new one; then the old one no longer works. You can get five e-mails "
        + "in a day."]:
        "Sehen Sie zuerst im Spam-Ordner Ihres Postfachs nach. Ein vorläufiges Passwort gilt einmal und nur "
        + "einige Tage. Eine weitere E-Mail bringt ein neues; das alte gilt dann nicht mehr. Sie können fünf "
        + "E-Mails am Tag erhalten.",
    "From now on sign in with": "Melden Sie sich ab jetzt mit",
    "your e-mail address": "Ihrer E-Mail-Adresse",
    ["and the password that you have just chosen. The temporary password no longer works; you can delete "
        + "the e-mail."]:
        "und dem Passwort an, das Sie soeben gewählt haben. Das vorläufige Passwort gilt nicht mehr; die "
        + "E-Mail können Sie löschen.",
    "Enter the temporary password from the e-mail.": "Geben Sie das vorläufige Passwort aus der E-Mail ein.",
    ["The temporary password was not accepted. Check that you have copied all of it, or ask for another "
        + "e-mail below. If you have chosen a password already, just sign in with that one."]:
        "Das vorläufige Passwort wurde nicht angenommen. Prüfen Sie, ob Sie es ganz kopiert haben, oder "
        + "fordern Sie unten eine weitere E-Mail an. Wenn Sie schon ein Passwort gewählt haben, melden Sie "
        + "sich einfach damit an.",
    "This account has a password of its own already. Sign in with that one.":
        "Dieses Konto hat schon ein eigenes Passwort. Melden Sie sich damit an.",
    ["If this account still awaits its first sign-in, an e-mail with a new temporary password is on its "
        + "way."]:
        "Wenn dieses Konto noch auf die erste Anmeldung wartet, ist eine E-Mail mit einem neuen vorläufigen "
        + "Passwort unterwegs.",

    /* ---- forgotten password ---- */
    "Forgotten your password?": "Passwort vergessen?",
    ["Enter your e-mail address. You will get an e-mail with a code. With the code you choose a new "
        + "password. Until then your old password stays valid."]:
        "Geben Sie Ihre E-Mail-Adresse ein. Sie erhalten eine E-Mail mit einem Code. Mit dem Code wählen Sie "
        + "ein neues Passwort. Bis dahin bleibt Ihr altes gültig.",
    "Send me a code": "Code anfordern",
    "I have a code": "Ich habe einen Code",
    "Choose a new password": "Wählen Sie ein neues Passwort",
    ["If there is such an account and it is in use, an e-mail with a code is on its way. It may take some "
        + "minutes."]:
        "Wenn es ein solches Konto gibt und es in Gebrauch ist, ist eine E-Mail mit einem Code unterwegs. "
        + "Das kann einige Minuten dauern.",
    "Enter the code from the e-mail, then a new password. You will be signed out everywhere.":
        "Geben Sie den Code aus der E-Mail ein, danach ein neues Passwort. Sie werden überall abgemeldet.",
    ["Look into the spam folder of your mailbox first. A code works once, for one hour, and for five "
        + "tries. Another e-mail brings a new code; then the old one no longer works. You can get five e-mails "
        + "in a day."]:
        "Sehen Sie zuerst im Spam-Ordner Ihres Postfachs nach. Ein Code gilt einmal, eine Stunde lang und "
        + "für fünf Versuche. Eine weitere E-Mail bringt einen neuen Code; der alte gilt dann nicht mehr. Sie "
        + "können fünf E-Mails am Tag erhalten.",
    "If you have never used the account, get another e-mail on the page to":
        "Wenn Sie das Konto noch nie benutzt haben, fordern Sie eine weitere E-Mail auf der Seite an, auf "
        + "der Sie es",
    "confirm it": "bestätigen",
    "or for the": "oder auf der für die",
    "first sign-in": "erste Anmeldung",
    ["From now on sign in with your e-mail address and the password that you have just chosen. You have "
        + "been signed out everywhere. You can delete the e-mail."]:
        "Melden Sie sich ab jetzt mit Ihrer E-Mail-Adresse und dem Passwort an, das Sie soeben gewählt "
        + "haben. Sie wurden überall abgemeldet. Die E-Mail können Sie löschen.",
    ["The code was not accepted. Compare its six digits. It may be older than an hour: then ask for another "
        + "e-mail below."]:
        "Der Code wurde nicht angenommen. Vergleichen Sie die sechs Ziffern. Vielleicht ist er älter als eine "
        + "Stunde: Dann fordern Sie unten eine weitere E-Mail an.",
    "If there is such an account and it is in use, an e-mail with a new code is on its way.":
        "Wenn es ein solches Konto gibt und es in Gebrauch ist, ist eine E-Mail mit einem neuen Code "
        + "unterwegs.",

    /* ---- cancelling a change of the e-mail address ---- */
    "Keep your e-mail address": "Behalten Sie Ihre E-Mail-Adresse",
    ["Somebody asked to change the e-mail address of your account. If it was not you, enter the code from the "
        + "e-mail. Then your account keeps its address, or gets it back, and is signed out everywhere."]:
        "Jemand möchte die E-Mail-Adresse Ihres Kontos ändern. Wenn Sie das nicht waren, geben Sie den Code aus der "
        + "E-Mail ein. Dann behält Ihr Konto seine Adresse oder bekommt sie zurück und wird überall abgemeldet.",
    ["The one that your account has now. Better open the link in the e-mail: it names your account whatever its "
        + "address is."]:
        "Die Adresse, die Ihr Konto jetzt hat. Öffnen Sie besser den Link in der E-Mail: er nennt Ihr Konto, "
        + "welche Adresse es auch hat.",
    "Keep my address": "Adresse behalten",
    "Your account has its address": "Ihr Konto hat seine Adresse",
    ["The change is cancelled, and your account is signed out everywhere. Whoever asked for the change knew your "
        + "password. So choose another one: an e-mail with a code for it is on its way to you."]:
        "Die Änderung ist abgebrochen, und Ihr Konto ist überall abgemeldet. Wer sie verlangt hat, kannte Ihr "
        + "Passwort. Wählen Sie deshalb ein anderes: eine E-Mail mit einem Code dafür ist unterwegs.",
    "Choose another password": "Wählen Sie ein anderes Passwort",
    "Afterwards": "Danach",
    "sign in": "melden Sie sich",
    "with it.": "damit an.",
    ["The code was not accepted. Compare its six digits. It works until a day after the change, and for five tries "
        + "from here."]:
        "Der Code wurde nicht angenommen. Vergleichen Sie die sechs Ziffern. Er gilt bis einen Tag nach der Änderung "
        + "und für fünf Versuche von hier aus.",
    "The change has not been cancelled": "Die Änderung wurde nicht abgebrochen",

    /* ---- refusals of the service ---- */
    "Too many tries. Try again in {} second.":
        "Zu viele Versuche. Versuchen Sie es in {} Sekunde noch einmal.",
    "Too many tries. Try again in {} seconds.":
        "Zu viele Versuche. Versuchen Sie es in {} Sekunden noch einmal.",
    "Too many tries. Try again in {} minutes.":
        "Zu viele Versuche. Versuchen Sie es in {} Minuten noch einmal.",
    "The service did not answer as expected. Try again in a few minutes.":
        "Der Dienst hat nicht wie erwartet geantwortet. Versuchen Sie es in einigen Minuten noch einmal.",
    "The service could not be reached. Check your connection and try again.":
        "Der Dienst war nicht zu erreichen. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    "must have {} to {} characters": "muss {} bis {} Zeichen haben",
    "is one of the most common passwords": "ist eines der häufigsten Passwörter",
    "must not be the e-mail address, the name or the organisation's name":
        "darf nicht die E-Mail-Adresse, der Name oder der Name der Organisation sein",
    "does not follow the identity provider's own rules": "entspricht nicht den Regeln des Anmeldedienstes",
    "The password does not follow the rules. Choose another one.":
        "Das Passwort entspricht nicht den Regeln. Wählen Sie ein anderes.",
    "Some of the values sent are not valid. Correct the listed paths and send the request again.":
        "Einige Eingaben sind nicht gültig. Berichtigen Sie sie und senden Sie sie noch einmal.",
    "The code is not right or no longer valid. Ask for a new one.":
        "Der Code ist falsch oder gilt nicht mehr. Fordern Sie einen neuen an.",
    "The user name or the password is wrong.": "Der Benutzername oder das Passwort ist falsch.",
    "This account is disabled. Ask your organisation's owner.":
        "Dieses Konto ist gesperrt. Wenden Sie sich an die Inhaberin oder den Inhaber Ihrer Organisation.",
    "This session has ended. Sign in again.": "Diese Sitzung ist beendet. Melden Sie sich noch einmal an.",
    "Something went wrong on our side. Try again; if it stays, report the request id.":
        "Bei uns ist etwas schiefgegangen. Versuchen Sie es noch einmal; bleibt es dabei, melden Sie die "
        + "Kennung der Anfrage.",
    "The database cannot be reached at the moment. Try again shortly.":
        "Die Datenbank ist gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.",
    "The identity provider cannot be reached at the moment. Try again shortly.":
        "Der Anmeldedienst ist gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.",
    "Too many tries. Wait as long as Retry-After says and try again.":
        "Zu viele Versuche. Warten Sie eine Weile und versuchen Sie es noch einmal.",
};

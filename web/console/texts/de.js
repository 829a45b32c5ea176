/* SPDX-License-Identifier: MIT */
/* The console in German: for each English text of the sources its translation. Names in braces stay as they are. */
export default {
    /* ---- what several screens share ---- */
    "Account of {name}": "Konto von {name}",
    "Back to your own": "Zurück zur eigenen",
    "Actions": "Aktionen",
    "Cancel": "Abbrechen",
    "Check what you have entered": "Prüfen Sie Ihre Eingaben",
    "Choose all": "Alle auswählen",
    "Choose {name}": "{name} auswählen",
    "Clear filters": "Filter löschen",
    "Close": "Schließen",
    "Copied.": "Kopiert.",
    "Copy {text}": "{text} kopieren",
    "Hide": "Verbergen",
    "It needs the permission {permission}. Ask the owner of your organisation for it.":
        "Dafür brauchen Sie die Berechtigung {permission}. Sie bekommen sie von der Inhaberin oder dem Inhaber Ihrer "
        + "Organisation.",
    "Leave": "Verlassen",
    "Leave the console": "Konsole verlassen",
    "Leave without saving?": "Ohne Speichern verlassen?",
    "Load again": "Neu laden",
    "Loading …": "Wird geladen …",
    "Look at another organisation": "Eine andere Organisation ansehen",
    "Look at {name}": "{name} ansehen",
    "Menu": "Menü",
    "No organisation has this in its name.": "Keine Organisation heißt so.",
    "Nothing fits these filters.": "Zu diesen Filtern passt nichts.",
    "Organisation": "Organisation",
    "Reason": "Grund",
    "Reason: {reason}": "Grund: {reason}",
    "Request": "Anfrage",
    "Save": "Speichern",
    "Saved.": "Gespeichert.",
    "Saving …": "Wird gespeichert …",
    "Search by name": "Nach dem Namen suchen",
    "Sending …": "Wird gesendet …",
    "Show": "Zeigen",
    "Show more": "Mehr zeigen",
    "Sign out": "Abmelden",
    "Skip to the content": "Zum Inhalt springen",
    "The browser does not allow copying. Mark it instead: {text}":
        "Der Browser erlaubt das Kopieren nicht. Markieren Sie stattdessen: {text}",
    "The console could not begin": "Die Konsole konnte nicht beginnen",
    "The owner of the organisation can read it in the audit trail.":
        "Die Organisation kann ihn in ihrem Protokoll lesen.",
    "There are more: type a part of the name.": "Es gibt weitere: Geben Sie einen Teil des Namens ein.",
    "There is nothing at this address.": "Unter dieser Adresse gibt es nichts.",
    "There may be a new version. Load the page again.":
        "Vielleicht gibt es eine neue Version. Laden Sie die Seite neu.",
    "This does not have the right form.": "Das hat nicht die richtige Form.",
    "This is missing.": "Diese Angabe fehlt.",
    "This is not right.": "Das ist nicht richtig.",
    "This is one of the most common passwords. Choose another one.":
        "Das ist eines der häufigsten Passwörter. Wählen Sie ein anderes.",
    "This is too short or too long.": "Das ist zu kurz oder zu lang.",
    "This must not be the e-mail address, the name or the organisation's name.":
        "Das darf nicht die E-Mail-Adresse, der Name oder der Name der Organisation sein.",
    "This part of the console could not be loaded.": "Dieser Teil der Konsole konnte nicht geladen werden.",
    "Try again": "Noch einmal versuchen",
    "Undo": "Rückgängig",
    "What you have changed here is not saved yet.": "Ihre Änderungen sind noch nicht gespeichert.",
    "You are looking at {name}.": "Sie sehen {name}.",
    "You are offline. What you see may be old; nothing can be saved.":
        "Sie sind offline. Was Sie sehen, kann veraltet sein; nichts kann gespeichert werden.",
    "You may not see this.": "Das dürfen Sie nicht sehen.",
    "Your session has ended. What you have entered here is still there.":
        "Ihre Sitzung ist beendet. Was Sie hier eingegeben haben, ist noch da.",
    "{n} entries": "{n} Einträge",
    "{n} entry": "{n} Eintrag",
    "{n} file": "{n} Datei",
    "{n} files": "{n} Dateien",
    "{n} of about {total}": "{n} von etwa {total}",
    "{n} people": "{n} Personen",
    "{n} person": "{n} Person",

    /* ---- refusals of the service ---- */
    "Signing in does not work at the moment. Try again shortly.":
        "Das Anmelden geht gerade nicht. Versuchen Sie es gleich noch einmal.",
    "Somebody else has changed the settings meanwhile.": "Inzwischen hat jemand anders die Einstellungen geändert.",
    "Something went wrong on our side. Try again; if it stays, report the request id.":
        "Bei uns ist etwas schiefgegangen. Versuchen Sie es noch einmal; bleibt es dabei, melden Sie die Kennung der "
        + "Anfrage.",
    "The account is not in a state for this.": "Das Konto ist nicht in einem Zustand, in dem das geht.",
    "The database cannot be reached at the moment. Try again shortly.":
        "Die Datenbank ist gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.",
    "The e-mail address or the password is wrong.": "Die E-Mail-Adresse oder das Passwort ist falsch.",
    "The file is archived. Restore it first.": "Die Datei ist archiviert. Stellen Sie sie zuerst wieder her.",
    "The file is not archived any more.": "Die Datei ist nicht mehr archiviert.",
    "The file store cannot be reached at the moment. Try again shortly.":
        "Der Dateispeicher ist gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.",
    "The file store is full at the moment. Try again later.":
        "Der Dateispeicher ist gerade voll. Versuchen Sie es später noch einmal.",
    "The link does not work any more.": "Der Link gilt nicht mehr.",
    "The service cannot be reached at the moment. Try again shortly.":
        "Der Dienst ist gerade nicht zu erreichen. Versuchen Sie es gleich noch einmal.",
    "The service could not be reached. Check your connection and try again.":
        "Der Dienst war nicht zu erreichen. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    "The service did not answer in time. Try again shortly.":
        "Der Dienst hat nicht rechtzeitig geantwortet. Versuchen Sie es gleich noch einmal.",
    "There is an account with this e-mail address already.": "Mit dieser E-Mail-Adresse gibt es schon ein Konto.",
    "There is no room left for this. Remove files, or ask for a larger quota.":
        "Dafür ist kein Platz mehr. Entfernen Sie Dateien, oder bitten Sie um mehr Platz.",
    "This account is disabled. Ask the owner of your organisation.":
        "Dieses Konto ist gesperrt. Wenden Sie sich an die Inhaberin oder den Inhaber Ihrer Organisation.",
    "The service does not expect you at this address. Open the console at its own address.":
        "Unter dieser Adresse erwartet der Dienst Sie nicht. Öffnen Sie die Konsole unter ihrer eigenen Adresse.",
    "This file is no longer there.": "Diese Datei gibt es nicht mehr.",
    "This is the last owner. Make somebody else an owner first.":
        "Das ist die letzte Inhaberin oder der letzte Inhaber. Bestimmen Sie zuerst jemand anderen dazu.",
    "This needs the permission {permission}. Ask the owner of your organisation for it.":
        "Das braucht die Berechtigung {permission}. Sie bekommen sie von der Inhaberin oder dem Inhaber Ihrer "
        + "Organisation.",
    "This person is no longer there.": "Diese Person gibt es nicht mehr.",
    "Too many tries. Try again in {time}.": "Zu viele Versuche. Versuchen Sie es in {time} noch einmal.",
    "You cannot do this to your own account.": "Mit dem eigenen Konto geht das nicht.",
    "You cannot give away more than you have yourself.": "Sie können nicht mehr vergeben, als Sie selbst haben.",
    "You have exactly this file already.": "Genau diese Datei haben Sie schon.",
    "You may not do this. Ask the owner of your organisation.":
        "Das dürfen Sie nicht. Wenden Sie sich an die Inhaberin oder den Inhaber Ihrer Organisation.",

    /* ---- signing in ---- */
    "An e-mail with a new code is on its way.": "Eine E-Mail mit einem neuen Code ist unterwegs.",
    "Choose a new password.": "Wählen Sie ein neues Passwort.",
    "Choose your password": "Wählen Sie Ihr Passwort",
    "Code": "Code",
    "Confirm my account": "Mein Konto bestätigen",
    "Confirm your account": "Bestätigen Sie Ihr Konto",
    "Confirming …": "Wird bestätigt …",
    "E-mail address": "E-Mail-Adresse",
    "Enter the code from the e-mail. It has six digits.":
        "Geben Sie den Code aus der E-Mail ein. Er hat sechs Ziffern.",
    "Enter your e-mail address.": "Geben Sie Ihre E-Mail-Adresse ein.",
    "Enter your password.": "Geben Sie Ihr Passwort ein.",
    "Help": "Hilfe",
    "I have an e-mail with a code": "Ich habe eine E-Mail mit einem Code",
    "I have an e-mail with a temporary password": "Ich habe eine E-Mail mit einem vorläufigen Passwort",
    "I have forgotten my password": "Ich habe mein Passwort vergessen",
    "Interface for programs": "Schnittstelle für Programme",
    "New password": "Neues Passwort",
    "New password again": "Neues Passwort noch einmal",
    "No e-mail has been sent. Try again in some minutes.":
        "Es wurde keine E-Mail gesendet. Versuchen Sie es in einigen Minuten noch einmal.",
    "Password": "Passwort",
    "Send it again": "Noch einmal senden",
    "Set my password": "Mein Passwort setzen",
    "Setting …": "Wird gesetzt …",
    "Sign in": "Anmelden",
    "Sign in again": "Melden Sie sich noch einmal an",
    "Signing in …": "Anmeldung läuft …",
    "The code was not accepted. Compare its six digits. It may be older than a day: then ask for another one.":
        "Der Code wurde nicht angenommen. Vergleichen Sie die sechs Ziffern. Vielleicht ist er älter als ein Tag: Dann "
        + "fordern Sie einen neuen an.",
    "The two new passwords are not the same. Type the new one again.":
        "Die beiden neuen Passwörter sind nicht gleich. Geben Sie das neue noch einmal ein.",
    "This was a temporary password. Choose one of your own.":
        "Das war ein vorläufiges Passwort. Wählen Sie jetzt ein eigenes.",
    "Too many tries. You can try again in {time}.":
        "Zu viele Versuche. In {time} können Sie es noch einmal versuchen.",
    ["Use 12 characters or more, for example a few words. Your name alone, your e-mail address alone and "
        + "passwords that many people use are not taken."]:
        "Nehmen Sie 12 Zeichen oder mehr, zum Beispiel einige Wörter. Ihr Name allein, Ihre E-Mail-Adresse allein "
        + "und Passwörter, die viele benutzen, werden nicht angenommen.",
    "We have sent you an e-mail with a code. It shows that the address is yours.":
        "Wir haben Ihnen eine E-Mail mit einem Code gesendet. Er zeigt, dass die Adresse Ihnen gehört.",
    "You are not signed in": "Sie sind nicht angemeldet",
    "You have signed out in another tab.": "Sie haben sich in einem anderen Tab abgemeldet.",
    "Your account is not confirmed yet": "Ihr Konto ist noch nicht bestätigt",
    "Your password has not been set": "Ihr Passwort wurde nicht gesetzt",

    /* ---- home ---- */
    "All its parts work.": "Alle Teile arbeiten.",
    "Audit: who did what": "Protokoll: wer was getan hat",
    "Bytes read again": "Prüflesen der Dateien",
    "Cache": "Cache",
    "Configuration": "Konfiguration",
    "Database": "Datenbank",
    "E-mails and jobs": "E-Mails und Aufträge",
    "Errors": "Fehler",
    "Everybody has answered their invitation.": "Alle haben ihre Einladung beantwortet.",
    "Failed sign-ins": "Fehlgeschlagene Anmeldungen",
    "File store": "Dateispeicher",
    "Files: upload, find, share": "Dateien: hochladen, finden, teilen",
    "Go on": "Weiter",
    "Have not answered their invitation": "Haben ihre Einladung noch nicht beantwortet",
    "Home": "Start",
    "Identity provider": "Anmeldedienst",
    "Invitation ended": "Einladung abgelaufen",
    "Line of the last 24 hours, in all {sum}": "Verlauf der letzten 24 Stunden, zusammen {sum}",
    "Line of the last 24 hours, now {value}": "Verlauf der letzten 24 Stunden, jetzt {value}",
    "Log": "Log",
    "Mail server": "Mailserver",
    "Migrations": "Migrationen",
    "Not well": "Gestört",
    "Requests": "Anfragen",
    "Secrets": "Geheimnisse",
    "Service": "Dienst",
    "Sign-ins": "Anmeldungen",
    "Slowest of a hundred": "Langsamste von hundert",
    "Storage": "Speicher",
    "Team: invite, permissions": "Team: einladen, Berechtigungen",
    "The last 24 hours": "Die letzten 24 Stunden",
    "There is no limit.": "Es gibt keine Grenze.",
    "Uploads": "Uploads",
    "Used number of files": "Belegte Zahl der Dateien",
    "Used storage": "Belegter Speicher",
    "Welcome, {name}": "Willkommen, {name}",
    "Well": "In Ordnung",
    "Your password and sessions": "Ihr Passwort und Ihre Sitzungen",
    "and more": "und weitere",
    "{n} ms": "{n} ms",
    "{part} of {quota}": "{part} von {quota}",
    "{used} of {quota} files": "{used} von {quota} Dateien",

    /* ---- files ---- */
    "Files": "Dateien",

    /* ---- team ---- */
    "Team": "Team",

    /* ---- audit ---- */
    "Audit": "Protokoll",

    /* ---- organisations ---- */
    "Organisations": "Organisationen",

    /* ---- system ---- */
    "System": "System",

    /* ---- account ---- */
    "Address": "Adresse",
    "All other sessions have ended.": "Alle anderen Sitzungen sind beendet.",
    "An e-mail with a code is on its way to {email}. Until you enter it, nothing changes.":
        "Eine E-Mail mit einem Code ist unterwegs an {email}. Bis Sie ihn eingeben, ändert sich nichts.",
    "As the browser says": "Wie der Browser",
    "As the system says": "Wie das System",
    "Change the address": "Adresse ändern",
    "Change the password": "Passwort ändern",
    "Dark": "Dunkel",
    "Device": "Gerät",
    "End": "Beenden",
    "End all other sessions?": "Alle anderen Sitzungen beenden?",
    "End all others": "Alle anderen beenden",
    "End the others": "Andere beenden",
    "Ends": "Endet",
    "Enter the new e-mail address.": "Geben Sie die neue E-Mail-Adresse ein.",
    "Enter your first name.": "Geben Sie Ihren Vornamen ein.",
    "Enter your last name.": "Geben Sie Ihren Nachnamen ein.",
    "Enter your present password.": "Geben Sie Ihr jetziges Passwort ein.",
    "Every other browser and program that is signed in with your account has to sign in again.":
        "Jeder andere Browser und jedes Programm, das mit Ihrem Konto angemeldet ist, muss sich neu anmelden.",
    "First name": "Vorname",
    "For this browser only.": "Nur für diesen Browser.",
    "From now on you sign in with {email}.": "Von jetzt an melden Sie sich mit {email} an.",
    "Language": "Sprache",
    "Last name": "Nachname",
    "Last used": "Zuletzt benutzt",
    "Light": "Hell",
    "Looks": "Aussehen",
    "New e-mail address": "Neue E-Mail-Adresse",
    "Of the console, and of the e-mails to you.": "Der Konsole und der E-Mails an Sie.",
    "Phone": "Telefon",
    "Present password": "Jetziges Passwort",
    "Profile": "Profil",
    "Send a code to the new address": "Code an die neue Adresse senden",
    "Sessions": "Sitzungen",
    "Signed in": "Angemeldet",
    "The address is not changed": "Die Adresse wurde nicht geändert",
    "The code was not accepted. Compare its six digits.":
        "Der Code wurde nicht angenommen. Vergleichen Sie die sechs Ziffern.",
    "The session has ended.": "Die Sitzung ist beendet.",
    "Theme": "Farben",
    "There is no session.": "Es gibt keine Sitzung.",
    "This is not your present password.": "Das ist nicht Ihr jetziges Passwort.",
    "This one": "Diese",
    "Unknown program": "Unbekanntes Programm",
    "With the code of the country, such as +44 1632 960123. It may stay empty.":
        "Mit der Vorwahl des Landes, zum Beispiel +49 30 901820. Das Feld darf leer bleiben.",
    "You sign in with {email}.": "Sie melden sich mit {email} an.",
    "Your account": "Ihr Konto",
    "Your password is changed. All your other sessions have ended.":
        "Ihr Passwort ist geändert. Alle Ihre anderen Sitzungen sind beendet.",
    "Your password is not changed": "Ihr Passwort wurde nicht geändert",
    "Your profile is not saved": "Ihr Profil wurde nicht gespeichert",
};

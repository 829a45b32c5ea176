/* SPDX-License-Identifier: MIT */
/* The form that changes the name and the tags of a file. */
import * as api from "../api.js";
import { Button } from "../components/basic.js";
import { Field, Form, useForm, useUnsaved } from "../components/form.js";
import { toast } from "../components/toast.js";
import { t } from "../texts.js";
import { html, useEffect, useRef } from "../view.js";
import { changed } from "./actions.js";
import { useLimits } from "./limits.js";
import { nameBytes, readTags, splitName, wrongTags } from "./record.js";

function nameFault(name, limits) {
    if (name.trim() === "") {
        return t("Enter a name.");
    }
    return nameBytes(name.trim()) > limits.nameBytes
        ? t("This name is too long. It may have {n} bytes, about as many letters.", { n: limits.nameBytes }) : "";
}

function tagFault(text, limits) {
    switch (wrongTags(readTags(text), limits)) {
    case "many":
        return t("These are too many. A file has up to {n} tags.", { n: limits.tags });
    case "long":
        return t("One of them is too long. A tag has up to {n} characters.", { n: limits.tagCharacters });
    default:
        return "";
    }
}

function check(values, limits) {
    const found = [["name", nameFault(values.name, limits)], ["tags", tagFault(values.tags, limits)]];
    return found.filter(([, message]) => message !== "").map(([field, message]) => ({ field, message }));
}

/* What the service says of a name or a tag, at the field that holds it. */
function refused(error) {
    if (error.code === "file.duplicate") {
        return [{ field: "name", message: t("You have the same file under this name already.") }];
    }
    return error.validation.map(({ path, code, message }) => ({
        field: path.startsWith("tags") ? "tags" : path,
        message: path === "name" && code === "mismatch" ? t("This ending stands for another kind of file.") : message,
    }));
}

/* The words of the service for a name that it cleaned need not be those that were typed: its record holds. */
export function Edit({ record, onDone }) {
    const { file: limits } = useLimits();
    const form = useForm({ name: record.info.name, tags: record.tags.join(", ") });
    const place = useRef(null);
    useUnsaved(form);
    useEffect(() => {
        const input = place.current.querySelector("input");
        input.focus();
        input.setSelectionRange(0, splitName(record.info.name)[0].length);
    }, []);
    const send = ({ name, tags }) => api.patch(`/system/files/${record.id}`,
        { name: name.trim(), tags: readTags(tags) });
    const done = (reply) => {
        form.reset(form.values);
        changed.set([reply.body]);
        toast(t("“{name}” is saved.", { name: reply.body.info.name }));
        onDone();
    };
    return html`<div ref=${place}><${Form} form=${form} label=${t("Save")} busy=${t("Saving …")}
        title=${t("Nothing is saved yet")} check=${(values) => check(values, limits)} send=${send} done=${done}
        refused=${refused} more=${html`<${Button} label=${t("Cancel")} onPress=${onDone} />`}>
        <${Field} form=${form} name="name" label=${t("Name")} spellcheck="false" />
        <${Field} form=${form} name="tags" label=${t("Tags")} hint=${t("Separate them with commas.")} />
    </${Form}></div>`;
}

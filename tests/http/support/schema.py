# SPDX-License-Identifier: MIT
"""Says quickly that a value matches its schema, where that is certain.

jsonschema takes most of the time that the tests spend on a reply. Here a schema becomes a list of functions, once. They
answer True only for a value that surely matches; on anything else, a keyword that is not known here included,
jsonschema has the word (support/openapi.py). So this can pass nothing that jsonschema refuses;
api/test_schema_shortcut.py compares the two.
"""

import re

TYPES = {"string": {str}, "object": {dict}, "array": {list}, "integer": {int}, "number": {int, float},
         "boolean": {bool}, "null": {type(None)}}
SAYS_NOTHING = {"$schema", "description", "title", "default", "example", "examples", "deprecated", "readOnly",
                "writeOnly"}


class Shortcut:
    """The schemas of one document. resolve: gives what the text of a $ref names; formats: a jsonschema.FormatChecker.
    """

    def __init__(self, resolve, formats):
        self.resolve = resolve
        self.formats = formats
        self.known = {}  # by identity of the schema, which is kept with it: (schema, tests)

    def matches(self, value, schema):
        """Whether the value surely matches the schema."""
        return all(test(value) for test in self.tests(schema))

    def tests(self, schema):
        """The functions that a schema stands for."""
        found = self.known.get(id(schema))
        if found is None:
            self.known[id(schema)] = found = (schema, self.made(schema))
        return found[1]

    def made(self, schema):
        """A function for each keyword."""
        if not isinstance(schema, dict):
            return [lambda value: schema is True]
        return [KEYWORDS.get(word, unknown)(self, what, schema) for word, what in schema.items()
                if word not in SAYS_NOTHING]

    def target(self, schema):
        """What stands at the end of its references."""
        while isinstance(schema, dict) and "$ref" in schema:
            schema = self.resolve(schema["$ref"])
        return schema


def unknown(*_):
    return lambda value: False


def reference(shortcut, name, _):
    target = shortcut.resolve(name)
    return lambda value: shortcut.matches(value, target)


def all_of(shortcut, parts, _):
    return lambda value: all(shortcut.matches(value, part) for part in parts)


def one_of(shortcut, parts, _):
    """Where only one of them takes a value of this type."""
    typed = [(types(shortcut.target(part)), part) for part in parts]

    def one(value):
        fitting = [part for kinds, part in typed if kinds is None or type(value) in kinds]
        return len(fitting) == 1 and not isinstance(value, float) and shortcut.matches(value, fitting[0])
    return one


def one_type(_, __, schema):
    kinds = types(schema)
    return lambda value: type(value) in kinds


def enum(_, allowed, __):
    texts = {one for one in allowed if isinstance(one, str)}
    return lambda value: value in texts if isinstance(value, str) else value is None and None in allowed


def properties(shortcut, named, _):
    def each(value):
        return not isinstance(value, dict) or all(
            shortcut.matches(inner, named[name]) for name, inner in value.items() if name in named)
    return each


def required(_, names, __):
    return lambda value: not isinstance(value, dict) or all(name in value for name in names)


def additional_properties(shortcut, others, schema):
    named = schema.get("properties", {})
    return lambda value: not isinstance(value, dict) or all(
        others is not False and shortcut.matches(inner, others) for name, inner in value.items() if name not in named)


def items(shortcut, item, _):
    return lambda value: not isinstance(value, list) or all(shortcut.matches(inner, item) for inner in value)


def unique_items(_, wanted, __):
    return lambda value: not wanted or not isinstance(value, list) or (
        all(isinstance(inner, str) for inner in value) and len(set(value)) == len(value))


def bound(kind, holds):
    """A keyword that is a bound for values of that kind."""
    return lambda _, limit, __: lambda value: not isinstance(value, kind) or holds(value, limit)


def pattern(_, text, __):
    search = re.compile(text).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def form(shortcut, name, _):
    return lambda value: shortcut.formats.conforms(value, name)


def types(schema):
    """The types of Python that the schema's type takes for certain (an integer with a point is left to jsonschema);
    None: any."""
    named = schema.get("type") if isinstance(schema, dict) else None
    if named is None:
        return None
    return set().union(*(TYPES.get(one, ()) for one in ([named] if isinstance(named, str) else named)))


KEYWORDS = {
    "$ref": reference, "allOf": all_of, "oneOf": one_of, "type": one_type, "enum": enum, "properties": properties,
    "required": required, "additionalProperties": additional_properties, "items": items, "uniqueItems": unique_items,
    "minItems": bound(list, lambda value, limit: len(value) >= limit),
    "maxItems": bound(list, lambda value, limit: len(value) <= limit),
    "minLength": bound(str, lambda value, limit: len(value) >= limit),
    "maxLength": bound(str, lambda value, limit: len(value) <= limit),
    "minimum": bound((int, float), lambda value, limit: value >= limit),
    "maximum": bound((int, float), lambda value, limit: value <= limit), "pattern": pattern, "format": form,
}

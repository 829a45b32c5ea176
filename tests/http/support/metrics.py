# SPDX-License-Identifier: MIT
"""GET /system/metrics as numbers, read by Prometheus' own client library."""

from prometheus_client.parser import text_string_to_metric_families


class Scrape:
    """One look at the metrics."""

    def __init__(self, text):
        self.text = text
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self.samples = {}
        for family in self.families.values():
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                assert key not in self.samples, f"{sample.name}{sample.labels} is told twice"
                self.samples[key] = sample.value

    def value(self, name, **labels):
        """The sum of the samples of that name whose labels include the given ones."""
        wanted = labels.items()
        return sum(value for (found, have), value in self.samples.items() if found == name and wanted <= have)

    def has(self, name, **labels):
        """Whether there is such a sample."""
        wanted = labels.items()
        return any(found == name and wanted <= have for found, have in self.samples)

    def labels(self, name):
        """The names of the labels of the samples of that name."""
        return {label for found, have in self.samples if found == name for label, _ in have}

    def counters(self):
        """Everything that must never go down, as {(name, labels): value}."""
        kinds = {name: family.type for name, family in self.families.items()}

        def counts(name):
            family = name.removesuffix("_total")
            if kinds.get(family) == "counter":
                return True
            return any(kinds.get(name.removesuffix(end)) == "histogram" for end in ("_bucket", "_count", "_sum"))

        return {key: value for key, value in self.samples.items() if counts(key[0])}


def scrape(api):
    """A look through the web server."""
    return Scrape(api.get("/system/metrics", status=200).text)

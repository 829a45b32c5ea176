# SPDX-License-Identifier: MIT
"""What is shipped for Prometheus and Grafana asks for metrics that there are, and fires on what it is for."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

from support.metrics import scrape

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "share" / "monitoring"
TESTS = ROOT / "tests" / "monitoring"
GUIDE = ROOT / "docs" / "monitoring.md"
NAME = re.compile(r"\b(gatehouse_\w+)(\{[^}]*\})?")
LABEL = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
# What Prometheus adds to every sample.
ADDED = {"instance", "job"}


def run(*words, cwd=None):
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dashboard():
    return json.loads((SHIPPED / "gatehouse-dashboard.json").read_text())


def queries():
    """Every expression of the dashboard and the alerts."""
    found = [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]
    alerts = (SHIPPED / "gatehouse-alerts.yml").read_text()
    found += re.findall(r"expr: (?:>-\n)?((?:.|\n)*?)\n        (?:for|labels):|\Z", alerts)
    return [text for text in found if text]


def test_every_query_names_metrics_and_labels_that_there_are(api, keeper):
    keeper.get("/customers/me", status=200)
    seen = scrape(api)
    told = set(re.findall(r"^# TYPE (\S+)", seen.text, re.MULTILINE))
    assert len(queries()) >= 50
    for text in queries():
        for name, selector in NAME.findall(text):
            family = name if name in told else re.sub(r"_(bucket|sum|count)$", "", name)
            assert family in told, f"{name}: {text}"
            labels = seen.labels(name)
            # A gauge that is not told at the moment has no samples to compare with; none of ours has labels then.
            assert set(LABEL.findall(selector or "")) <= labels | ADDED, f"{name}{selector}: {text}"


def test_promtool_reads_every_query_of_the_dashboard(promtool, tmp_path):
    board = dashboard()
    assert board["title"] == "Gatehouse" and {"datasource", "instance"} == {v["name"]
                                                                            for v in board["templating"]["list"]}
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    texts = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    rules = [{"record": f"panel:{number}", "expr": text.replace("$instance", ".+").replace("$__rate_interval", "5m")}
             for number, text in enumerate(texts)]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(texts)} rules found" in run(promtool, "check", "rules", str(path))


def test_every_metric_is_on_the_dashboard():
    declared = set(re.findall(r'"(gatehouse_\w+)"', (ROOT / "include" / "base" / "metrics.def").read_text()))
    shown = {name for panel in dashboard()["panels"] for target in panel.get("targets", [])
             for name, _ in NAME.findall(target["expr"])}
    assert len(declared) > 20
    missing = {name for name in declared if not any(one.startswith(name) for one in shown)}
    assert not missing, missing


def test_panels_do_not_overlap():
    places = set()
    for panel in dashboard()["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                assert (x, y) not in places, panel["title"]
                places.add((x, y))


def test_the_alerts_are_good_rules_and_fire_on_what_they_are_for(promtool, tmp_path):
    shutil.copy(SHIPPED / "gatehouse-alerts.yml", tmp_path)
    shutil.copy(TESTS / "alerts.test.yml", tmp_path)
    alerts = re.findall(r"- alert: (\w+)", (SHIPPED / "gatehouse-alerts.yml").read_text())
    assert f"{len(alerts)} rules found" in run(promtool, "check", "rules", "--lint=all", "--lint-fatal",
                                               "gatehouse-alerts.yml", cwd=tmp_path)
    assert "SUCCESS" in run(promtool, "test", "rules", "alerts.test.yml", cwd=tmp_path)
    tested = (TESTS / "alerts.test.yml").read_text()
    assert [name for name in alerts if f'alertname="{name}"' not in tested] == []


def test_the_sample_for_prometheus_is_a_good_configuration(promtool, tmp_path):
    text = (SHIPPED / "prometheus.yml").read_text().replace("/etc/prometheus/", f"{SHIPPED}/")
    (tmp_path / "prometheus.yml").write_text(text)
    run(promtool, "check", "config", str(tmp_path / "prometheus.yml"))


def test_the_files_are_installed(stack):
    for name in ("gatehouse-dashboard.json", "gatehouse-alerts.yml", "prometheus.yml"):
        assert stack.data_file(f"monitoring/{name}").read_bytes() == (SHIPPED / name).read_bytes()


def test_what_is_told_is_what_the_guide_describes(api):
    """tools/checks/check-metrics holds the guide equal to the tables; this holds the tables equal to the reply."""
    run(str(ROOT / "tools" / "checks" / "check-metrics"), str(ROOT))
    told = set(re.findall(r"^# TYPE (\S+)", scrape(api).text, re.MULTILINE))
    assert told == set(re.findall(r"^\| `(gatehouse_\w+)", GUIDE.read_text(), re.MULTILINE))


@pytest.mark.parametrize("template", ["nginx/gatehouse.conf.in", "apache/gatehouse-site.conf.in"])
def test_the_sites_leave_the_metrics_to_the_worker(template):
    assert "metrics" not in (ROOT / template).read_text()

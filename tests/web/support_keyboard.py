# SPDX-License-Identifier: MIT
"""A person who has only a keyboard. Wherever the focus goes, it must be seen: inside the window, with a ring."""

STOPS_MAX = 150
# Where the focus is: its place in the document (-1: nowhere), what it is, and what is wrong with how it shows; whether
# it is on the target, and whether the target has been taken out of the page.
FOCUS = """(target) => {
    const one = document.activeElement, there = one === target, lost = target !== null && !target.isConnected;
    if (one === null || one === document.body || one === document.documentElement) {
        return { place: -1, name: "nothing", fault: "", there, lost };
    }
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 || style.boxShadow !== "none";
    const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return {
        there,
        lost,
        place: [...document.querySelectorAll("*")].indexOf(one),
        name: `${one.localName} ${one.id || one.textContent.trim().slice(0, 40)}`,
        fault: !ring ? "has no ring" : seen ? "" : "is outside of the window",
    };
}"""
# What Tab must reach; of several radio buttons of one name, one.
REACHABLE = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter((one) => !one.disabled && one.tabIndex >= 0 && one.type !== "radio" && one.checkVisibility(
        { visibilityProperty: true }) && one.closest("[inert]") === null).map((one) =>
        [[...document.querySelectorAll("*")].indexOf(one), `${one.localName} ${one.id || one.textContent.trim()}`])"""


class Keyboard:
    """Presses keys on a page."""

    def __init__(self, page):
        self.page = page

    def to(self, target, key="Tab"):
        """Goes on with Tab until the target has the focus."""
        went, wanted = [], target.element_handle()
        focus = self.page.evaluate(FOCUS, wanted)
        while not focus["there"] and len(went) < STOPS_MAX:
            wanted = target.element_handle() if focus["lost"] else wanted
            focus = self.step(key, wanted)
            went.append(focus["name"])
        if focus["there"]:
            return self
        raise AssertionError(f"{target} is not reached with {key}; the focus went to {went}")

    def step(self, key="Tab", target=None):
        """One step; fails when it cannot be seen where it went."""
        self.page.keyboard.press(key)
        focus = self.page.evaluate(FOCUS, target)
        assert not focus["fault"], f"{focus['name']} {focus['fault']}"
        return focus

    def press(self, *keys):
        """Keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def fill(self, target, text):
        """Goes to a field and types in place of what it holds."""
        self.to(target).press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)
        return self

    def use(self, target, key="Enter"):
        """Goes to a link, button or box and presses it."""
        return self.to(target).press(key)

    def walk(self):
        """Goes through the whole of a page that has just been opened. The order must be that of the document, and
        nothing may be left out. Returns the names in that order."""
        # The page changes no more once all that it asked for is there.
        self.page.wait_for_load_state("networkidle")
        self.page.bring_to_front()
        wanted = dict(self.page.evaluate(REACHABLE))
        stops = [self.step()]
        while stops[-1]["place"] >= 0 and len(stops) < STOPS_MAX:
            stops.append(self.step())
        places = [stop["place"] for stop in stops if stop["place"] >= 0]
        assert places == sorted(places), f"the order is not that of the page: {[stop['name'] for stop in stops]}"
        missed = [name for place, name in wanted.items() if place not in places]
        assert not missed, f"not reached with Tab: {missed}"
        return [stop["name"] for stop in stops if stop["place"] >= 0]

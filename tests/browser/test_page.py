"""The page in a real browser: it renders, sorts, filters, opens questions, follows links, and runs nothing it shows."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path
from typing import Any

import pytest

from bench.report.data import SweepData
from bench.report.write import write_report
from tests.report_sweeps import HOSTILE, hostile_world

SIZES = [(1280, 900), (390, 844)]
KEYS = {"enter": "\ue007", "tab": "\ue004", "space": " "}


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a report on hostile texts and labels."""
    folder = hostile_world().write(tmp_path_factory.mktemp("sweep") / "hostile")
    return write_report(SweepData.read(folder))[-1].as_uri()


@pytest.fixture
def shown(browser: Any, page: str) -> Any:
    """The page, ready, at 1280 pixels; afterwards its console must be empty."""
    show(browser, page)
    yield browser
    assert browser.get_log("browser") == []


def show(browser: Any, address: str, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
    """Open an address in a viewport of this size and wait until its data are drawn."""
    from selenium.webdriver.support.ui import WebDriverWait

    browser.get("about:blank")
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(address)
    WebDriverWait(browser, 60).until(ready)


def ready(browser: Any) -> bool:
    """True once the page has drawn its data."""
    state = browser.execute_script("return document.documentElement.dataset.ready")
    assert state != "failed"
    return bool(state)


def settle(browser: Any, script: str, wanted: Any) -> None:
    """Wait until a script returns what is wanted."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 30).until(lambda b: b.execute_script(script) == wanted)


def labels(browser: Any) -> list[str]:
    """Labels of the settings as they stand in the table."""
    script = "return [...document.querySelectorAll('#points-table tbody th')].map((cell) => cell.textContent)"
    found: list[str] = browser.execute_script(script)
    return found


def choose(browser: Any, label: str, value: str, within: str) -> None:
    """Set a select by its label, as a user does."""
    from selenium.webdriver.support.ui import Select

    path = f"//*[@id='{within}']//label[starts-with(normalize-space(), '{label}')]//select"
    Select(browser.find_element("xpath", path)).select_by_visible_text(value)


def test_everything_is_drawn_without_a_fault(shown: Any) -> None:
    assert len(labels(shown)) == 3
    assert shown.execute_script("return document.querySelectorAll('.paper svg').length") >= 8
    assert "Which chunking to ship" in shown.title or "which chunking" in shown.title
    assert shown.execute_script("return document.querySelectorAll('#drill .side').length") == 1


def test_texts_are_shown_and_never_run(shown: Any, page: str) -> None:
    """Scripts, closing tags and entities of documents, questions and labels stay text."""
    show(shown, f"{page}#question=q0&point=000000000003")
    text = shown.execute_script("return document.querySelector('#drill .text').textContent")
    assert "<script>alert('x')</script>" in text
    assert "</style></script><img src=x onerror=alert(1)>" in text
    assert "&amp;" in text
    assert "مرحبا بالعالم" in text
    assert "👩‍👩‍👧" in text
    marked = shown.execute_script(
        "return [...document.querySelectorAll('#drill .text mark')].map((m) => m.textContent)"
    )
    assert "The fee is 42 euros." in "".join(dict.fromkeys(marked))
    assert shown.execute_script("return document.querySelectorAll('#main img, #main script').length") == 0
    assert "windows 80/20 <i>x</i>" in labels(shown)
    assert shown.execute_script("return document.querySelectorAll('#main i').length") == 0


def test_gold_stands_where_it_stands_after_characters_of_two_units(shown: Any, page: str) -> None:
    show(shown, f"{page}#question=q1&point=000000000001")
    marked = shown.execute_script(
        "return [...document.querySelector('#drill .text').querySelectorAll('mark')].map((m) => m.textContent).join('')"
    )
    assert marked == "| 茶 | 300 |"


def test_the_table_sorts_by_keyboard(shown: Any) -> None:
    button = shown.find_element("css selector", "#points-table th button")
    button.send_keys(KEYS["enter"])
    first = labels(shown)
    shown.switch_to.active_element.send_keys(KEYS["space"])
    assert labels(shown) == first[::-1]
    assert (
        shown.execute_script("return document.querySelector('#points-table th').getAttribute('aria-sort')")
        == "ascending"
    )


def test_the_table_filters(shown: Any) -> None:
    choose(shown, "strategy", "large", "points-tools")
    assert labels(shown) == ["大きな窓 160"]
    choose(shown, "strategy", "all", "points-tools")
    shown.find_element("css selector", "#points-tools input[type=search]").send_keys("80/20")
    assert labels(shown) == ["windows 80/20 <i>x</i>"]


def test_a_category_gives_the_means_of_its_questions(shown: Any, page: str, tmp_path: Path) -> None:
    """The filter shows what the records say of those questions."""
    data = SweepData.read(Path(page.removeprefix("file://")).parent)
    column = data.table.values[data.headline][[c == "table" for c in data.table.categories]]
    choose(shown, "category", "table", "points-tools")
    names = [th.text.split(",")[0] for th in shown.find_elements("css selector", "#points-table thead th")]
    place = next(i for i, name in enumerate(names) if name.startswith("span_recall at budget"))
    for row in shown.find_elements("css selector", "#points-table tbody tr"):
        cells = row.find_elements("css selector", "th, td")
        point = next(i for i, p in enumerate(data.points) if p.label == cells[0].text)
        assert float(cells[place].text) == pytest.approx(100 * column[:, point].mean(), abs=0.06)


def test_the_table_copies_as_csv(shown: Any) -> None:
    shown.execute_script(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); };"
    )
    shown.find_element("id", "copy-csv").click()
    settle(shown, "return document.getElementById('points-status').textContent", "Copied as CSV.")
    rows = list(csv.reader(io.StringIO(shown.execute_script("return window.copied"))))
    assert {row[0] for row in rows[1:]} == set(labels(shown))
    assert {len(row) for row in rows} == {len(rows[0])}


def test_columns_are_chosen(shown: Any) -> None:
    before = len(shown.find_elements("css selector", "#points-table thead th"))
    shown.find_element("css selector", "#columns summary").click()
    box = next(b for b in shown.find_elements("css selector", "#columns input") if not b.is_selected())
    box.click()
    assert len(shown.find_elements("css selector", "#points-table thead th")) == before + 1


def test_a_link_opens_two_settings_side_by_side(shown: Any, page: str) -> None:
    show(shown, f"{page}#question=q2&point=000000000002&with=000000000001")
    titles = shown.execute_script("return [...document.querySelectorAll('#drill .side h3')].map((h) => h.textContent)")
    assert titles == ["windows 80/20 <i>x</i>", "windows 40 $\\alpha$"]
    shown.find_element("id", "next-question").click()
    settle(shown, "return document.getElementById('drill').dataset.question", "q3")
    assert "question=q3&point=000000000002&with=000000000001" in shown.current_url


def test_a_miss_leads_to_its_question(shown: Any) -> None:
    choose(shown, "setting", "all", "misses-tools")
    link = shown.find_element("css selector", "#misses-table tbody a")
    wanted = link.get_attribute("href").split("question=")[1].split("&")[0]
    link.send_keys(KEYS["enter"])
    settle(shown, "return document.getElementById('drill').dataset.question", wanted)
    cause = shown.find_element("css selector", "#drill .cause")
    assert "Change the" in cause.text
    assert shown.execute_script("return document.activeElement.id") == "drill"


def test_retrieved_chunks_show_rank_score_and_place(shown: Any, page: str) -> None:
    show(shown, f"{page}#question=q0&point=000000000002")
    first = shown.find_element("css selector", "#drill ol.hits > li summary").text
    assert first.startswith("1. a.md [")
    assert "score 1.000" in first
    tags = shown.execute_script("return [...document.querySelectorAll('#drill .hits .tag')].map((t) => t.textContent)")
    assert "cut by the budget" in tags
    assert "after the budget" in tags
    assert any("repeats earlier ranks" in tag for tag in tags)


def test_an_answer_stands_with_its_claims_verdicts_and_quotes(shown: Any, page: str) -> None:
    show(shown, f"{page}#question=q0&point=000000000002")
    text = shown.execute_script("return document.querySelector('#drill .side').textContent")
    for part in ("It is 42. <script>alert(3)</script> [1]", "supportedIt is <b>42</b>.", "“The fee is 42 euros.”"):
        assert part in text
    assert "unsupportedIt is free on Mondays." in text
    assert "[1] supported" in text


def test_the_keyboard_reaches_every_tool(shown: Any) -> None:
    wanted = {"copy-csv", "next-question", "points-table", "misses-table"}
    reached = set()
    shown.execute_script("document.activeElement.blur()")
    body = shown.find_element("tag name", "body")
    body.send_keys(KEYS["tab"])
    assert shown.execute_script("return document.activeElement.className") == "skip"
    for _ in range(250):
        shown.switch_to.active_element.send_keys(KEYS["tab"])
        reached.add(shown.execute_script("return document.activeElement.id"))
        if wanted <= reached:
            break
    assert wanted <= reached


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_sideways_scroll_and_no_serious_barrier(
    shown: Any, page: str, axe: str, size: tuple[int, int], scheme: str
) -> None:
    show(shown, f"{page}#question=q0&point=000000000001&with=000000000002", *size, scheme)
    assert shown.execute_script("return document.documentElement.scrollWidth") <= size[0]
    shown.execute_script(axe)
    found = shown.execute_async_script(
        "const done = arguments[0]; axe.run({resultTypes: ['violations']}).then((r) => done(r.violations), "
        "(e) => done([{id: String(e), impact: 'critical', nodes: []}]))"
    )
    serious = [
        (v["id"], [n["target"] for n in v["nodes"][:3]]) for v in found if v["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_it_prints(shown: Any) -> None:
    printed = base64.b64decode(shown.print_page())
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000


def test_the_hostile_document_is_what_the_tests_say() -> None:
    assert "<script>" in HOSTILE
    assert "</style>" in HOSTILE

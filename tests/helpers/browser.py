"""A page in headless Chromium, and what the text of a page holds."""

import json
import re
import shutil
import subprocess

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# The resolver rule keeps the browser's own requests on this machine; a request of the page is logged before it.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--virtual-time-budget=20000",
    "--enable-logging=stderr",
    "--v=0",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]


class Visit:
    """What a page left behind: its DOM, its console lines, the addresses it asked for."""

    def __init__(self, page, folder, *flags):
        log = folder / "net.json"
        done = subprocess.run(
            [
                BROWSER,
                *FLAGS,
                f"--user-data-dir={folder / 'profile'}",
                f"--log-net-log={log}",
                *flags,
                "--dump-dom",
                page.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        self.dom = done.stdout
        self.console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        self.requests = _page_requests(log.read_text())


def _page_requests(text):
    # A log cut short by the end of the browser lacks its closing brackets.
    try:
        log = json.loads(text)
    except json.JSONDecodeError:
        log = json.loads(text.rstrip().rstrip(",") + "]}")
    start = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    jobs = [event["params"] for event in log["events"] if event["type"] == start and "url" in event.get("params", {})]
    # The browser's own requests have "not an origin"; those of a page from a file have the opaque origin "null".
    return [job["url"] for job in jobs if job["initiator"] != "not an origin"]


def figures_in(text):
    """Figures embedded in a page, by key."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', text, re.S)
    return {figure["key"]: figure for figure in json.loads(found[1])}

"""`mayfly explore`: a congested link to play with in the browser. The page is built from `explore/` of the checkout."""

CATALOGUE, TEMPLATE, PRESETS_FOLDER = "catalogue.json", "template.json", "presets"
"""Below the page: what it offers, the scenario around captures, and the folder of the presets' documents."""

"""`mayfly explore`: a congested link to play with in the browser. The page is built from `explore/` of the checkout."""

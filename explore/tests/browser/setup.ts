/** The page has to be there before browsers open it. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { PAGE } from "./site";

export default function setup(): void {
  for (const file of ["index.html", "catalogue.json", "template.json", "presets/office.json"]) {
    if (!existsSync(join(PAGE, file))) throw new Error(`${PAGE} has no ${file}: make explore builds the page`);
  }
}

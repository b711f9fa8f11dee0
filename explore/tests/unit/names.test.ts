import { describe, expect, it } from "vitest";
import { printable } from "../../src/state/names";

describe("names of files", () => {
  it.each([
    ["office.pcap.gz", "office.pcap.gz"],
    ["a\nb\u0000c", "a b c"],
    ["\u202egnp.exe", " gnp.exe"],
    ["n".repeat(500), "n".repeat(200)],
    [`${"n".repeat(199)}\u{1f600}`, `${"n".repeat(199)} `],
  ])("%j stays on its line", (name, shown) => expect(printable(name)).toBe(shown));
});

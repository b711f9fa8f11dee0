import { describe, expect, it } from "vitest";
import type { Accounted } from "../../src/engine/types";
import { accountText } from "../../src/state/account";

function account(left: Record<string, number>): Accounted {
  const out = Object.values(left).reduce((sum, count) => sum + count, 0);
  const amounts = Object.fromEntries(Object.entries(left).map(([reason, count]) => [reason, { count, bytes: 100 * count }]));
  return {
    source: ["a.pcap"],
    unit: "packets",
    seen: { count: 12_345, bytes: 1 },
    used: { count: 12_345 - out, bytes: 1 },
    left_out: amounts,
    partial: [],
    cannot_answer: null,
  };
}

describe("the account of a capture", () => {
  it("is silent where all is used", () => expect(accountText(account({}))).toBeNull());

  it("says what is left out, the most first", () => {
    expect(accountText(account({ cut_record: 1, aside: 2_000, damaged: 44 }))).toBe(
      "10,300 of 12,345 packets are replayed; left out: 2,000 not part of the replay, 44 damaged, 1 cut off by the end of the file",
    );
  });

  it("has a reason of a newer engine by its name", () => expect(accountText(account({ lost: 1 }))).toContain("1 lost"));
});

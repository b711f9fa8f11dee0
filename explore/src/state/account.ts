/** What became of a capture, in words. */

import type { Accounted } from "../engine/types";

const REASONS: Record<string, string> = {
  link_type: "of a link type that is not decoded",
  not_ip: "neither IPv4 nor IPv6",
  protocol: "of other protocols",
  cut_header: "cut within their headers",
  damaged: "damaged",
  cut_record: "cut off by the end of the file",
  filter: "outside of the filter",
  duplicate: "copies",
  evicted: "of too many connections",
  budget: "beyond the limits of the page",
  aside: "not part of the replay",
};

/** `null` where all of it is used. */
export function accountText({ seen, used, left_out }: Accounted): string | null {
  const left = Object.entries(left_out).sort(([, one], [, two]) => two.count - one.count);
  if (left.length === 0) return null;
  const parts = left.map(([reason, { count }]) => `${whole(count)} ${REASONS[reason] ?? reason}`);
  return `${whole(used.count)} of ${whole(seen.count)} packets are replayed; left out: ${parts.join(", ")}`;
}

function whole(count: number): string {
  return count.toLocaleString("en-US");
}

/** Names of files, which are a stranger's. */

/** A name on one line, at most 200 characters: without what moves a cursor or turns text round. */
export function printable(name: string): string {
  return name.slice(0, 200).replaceAll(/[\p{C}\p{Z}]+/gu, " ");
}

/** Names as they are compared. */
const nothingComposed = /^[\0-\x7f]*$/;

/** Channels, topics and people differ only by more than case and composition. */
export function fold(name: string): string {
  // Asked several times with every post: what is ASCII is normal already.
  return (nothingComposed.test(name) ? name : name.normalize("NFC")).toLowerCase();
}

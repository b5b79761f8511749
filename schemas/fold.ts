const nothingComposed = /^[\0-\x7f]*$/;

/** How names are compared: channels, topics and people differ only by more than case and composition. */
export function fold(name: string): string {
  // Asked several times with every post: what is ASCII is normal already.
  return (nothingComposed.test(name) ? name : name.normalize("NFC")).toLowerCase();
}

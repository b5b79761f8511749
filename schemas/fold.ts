/** Folds names for comparison. */
const nothingComposed = /^[\0-\x7f]*$/;

/** Names of channels, topics and users, and addresses, are equal if they differ only in case or Unicode composition. */
export function fold(name: string): string {
  // Called several times per post; ASCII text is already normalized.
  return (nothingComposed.test(name) ? name : name.normalize("NFC")).toLowerCase();
}

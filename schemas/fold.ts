/** How names are compared: channels, topics and people differ only by more than case and composition. */
export function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

// Escaping for pages that are made from text that others wrote (command lines, error messages of servers).

/** Text for element content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

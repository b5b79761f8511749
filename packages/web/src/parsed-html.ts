/**
 * Parses the HTML of messages into a document of its own, where no script runs and nothing is loaded. The page's policy
 * forbids to parse HTML elsewhere (`require-trusted-types-for`, src/edge/pages/web-page.ts).
 */

/** The part of the browser's Trusted Types that is used; TypeScript does not know them. */
interface TrustedTypes {
  createPolicy(
    name: "colloquy",
    rules: { readonly createHTML: (html: string) => string },
  ): {
    createHTML(html: string): string;
  };
}

/** Absent in older browsers, which parse strings. */
const { trustedTypes } = window as { readonly trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy("colloquy", { createHTML: (html) => html });

export function parsedHtml(html: string): HTMLElement {
  return new DOMParser().parseFromString(policy?.createHTML(html) ?? html, "text/html").body;
}

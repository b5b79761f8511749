/** What axe finds in a page of a browser: barriers for people who use keyboards, screen readers or strong contrast. */
import axe from "axe-core";
import type { Page } from "playwright-core";

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** Loads axe into the page. A policy of the page that refuses scripts must be bypassed. */
export async function loadAxe(page: Page): Promise<void> {
  await page.evaluate(axe.source);
}

/** Serious and critical barriers, with the elements that have them. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const found = (await page.evaluate(`axe.run().then(({ violations }) => violations)`)) as readonly Finding[];
  const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => {
    const places = nodes.slice(0, 3).map(({ target }) => target.join(" "));
    return `${id}: ${places.join(", ")}`;
  });
}

/** Whether the page is wider than its window. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate("document.documentElement.scrollWidth > innerWidth") as Promise<boolean>;
}

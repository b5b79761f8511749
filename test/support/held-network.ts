/** A slow network without time: what the server says waits until the test lets it go. */
import type { Page } from "playwright-core";

export interface HeldNetwork {
  /** From now on the page can send, and gets nothing. */
  hold(): void;
  release(): void;
}

/** What waits, in order; each passes on one thing. */
class Held implements HeldNetwork {
  #waiting: (() => void)[] | null = null;

  /** At once, or when the network is released. */
  pass(onwards: () => void): void {
    if (this.#waiting === null) onwards();
    else this.#waiting.push(onwards);
  }

  hold(): void {
    this.#waiting ??= [];
  }

  release(): void {
    const now = this.#waiting ?? [];
    this.#waiting = null;
    for (const onwards of now) onwards();
  }
}

/** Of the page's socket. Call it before the page is opened. */
export async function holdSocket(page: Page): Promise<HeldNetwork> {
  const held = new Held();
  await page.routeWebSocket(/\/api\/v1\/events\/ws$/, (socket) => {
    socket.connectToServer().onMessage((message) => held.pass(() => socket.send(message)));
  });
  return held;
}

/** Requests of some paths, such as the files of views that are loaded later. */
export async function holdRequests(page: Page, paths: RegExp): Promise<HeldNetwork> {
  const held = new Held();
  await page.route(paths, (route) => held.pass(() => void route.continue().catch(() => undefined)));
  return held;
}

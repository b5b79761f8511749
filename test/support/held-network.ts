/** A slow network without time: what the server says waits until the test lets it go. */
import type { Page, Route } from "playwright-core";

export interface HeldNetwork {
  /** From now on the page can send, and gets nothing. */
  hold(): void;
  release(): void;
}

/** Of the page's socket. Call it before the page is opened. */
export async function holdSocket(page: Page): Promise<HeldNetwork> {
  let held: (() => void)[] | null = null;
  await page.routeWebSocket(/\/api\/v1\/events\/ws$/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      if (held === null) socket.send(message);
      else held.push(() => socket.send(message));
    });
  });
  return {
    hold() {
      held ??= [];
    },
    release() {
      const now = held ?? [];
      held = null;
      for (const send of now) send();
    },
  };
}

/** Requests of some paths, such as the files of views that are loaded later. */
export async function holdRequests(page: Page, paths: RegExp): Promise<HeldNetwork> {
  let held: Route[] | null = null;
  await page.route(paths, async (route) => {
    if (held === null) await route.continue();
    else held.push(route);
  });
  return {
    hold() {
      held ??= [];
    },
    release() {
      const now = held ?? [];
      held = null;
      for (const route of now) route.continue().catch(() => undefined);
    },
  };
}

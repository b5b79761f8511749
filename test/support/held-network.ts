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

/** The page's socket. */
export interface HeldSocket extends HeldNetwork {
  /** Resolves when the page asks by its socket: before, it asks by HTTP, which this does not hold. */
  readonly isUsed: Promise<void>;
}

/** Call it before the page is opened. */
export async function holdSocket(page: Page): Promise<HeldSocket> {
  const held = new Held();
  let use: () => void = () => undefined;
  const isUsed = new Promise<void>((resolve) => {
    use = resolve;
  });
  await page.routeWebSocket(/\/api\/v1\/events\/ws$/, (socket) => {
    const upstream = socket.connectToServer();
    // A page reports its presence as soon as it may use the socket.
    socket.onMessage((message) => {
      if (isCall(message)) use();
      upstream.send(message);
    });
    upstream.onMessage((message) => held.pass(() => socket.send(message)));
  });
  return { hold: () => held.hold(), release: () => held.release(), isUsed };
}

/** Whether a frame of the page is a request. */
export function isCall(frame: string | Buffer): boolean {
  return (JSON.parse(String(frame)) as { readonly type?: string }).type === "call";
}

/** Requests of some paths, such as the files of views that are loaded later. */
export async function holdRequests(page: Page, paths: RegExp): Promise<HeldNetwork> {
  const held = new Held();
  await page.route(paths, (route) => held.pass(() => void route.continue().catch(() => undefined)));
  return held;
}

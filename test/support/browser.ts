/**
 * Chromium without a window, driven over its debugging protocol: what a page asks for, what the browser complains about,
 * and what the page holds. No host but this machine's address has a name.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { WebSocket } from "ws";
import { Program } from "./process.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

/** With its folder, if it is in PATH: playwright-core wants a whole path. */
export const chromiumProgram = process.env["CHROMIUM"] ?? fromPath("chromium");

function fromPath(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? name;
}

/** Why no browser can be started here; null: one can. */
export function browserObstacle(): string | null {
  const { error, status } = spawnSync(chromiumProgram, ["--version"], { encoding: "utf8" });
  return error === undefined && status === 0 ? null : `${chromiumProgram} is missing: install it, or set CHROMIUM`;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: messages of the protocol, whose fields the test names
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly result?: any;
}

export interface Visit {
  /** URLs that the page asked for, its own first. */
  readonly requests: readonly string[];
  /** What the browser's console shows: faults, blocked content. */
  readonly complaints: readonly string[];
  /** The value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
}

class Debugger {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  readonly #listeners: ((message: Message) => void)[] = [];
  #calls = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message.result);
      for (const listener of this.#listeners) listener(message);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: results of the protocol
  call(method: string, params: object = {}, sessionId?: string): Promise<any> {
    const id = ++this.#calls;
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  listen(listener: (message: Message) => void): void {
    this.#listeners.push(listener);
  }
}

/** Starts a browser that ends with the test. */
async function startBrowser(t: Teardown): Promise<Debugger> {
  const rules = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1";
  const folder = temporaryFolder(t);
  const browser = new Program(
    t,
    chromiumProgram,
    [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"],
      ...["--remote-debugging-port=0", `--user-data-dir=${folder}`, `--host-resolver-rules=${rules}`],
    ],
    { HOME: folder },
  );
  const [, address = ""] = await browser.complained(/DevTools listening on (ws:\S+)/);
  const socket = new WebSocket(address);
  await once(socket, "open");
  t.teardown(() => socket.terminate());
  return new Debugger(socket);
}

/** Opens a page; resolves when it and all that it asks for are loaded. */
export async function visit(t: Teardown, url: string): Promise<Visit> {
  const browser = await startBrowser(t);
  const { targetId } = await browser.call("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await browser.call("Target.attachToTarget", { targetId, flatten: true });
  const requests: string[] = [];
  const complaints: string[] = [];
  const loaded = new Promise<void>((resolve) => {
    browser.listen(({ method, params }) => {
      if (method === "Network.requestWillBeSent") requests.push(params.request.url);
      if (method === "Log.entryAdded") complaints.push(params.entry.text);
      if (method === "Runtime.exceptionThrown") complaints.push(params.exceptionDetails.text);
      if (method === "Page.loadEventFired") resolve();
    });
  });
  for (const domain of ["Network", "Log", "Runtime", "Page"]) await browser.call(`${domain}.enable`, {}, sessionId);
  await browser.call("Page.navigate", { url }, sessionId);
  await loaded;
  return {
    requests,
    complaints,
    async evaluate(expression) {
      const { result } = await browser.call(
        "Runtime.evaluate",
        { expression, returnByValue: true, awaitPromise: true },
        sessionId,
      );
      return result.value;
    },
  };
}

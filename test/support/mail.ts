/**
 * The far end of mails: a real SMTP server that does what a test wants, the folder of files, and a real parser. Waiting is waiting
 * for a mail or a file to arrive.
 */
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { command, type Login } from "../../actors/commands.ts";
import type { MailRecord } from "../../schemas/records.ts";
import { realmOf } from "./conversation.ts";
import type { Teardown, TestServer } from "./server.ts";

/** What came in, with the envelope, which a reader never sees. */
export interface Received {
  readonly email: Email;
  readonly raw: string;
  readonly recipients: readonly string[];
}

/** A "no" with its number. */
export function smtpError(responseCode: number): Error {
  return Object.assign(new Error(`no, says ${responseCode}`), { responseCode });
}

export class MailServer {
  readonly received: Received[] = [];
  /** Connections so far. */
  connections = 0;
  /** Messages that were refused at their end so far. */
  refusals = 0;
  /** What the next messages are answered at their end, first come, first served; null: taken. */
  readonly answers: (Error | null)[] = [];
  port = 0;
  readonly #waiters: (() => void)[] = [];

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  static async start(t: Teardown, options: SMTPServerOptions = {}): Promise<MailServer> {
    const far = new MailServer();
    const server = new SMTPServer({
      logger: false,
      authOptional: true,
      disableReverseLookup: true,
      onConnect(_session, callback) {
        callback();
      },
      onData(stream, session, callback) {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const recipients = session.envelope.rcptTo.map(({ address }) => address);
          void far.#take(Buffer.concat(chunks), recipients).then((error) => callback(error));
        });
      },
      ...options,
    });
    server.on("error", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server.server, "listening");
    server.server.on("connection", () => {
      far.connections++;
      far.#wake();
    });
    const address = server.server.address();
    far.port = typeof address === "object" && address !== null ? address.port : 0;
    t.teardown(() => {
      for (const connection of server.connections) connection.close();
      server.close();
    });
    return far;
  }

  async #take(raw: Buffer, recipients: readonly string[]): Promise<Error | null> {
    const error = this.answers.shift() ?? null;
    if (error !== null) this.refusals++;
    else this.received.push({ email: await PostalMime.parse(raw), raw: raw.toString("utf8"), recipients });
    this.#wake();
    return error;
  }

  #wake(): void {
    for (const waiter of this.#waiters.splice(0)) waiter();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** The n-th mail, past or future, from 1. */
  async mail(number: number): Promise<Received> {
    await this.until(() => this.received.length >= number);
    return this.received[number - 1] as Received;
  }
}

export function outboxOf(dataDir: string): string {
  return join(dataDir, "outbox");
}

export function outboxFiles(dataDir: string): string[] {
  const folder = outboxOf(dataDir);
  mkdirSync(folder, { recursive: true });
  return readdirSync(folder).filter((name) => name.endsWith(".eml"));
}

/** The mails in the outbox as soon as there are so many, in order of their numbers. */
export async function outboxMails(dataDir: string, count: number): Promise<Received[]> {
  let names = outboxFiles(dataDir);
  if (names.length < count) {
    const watcher = watch(outboxOf(dataDir));
    while (names.length < count) {
      // What was renamed between the look and the watch is seen by the second look.
      names = outboxFiles(dataDir);
      if (names.length < count) await once(watcher, "change");
    }
    watcher.close();
  }
  const numberOf = (name: string) => Number(/-(\d+)\.eml$/.exec(name)?.[1]);
  const sorted = names.sort((a, b) => numberOf(a) - numberOf(b));
  return Promise.all(sorted.map((name) => readEml(join(outboxOf(dataDir), name))));
}

async function readEml(file: string): Promise<Received> {
  const raw = readFileSync(file);
  const email = await PostalMime.parse(raw);
  return { email, raw: raw.toString("utf8"), recipients: [] };
}

/** Rows of mails that are pending. */
export function pendingMails(server: TestServer): readonly MailRecord[] {
  return realmOf(server)
    .view.rows("mails", { limit: 10_000 })
    .map(({ row }) => row);
}

/** Somebody logs in, without the price of a password hash: from the second place on, a mail tells of it. */
export async function logIn(server: TestServer, userId: number, place: string, more: Partial<Login> = {}) {
  const login = { fingerprint: place, client: "Program", address: "192.0.2.7", ...more };
  const params = { hash: `hash of ${place}`, login };
  const answer = await realmOf(server).dispatcher.ask(
    command({ actor: "user", id: userId }, "user.api-key.add", params, userId),
  );
  if (answer.kind === "refused") throw new Error(answer.msg);
}

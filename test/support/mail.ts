/**
 * The receiving end of emails: a real SMTP server with programmable responses, the outbox folder, and a real parser.
 * Tests wait for an email or a file to arrive, never for time.
 */
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import PostalMime, { type Email } from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { command } from "../../actors/protocol/decision.ts";
import type { Login } from "../../schemas/authentication.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import type { Teardown, TestServer } from "./server.ts";

/** A received mail, with the envelope, which a reader never sees. */
export interface Received {
  readonly email: Email;
  readonly raw: string;
  readonly recipients: readonly string[];
}

/** For relays in tests of their own. */
export const noLinks = { site: () => "", unsubscribeUrl: async () => null } as const;

/** An SMTP rejection with its code. */
export function smtpError(responseCode: number): Error {
  return Object.assign(new Error(`no, says ${responseCode}`), { responseCode });
}

export class MailServer {
  readonly received: Received[] = [];
  /** Number of connections so far. */
  connections = 0;
  /** Number of messages rejected after their data so far. */
  refusals = 0;
  /** Responses to the next messages after their data, in order; null: accepted. */
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

/** The emails in the outbox as soon as there are that many, in order of their numbers. */
export async function outboxMails(dataDir: string, count: number): Promise<Received[]> {
  let names = outboxFiles(dataDir);
  if (names.length < count) {
    const watcher = watch(outboxOf(dataDir));
    while (names.length < count) {
      // Files renamed between the first read and the watch are found by the second read.
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

/** Rows of emails that are pending. */
export function pendingMails(server: TestServer): readonly MailRecord[] {
  return server.realm.view.rows("mails", { limit: 10_000 }).map(({ row }) => row);
}

/** Logs a user in without the cost of a password hash: from the second device on, an email reports it. */
export async function logIn(server: TestServer, userId: number, place: string, more: Partial<Login> = {}) {
  const login = { fingerprint: place, client: "Program", address: "192.0.2.7", ...more };
  const params = { hash: `hash of ${place}`, login };
  const answer = await server.realm.dispatcher.ask(
    command({ actor: "user", id: userId }, "user.api-key.add", params, userId),
  );
  if (answer.kind === "refused") throw new Error(answer.msg);
}

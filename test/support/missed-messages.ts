/**
 * Helpers for tests of emails about missed messages: a server with a stopped clock, users, and the emails once they are
 * due.
 */

import type { Client, Params } from "./client.ts";
import { outboxMails, pendingMails, type Received } from "./mail.ts";
import { ManualClock } from "./manual-clock.ts";
import { until } from "./realtime.ts";
import { startTestServer, type Teardown, type TestServer } from "./server.ts";

export const site = "https://chat.example.org";
/** The default of `email_notifications_batching_period_seconds`. */
export const periodMs = 120_000;
const startedAt = Date.UTC(2026, 4, 1, 12);

export interface MissedBench {
  readonly server: TestServer;
  readonly clock: ManualClock;
  /** The sender; Bob misses the messages. */
  readonly ann: Client;
  readonly bob: Client;
  /** Advances time, and waits until all work that became due is done. */
  pass(milliseconds: number): Promise<void>;
  /** The emails written since the last call, sent. */
  mails(): Promise<Received[]>;
  /** The same after the batching period. */
  due(): Promise<Received[]>;
  direct(content: string, ...to: readonly Client[]): Promise<number>;
  say(channelId: number, topic: string, content: string, by?: Client): Promise<number>;
}

export async function startMissed(t: Teardown, options: { dataDir?: string } = {}): Promise<MissedBench> {
  const clock = new ManualClock(startedAt);
  const server = await startTestServer(t, { clock, environment: { SITE_URL: site }, ...options });
  const ann = await server.user("Ann");
  const bob = await server.user("Bob");
  let seen = 0;
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await server.realm.dispatcher.idle();
  };
  const mails = async () => {
    const written = server.realm.view.counter("mail");
    await until(() => pendingMails(server).length === 0);
    const all = written === 0 ? [] : await outboxMails(server.dataDir, written);
    const fresh = all.slice(seen);
    seen = written;
    return fresh;
  };
  const post = async (by: Client, params: Params): Promise<number> => {
    const { status, body } = await by.post("/messages", params);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.id;
  };
  return {
    server,
    clock,
    ann,
    bob,
    pass,
    mails,
    async due() {
      await pass(periodMs);
      return mails();
    },
    direct: (content, ...to) => post(ann, { type: "direct", to: to.map(({ userId }) => userId), content }),
    say: (channelId, topic, content, by = ann) => post(by, { type: "channel", to: channelId, topic, content }),
  };
}

/** Asserts a precondition. @throws the unexpected response */
export async function did(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
}

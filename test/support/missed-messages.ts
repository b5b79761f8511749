/** What tests of mails about missed messages share: a server whose clock stands still, people, and mails when the time has come. */

import type { Client, Params } from "./client.ts";
import { personOf, realmOf } from "./conversation.ts";
import { outboxMails, pendingMails, type Received } from "./mail.ts";
import { ManualClock } from "./manual-clock.ts";
import { until } from "./realtime.ts";
import { startTestServer, type Teardown, type TestServer } from "./server.ts";

export const site = "https://chat.example.org";
/** `email_notifications_batching_period_seconds`, as it is at first. */
export const periodMs = 120_000;
const startedAt = Date.UTC(2026, 4, 1, 12);

export interface MissedBench {
  readonly server: TestServer;
  readonly clock: ManualClock;
  /** Writes; Bob is the one who misses it. */
  readonly ann: Client;
  readonly bob: Client;
  /** Time passes, and what fell due is done. */
  pass(milliseconds: number): Promise<void>;
  /** The mails written since the last call, sent. */
  mails(): Promise<Received[]>;
  /** The same after the batching period. */
  due(): Promise<Received[]>;
  direct(content: string, ...to: readonly Client[]): Promise<number>;
  say(channelId: number, topic: string, content: string, by?: Client): Promise<number>;
}

export async function startMissed(t: Teardown, options: { dataDir?: string } = {}): Promise<MissedBench> {
  const clock = new ManualClock(startedAt);
  const server = await startTestServer(t, { clock, environment: { SITE_URL: site }, ...options });
  t.teardown(() => clock.release());
  const ann = await personOf(server, "Ann");
  const bob = await personOf(server, "Bob");
  let seen = 0;
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await realmOf(server).dispatcher.idle();
  };
  const mails = async () => {
    const written = realmOf(server).view.counter("mail");
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

/** What a test presupposes. @throws what was answered instead */
export async function did(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(JSON.stringify(body));
}

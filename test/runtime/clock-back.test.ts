/**
 * A clock that is set back by an hour (M4, M8, E1): the realm's time does not advance until the clock has caught up.
 * Ids and positions keep increasing, also across a crash; nothing is sent early or twice; durations are unaffected.
 */
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { ascends } from "../support/kept-messages.ts";
import { bodiesOf } from "../support/logged-events.ts";
import { ManualClock } from "../support/manual-clock.ts";
import {
  answerOf,
  commands,
  createUsers,
  type OpenRealm,
  openNewRealm,
  ownerId,
  rowsOf,
  startedAt,
} from "../support/runtime.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Durations continue; the wall clock can be set. */
class AdjustedClock extends ManualClock {
  behindMs = 0;

  override now(): number {
    return super.now() - this.behindMs;
  }
}

async function post(realm: OpenRealm, content: string): Promise<number> {
  return answerOf(await realm.ask(commands.post("t", content)))["id"] as number;
}

function contents(realm: OpenRealm): string[] {
  return rowsOf(realm.lmdb, "messages").map(({ content }) => content);
}

t.test(
  "[M4, E1] ids, positions and message times never decrease after the clock is set back by an hour, even across a crash",
  async (t) => {
    const clock = new AdjustedClock(startedAt);
    const first = await openNewRealm(t, { clock });
    clock.advance(10 * minuteMs);
    const ids = [await post(first, "before")];
    clock.behindMs = hourMs;
    ids.push(await post(first, "after"));
    const second = first.crash(t);
    t.ok(second.realm.view.now >= startedAt + 10 * minuteMs, "the realm remembers its earlier time");
    clock.advance(minuteMs);
    ids.push(await post(second, "after a crash"));
    clock.advance(2 * hourMs);
    ids.push(await post(second, "caught up"));
    t.ok(ascends(ids));
    const messages = rowsOf(second.lmdb, "messages").map(({ sentAt }) => sentAt);
    t.strictSame(
      messages,
      [...messages].sort((a, b) => a - b),
    );
    t.equal(messages[3], startedAt + (10 + 1 + 120 - 60) * minuteMs, "it follows the clock again");
    t.ok(ascends(rowsOf(second.lmdb, "events").map(({ position }) => position)));
  },
);

t.test("[M8] after the clock is set back, a scheduled message waits for the clock and is posted once", async (t) => {
  const clock = new AdjustedClock(startedAt);
  const realm = await openNewRealm(t, { clock });
  answerOf(await realm.ask(scheduledCommands.schedule("due", startedAt + 10 * minuteMs)));
  clock.behindMs = hourMs;
  clock.advance(hourMs);
  await realm.idle();
  t.strictSame(contents(realm), [], "the clock has caught up");
  const crashed = realm.crash(t);
  clock.advance(11 * minuteMs);
  await crashed.idle();
  t.strictSame(contents(crashed), ["due"]);
  clock.behindMs = 2 * hourMs;
  clock.advance(3 * hourMs);
  await crashed.idle();
  t.strictSame(contents(crashed), ["due"], "its due time is reached again, and it is not posted again");
});

t.test("[E4] a user who falls silent stops typing on time although the clock was set back by an hour", async (t) => {
  const clock = new AdjustedClock(startedAt);
  const realm = await openNewRealm(t, { clock });
  // Another user reads the channel.
  await createUsers(realm, 1);
  answerOf(await realm.ask(commands.typing("start", "t")));
  clock.behindMs = hourMs;
  clock.advance(minuteMs);
  await realm.idle();
  const received = bodiesOf(
    realm.recorder.published.map(({ record }) => record),
    "typing",
  );
  const ops = received.map(({ op }) => op);
  t.strictSame(ops, ["start", "stop"]);
});

t.test("[M5, M8] a timer that fired and waits for disk space is still due after the clock is set back", async (t) => {
  const clock = new AdjustedClock(startedAt);
  let mayWrite = true;
  const realm = await openNewRealm(t, { clock, acceptsWrites: () => mayWrite });
  const wish = { newEmail: "new@example.com", keyHash: "hash", link: "http://localhost/x" };
  answerOf(await realm.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", wish, ownerId)));
  const [mail] = rowsOf(realm.lmdb, "mails");
  const to = { actor: "mail", id: mail?.id ?? 0 } as const;
  realm.realm.dispatcher.send(command(to, "mail.failed", { isPermanent: false, reason: "busy" }, null));
  await realm.idle();
  let shown = 0;
  realm.realm.dispatcher.observers.observe("mails", (deltas) => {
    shown += deltas.length;
  });
  mayWrite = false;
  clock.advance(limits.mail_back_off_ms_min);
  await realm.idle();
  t.equal(shown, 0, "it waits");
  clock.behindMs = hourMs;
  mayWrite = true;
  clock.advance(2000);
  await realm.idle();
  t.equal(shown, 1, "the email is offered to the relay again");
});

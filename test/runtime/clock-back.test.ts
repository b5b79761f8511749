/**
 * A clock that is set back by an hour (M4, M8, E1): the realm's time stands still until the clock has caught up. Ids and positions go
 * on, across a crash, too; nothing is sent before its time or twice; what is measured in durations does not notice.
 */
import t from "tap";
import { command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import { ascends } from "../support/kept-messages.ts";
import { ManualClock } from "../support/manual-clock.ts";
import {
  answerOf,
  commands,
  makePeople,
  type OpenRealm,
  openFounded,
  ownerId,
  rowsOf,
  startedAt,
} from "../support/runtime.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Durations go on; the wall clock may be set. */
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
  return rowsOf(realm.environment, "messages").map(({ content }) => content);
}

t.test(
  "[M4, E1] set back by an hour: ids, positions and times of messages never go back, nor after a crash",
  async (t) => {
    const clock = new AdjustedClock(startedAt);
    const first = await openFounded(t, { clock });
    clock.advance(10 * minuteMs);
    const ids = [await post(first, "before")];
    clock.behindMs = hourMs;
    ids.push(await post(first, "after"));
    const second = first.crash(t);
    t.ok(second.realm.view.now >= startedAt + 10 * minuteMs, "the realm's time of before is remembered");
    clock.advance(minuteMs);
    ids.push(await post(second, "after a crash"));
    clock.advance(2 * hourMs);
    ids.push(await post(second, "caught up"));
    t.ok(ascends(ids));
    const messages = rowsOf(second.environment, "messages").map(({ sentAt }) => sentAt);
    t.strictSame(
      messages,
      [...messages].sort((a, b) => a - b),
    );
    t.equal(messages[3], startedAt + (10 + 1 + 120 - 60) * minuteMs, "it is the clock's again");
    t.ok(ascends(rowsOf(second.environment, "events").map(({ position }) => position)));
  },
);

t.test("[M8] set back by an hour: what is scheduled waits for the clock to say so, and is posted once", async (t) => {
  const clock = new AdjustedClock(startedAt);
  const realm = await openFounded(t, { clock });
  answerOf(await realm.ask(scheduledCommands.schedule("due", startedAt + 10 * minuteMs)));
  clock.behindMs = hourMs;
  clock.advance(hourMs);
  await realm.idle();
  t.strictSame(contents(realm), [], "the clock is where it was");
  const crashed = realm.crash(t);
  clock.advance(11 * minuteMs);
  await crashed.idle();
  t.strictSame(contents(crashed), ["due"]);
  clock.behindMs = 2 * hourMs;
  clock.advance(3 * hourMs);
  await crashed.idle();
  t.strictSame(contents(crashed), ["due"], "its time comes again, and it is not posted again");
});

t.test("[E4] set back by an hour: somebody who falls silent has stopped typing all the same", async (t) => {
  const clock = new AdjustedClock(startedAt);
  const realm = await openFounded(t, { clock });
  // Somebody else reads the channel.
  await makePeople(realm, 1);
  answerOf(await realm.ask(commands.typing("start", "t")));
  clock.behindMs = hourMs;
  clock.advance(minuteMs);
  await realm.idle();
  const told = realm.recorder.published
    .filter(({ record }) => record.type === "typing")
    .map(({ record }) => record.body["op"]);
  t.strictSame(told, ["start", "stop"]);
});

t.test(
  "[M5, M8] set back while a timer that has rung waits for room on the disk: it finds its time come",
  async (t) => {
    const clock = new AdjustedClock(startedAt);
    let mayWrite = true;
    const realm = await openFounded(t, { clock, acceptsWrites: () => mayWrite });
    const wish = { newEmail: "new@example.com", keyHash: "hash", link: "http://localhost/x" };
    answerOf(await realm.ask(command({ actor: "user", id: ownerId }, "user.email-change.request", wish, ownerId)));
    const [mail] = rowsOf(realm.environment, "mails");
    const to = { actor: "mail", id: mail?.id ?? 0 } as const;
    realm.realm.dispatcher.tell(command(to, "mail.failed", { isPermanent: false, reason: "busy" }, null));
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
    t.equal(shown, 1, "the courier is shown the mail again");
  },
);

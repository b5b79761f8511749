/** A turn that runs between a poll's last look into the log and its decision to wait: nothing is skipped (E2). */
import t from "tap";
import { Hub } from "../../src/edge/realtime/hub.ts";
import { poll } from "../../src/edge/realtime/long-poll.ts";
import { callOf, read } from "../sim/calls.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { answerOf, commands, openNewRealm, ownerId, startedAt } from "../support/runtime.ts";

/** Runs a turn when the test says so. */
class HeldTurns extends ManualClock {
  held: (() => void)[] | null = null;

  override soon(callback: () => void): void {
    if (this.held === null) super.soon(callback);
    else this.held.push(callback);
  }

  run(): void {
    const due = this.held ?? [];
    this.held = null;
    for (const callback of due) callback();
  }
}

t.test("[E2] an event that is pushed while a poll has just read the log to its end is not skipped", async (t) => {
  const clock = new HeldTurns(startedAt);
  const created = await openNewRealm(t, { clock });
  const { realm } = created;
  const hub = new Hub(realm, { limitsPresence: false, reportBug: (error) => t.fail(String(error)) });
  answerOf(await created.ask(commands.register(ownerId, "q")));
  const caller = realm.view.users.get(ownerId);
  const queue = hub.queue("q");
  if (caller === undefined || queue === undefined) throw new Error("there is no queue");

  // A heartbeat was sent, and the client has not acknowledged it: the poll looks into the log, where nothing is.
  const lastEventId = realm.dispatcher.takePosition() - 1;
  queue.startAt(lastEventId + 1);
  const ask = (after: number) =>
    poll(hub, caller, { queueId: "q", lastEventId: after, blocks: true }, callOf({ realm, caller, params: {} }));
  clock.held = [];
  const first = created.ask(commands.post("t", "first"));
  const polled = ask(lastEventId);
  clock.run();
  await first;
  await created.ask(commands.post("t", "second"));

  const { events } = read(await polled).body;
  const later = read(await ask(events.at(-1).id)).body.events;
  const contents = [...events, ...later].flatMap(({ message }) => (message === undefined ? [] : [message.content]));
  t.strictSame(contents, ["<p>first</p>", "<p>second</p>"]);
});

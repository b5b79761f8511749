/**
 * The process is killed before, at and right after the due time of scheduled messages (M3, M8): the next start posts
 * what is due, and nothing twice.
 */
import t from "tap";
import type { Client, Event } from "../support/client.ts";
import { startProgram } from "../support/process.ts";
import { newestOf, remindersOf, schedule, scheduledOf } from "../support/scheduled.ts";
import { temporaryFolder } from "../support/server.ts";

const count = 40;

async function posted(client: Client): Promise<string[]> {
  return (await newestOf(client, 1000))
    .map(({ content }: Event) => content)
    .filter((content) => /^due \d+$/.test(content));
}

t.test("[M3, M8] each message is posted once after kill -9 before, at and after its due time", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startProgram(t, dataDir);
  const target = await first.owner.say("general", "t", "to be remembered");
  // Computed for each request: on a slow machine a common due time would be past before the last request.
  const soon = () => ({ scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 5 });
  const contents = Array.from({ length: count }, (_, index) => `due ${index}`);
  for (const content of contents) await schedule(first.owner, { type: "direct", to: [2], ...soon(), content });
  t.equal((await first.owner.post("/reminders", { message_id: target, ...soon() })).status, 200);
  await first.program.end("SIGKILL");

  const second = await startProgram(t, dataDir);
  const follower = await second.owner.follow({ event_types: ["message"] });
  if ((await posted(second.owner)).length === 0) await follower.until((event: Event) => event.type === "message");
  await second.program.end("SIGKILL");

  const third = await startProgram(t, dataDir);
  const rest = await third.owner.follow({ event_types: ["scheduled_messages", "reminders", "message"] });
  const isOver = async () => (await scheduledOf(third.owner)).length + (await remindersOf(third.owner)).length === 0;
  for (let seen = 0; !(await isOver()); seen = rest.events.length) {
    const known = seen;
    await rest.until((event: Event) => rest.events.indexOf(event) >= known);
  }
  t.strictSame((await posted(third.owner)).sort(), [...contents].sort());
  await third.program.end("SIGKILL");

  const last = await startProgram(t, dataDir);
  t.strictSame((await posted(last.owner)).sort(), [...contents].sort(), "once");
  const reminded = (await newestOf(last.owner, 1000)).filter(({ content }: Event) => /^You asked/.test(content));
  t.equal(reminded.length, 1);
  t.equal((await last.program.end("SIGTERM")).code, 0);
});

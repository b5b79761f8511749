/** The commands for an organization's time (M4, M8), used with real servers whose clocks were wrong. */
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { JumpingClock } from "../support/jumping-clock.ts";
import { runCli } from "../support/process.ts";
import { until } from "../support/realtime.ts";
import { startTestServer, type TestServer, type TestServerOptions, temporaryFolder } from "../support/server.ts";

/** A server whose machine has just booted, and its clock. */
async function start(t: Test, dataDir: string, at: number, options: TestServerOptions = {}) {
  const clock = new JumpingClock(at, String(at));
  const server = await startTestServer(t, { ...options, dataDir, clock });
  const stop = () => {
    clock.release();
    return server.stop();
  };
  t.teardown(stop);
  return { server, clock, stop };
}

async function post({ owner }: TestServer, content: string): Promise<number> {
  const { body } = await owner.post("/messages", { type: "channel", to: "kitchen", topic: "t", content });
  return body.id;
}

t.test("[M4] set-time repairs an organization whose server ran with a clock that was ahead", async (t) => {
  const dataDir = temporaryFolder(t);
  const wrong = Date.UTC(2099, 0, 1);
  const first = await start(t, dataDir, wrong);
  await first.server.owner.createChannel("kitchen", []);
  const id = await post(first.server, "from the future");
  const running = await runCli(t, dataDir, "time");
  t.match(running, { code: 0, stderr: "", stdout: /^default organization: last change at 2099-01-01T.*seconds ahead/ });
  t.match(await runCli(t, dataDir, "set-time"), { code: 75, stderr: /is running on this data folder/ });
  await first.stop();
  t.match(await runCli(t, dataDir, "set-time", "--realm", "x"), { code: 1, stderr: /there is no realm "x"/ });
  const set = await runCli(t, dataDir, "set-time");
  t.match(set, {
    code: 0,
    stderr: "",
    stdout: /^default organization: time set from 2099-.* to 20[2-9]\d-.*; the dates of \d+ rows were changed/,
  });
  t.match(await runCli(t, dataDir, "set-time"), { code: 0, stdout: /nothing was changed/ });
  const second = await startTestServer(t, { dataDir });
  const { body } = await second.owner.get(`/messages/${id}`);
  t.ok(body.message.timestamp * 1000 < wrong);
  const later = await second.owner.get(`/messages/${await post(second, "now")}`);
  t.ok(later.body.message.timestamp >= body.message.timestamp && later.body.message.timestamp * 1000 < wrong);
});

t.test("[M8] retention held after a clock jump is shown, and continues when an operator confirms it", async (t) => {
  const dataDir = temporaryFolder(t);
  const began = Date.UTC(2026, 0, 1);
  const first = await start(t, dataDir, began);
  await first.server.owner.createChannel("kitchen", [], { message_retention_days: 7 });
  for (const content of ["one", "two", "three"]) await post(first.server, content);
  const count = ({ server }: typeof first) => server.realm.lmdb.count("messages");
  const all = count(first);
  await first.stop();

  const second = await start(t, dataDir, began + 60 * 24 * 60 * 60 * 1000);
  await second.server.realm.dispatcher.idle();
  for (let minutes = 0; minutes < 90; minutes++) {
    second.clock.advance(limits.timer_sleep_ms_max);
    await second.server.realm.dispatcher.idle();
  }
  t.equal(count(second), all, "nothing was removed");
  // The tool reads the store, which gets a turn a little later.
  await until(() => second.server.realm.isStored);
  t.match((await runCli(t, dataDir, "time")).stdout, /message retention is held: by 2026-03-02.* confirm-retention/);
  await second.stop();
  const confirmed = await runCli(t, dataDir, "confirm-retention");
  t.match(confirmed, { code: 0, stdout: "message retention continues\n" });
  const third = await startTestServer(t, { dataDir });
  await until(() => third.realm.lmdb.count("messages") <= all - 3);
  t.equal(third.realm.lmdb.count("messages"), all - 3, "expired messages are removed");
  await third.stop();
  t.match((await runCli(t, dataDir, "confirm-retention")).stdout, /was not held/);
});

/**
 * The PyPI package `zulip`, unmodified: its calls, its event loop, and its event loop across a restart of the server.
 */
import t from "tap";
import { Client, type Event } from "../support/client.ts";
import { freePort } from "../support/ports.ts";
import { startProgram } from "../support/process.ts";
import { clientProgram, pythonObstacle, runPython, writeZuliprc } from "../support/python.ts";
import { isPolledBy, until } from "../support/realtime.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const skip = pythonObstacle("zulip") ?? false;

interface Line {
  readonly what: string;
  readonly value: Event;
}

function linesOf(output: string): Line[] {
  return output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

/** The package sends parameters that are unknown in the public API, too. */
const knownExtras = new Set(["get_subscribers", "update_user_group"]);

function isGood({ what, value }: Line): boolean {
  return value.result === "success" && (knownExtras.has(what) || !("ignored_parameters_unsupported" in value));
}

t.test("each call of the Python package succeeds, and it follows events", { skip }, async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const friend = await server.person("Friend");
  await friend.post("/users/me/presence", { status: "active" });
  const args = [clientProgram("zulip-package.py"), writeZuliprc(t, owner)];
  const program = runPython(t, [...args, String(friend.userId), friend.account?.email ?? ""]);
  await program.printed(/"what": "end"/);
  const calls = linesOf(program.stdout).filter(({ what }) => what !== "end");
  const found = calls.filter((call) => !isGood(call));
  t.strictSame(found, []);
  t.ok(calls.length > 60, `${calls.length} calls`);
  const answerOf = (name: string) => calls.find(({ what }) => what === name)?.value;
  t.equal(answerOf("get_messages").messages[0].content, "<p>from <strong>Python</strong></p>");
  t.equal(answerOf("get_raw_message").raw_content, "from **Python**");
  t.equal(answerOf("get_message_history").message_history.length, 2);
  t.match(answerOf("get_attachments").attachments, [{ name: "note.txt" }]);

  await until(() => isPolledBy(server, owner.userId));
  await friend.post("/typing", { op: "start", to: [owner.userId] });
  const id = await friend.say("general", "t", "one");
  await program.printed(new RegExp(`"what": "event".*"id": ${id},`));
  const events = linesOf(program.stdout).filter(({ what }) => what === "event");
  const types = events.map(({ value }) => value.type);
  t.strictSame(types, ["typing", "message"]);
  t.equal(program.stderr, "", "and the package reports no error");
});

t.test("[E2] across a restart the package's event loop loses and repeats nothing", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const environment = { PORT: String(await freePort()) };
  const before = await startProgram(t, dataDir, environment);
  const follow = [
    "import sys, zulip",
    "client = zulip.Client(config_file=sys.argv[1])",
    "client.call_on_each_message(lambda message: print('got', message['id'], flush=True))",
  ];
  const program = runPython(t, ["-c", follow.join("\n"), writeZuliprc(t, before.owner)]);
  const ids: number[] = [];
  // The first line proves that it follows events.
  const isFollowing = program.printed(/got \d+\n/);
  for (let isSure = false; !isSure; ) {
    ids.push(await before.owner.say("general", "t", "are you there?"));
    isSure = await Promise.race([isFollowing.then(() => true), before.owner.get("/users").then(() => false)]);
  }
  await program.printed(new RegExp(`got ${ids.at(-1)}\n`));
  await before.program.end("SIGTERM");
  const after = await startProgram(t, dataDir, environment);
  const owner = new Client(after.url, before.owner.account);
  ids.push(await owner.say("general", "t", "after"), await owner.say("general", "t", "and once more"));
  await program.printed(new RegExp(`got ${ids.at(-1)}\n`));
  const got = [...program.stdout.matchAll(/got (\d+)\n/g)].map(([, id]) => Number(id));
  t.strictSame(got, ids.slice(ids.indexOf(got[0] ?? 0)));
});

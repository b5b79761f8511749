// `moves`: PATCH /messages/{id} of whole topics in a channel of 10,000 people, one of whom posts all the time: renaming a
// topic for which each of them has a policy, and moving 200 messages into a channel that the others cannot see. Measures
// the slowest post, compared with the slowest one of as long a time before.

import { command } from "../../actors/protocol/decision.ts";
import { refuse } from "../../schemas/errors.ts";
import { topicPolicies } from "../../schemas/user-topics.ts";
import { Api } from "../lib/api.ts";
import { addMessages, topicName } from "../lib/fill.ts";
import { latencySeries, measureOf } from "../lib/measures.ts";
import { askAll, createOrganization, GENERAL, newMember, OWNER } from "../lib/organization.ts";
import type { Watch } from "../lib/probe.ts";
import { type LatencySummary, percentileMs } from "../lib/recorder.ts";
import type { Check, Measure, Outcome, Settings } from "../lib/result.ts";
import type { Context, Pair, Scenario } from "../lib/scenario.ts";
import { type TimedAnswer, TimedCalls, timeCalls } from "../lib/timed-calls.ts";

/** Milliseconds for which a post may wait. */
const TARGET_MS = 50;
const PLACE = "bench private";
/** No notification of the move itself, which would be one more message. */
const QUIETLY = { send_notification_to_old_thread: "false", send_notification_to_new_thread: "false" } as const;

/** A single poster, at its own pace. */
const common = { connections: 1, ratePerSecond: 0, users: 0, receivers: 0 } as const;

export const moves: Scenario = {
  name: "moves",
  summary: "posts while a topic with 10,000 policies is renamed, and 200 messages leave a channel of 10,000 people",
  baseline: "ours",
  supportsUrl: false,
  sizes: {
    tiny: { ...common, durationSeconds: 0.3, warmupSeconds: 0.1, runs: 1, people: 20, messages: 10 },
    small: { ...common, durationSeconds: 2, warmupSeconds: 0.5, runs: 3, people: 2_000, messages: 200 },
    full: { ...common, durationSeconds: 3, warmupSeconds: 1, runs: 5, people: 10_000, messages: 200 },
  },
  run,
};

/** A change of a topic, how long its request took, and the posts before and beside it. */
interface Run {
  readonly ms: number;
  readonly before: LatencySummary;
  readonly duringMove: LatencySummary;
}

async function run(context: Context): Promise<Outcome> {
  const { settings, progress } = context;
  const { people = 0, messages = 0, runs } = settings;
  const server = await context.openServer((folder) => fillWithPolicies(folder, settings));
  const api = new Api(server, server.credentials);
  const channelId = await createPrivateChannel(api);
  const tools = { settings, watch: server.watch, calls: new TimedCalls(server, api.authorization) };
  const mover = new TimedCalls(server, api.authorization);
  const change = async (topic: string, form: Readonly<Record<string, string>>): Promise<Run> => {
    const [first] = await messagesOf(api, { channelId: GENERAL, topic });
    const whole = { ...form, propagate_mode: "change_all", ...QUIETLY };
    return await postsDuring(tools, () => mover.call("PATCH", `/messages/${first}`, whole));
  };
  const renames: Run[] = [];
  const departures: Run[] = [];
  for (let index = 0; index < runs; index += 1) {
    progress.label(`moves: run ${index + 1} of ${runs}`);
    renames.push(await change(nameAfter(index), { topic: nameAfter(index + 1) }));
    departures.push(await change(topicName(index + 1), { stream_id: String(channelId) }));
  }
  tools.calls.close();
  mover.close();
  const left = Array.from({ length: runs }, (_, index) => ({ channelId, topic: topicName(index + 1), messages }));
  return {
    measures: [
      ...measuresOf("rename", `renaming a topic with ${people} policies`, renames),
      ...measuresOf("departure", `${messages} messages out of a channel of ${people} people`, departures),
    ],
    series: [
      latencySeries("posts beside a rename (ours), before (baseline)", pairOf(renames), (latency) => latency),
      latencySeries("posts beside a departure (ours), before (baseline)", pairOf(departures), (latency) => latency),
    ],
    checks: [
      await checkOf(api, "the renamed topic has its messages", [
        { channelId: GENERAL, topic: nameAfter(runs), messages },
      ]),
      await checkOf(api, "the messages are in the other channel", left),
    ],
    notes: [`The target is ${TARGET_MS} ms for the slowest post. Posts follow each other for the whole window.`],
  };
}

/** A topic for which everybody has a policy, and one for each run, which everybody received. */
async function fillWithPolicies(folder: string, { people = 0, messages = 0, runs }: Settings): Promise<void> {
  await createOrganization(folder, async (realm) => {
    await askAll(realm, people, newMember);
    await addMessages(realm, { messages: messages * (runs + 1), topics: runs + 1, areUnread: true });
    await askAll(realm, people, followFirstTopic);
  });
}

/** The topic with policies is renamed once in each run. */
function nameAfter(renames: number): string {
  return renames === 0 ? topicName(0) : `renamed ${renames}`;
}

function followFirstTopic(index: number) {
  const id = OWNER.id + 1 + index;
  const unknown = refuse.badRequest("no such channel");
  const params = { channel: GENERAL, topic: topicName(0), policy: topicPolicies.followed, unknown };
  return command({ actor: "user", id }, "user-topics.set", params, id);
}

async function createPrivateChannel(api: Api): Promise<number> {
  const form = {
    name: PLACE,
    subscribers: JSON.stringify([OWNER.id]),
    invite_only: "true",
    history_public_to_subscribers: "true",
  };
  return (JSON.parse(await api.call("POST", "/channels/create", form)) as { readonly id: number }).id;
}

interface Tools {
  readonly settings: Context["settings"];
  readonly watch: Watch | null;
  readonly calls: TimedCalls;
}

async function postsDuring({ settings, watch, calls }: Tools, change: () => Promise<TimedAnswer>): Promise<Run> {
  const post = async () => {
    const form = { type: "channel", to: String(GENERAL), topic: "posts meanwhile", content: "an ordinary message" };
    return (await calls.call("POST", "/messages", { ...form, read_by_sender: "true" })).ms;
  };
  const before = (await timeCalls(watch, settings, post)).latency;
  const changing = change();
  const duringMove = (await timeCalls(watch, { ...settings, warmupSeconds: 0 }, post)).latency;
  return { ms: (await changing).ms, before, duringMove };
}

function pairOf(runs: readonly Run[]): Pair<LatencySummary> {
  return { ours: runs.map(({ duringMove }) => duringMove), baseline: runs.map(({ before }) => before) };
}

function measuresOf(prefix: string, title: string, runs: readonly Run[]): Measure[] {
  const time: Pair<number> = { ours: runs.map(({ ms }) => ms), baseline: [] };
  return [
    measureOf({ key: `${prefix}_ms`, title, unit: "ms", better: "lower" }, time, (ms) => ms),
    measureOf(
      { key: `${prefix}_slowest_ms`, title: "the slowest post beside it; before", unit: "ms", better: "lower" },
      pairOf(runs),
      (latency) => percentileMs(latency, 100),
    ),
  ];
}

/** Guards against a fast server that answers 200 without moving anything. */
async function checkOf(api: Api, name: string, places: readonly Place[]): Promise<Check> {
  const counts = await Promise.all(places.map(async (place) => (await messagesOf(api, place)).length));
  const ok = places.every(({ messages }, index) => messages === counts[index]);
  return { name, ok, detail: `${counts.join(", ")} messages` };
}

/** A topic and the number of messages that it should have. */
interface Place {
  readonly channelId: number;
  readonly topic: string;
  readonly messages: number;
}

/** Ids of the messages of a topic, ascending. */
async function messagesOf(api: Api, { channelId, topic }: Omit<Place, "messages">): Promise<number[]> {
  const narrow = JSON.stringify([
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: topic },
  ]);
  const text = await api.call("GET", "/messages", { anchor: "newest", num_before: "1000", num_after: "0", narrow });
  return (JSON.parse(text) as { readonly messages: readonly { readonly id: number }[] }).messages.map(({ id }) => id);
}

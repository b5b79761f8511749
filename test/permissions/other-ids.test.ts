/**
 * Ids in paths (S1; issue "Proof that nothing is lost", Security: every endpoint x every role x other realm): what is one person's
 * is to everybody else, owners too, as if it had never been, and so is what belongs to another organization. For each operation
 * with such an id its own maker shows at the end that the request was a good one.
 */
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { roles } from "../../schemas/types.ts";
import { attachmentsOf, uploaded } from "../support/attachments.ts";
import { type Answer, Client, encodeForm, type Params } from "../support/client.ts";
import { botOf, personOf } from "../support/conversation.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";

const dataDir = temporaryFolder(t);
await (await startTestServer(t, { dataDir })).stop();
const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "owner@localhost", "--name", "Sales");
if (made.code !== 0) throw new Error(made.stderr);
const server = await startTestServer(t, { dataDir });
const { owner } = server;
const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));
const sales = new HostClient(new Client(server.url, { email, key, userId: 2 }), "sales.example.org");

/** Nobody ever had it. */
const neverId = 987_654_321;
/** Far from now. */
const later = 4_102_444_800;
const draft = { type: "stream", to: [1], topic: "t", content: "x", timestamp: 1_700_000_000 };
let names = 0;

function name(): string {
  names++;
  return `n${names}`;
}

async function field(answer: Promise<Answer>, ...path: readonly string[]): Promise<number> {
  const { status, body } = await answer;
  const found = path.reduce((value, step) => value[step], body);
  if (status !== 200 || typeof found !== "number") throw new Error(`not made: ${JSON.stringify(body)}`);
  return found;
}

type Make = (client: Client) => Promise<number>;

async function channelOf(client: Client): Promise<number> {
  const id = await field(
    client.post("/channels/create", { name: name(), subscribers: [client.account?.userId] }),
    "id",
  );
  await client.say(id, "t", "x");
  return id;
}

/** What is one person's, by the name of its id. */
const personal: Readonly<Record<string, Make>> = {
  draft_id: (client) => field(client.post("/drafts", { drafts: [draft] }), "ids", "0"),
  saved_snippet_id: (client) => field(client.post("/saved_snippets", { title: "t", content: "x" }), "saved_snippet_id"),
  scheduled_message_id: (client) => {
    const message = { type: "channel", to: 1, topic: "t", content: "x", scheduled_delivery_timestamp: later };
    return field(client.post("/scheduled_messages", message), "scheduled_message_id");
  },
  reminder_id: async (client) => {
    const message_id = await client.say("general", "t", "x");
    return field(client.post("/reminders", { message_id, scheduled_delivery_timestamp: later }), "reminder_id");
  },
  attachment_id: async (client) => {
    await uploaded(client, "x");
    return (await attachmentsOf(client)).at(-1)?.id;
  },
};

/** What is the organization's. */
const shared: Readonly<Record<string, Make>> = {
  stream_id: channelOf,
  user_group_id: (client) => {
    return field(client.post("/user_groups/create", { name: name(), description: "", members: [] }), "group_id");
  },
  channel_folder_id: (client) =>
    field(client.post("/channel_folders/create", { name: name(), description: "" }), "channel_folder_id"),
  filter_id: (client) => {
    const linkifier = { pattern: `#${name()}-(?P<id>[0-9]+)`, url_template: "https://example.com/{id}" };
    return field(client.post("/realm/filters", linkifier), "id");
  },
  playground_id: (client) => {
    const playground = { name: name(), pygments_language: "Python", url_template: "https://example.com/{code}" };
    return field(client.post("/realm/playgrounds", playground), "id");
  },
  field_id: (client) => field(client.post("/realm/profile_fields", { name: name(), field_type: 1 }), "id"),
  message_id: (client) => client.say("general", "t", "x"),
};

/** With these every operation comes to look for what the path names, and its maker's is carried out. */
const form: Params = { title: "t2", content: "x2", draft: { ...draft, content: "x2" } };
const forms: Readonly<Record<string, () => Params>> = {
  "update-stream": () => ({ description: "changed" }),
  "delete-topic": () => ({ topic_name: "t" }),
  "update-user-group": () => ({ description: "changed" }),
  "update-user-group-members": () => ({ add: [2] }),
  "update-user-group-subgroups": () => ({ delete: [] }),
  "update-channel-folder": () => ({ name: name() }),
  "update-linkifier": () => ({ pattern: `#${name()}(?P<id>[0-9]+)`, url_template: "https://example.com/{id}" }),
  "update-custom-profile-field": () => ({ name: name() }),
  "add-reaction": () => ({ emoji_name: "tada" }),
  "remove-reaction": () => ({ emoji_name: "tada" }),
  "set-typing-status-for-message-edit": () => ({ op: "start" }),
};
/** Whose maker is refused as well, for reasons of their own: they need a setting, or something done before. */
const unproven: ReadonlySet<string> = new Set(["report-message", "remove-reaction", "update-user-group-subgroups"]);

function withId(endpoint: Endpoint, id: number): string {
  return endpoint.path.replace(/\{\w+\}/, String(id)).replace(/\{\w+\}/, "2");
}

function ask(client: Client, endpoint: Endpoint, path: string): Promise<Answer> {
  const params = forms[endpoint.operationId]?.() ?? form;
  const isRead = endpoint.method === "GET";
  return client.send(endpoint.method, path, isRead ? null : encodeForm(params));
}

/** Status and body, with no id in it. */
function plain({ status, body }: Answer, id: number): string {
  return JSON.stringify({ status, body }).replaceAll(new RegExp(`\\b(?:${id}|${neverId})\\b`, "g"), "ID");
}

/** Operations whose first variable is one of these, or whose second one is a channel. */
function operationsWith(kinds: Readonly<Record<string, Make>>): readonly (readonly [Endpoint, variable: string])[] {
  return (endpoints as readonly Endpoint[]).flatMap((endpoint) => {
    const variable = /\{(\w+)\}/.exec(endpoint.path)?.[1] ?? "";
    return kinds[variable] === undefined ? [] : [[endpoint, variable] as const];
  });
}

async function compare(t: Test, endpoint: Endpoint, id: number, strangers: Readonly<Record<string, Client>>) {
  for (const [who, stranger] of Object.entries(strangers)) {
    const theirs = await ask(stranger, endpoint, withId(endpoint, id));
    const never = await ask(stranger, endpoint, withId(endpoint, neverId));
    t.equal(plain(theirs, id), plain(never, neverId), `${endpoint.operationId} as ${who}`);
    t.not(theirs.status, 200, `${endpoint.operationId} gives ${who} nothing`);
  }
}

t.test("[S1] what is one person's is nobody else's, whatever their role", async (t) => {
  const vera = await personOf(server, "vera");
  const strangers = {
    guest: await personOf(server, "guest", roles.guest),
    bot: await botOf(server, "robot", owner),
    member: await personOf(server, "member"),
    moderator: await personOf(server, "moderator", roles.moderator),
    administrator: await personOf(server, "administrator", roles.administrator),
    owner,
  };
  const operations = operationsWith(personal);
  for (const [endpoint, variable] of operations) {
    const id = (await personal[variable]?.(vera)) ?? 0;
    await compare(t, endpoint, id, strangers);
    const { status, body } = await ask(vera, endpoint, withId(endpoint, id));
    t.equal(status, 200, `${endpoint.operationId} is vera's: ${JSON.stringify(body)}`);
  }
  t.strictSame([...new Set(operations.map(([, variable]) => variable))].sort(), Object.keys(personal).sort());
});

t.test("[S1] what is of another organization is not there, for its owner neither", async (t) => {
  // Ids count up in each organization by itself: those of the other one must lie beyond those that are there.
  // Files of another organization: test/api/attachment-access.
  const { attachment_id: _files, ...kinds }: Readonly<Record<string, Make>> = { ...personal, ...shared };
  const operations = operationsWith(kinds);
  for (const [endpoint, variable] of operations) {
    const make = kinds[variable] as Make;
    const local = await make(owner);
    let id = await make(sales);
    while (id <= local + 1) id = await make(sales);
    await compare(t, endpoint, id, { owner });
    const { status, body } = await ask(sales, endpoint, withId(endpoint, id));
    if (!unproven.has(endpoint.operationId)) {
      t.equal(status, 200, `${endpoint.operationId} is theirs: ${JSON.stringify(body)}`);
    }
  }
  t.strictSame([...new Set(operations.map(([, variable]) => variable))].sort(), Object.keys(kinds).sort());
});

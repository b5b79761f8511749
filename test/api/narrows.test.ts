/**
 * Narrows of GET /messages (behaviour 5.3): every operator with its negation, invalid terms, and the visible history:
 * received messages, public ones, and none of a private channel from before or between subscriptions.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, refusal } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";
import { Socket } from "../support/socket.ts";

const { server, owner, anna, bert } = await startServerWithUsers(t, ["anna", "bert"]);
const alphaId = await owner.createChannel("alpha", [owner, anna]);
await owner.createChannel("beta", [owner, anna], { invite_only: true });
await owner.createChannel("777", [owner]);

const labels = new Map<number, string>();

async function say(label: string, by: Client, channel: string, topic: string, content = "x"): Promise<number> {
  const id = await by.say(channel, topic, content);
  labels.set(id, label);
  return id;
}

async function sayTo(label: string, by: Client, to: readonly Client[]): Promise<void> {
  const sent = await by.post("/messages", { type: "direct", to: to.map((client) => client.userId), content: "x" });
  labels.set(sent.body.id, label);
}

const first = await say("link", owner, "alpha", "Apples", "see https://example.com");
await say("plain", anna, "alpha", "Apples");
await say("resolved", anna, "alpha", "✔ pears");
await say("empty", owner, "alpha", "");
await say("personal", owner, "general", "apples", "@**anna 0** look");
await say("wildcard", owner, "general", "other", "@**all** look");
await say("attached", owner, "general", "other", "[notes](/user_uploads/2/ab/notes.txt)");
await say("image", owner, "general", "other", "[cat](/user_uploads/2/ab/cat.png)");
await say("private", owner, "beta", "apples");
await sayTo("pair", owner, [anna]);
await sayTo("self", anna, [anna]);
await sayTo("group", anna, [owner, bert]);
const everything = [...labels.values()];

type Term = Readonly<Record<string, unknown>> | readonly [string, string];

async function fetch(by: Client, narrow: readonly Term[]) {
  return by.get("/messages", { anchor: "newest", num_before: 1000, num_after: 0, narrow });
}

async function found(by: Client, narrow: readonly Term[]): Promise<string[]> {
  const { body } = await fetch(by, narrow);
  if (body.result !== "success") throw new Error(JSON.stringify(body));
  return body.messages.flatMap(({ id }: { id: number }) => labels.get(id) ?? []);
}

const addressOf = (client: Client) => client.account?.email ?? "";

/** Operator names, equivalent operands, and what they find. */
const operators: [string[], unknown[], string[]][] = [
  [
    ["channel", "stream"],
    ["alpha", "ALPHA", alphaId, String(alphaId)],
    ["link", "plain", "resolved", "empty"],
  ],
  [
    ["topic", "subject"],
    ["apples", "APPLES", " Apples "],
    ["link", "plain", "personal", "private"],
  ],
  [["topic"], ["", "general chat", "(no topic)"], ["empty"]],
  [["topic"], ["nothing here"], []],
  [
    ["sender", "from"],
    [anna.userId, addressOf(anna), addressOf(anna).toUpperCase()],
    ["plain", "resolved", "self", "group"],
  ],
  [["dm", "pm-with", "pm_with"], [[owner.userId], [owner.userId, anna.userId], addressOf(owner)], ["pair"]],
  [["dm", "pm-with"], [[anna.userId], addressOf(anna)], ["self"]],
  [["dm"], [[bert.userId, owner.userId], `${addressOf(owner)},${addressOf(bert)}`], ["group"]],
  [["dm"], [[bert.userId]], []],
  [["dm-including"], [owner.userId, addressOf(owner)], ["pair", "group"]],
  [["dm-including"], [anna.userId], ["pair", "self", "group"]],
  [["group-pm-with", "group_pm_with"], [owner.userId, addressOf(owner)], ["group"]],
  [["is"], ["dm", "private"], ["pair", "self", "group"]],
  [["is"], ["mentioned"], ["personal", "wildcard"]],
  [["is"], ["resolved"], ["resolved"]],
  [["has"], ["link"], ["link", "attached", "image"]],
  [["has"], ["attachment"], ["attached", "image"]],
  [["has"], ["image"], ["image"]],
  [["id"], [first, String(first)], ["link"]],
];

for (const [names, operands, expected] of operators) {
  t.test(
    `[behaviour 5.3] ${names.join(" and ")} ${JSON.stringify(operands[0])} finds its messages, and negated all others`,
    async (t) => {
      for (const operator of names) {
        for (const operand of operands) {
          const what = `${operator} ${JSON.stringify(operand)}`;
          t.strictSame(await found(anna, [{ operator, operand }]), expected, what);
          t.strictSame(
            await found(anna, [{ operator, operand, negated: true }]),
            everything.filter((label) => !expected.includes(label)),
            `not ${what}`,
          );
        }
      }
    },
  );
}

t.test("[behaviour 5.3] terms are combined with AND, in either form; near filters nothing", async (t) => {
  t.strictSame(await found(anna, []), everything);
  t.strictSame(await found(anna, [{ operator: "near", operand: first }]), everything);
  t.strictSame(
    await found(anna, [
      ["channel", "alpha"],
      ["topic", "apples"],
      ["sender", addressOf(owner)],
    ]),
    ["link"],
  );
  t.strictSame(
    await found(anna, [
      { operator: "is", operand: "dm" },
      { operator: "sender", operand: anna.userId, unknown: "key" },
    ]),
    ["self", "group"],
  );
  t.strictSame(
    await found(anna, [
      { operator: "channel", operand: "alpha" },
      { operator: "channel", operand: "general" },
    ]),
    [],
  );
  t.strictSame(
    await found(anna, [
      { operator: "topic", operand: "apples" },
      { operator: "topic", operand: "other" },
    ]),
    [],
  );
});

t.test("[behaviour 5.3] an invalid term is rejected with BAD_NARROW and its description", async (t) => {
  const refused: [Term[], string][] = [
    [[{ operator: "colour", operand: "red" }], "unknown operator colour"],
    [[{ operator: "constructor", operand: "x" }], "unknown operator constructor"],
    [[{ operator: "__proto__", operand: "x" }], "unknown operator __proto__"],
    [[{ operator: "channel", operand: "nowhere" }], "unknown channel nowhere"],
    [[{ operator: "channel", operand: 99_999 }], "unknown channel 99999"],
    [[{ operator: "sender", operand: "nobody@example.com" }], "unknown user nobody@example.com"],
    [[{ operator: "sender", operand: 99_999 }], "unknown user 99999"],
    [[{ operator: "dm", operand: "nobody@example.com" }], "unknown user in nobody@example.com"],
    [[{ operator: "dm", operand: [2, 99_999] }], "unknown user in 2,99999"],
    [[{ operator: "dm-including", operand: 99_999 }], "unknown user 99999"],
    [[{ operator: "is", operand: "nice" }], "unknown 'is' operand nice"],
    [[{ operator: "is", operand: "toString" }], "unknown 'is' operand toString"],
    [[{ operator: "has", operand: "fun" }], "unknown 'has' operand fun"],
    [[{ operator: "has", operand: "valueOf" }], "unknown 'has' operand valueOf"],
    [[{ operator: "id", operand: "one" }], "Invalid message ID"],
    [[{ operator: "id", operand: "" }], "Invalid message ID"],
    [[{ operator: "id", operand: "1e3" }], "Invalid message ID"],
    [[{ operator: "id", operand: -3 }], "Invalid message ID"],
    [[{ operator: "near", operand: -3 }], "Invalid message ID"],
    [[{ operator: "channel", operand: -3 }], "unknown channel -3"],
    [[{ operator: "sender", operand: -3 }], "unknown user -3"],
    [
      [
        { operator: "channel", operand: "alpha" },
        { operator: "dm", operand: [2] },
      ],
      "No message can be both a channel message and direct message",
    ],
    [
      [
        { operator: "topic", operand: "apples" },
        { operator: "dm", operand: [2] },
      ],
      "No message can be both a channel message and direct message",
    ],
  ];
  for (const [narrow, desc] of refused) {
    await expects(
      t,
      fetch(anna, narrow),
      refusal(`Invalid narrow operator: ${desc}`, "BAD_NARROW", 400, { desc }),
      desc,
    );
  }
});

t.test("[behaviour 1.3] a term with an invalid shape is rejected", async (t) => {
  for (const narrow of [[1], [{ operator: "channel" }], [{ operand: "x" }], [["channel"]], [["a", "b", "c"]]]) {
    t.match(await fetch(anna, narrow as Term[]), { status: 400, body: { code: "BAD_REQUEST", msg: /^narrow\[0\]/ } });
  }
});

t.test("[S3] a narrow has at most 100 terms", async (t) => {
  const socket = new Socket(server.url, { as: anna });
  await socket.opened();
  const ask = (count: number) => {
    const narrow = Array.from({ length: count }, () => ({ operator: "near", operand: 1 }));
    const params = { anchor: "newest", num_before: 1, num_after: 0, narrow };
    return socket.ask({ type: "call", method: "GET", path: "/messages", params });
  };
  t.match(await ask(limits.narrow_terms_max), { result: "success" });
  t.match(await ask(limits.narrow_terms_max + 1), {
    result: "error",
    msg: `narrow is too long (limit: ${limits.narrow_terms_max} items)`,
  });
  socket.close();
});

t.test("[D24] a private channel that the reader may not see counts as unknown, by name and by id", async (t) => {
  const { body } = await owner.get("/streams", { include_subscribed: true });
  const beta = body.streams.find(({ name }: { name: string }) => name === "beta").stream_id;
  for (const operand of ["beta", beta]) {
    const desc = `unknown channel ${operand}`;
    await expects(
      t,
      fetch(bert, [{ operator: "channel", operand }]),
      refusal(`Invalid narrow operator: ${desc}`, "BAD_NARROW", 400, { desc }),
    );
  }
});

t.test("[behaviour 5.3] a channel whose name is a number is found if no channel has that id", async (t) => {
  await say("numbered", owner, JSON.stringify("777"), "t");
  t.strictSame(await found(owner, [{ operator: "channel", operand: "777" }]), ["numbered"]);
});

t.test("[behaviour 5.3] public history is searched in a named channel, else only received messages", async (t) => {
  const channel = { operator: "channel", operand: "alpha" };
  t.strictSame(await found(bert, [channel]), ["link", "plain", "resolved", "empty"]);
  t.strictSame(await found(bert, [channel, { operator: "topic", operand: "apples" }]), ["link", "plain"]);
  t.strictSame(await found(bert, [{ operator: "topic", operand: "apples" }]), ["personal"], "general was received");
  const { body } = await fetch(bert, [channel]);
  t.strictSame(body.messages[0].flags, ["read", "historical"]);
  for (const negated of [false, true]) {
    t.strictSame(await found(bert, [channel, { operator: "is", operand: "mentioned", negated }]), [], "not with is:");
  }
  t.strictSame(
    await found(bert, []),
    everything.filter((label) => label === "group" || isGeneral(label)),
  );
});

function isGeneral(label: string): boolean {
  return ["personal", "wildcard", "attached", "image"].includes(label);
}

t.test("[S1] protected history: messages from before or between subscriptions are not found", async (t) => {
  const carla = await server.user("carla");
  await owner.createChannel("vault", [owner], { invite_only: true });
  const ids = new Map<string, number>();
  const post = async (label: string) => ids.set(label, await say(label, owner, "vault", "t"));
  const join = () =>
    owner.post("/users/me/subscriptions", { subscriptions: [{ name: "vault" }], principals: [carla.userId] });
  const leave = () => carla.delete("/users/me/subscriptions", { subscriptions: ["vault"] });
  const seen = async (isIn = true) => {
    const listed = await found(carla, [{ operator: "topic", operand: "t" }]);
    // After leaving, a user may no longer see the channel, and its name counts as unknown (channel-secrecy.test.ts).
    if (isIn) t.strictSame(await found(carla, [{ operator: "channel", operand: "vault" }]), listed);
    const byId = [];
    for (const [label, id] of ids) if ((await carla.get(`/messages/${id}`)).status === 200) byId.push(label);
    t.strictSame(byId, listed, "the same by id");
    const { body } = await carla.get("/messages", { message_ids: [...ids.values()] });
    const shown = body.messages.map(({ id }: { id: number }) => labels.get(id));
    t.strictSame(shown, listed, "the same by ids");
    return listed;
  };
  await post("before");
  await join();
  t.strictSame(await seen(), []);
  await post("during");
  t.strictSame(await seen(), ["during"]);
  await leave();
  await post("between");
  t.strictSame(await seen(false), [], "a former subscriber of a private channel reads nothing");
  await join();
  t.strictSame(await seen(), ["during"]);
  await post("after");
  t.strictSame(await seen(), ["during", "after"]);
});

t.test("[spec 2.4] shared history: a new subscriber of a private channel reads earlier messages", async (t) => {
  const dora = await server.user("dora");
  await owner.createChannel("shared", [owner], { invite_only: true, history_public_to_subscribers: true });
  const id = await say("early", owner, "shared", "t");
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "shared" }], principals: [dora.userId] });
  await say("late", owner, "shared", "t");
  t.strictSame(await found(dora, [{ operator: "channel", operand: "shared" }]), ["early", "late"]);
  t.strictSame((await dora.get(`/messages/${id}`)).body.message.flags, ["read", "historical"]);
  t.strictSame(await found(dora, [{ operator: "topic", operand: "t" }]), ["late"], "received only the later one");
});

/** Stars what a narrow finds. It uses POST, so that the narrow may be longer than a request head. */
function starFound(by: Client, narrow: readonly Term[]) {
  const range = { anchor: "newest", num_before: 1000, num_after: 0 };
  return by.post("/messages/flags/narrow", { ...range, narrow, op: "add", flag: "starred" });
}

t.test("[behaviour 5.3] a direct conversation is found by the emails of its participants, however many", async (t) => {
  const ids = await server.users("participant", limits.direct_recipients_max - 1);
  const { body: sent } = await anna.post("/messages", { type: "direct", to: ids, content: "everybody" });
  const addresses = ids.map((_, index) => `participant${index}@example.com`).join(",");
  for (const term of [{ operator: "dm", operand: addresses }, ["pm-with", addresses] as const]) {
    const { body } = await starFound(anna, [term]);
    t.match(body, { processed_count: 1, first_processed_id: sent.id });
  }
});

t.test("[S3] direct_recipients_code_points_max limits recipients in messages and in narrows", async (t) => {
  const max = limits.direct_recipients_code_points_max;
  const post = (to: string) => anna.post("/messages", { type: "direct", to, content: "hi" });
  const find = (to: string) => starFound(anna, [{ operator: "dm", operand: to }]);
  for (const [name, ask] of Object.entries({ post, find })) {
    const [within, beyond] = [await ask("😀".repeat(max)), await ask("😀".repeat(max + 1))];
    t.strictSame([within.status, beyond.status], [400, 400], name);
    t.not(within.body.msg, beyond.body.msg, `${name}: ${beyond.body.msg}`);
    t.match(within.body.msg, name === "post" ? /^Invalid email/ : /unknown user/, "looked up, but unknown");
  }
});

t.test("[S3] search_operand_code_points_max limits the text of a search", async (t) => {
  const max = limits.search_operand_code_points_max;
  const desc = `search operand is too long (limit: ${max} characters)`;
  t.match(await starFound(anna, [["search", "😀".repeat(max)]]), { status: 200 });
  await expects(
    t,
    starFound(anna, [["search", "😀".repeat(max + 1)]]),
    refusal(`Invalid narrow operator: ${desc}`, "BAD_NARROW", 400, { desc }),
  );
});

/**
 * Searching (spec 4.9; behaviour 2.9, 5.3, 12.19): the search operator of GET /messages with its highlights, GET
 * /messages/matches_narrow, and that no unreadable message is found (S1). Comparing words is tested in
 * test/domain/search.test.ts, the index in test/runtime/search-index.test.ts.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, expects, type Params, refusal, success } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";
import { Socket } from "../support/socket.ts";

const { server, owner, anna, bert, guest } = await startServerWithUsers(t, ["anna", "bert", "guest"]);
const kitchenId = await owner.createChannel("kitchen", [owner, anna, guest]);
await owner.createChannel("cellar", [owner, anna], { invite_only: true });

const labels = new Map<number, string>();

async function say(label: string, by: Client, channel: string, topic: string, content: string): Promise<number> {
  const id = await by.say(channel, topic, content);
  labels.set(id, label);
  return id;
}

const bread = await say("bread", owner, "kitchen", "baking", "Fresh **Bread** & butter");
await say("rye", anna, "kitchen", "Rye <bread>", "it is in the oven");
await say("wine", owner, "cellar", "baking", "bread and wine");
await say("cake", owner, "kitchen", "baking", "Crème brûlée, no loaf");
const direct = await owner.post("/messages", { type: "direct", to: [anna.userId], content: "bread, please" });
labels.set(direct.body.id, "direct");

const search = (operand: string, more: Params = {}) => ({ operator: "search", operand, ...more });

async function fetch(by: Client, narrow: readonly unknown[], params: Params = {}) {
  return by.get("/messages", { anchor: "newest", num_before: 100, num_after: 0, narrow, ...params });
}

async function found(by: Client, narrow: readonly unknown[]): Promise<string[]> {
  const { body } = await fetch(by, narrow);
  if (body.result !== "success") throw new Error(JSON.stringify(body));
  return body.messages.map(({ id }: { id: number }) => labels.get(id));
}

t.test("[behaviour 5.3] search finds messages with all words in content or topic, and other terms", async (t) => {
  const cases: [narrow: readonly unknown[], expected: string[]][] = [
    [[search("bread")], ["bread", "rye", "wine", "direct"]],
    [[search("BREAD butter")], ["bread"]],
    [[search("bread"), search("oven")], ["rye"]],
    [[search('"fresh bread"')], ["bread"]],
    [[search('"bread fresh"')], []],
    [[search("creme brulee")], ["cake"]],
    [[search("baking")], ["bread", "wine", "cake"]],
    [[search("bread"), { operator: "is", operand: "dm" }], ["direct"]],
    [
      [search("bread"), { operator: "channel", operand: "kitchen" }],
      ["bread", "rye"],
    ],
    [
      [search("bread"), { operator: "channel", operand: kitchenId }, { operator: "topic", operand: "baking" }],
      ["bread"],
    ],
    [[search("bread"), { operator: "sender", operand: anna.userId }], ["rye"]],
    [
      [search("bread"), search("butter", { negated: true })],
      ["rye", "wine", "direct"],
    ],
    [[["search", "butter"]], ["bread"]],
    [[search("???")], []],
  ];
  for (const [narrow, expected] of cases) t.strictSame(await found(anna, narrow), expected, JSON.stringify(narrow));
  const { body } = await fetch(anna, [search("bread", { negated: true })]);
  const others: unknown[] = body.messages.map(({ id }: { id: number }) => labels.get(id)).filter(Boolean);
  t.strictSame(others, ["cake"]);
});

t.test(
  "[behaviour 5.3] forms and beginnings are found; typos are forgiven where the narrow has no match",
  async (t) => {
    const inKitchen = { operator: "channel", operand: "kitchen" };
    t.strictSame(await found(anna, [search("breads ")]), ["bread", "rye", "wine", "direct"]);
    t.strictSame(await found(anna, [search("butt")]), ["bread"]);
    t.strictSame(await found(anna, [search("butetr")]), ["bread"]);
    const { body } = await fetch(anna, [search("butetr")]);
    t.match(body.messages[0].match_content, /<span class="highlight">butter</);
    t.strictSame(await found(anna, [search("bruelee ")]), ["cake"]);
    t.strictSame(await found(anna, [search('"butetr"')]), []);
    t.strictSame(await found(anna, [search("butter", { negated: true }), search("bread"), inKitchen]), ["rye"]);
    t.strictSame(await found(anna, [search("bred "), search("butetr", { negated: true }), inKitchen]), [
      "bread",
      "rye",
    ]);
    t.strictSame(await found(bert, [search("butetr")]), [], "what the reader may not see is not found (S1)");
    const page = { anchor: String(bread), num_before: 10, num_after: 0, include_anchor: false };
    const older = await anna.get("/messages", { ...page, narrow: [search("butter")] });
    t.strictSame(older.body.messages, [], "a page beyond the matches forgives nothing");
    const byId = await anna.get("/messages", { message_ids: [bread], narrow: [search("butetr")] });
    t.equal(byId.body.messages.length, 1);
    const matching = async (operand: string, ids: readonly number[]) =>
      Object.keys(
        (await anna.get("/messages/matches_narrow", { msg_ids: ids, narrow: [search(operand)] })).body.messages,
      );
    t.strictSame(await matching("butetr", [bread, direct.body.id]), [String(bread)], "as GET /messages finds");
    t.strictSame(await matching("oven", [bread]), [], "another message has the word, so nothing is forgiven");
  },
);

t.test("[behaviour 5.3] search_language changes which forms are found", async (t) => {
  t.strictSame(await found(anna, [search("baked ")]), ["bread", "wine", "cake"], "baking, in the topic");
  await expects(t, owner.patch("/realm", { search_language: "klingon" }), refusal("Invalid search_language"));
  await expects(t, owner.patch("/realm", { search_language: "none" }), success({}));
  t.strictSame(await found(anna, [search("bake")]), []);
  t.strictSame(await found(anna, [search("baking")]), ["bread", "wine", "cake"]);
  await expects(t, owner.patch("/realm", { search_language: "english" }), success({}));
});

t.test("[S1] a search finds no unreadable message, and public history only in a named channel", async (t) => {
  t.strictSame(await found(bert, [search("bread")]), []);
  t.strictSame(await found(guest, [search("bread")]), ["bread", "rye"]);
  t.strictSame(await found(bert, [search("bread"), { operator: "channel", operand: "kitchen" }]), ["bread", "rye"]);
  t.strictSame(await found(bert, [search("bread"), { operator: "channels", operand: "public" }]), ["bread", "rye"]);
});

t.test("[behaviour 5.3] only searches have match_content and match_subject, with matches highlighted", async (t) => {
  const { body } = await fetch(anna, [search("bread"), { operator: "channel", operand: "kitchen" }]);
  const matches = body.messages.map((message: Params) => [message["match_content"], message["match_subject"]]);
  t.strictSame(matches, [
    ['<p>Fresh <strong><span class="highlight">Bread</span></strong> &amp; butter</p>', "baking"],
    ["<p>it is in the oven</p>", 'Rye &lt;<span class="highlight">bread</span>&gt;'],
  ]);
  t.equal(body.messages[0].content, "<p>Fresh <strong>Bread</strong> &amp; butter</p>");
  const raw = await fetch(anna, [search("butter")], { apply_markdown: false });
  t.match(raw.body.messages[0], {
    content: "Fresh **Bread** & butter",
    match_content: /<span class="highlight">butter</,
  });
  const { body: plain } = await fetch(anna, [{ operator: "channel", operand: "kitchen" }]);
  t.notOk(plain.messages.some((message: Params) => "match_content" in message || "match_subject" in message));
});

t.test("[spec 4.9] matches_narrow returns the messages that match, in the format of search results", async (t) => {
  const ids = [...labels.keys()];
  const narrow = [search("butter")];
  await expects(
    t,
    anna.get("/messages/matches_narrow", { msg_ids: ids, narrow }),
    success({
      messages: {
        [bread]: {
          match_content: '<p>Fresh <strong>Bread</strong> &amp; <span class="highlight">butter</span></p>',
          match_subject: "baking",
        },
      },
    }),
  );
  const searched = await fetch(anna, narrow);
  const { match_content, match_subject } = searched.body.messages[0];
  const { body } = await anna.get("/messages/matches_narrow", { msg_ids: [bread], narrow });
  t.strictSame(body.messages[bread], { match_content, match_subject });
});

t.test("[behaviour 2.9] without a search nothing is highlighted, and the topic is escaped", async (t) => {
  const rye = [...labels].find(([, label]) => label === "rye")?.[0] ?? 0;
  const { body } = await anna.get("/messages/matches_narrow", {
    msg_ids: [rye, direct.body.id],
    narrow: [{ operator: "has", operand: "link", negated: true }],
  });
  t.strictSame(body.messages, {
    [rye]: { match_content: "<p>it is in the oven</p>", match_subject: "Rye &lt;bread&gt;" },
    [direct.body.id]: { match_content: "<p>bread, please</p>", match_subject: "" },
  });
});

t.test("[spec 4.9, 2.9] match_subject of the empty topic is its display name for older clients", async (t) => {
  const id = await owner.say("kitchen", "", "nameless nutmeg");
  const narrow = [search("nutmeg")];
  const { body } = await anna.get("/messages/matches_narrow", { msg_ids: [id], narrow });
  t.strictSame(Object.keys(body.messages[id]).sort(), ["match_content", "match_subject"]);
  t.equal(body.messages[id].match_subject, "general chat");
  for (const [allow_empty_topic_name, name] of [
    [false, "general chat"],
    [true, ""],
  ] as const) {
    const [message] = (await fetch(anna, narrow, { allow_empty_topic_name })).body.messages;
    t.strictSame([message.match_subject, message.subject], [name, name]);
  }
  await owner.delete(`/messages/${id}`);
});

t.test("[behaviour 12.19] matches_narrow considers only received messages and silently omits the rest", async (t) => {
  const ids = [...labels.keys(), 999_999];
  const ask = async (by: Client, narrow: readonly unknown[]) => {
    const { body } = await by.get("/messages/matches_narrow", { msg_ids: ids, narrow });
    return Object.keys(body.messages).map((id) => labels.get(Number(id)));
  };
  t.strictSame(await ask(bert, []), []);
  t.strictSame(await ask(bert, [{ operator: "channel", operand: "kitchen" }]), [], "public, but not received");
  t.strictSame(await ask(bert, [{ operator: "channels", operand: "public" }]), []);
  t.strictSame(await ask(guest, []), ["bread", "rye", "cake"]);
  t.strictSame(await ask(anna, [{ operator: "topic", operand: "baking" }]), ["bread", "wine", "cake"]);
});

t.test("[spec 4.9] a narrow is a list of terms with operator and operand, joined as in GET /messages", async (t) => {
  const ids = [...labels.keys()];
  const narrows: Params[][] = [
    [],
    [{ operator: "channel", operand: "kitchen" }],
    [{ operator: "topic", operand: "BAKING" }],
    [{ operator: "sender", operand: owner.userId }],
    [{ operator: "is", operand: "dm" }],
    [{ operator: "dm", operand: [owner.userId] }],
    [{ operator: "has", operand: "link" }],
    [{ operator: "id", operand: bread }],
    [search("bread")],
    [search("bread"), { operator: "topic", operand: "baking" }],
    [{ operator: "topic", operand: "baking", negated: true }],
    [{ operator: "is", operand: "dm", negated: true }, search("bread")],
    [
      { operator: "id", operand: bread },
      { operator: "is", operand: "dm" },
    ],
  ];
  for (const narrow of narrows) {
    const { body } = await anna.get("/messages/matches_narrow", { msg_ids: ids, narrow });
    const listed = (await fetch(anna, narrow)).body.messages.map(({ id }: { id: number }) => id);
    const title = JSON.stringify(narrow);
    t.strictSame(
      Object.keys(body.messages)
        .map(Number)
        .sort((a, b) => a - b),
      listed.filter((id: number) => ids.includes(id)),
      title,
    );
    for (const match of Object.values<Params>(body.messages)) {
      t.strictSame(Object.keys(match).sort(), ["match_content", "match_subject"], title);
      t.ok(
        Object.values(match).every((value) => typeof value === "string"),
        title,
      );
    }
  }
});

t.test("[spec 4.9] only msg_ids are checked, each once, and an empty list matches nothing", async (t) => {
  const keys = async (msg_ids: readonly number[]) =>
    Object.keys((await anna.get("/messages/matches_narrow", { msg_ids, narrow: [search("bread")] })).body.messages);
  t.strictSame(await keys([]), []);
  t.strictSame(await keys([bread, bread]), [String(bread)]);
  t.strictSame(await keys([direct.body.id]), [String(direct.body.id)], "not the other matches");
});

t.test("[spec 4.9] a term without operator or operand is rejected", async (t) => {
  for (const narrow of [[{ operand: "kitchen" }], [{ operator: "channel" }], [{}], ["x"]]) {
    const answer = await anna.get("/messages/matches_narrow", { msg_ids: [bread], narrow });
    t.match(answer, { status: 400, body: { result: "error", messages: undefined } }, JSON.stringify(narrow));
  }
});

t.test("[spec 4.9] a negated term excludes exactly what it would find", async (t) => {
  const ids = [...labels.keys()];
  const found = async (negated: boolean) => {
    const narrow = [{ operator: "topic", operand: "baking", negated }, search("bread")];
    return Object.keys((await anna.get("/messages/matches_narrow", { msg_ids: ids, narrow })).body.messages);
  };
  const [within, without] = [await found(false), await found(true)];
  t.ok(within.includes(String(bread)) && !without.includes(String(bread)) && without.length > 0);
  const { body } = await anna.get("/messages/matches_narrow", { msg_ids: ids, narrow: [search("bread")] });
  t.strictSame([...within, ...without].sort(), Object.keys(body.messages).sort());
});

t.test("[spec 4.9] matches_narrow rejects invalid parameters", async (t) => {
  const path = "/messages/matches_narrow";
  const cases: [Params, ReturnType<typeof refusal>][] = [
    [{ narrow: [] }, refusal("Missing 'msg_ids' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "msg_ids" })],
    [{ msg_ids: [1] }, refusal("Missing 'narrow' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "narrow" })],
    [{ msg_ids: ["x"], narrow: [] }, refusal("msg_ids[0] is not an integer")],
    [{ msg_ids: 1, narrow: [] }, refusal("msg_ids is not a list")],
    [{ msg_ids: [1], narrow: [{ operator: "x", operand: "y" }] }, badNarrow("unknown operator x")],
  ];
  for (const [params, expected] of cases) await expects(t, anna.get(path, params), expected);
  t.equal((await anna.anonymous().get(path, { msg_ids: [1], narrow: [] })).status, 401);
});

function badNarrow(desc: string) {
  return refusal(`Invalid narrow operator: ${desc}`, "BAD_NARROW", 400, { desc });
}

t.test("[behaviour 5.3] an empty search is rejected", async (t) => {
  for (const operand of ["", "  "]) {
    await expects(t, fetch(anna, [search(operand)]), badNarrow("search operand cannot be blank"));
  }
});

t.test("[S3] at most 5,000 messages are matched at once", async (t) => {
  const socket = new Socket(server.url, { as: anna });
  await socket.opened();
  const ask = (count: number) => {
    const params = { msg_ids: Array.from({ length: count }, (_, index) => index), narrow: [] };
    return socket.ask({ type: "call", method: "GET", path: "/messages/matches_narrow", params });
  };
  t.match(await ask(limits.messages_per_fetch_max), { result: "success" });
  t.match(await ask(limits.messages_per_fetch_max + 1), {
    result: "error",
    msg: `Too many messages requested (maximum ${limits.messages_per_fetch_max}).`,
  });
  socket.close();
});

t.test("edited, renamed and deleted messages are found in their present form only", async (t) => {
  const id = await owner.say("kitchen", "soups", "minestrone");
  const other = await owner.say("kitchen", "soups", "gazpacho");
  labels.set(id, "soup").set(other, "other");
  t.strictSame(await found(anna, [search("minestrone")]), ["soup"]);
  await owner.patch(`/messages/${id}`, { content: "ribollita" });
  t.strictSame(await found(anna, [search("minestrone")]), []);
  t.strictSame(await found(anna, [search("ribollita soups")]), ["soup"]);
  const rename = { topic: "starters", propagate_mode: "change_all", send_notification_to_new_thread: false };
  await owner.patch(`/messages/${id}`, rename);
  t.strictSame(await found(anna, [search("soups")]), []);
  t.strictSame(await found(anna, [search("starters")]), ["soup", "other"]);
  t.strictSame(await found(anna, [search("starters gazpacho")]), ["other"]);
  await owner.delete(`/messages/${other}`);
  t.strictSame(await found(anna, [search("gazpacho")]), []);
});

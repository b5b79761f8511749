/**
 * Linkifiers (public API: /realm/linkifiers, /realm/filters): creation, order, use in messages and topics; POST
 * /messages/render.
 */
import t from "tap";
import { LinkifierFinder } from "../../domain/markdown/linkifiers.ts";
import { limits } from "../../schemas/limits.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { owner, administrator, moderator, guest } = await startServerWithUsers(t, [
  "administrator",
  "moderator",
  "guest",
]);

const issues = { pattern: "#(?P<id>[0-9]+)", url_template: "https://forge.example/issues/{id}" };
const notAdministrator = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
const listed = async (client = owner) => (await client.get("/realm/linkifiers")).body.linkifiers;

async function clear() {
  for (const { id } of await listed()) await owner.delete(`/realm/filters/${id}`);
}

t.test("administrators create linkifiers, and everybody sees them in their order", async (t) => {
  await expects(t, guest.get("/realm/linkifiers"), success({ linkifiers: [] }));
  const made = [
    (await owner.post("/realm/filters", issues)).body.id,
    (
      await administrator.post("/realm/filters", {
        pattern: " PR(?P<n>\\d+) ",
        url_template: " https://f.example/{n} ",
      })
    ).body.id,
  ];
  const [first, second] = [
    { id: made[0], ...issues },
    { id: made[1], pattern: "PR(?P<n>\\d+)", url_template: "https://f.example/{n}" },
  ];
  t.strictSame(await listed(guest), [first, second]);
  await expects(t, owner.patch("/realm/linkifiers", { ordered_linkifier_ids: [...made].reverse() }), success());
  t.strictSame(await listed(), [second, first]);
  const changed = { pattern: "PULL(?P<n>\\d+)", url_template: "https://f.example/pull/{n}" };
  await expects(t, owner.patch(`/realm/filters/${made[1]}`, changed), success());
  t.strictSame(await listed(), [{ id: made[1], ...changed }, first]);
  await expects(t, owner.delete(`/realm/filters/${made[1]}`), success());
  t.strictSame(await listed(), [first]);
  await clear();
});

t.test("only administrators change linkifiers", async (t) => {
  const { id } = (await owner.post("/realm/filters", issues)).body;
  for (const by of [moderator, guest]) {
    await expects(t, by.post("/realm/filters", issues), notAdministrator);
    await expects(t, by.patch(`/realm/filters/${id}`, issues), notAdministrator);
    await expects(t, by.delete(`/realm/filters/${id}`), notAdministrator);
    await expects(t, by.patch("/realm/linkifiers", { ordered_linkifier_ids: [id] }), notAdministrator);
  }
  t.strictSame(await listed(), [{ id, ...issues }]);
  await clear();
});

t.test("invalid patterns and templates are rejected, and nothing is written", async (t) => {
  const { id } = (await owner.post("/realm/filters", issues)).body;
  const template = "https://f.example/{id}";
  const webTemplate = "The URL template must begin with https:// or http://.";
  const cases: [Params, string][] = [
    [{ pattern: "", url_template: template }, "This field cannot be blank."],
    [{ pattern: "(?P<id>a", url_template: template }, "Bad regular expression: (?P<id>a"],
    ...[
      "(?P<id>(?:(?:x{1,99}){1,99}){1,99})y",
      "(?P<id>x{1000})(?:y{1000}){2}",
      "(?P<id>a)\\1",
      "(?P<id>a(?=b))",
      "(?P<id>a(?!b))",
      "(?<=b)(?P<id>a)",
    ].map((pattern): [Params, string] => [{ pattern, url_template: template }, `Bad regular expression: ${pattern}`]),
    [{ pattern: "x(?P<id>\\d+)", url_template: "https://f.example/{id" }, "Invalid URL template."],
    ...[
      "javascript:alert({id})",
      "data:text/html,{id}",
      "{+id}",
      "//f.example/{id}",
      "f.example/{id}",
      "https:{id}",
    ].map((bad): [Params, string] => [{ pattern: "x(?P<id>\\d+)", url_template: bad }, webTemplate]),
    [
      { pattern: "x(?P<id>\\d+)", url_template: "https://f.example/" },
      "Group 'id' in linkifier pattern is not present in URL template.",
    ],
    [
      { pattern: "x(?P<id>\\d+)", url_template: "https://f.example/{id}{?more}" },
      "Group 'more' in URL template is not present in linkifier pattern.",
    ],
    [issues, "Realm filter with this Realm and Pattern already exists."],
    [
      { pattern: "y(?P<id>\\d+)", url_template: `https://f.example/{id}${"a".repeat(limits.url_code_points_max)}` },
      "Invalid URL template.",
    ],
  ];
  for (const [params, message] of cases) await expects(t, owner.post("/realm/filters", params), message);
  await expects(t, owner.patch("/realm/filters/999", issues), "Linkifier not found.");
  await expects(t, owner.delete("/realm/filters/999"), "Linkifier not found.");
  const wrongOrder = refusal("The ordered list must enumerate all existing linkifiers exactly once");
  for (const order of [[], [id, id], [id, 999], [999]]) {
    const answer = await owner.patch("/realm/linkifiers", { ordered_linkifier_ids: order });
    t.strictSame(outcome(answer), wrongOrder, String(order));
  }
  t.strictSame(await listed(), [{ id, ...issues }]);
  await clear();
});

t.test("[S3] patterns that take a backtracking engine exponential time are matched in linear time", async (t) => {
  const hostile = ["x*x*x*x*x*x*x*x*(?P<id>y)", "(?P<id>(x+x+)+y)", "(?P<id>(?:x|xx)*y)"];
  for (const pattern of hostile) {
    const { status } = await owner.post("/realm/filters", { pattern, url_template: "https://f.example/{id}" });
    t.equal(status, 200, pattern);
  }
  const line = `${"x".repeat(989)} y`;
  const lines = Array.from({ length: 9 }, () => line).join("\n");
  // A backtracking engine needs longer than the age of the universe for the second pattern: there would be no answer.
  await owner.say("general", "hostile", lines);
  const id = await owner.say("general", "hostile", "xxxxy");
  const { content } = (await owner.get(`/messages/${id}`)).body.message;
  t.equal(content, '<p><a href="https://f.example/y">xxxxy</a></p>');
  await clear();
});

t.test("[M5] a stored pattern that this version cannot compile is listed and matches nothing", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir });
  const row = { id: 7, pattern: "x(?P<id>(?:\\d{1,99}){1,99})(?=y)", urlTemplate: "https://f.example/{id}", order: 1 };
  first.write("linkifiers", row.id, row);
  await first.stop();
  const second = await startTestServer(t, { dataDir });
  t.strictSame(await listed(second.owner), [{ id: 7, pattern: row.pattern, url_template: row.urlTemplate }]);
  t.equal((await second.owner.post("/realm/filters", issues)).status, 200);
  const id = await second.owner.say("general", "x", "x12y #3");
  const { content } = (await second.owner.get(`/messages/${id}`)).body.message;
  t.equal(content, '<p>x12y <a href="https://forge.example/issues/3">#3</a></p>');
});

t.test("[S3] linkifiers_max: one more is rejected", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const rows = Array.from({ length: limits.linkifiers_max - 1 }, (_, index) => ({
    id: 10_000 + index,
    pattern: `bound${index}-(?P<id>\\d+)`,
    urlTemplate: "https://f.example/{id}",
    order: 10_000 + index,
  }));
  for (const row of rows) server.write("linkifiers", row.id, row);
  t.equal((await owner.post("/realm/filters", issues)).status, 200);
  const over = { pattern: "over(?P<id>\\d+)", url_template: "https://f.example/{id}" };
  await expects(t, owner.post("/realm/filters", over), "Too many linkifiers");
  const all = (await listed(owner)).map(({ id }: { id: number }) => id);
  await expects(t, owner.patch("/realm/linkifiers", { ordered_linkifier_ids: all.reverse() }), success());
  await clear();
});

t.test("linkifiers apply to messages and topics written afterwards, not to earlier ones", async (t) => {
  const before = await owner.say("general", "see #7", "fixes #7");
  await owner.post("/realm/filters", issues);
  const after = await owner.say("general", "see #7", "fixes #7 and x#8");
  const read = async (id: number) => (await owner.get(`/messages/${id}`)).body.message;
  t.equal((await read(before)).content, "<p>fixes #7</p>");
  t.equal((await read(after)).content, '<p>fixes <a href="https://forge.example/issues/7">#7</a> and x#8</p>');
  t.strictSame((await read(after)).topic_links, [{ text: "#7", url: "https://forge.example/issues/7" }]);
  await clear();
});

t.test("POST /messages/render renders a text like a message of the caller and sends nothing", async (t) => {
  await owner.post("/realm/filters", issues);
  const heard = await owner.watchChanges();
  const answer = await guest.post("/messages/render", { content: "**see** #1 @**owner**  " });
  t.strictSame(
    outcome(answer),
    success({
      rendered:
        '<p><strong>see</strong> <a href="https://forge.example/issues/1">#1</a> <span class="user-mention" data-user-id="2">@Owner</span></p>',
    }),
  );
  await expects(t, guest.post("/messages/render", { content: " " }), "Message must not be empty");
  t.strictSame(await heard(), []);
  await clear();
});

t.test("[behaviour 4.3] only clients that expand URL templates receive linkifiers", async (t) => {
  const able = { client_capabilities: { linkifier_url_template: true }, event_types: ["realm_linkifiers"] };
  const unable = { event_types: ["realm_linkifiers"] };
  const [knows, does] = [await guest.register(able), await guest.register(unable)];
  const { id } = (await owner.post("/realm/filters", issues)).body;
  await owner.patch(`/realm/filters/${id}`, issues);
  const eventsOf = async (queue: { queue_id: string }) =>
    (await guest.get("/events", { queue_id: queue.queue_id, last_event_id: -1, dont_block: true })).body.events;
  const received = [{ id, ...issues }];
  t.match(await eventsOf(knows), [{ type: "realm_linkifiers", realm_linkifiers: received }]);
  t.equal((await eventsOf(knows)).length, 1, "[behaviour 3.3] no event without a change");
  t.strictSame(await eventsOf(does), []);
  t.strictSame((await guest.register(able))["realm_linkifiers"], received);
  t.strictSame((await guest.register(unable))["realm_linkifiers"], []);
  await clear();
});

t.test("[D260] administrators try a linkifier in a text, and nothing is saved", async (t) => {
  const preview = (more: Params, client = administrator) =>
    client.post("/realm/linkifiers/preview", { ...issues, text: "#1, and\n#22", ...more });
  const link = (id: number) => ({ text: `#${id}`, url: `https://forge.example/issues/${id}` });
  await owner.post("/realm/filters", issues);
  const before = await listed();
  await expects(t, preview({}), success({ links: [link(1), link(22)] }), "also one that exists already");
  await expects(t, preview({ text: "nothing" }), success({ links: [] }));
  t.match((await preview({ pattern: "#(?P<id>[0-9]+" })).body, { msg: "Bad regular expression: #(?P<id>[0-9]+" });
  t.match((await preview({ url_template: "https://forge.example/{no}" })).body, { code: "BAD_REQUEST" });
  const most = limits.linkifier_preview_code_points_max;
  t.equal((await preview({ text: "x".repeat(most) })).status, 200, "linkifier_preview_code_points_max");
  t.equal((await preview({ text: "x".repeat(most + 1) })).status, 400);
  for (const client of [moderator, guest]) await expects(t, preview({}, client), notAdministrator);
  t.strictSame(await listed(), before);
  await clear();
});

t.test("[D277] a stored linkifier with another scheme than http and https makes no link", async (t) => {
  const found = (urlTemplate: string) =>
    new LinkifierFinder([{ pattern: "run(?P<id>\\d+)", urlTemplate }]).find("run12");
  t.equal(found("https://f.example/{id}").length, 1);
  for (const template of ["mailto:{id}@f.example", "javascript:alert({id})", "/{id}"]) {
    t.strictSame(found(template), [], template);
  }
});

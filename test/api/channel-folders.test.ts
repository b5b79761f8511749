/**
 * Channel folders: create, list, change, archive, reorder (spec 2.10, 4.5, 7; behaviour 2.5; OpenAPI /channel_folders).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer } from "../support/server.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, member, guest } = await startServerWithUsers(t, ["member", "guest"]);

const nameMax = limits.channel_folder_name_code_points_max;
const descriptionMax = limits.channel_folder_description_code_points_max;
const wanted = { event_types: ["channel_folder", "message"] };
const invalidId = refusal("Invalid channel folder ID");
const taken = refusal("Channel folder name already in use");
const notExact = refusal("Invalid order mapping");
const notAdministrator = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");

let folders = 0;
function unusedName(): string {
  folders++;
  return `folder ${folders}`;
}

async function create(params: Params = {}): Promise<number> {
  const made = await owner.post("/channel_folders/create", { name: unusedName(), description: "", ...params });
  if (made.status !== 200) throw new Error(`no folder: ${JSON.stringify(made.body)}`);
  return made.body.channel_folder_id;
}

async function listed(params: Params = { include_archived: true }, client = owner): Promise<Event[]> {
  return (await client.get("/channel_folders", params)).body.channel_folders;
}

async function folderOf(id: number): Promise<Event> {
  return (await listed()).find((folder) => folder.id === id);
}

async function stateOf(client = owner): Promise<Event[]> {
  return (await client.register({ fetch_event_types: ["channel_folders"] }))["channel_folders"] as Event[];
}

t.test("[spec 4.5] a new folder is in the list, in the state and an event to all, guests included", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const outsider = await clocked.user("outsider", roles.guest);
  const followers = [await clocked.owner.follow(wanted), await outsider.follow(wanted)];
  clock.advance(5500);
  const at = Math.floor(clock.now() / 1000);
  const first = await clocked.owner.post("/channel_folders/create", {
    name: "  Market ",
    description: " All of **it**\nand @_**outsider 0** ",
  });
  t.strictSame(outcome(first), success({ channel_folder_id: 1 }));
  const second = await clocked.owner.post("/channel_folders/create", { name: "Empty", description: "" });
  t.strictSame(outcome(second), success({ channel_folder_id: 2 }));
  const mention = `<span class="user-mention silent" data-user-id="${outsider.userId}">outsider 0</span>`;
  const common = { creator_id: clocked.owner.userId, date_created: at, is_archived: false };
  const all = [
    {
      id: 1,
      name: "Market",
      description: "All of **it**\nand @_**outsider 0**",
      rendered_description: `<p>All of <strong>it</strong><br>\nand ${mention}</p>`,
      ...common,
      order: 0,
    },
    { id: 2, name: "Empty", description: "", rendered_description: "", ...common, order: 1 },
  ];
  await expects(t, outsider.get("/channel_folders"), success({ channel_folders: all }));
  t.strictSame(await stateOf(outsider), all);
  for (const follower of followers) {
    await follower.settled();
    t.strictSame(
      follower.ofType("channel_folder"),
      all.map((folder) => ({ type: "channel_folder", op: "add", channel_folder: folder })),
    );
  }
});

t.test("[spec 7] only administrators change folders, for every role", async (t) => {
  const id = await create();
  const bot = await server.bot("helper", owner);
  const moderator = await server.user("moderator", roles.moderator);
  const administrator = await server.user("administrator", roles.administrator);
  const people = { guest, member, bot, moderator, administrator, owner };
  for (const [role, person] of Object.entries(people)) {
    const before = await listed();
    const requests = [
      // Checked before the parameters, so that the answer reveals nothing about them.
      () => person.post("/channel_folders/create", { name: role }),
      () => person.post("/channel_folders/create", { name: role, description: "" }),
      () => person.patch(`/channel_folders/${id}`, { description: role }),
      () => person.patch("/channel_folders/999999", { is_archived: true }),
      () => person.patch("/channel_folders", { order: [] }),
    ];
    const answers = [];
    for (const request of requests) answers.push(outcome(await request()));
    const mayNot = person !== owner && person !== administrator;
    if (mayNot) {
      t.strictSame(
        answers,
        requests.map(() => notAdministrator),
        role,
      );
      t.strictSame(await listed(), before, role);
    } else {
      const found = answers.map(({ status }) => status);
      t.match(found, [400, 200, 200, 400, 400], role);
      t.strictSame(answers[4], notExact);
    }
    t.equal((await person.get("/channel_folders")).status, 200, role);
  }
  t.equal((await owner.anonymous().get("/channel_folders")).status, 401);
});

t.test("[behaviour 2.5] invalid names and descriptions are rejected on creation and change", async (t) => {
  const id = await create();
  await create({ name: "Taken Ärger" });
  const archived = await create({ name: "Put away" });
  await owner.patch(`/channel_folders/${archived}`, { is_archived: true });
  const changes = await owner.watchChanges();
  const before = await listed();
  const cases: readonly (readonly [Params, object])[] = [
    [{ name: "" }, refusal("Channel folder name can't be empty.")],
    [{ name: " \n " }, refusal("Channel folder name can't be empty.")],
    [{ name: "a\u0000b" }, refusal("Invalid character in channel folder name, at position 2.")],
    [{ name: "🙂\u{1fffe}" }, refusal("Invalid character in channel folder name, at position 2.")],
    [{ name: "n".repeat(nameMax + 1) }, refusal(`name is too long (limit: ${nameMax} characters)`)],
    [{ name: "🙂".repeat(nameMax + 1) }, refusal(`name is too long (limit: ${nameMax} characters)`)],
    [
      { description: "d".repeat(descriptionMax + 1) },
      refusal(`description is too long (limit: ${descriptionMax} characters)`),
    ],
    [{ name: "Taken Ärger" }, taken],
    [{ name: " taken äRGER " }, taken],
    [{ name: "PUT AWAY" }, taken],
  ];
  for (const [params, expected] of cases) {
    const whole = { name: unusedName(), description: "", ...params };
    await expects(t, owner.post("/channel_folders/create", whole), expected);
    await expects(t, owner.patch(`/channel_folders/${id}`, params), expected);
  }
  for (const name of ["name", "description"]) {
    const whole = { name: unusedName(), description: "", [name]: undefined };
    const expected = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, owner.post("/channel_folders/create", whole), expected);
  }
  await expects(t, owner.patch("/channel_folders/999999", { name: "x" }), invalidId);
  t.equal((await owner.patch("/channel_folders/abc", { name: "x" })).status, 404);
  const notBoolean = await owner.patch(`/channel_folders/${id}`, { is_archived: "maybe" });
  t.strictSame(outcome(notBoolean), refusal("is_archived is not valid JSON"));
  t.strictSame(await listed(), before);
  t.strictSame(await changes(), []);
});

t.test("[S3, behaviour 1.8] name and description are accepted at their limits, in trimmed code points", async (t) => {
  const longest = { name: "🙂".repeat(nameMax), description: "🙂".repeat(descriptionMax) };
  const id = await create({ name: ` ${longest.name} `, description: `\n${longest.description} ` });
  t.match(await folderOf(id), longest);
});

t.test("only different values change, with one event", async (t) => {
  const id = await create({ name: "Before", description: "old" });
  const follower = await member.follow(wanted);
  const created = await folderOf(id);
  const steps: readonly (readonly [Params, object | null])[] = [
    [{ name: " After " }, { name: "After" }],
    [{ name: "AFTER" }, { name: "AFTER" }],
    [{ description: "*new*" }, { description: "*new*", rendered_description: "<p><em>new</em></p>" }],
    [{ description: "" }, { description: "", rendered_description: "" }],
    [{ is_archived: true }, { is_archived: true }],
    [{ is_archived: true, name: "AFTER" }, null],
    [
      { is_archived: false, name: "Both", description: "x" },
      { name: "Both", description: "x", rendered_description: "<p>x</p>", is_archived: false },
    ],
    [{}, null],
    [{ description: " x " }, null],
  ];
  let expected = created;
  for (const [params, data] of steps) {
    await expects(t, owner.patch(`/channel_folders/${id}`, params), success());
    expected = { ...expected, ...data };
    t.strictSame(await folderOf(id), expected);
  }
  await follower.settled();
  t.strictSame(
    follower.ofType("channel_folder"),
    steps.flatMap(([, data]) =>
      data === null ? [] : [{ type: "channel_folder", op: "update", channel_folder_id: id, data }],
    ),
  );
});

t.test("archived folders are listed on request, and always in the state", async (t) => {
  const [kept, gone] = [await create(), await create()];
  await owner.patch(`/channel_folders/${gone}`, { is_archived: true });
  const ids = (all: readonly Event[]) => all.map(({ id }) => id).filter((id) => id === kept || id === gone);
  t.strictSame(ids(await listed({})), [kept]);
  t.strictSame(ids(await listed({ include_archived: false })), [kept]);
  t.strictSame(ids(await listed({ include_archived: true })), [kept, gone]);
  t.strictSame(ids(await stateOf(member)), [kept, gone]);
});

t.test("[D111] an archived folder keeps its channels", async (t) => {
  const id = await create();
  const channelId = await owner.createChannel("in a folder", [owner]);
  const channel = server.realm.view.channels.get(channelId);
  if (channel === undefined) throw new Error("no channel");
  server.write("channels", channelId, { ...channel, folderId: id });
  await expects(t, owner.patch(`/channel_folders/${id}`, { is_archived: true }), success());
  t.match(await owner.channel(channelId), { folder_id: id });
});

t.test("the order must name every folder once, archived ones included", async (t) => {
  await create();
  const [archived] = [await create(), await create()];
  await owner.patch(`/channel_folders/${archived}`, { is_archived: true });
  const follower = await guest.follow(wanted);
  const ids = (await listed()).map(({ id }) => id as number);
  const turned = [...ids].reverse();
  const wrong = [
    [],
    turned.slice(1),
    turned.filter((id) => id !== archived),
    [...turned, 999_999],
    [...turned.slice(1), 999_999],
    [...turned, turned[0]],
    [...turned.slice(1), turned[1]],
  ];
  for (const order of wrong) await expects(t, owner.patch("/channel_folders", { order }), notExact);
  const missing = refusal("Missing 'order' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "order" });
  await expects(t, owner.patch("/channel_folders", {}), missing);
  await expects(t, owner.patch("/channel_folders", { order: 7 }), "order is not a list");
  const found = (await listed()).map(({ id }) => id);
  t.strictSame(found, ids);
  // The present order: nothing happens.
  await expects(t, owner.patch("/channel_folders", { order: ids }), success());
  await expects(t, owner.patch("/channel_folders", { order: turned }), success());
  const after = await listed();
  const seen = after.map(({ id, order }) => [id, order]);
  t.strictSame(
    seen,
    turned.map((id, index) => [id, index]),
  );
  t.strictSame(await stateOf(guest), after);
  await follower.settled();
  t.strictSame(follower.ofType("channel_folder"), [{ type: "channel_folder", op: "reorder", order: turned }]);
  const last = await create();
  t.strictSame(
    (await listed()).at(-1),
    { ...(await folderOf(last)), order: turned.length },
    "a new folder is the last one",
  );
});

t.test("[S3] channel_folders_per_realm_max: one more is rejected", async (t) => {
  const own = await startTestServer(t);
  const countMax = limits.channel_folders_per_realm_max;
  const row = {
    description: "",
    renderedDescription: "",
    creatorId: null,
    createdAt: 0,
    isArchived: false,
  };
  const rows = Array.from({ length: countMax - 1 }, (_, index) => {
    const id = 1000 + index;
    return [id, { ...row, id, name: `n ${id}`, order: index }] as const;
  });
  own.writeMany("channelFolders", rows);
  t.equal((await own.owner.post("/channel_folders/create", { name: "last", description: "" })).status, 200);
  await expects(
    t,
    own.owner.post("/channel_folders/create", { name: "one more", description: "" }),
    "Too many channel folders",
  );
  t.equal((await own.owner.get("/channel_folders")).body.channel_folders.length, countMax);
});

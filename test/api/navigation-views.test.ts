/** Navigation views: GET, POST, PATCH and DELETE /navigation_views (spec 2.10, 4.17, 7; D13; behaviour 2.17). */
import t from "tap";
import { nameHash } from "../../domain/personal-lists.ts";
import { limits } from "../../schemas/limits.ts";
import { builtInFragments } from "../../schemas/navigation-views.ts";
import { type Client, type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { newUsers, oneOfEachKind } from "../support/server-with-users.ts";

const server = await startTestServer(t);
const member = await server.user("member");

const alerted = { fragment: "narrow/is/alerted", is_pinned: true, name: "Alert words" };
const wanted = { event_types: ["navigation_view", "message"] };
const noName = refusal("Built-in views cannot have a custom name");
const exists = refusal("Navigation view already exists.");
const missing = refusal("Navigation view does not exist.", "NOT_FOUND", 404);

const newUser = newUsers(server);

async function viewsOf(client: Client): Promise<Event[]> {
  return (await client.get("/navigation_views")).body.navigation_views;
}

function pathOf(fragment: string): string {
  return `/navigation_views/${fragment.split("/").map(encodeURIComponent).join("/")}`;
}

t.test("a new view is in the list, in the state and in an event to its owner alone", async (t) => {
  const person = await newUser();
  const [own, other] = [await person.follow(wanted), await member.follow(wanted)];
  await expects(t, person.get("/navigation_views"), success({ navigation_views: [] }));
  const padded = { fragment: " narrow/is/alerted ", is_pinned: true, name: " Alert words " };
  await expects(t, person.post("/navigation_views", padded), success());
  await expects(t, person.post("/navigation_views", { fragment: "inbox", is_pinned: false }), success());
  const inbox = { fragment: "inbox", is_pinned: false, name: null };
  await expects(t, person.get("/navigation_views"), success({ navigation_views: [inbox, alerted] }));
  const state = await person.register({ fetch_event_types: ["navigation_views"] });
  t.strictSame(state["navigation_views"], [inbox, alerted]);
  t.strictSame(await viewsOf(member), [], "other users do not see them");
  await own.settled();
  const added = (view: object) => ({ type: "navigation_view", op: "add", navigation_view: view });
  t.strictSame(own.ofType("navigation_view"), [added(alerted), added(inbox)]);
  await other.settled();
  t.strictSame(other.ofType("navigation_view"), []);
});

t.test("[behaviour 2.17] each invalid view is rejected with its error message, and nothing is written", async (t) => {
  const person = await newUser();
  await person.post("/navigation_views", alerted);
  await person.post("/navigation_views", { fragment: "recent", is_pinned: true });
  const changes = await person.watchChanges();
  const fresh = { fragment: "narrow/is/dm", is_pinned: true, name: "Direct" };
  const bytesMax = limits.navigation_view_fragment_bytes_max;
  const nameMax = limits.navigation_view_name_code_points_max;
  const tooLong = refusal(`fragment is too long (limit: ${bytesMax} bytes)`);
  const needsName = refusal("Custom views must have a valid name.");
  const cases: readonly (readonly [Params, object])[] = [
    [{ ...fresh, fragment: "" }, refusal("fragment cannot be blank")],
    [{ ...fresh, fragment: "  " }, refusal("fragment cannot be blank")],
    [{ ...fresh, fragment: "f".repeat(bytesMax + 1) }, tooLong],
    [{ ...fresh, fragment: "ß".repeat(bytesMax / 2 + 1) }, tooLong],
    [{ ...fresh, name: undefined }, needsName],
    [{ ...fresh, name: " " }, refusal("name cannot be blank")],
    [{ ...fresh, name: "n".repeat(nameMax + 1) }, refusal(`name is too long (limit: ${nameMax} characters)`)],
    [{ ...fresh, is_pinned: "yes" }, refusal("is_pinned is not valid JSON")],
    [{ ...fresh, is_pinned: 1 }, refusal("is_pinned is not a boolean")],
    [{ ...fresh, fragment: alerted.fragment }, exists],
    [{ ...fresh, name: alerted.name }, exists],
    [{ fragment: "recent", is_pinned: false }, exists],
    ...[...builtInFragments].map((fragment) => [{ ...fresh, fragment }, noName] as const),
  ];
  for (const [params, expected] of cases) {
    await expects(t, person.post("/navigation_views", params), expected, JSON.stringify(params).slice(0, 90));
  }
  for (const name of ["fragment", "is_pinned"]) {
    const expected = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, person.post("/navigation_views", { ...fresh, [name]: undefined }), expected);
  }
  t.strictSame(await changes(), []);
});

t.test("[S3] fragment and name are accepted at their limits; the longest fragment fits into a path", async (t) => {
  const person = await newUser();
  const fragments = [
    "f".repeat(limits.navigation_view_fragment_bytes_max),
    "ß".repeat(limits.navigation_view_fragment_bytes_max / 2),
  ];
  for (const [index, fragment] of fragments.entries()) {
    const name = `${index}${"🙂".repeat(limits.navigation_view_name_code_points_max - 1)}`;
    await expects(t, person.post("/navigation_views", { fragment, is_pinned: true, name }), success());
    await expects(t, person.patch(pathOf(fragment), { is_pinned: false }), success());
    t.strictSame(await viewsOf(person), [{ fragment, is_pinned: false, name }]);
    await expects(t, person.delete(pathOf(fragment)), success());
  }
});

t.test("[S3] navigation_views_per_user_max: one more is rejected, by POST and by PATCH", async (t) => {
  const person = await newUser();
  const countMax = limits.navigation_views_per_user_max;
  const rows = Array.from({ length: countMax - 1 }, (_, index) => {
    const fragment = `narrow/${index}`;
    const row = { userId: person.userId, fragment, isPinned: true, name: `view ${index}` };
    return [[person.userId, nameHash(fragment)], row] as const;
  });
  server.writeMany("navigationViews", rows);
  await expects(t, person.post("/navigation_views", alerted), success());
  t.equal((await viewsOf(person)).length, countMax);
  const tooMany = refusal("Too many navigation views");
  await expects(t, person.post("/navigation_views", { fragment: "x", is_pinned: true, name: "x" }), tooMany);
  await expects(t, person.patch("/navigation_views/inbox", { is_pinned: true }), tooMany);
  await expects(t, person.patch(pathOf(alerted.fragment), { is_pinned: false }), success());
});

t.test("[spec 4.17] PATCH changes only the parameters sent, and so does the event, even none", async (t) => {
  const person = await newUser();
  await person.post("/navigation_views", alerted);
  const follower = await person.follow(wanted);
  const path = pathOf(alerted.fragment);
  const steps: readonly (readonly [Params, object, object])[] = [
    [{ is_pinned: false }, { is_pinned: false }, { ...alerted, is_pinned: false }],
    [{ name: " Watched " }, { name: "Watched" }, { ...alerted, is_pinned: false, name: "Watched" }],
    [
      { is_pinned: true, name: "Both" },
      { is_pinned: true, name: "Both" },
      { ...alerted, name: "Both" },
    ],
    [{}, {}, { ...alerted, name: "Both" }],
    [{ is_pinned: true }, { is_pinned: true }, { ...alerted, name: "Both" }],
  ];
  for (const [params, data, expected] of steps) {
    await expects(t, person.patch(path, params), success(), JSON.stringify(params));
    t.strictSame(await viewsOf(person), [expected]);
    await follower.settled();
    const received = { type: "navigation_view", op: "update", fragment: alerted.fragment, data };
    t.strictSame(follower.ofType("navigation_view").at(-1), received);
  }
  t.equal(follower.ofType("navigation_view").length, steps.length);
});

t.test("[spec 7] each invalid PATCH and DELETE is rejected with its error message, and nothing changes", async (t) => {
  const person = await newUser();
  await person.post("/navigation_views", alerted);
  await person.post("/navigation_views", { fragment: "narrow/is/dm", is_pinned: true, name: "Direct" });
  const path = pathOf(alerted.fragment);
  const changes = await person.watchChanges();
  const nameMax = limits.navigation_view_name_code_points_max;
  const cases: readonly (readonly [string, Params, object])[] = [
    ["/navigation_views/narrow/is", { is_pinned: true }, missing],
    ["/navigation_views/narrow/is/alerted/more", {}, missing],
    ["/navigation_views/Inbox", { is_pinned: true }, missing],
    ["/navigation_views/%20", { is_pinned: true }, missing],
    [path, { name: "" }, refusal("name cannot be blank")],
    [path, { name: "n".repeat(nameMax + 1) }, refusal(`name is too long (limit: ${nameMax} characters)`)],
    [path, { name: "Direct" }, exists],
    [path, { name: alerted.name }, exists],
    [path, { is_pinned: "no" }, refusal("is_pinned is not valid JSON")],
    ...[...builtInFragments].map((fragment) => [pathOf(fragment), { name: "x", is_pinned: true }, noName] as const),
  ];
  for (const [where, params, expected] of cases) {
    await expects(t, person.patch(where, params), expected, `${where} ${JSON.stringify(params)}`);
  }
  for (const where of ["/navigation_views/narrow/is", "/navigation_views/inbox", `${path}/`]) {
    await expects(t, person.delete(where), missing, where);
  }
  await expects(t, member.patch(path, { is_pinned: false }), missing, "another user's view does not exist");
  await expects(t, member.delete(path), missing);
  t.equal((await person.patch("/navigation_views/", {})).status, 404);
  t.strictSame(await changes(), []);
});

t.test("[D13] a built-in view without a row can be pinned or hidden, and its owner receives the new row", async (t) => {
  const person = await newUser();
  const follower = await person.follow(wanted);
  const expected: Event[] = [];
  for (const fragment of [...builtInFragments].sort()) {
    await expects(t, person.patch(pathOf(fragment), {}), success(), "no parameters: no row is created");
    await expects(t, person.patch(pathOf(fragment), { is_pinned: false }), success(), fragment);
    expected.push({ fragment, is_pinned: false, name: null });
  }
  t.strictSame(await viewsOf(person), expected);
  await expects(t, person.patch("/navigation_views/inbox", { is_pinned: true }), success());
  await expects(t, person.delete("/navigation_views/inbox"), success(), "back to the former state");
  t.equal((await viewsOf(person)).length, builtInFragments.size - 1);
  await follower.settled();
  t.strictSame(follower.ofType("navigation_view"), [
    ...expected.map((view) => ({ type: "navigation_view", op: "add", navigation_view: view })),
    { type: "navigation_view", op: "update", fragment: "inbox", data: { is_pinned: true } },
    { type: "navigation_view", op: "remove", fragment: "inbox" },
  ]);
});

t.test("[spec 4.17] a fragment may contain slashes and characters that must be escaped in a path", async (t) => {
  const person = await newUser();
  const fragments = [
    "narrow/channel/7-general/topic/a.20b",
    "narrow/near/1?x=y#z",
    "100% of it",
    "a%2Fb",
    "über/日本語/🙂",
    "ends/with/",
    "with//two",
  ];
  for (const fragment of fragments) {
    const made = await person.post("/navigation_views", { fragment, is_pinned: true, name: `view of ${fragment}` });
    t.strictSame(outcome(made), success(), fragment);
    await expects(t, person.patch(pathOf(fragment), { is_pinned: false }), success(), fragment);
    const [seen] = (await viewsOf(person)).filter((view) => view.fragment === fragment);
    t.strictSame(seen, { fragment, is_pinned: false, name: `view of ${fragment}` });
  }
  // An escaped slash equals a slash: as one segment and as several.
  const [first = ""] = fragments;
  await expects(t, person.patch(`/navigation_views/${encodeURIComponent(first)}`, {}), success());
  for (const fragment of fragments) await expects(t, person.delete(pathOf(fragment)), success(), fragment);
  t.strictSame(await viewsOf(person), []);
  t.equal((await person.patch("/navigation_views/%ff", {})).status, 400);
});

t.test("[spec 4.17] users of every role have their own views", async (t) => {
  for (const client of await oneOfEachKind(server)) {
    const path = pathOf(alerted.fragment);
    await expects(t, client.post("/navigation_views", alerted), success(), `made by ${client.userId}`);
    await expects(t, client.patch(path, { is_pinned: false }), success());
    t.strictSame(await viewsOf(client), [{ ...alerted, is_pinned: false }]);
    await expects(t, client.delete(path), success());
    t.strictSame(await viewsOf(client), []);
  }
});

/** Saved snippets: GET, POST, PATCH and DELETE /saved_snippets (spec 2.10, 4.19, 7; D12; behaviour 1.8, 2.19). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Client, type Event, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startClockedServer } from "../support/realtime-clock.ts";
import { startTestServer } from "../support/server.ts";
import { newUsers, oneOfEachKind } from "../support/server-with-users.ts";

const server = await startTestServer(t);
const member = await server.user("member");

const hello = { title: "Hello", content: "Welcome to *this* place." };
const wanted = { event_types: ["saved_snippets", "message"] };
const blank = refusal("Title cannot be empty.");
const missing = refusal("Saved snippet does not exist.", "NOT_FOUND", 404);
const titleMax = limits.saved_snippet_title_code_points_max;
const contentMax = limits.message_code_points_max;

const newUser = newUsers(server);

async function snippetsOf(client: Client): Promise<Event[]> {
  return (await client.get("/saved_snippets")).body.saved_snippets;
}

async function save(client: Client, params: Params = hello): Promise<number> {
  const { body } = await client.post("/saved_snippets", params);
  return body.saved_snippet_id;
}

t.test("[spec 4.19] a new snippet is in the list, in the state and in an event to its owner alone", async (t) => {
  const { server: clocked, clock } = await startClockedServer(t);
  const [person, neighbour] = [await clocked.user("person"), await clocked.user("neighbour")];
  const [own, other] = [await person.follow(wanted), await neighbour.follow(wanted)];
  const created = Math.floor(clock.now() / 1000);
  const made = await person.post("/saved_snippets", { title: "  Hello ", content: " Welcome to *this* place.\n" });
  const id = made.body.saved_snippet_id;
  t.strictSame(outcome(made), success({ saved_snippet_id: id }));
  const snippet = { id, ...hello, date_created: created };
  clock.advance(5000);
  const later = await save(person, { title: "Later", content: "x" });
  t.ok(later > id);
  const all = [snippet, { id: later, title: "Later", content: "x", date_created: created + 5 }];
  await expects(t, person.get("/saved_snippets"), success({ saved_snippets: all }));
  const state = await person.register({ fetch_event_types: ["saved_snippets"] });
  t.strictSame(state["saved_snippets"], all);
  t.strictSame(await snippetsOf(neighbour), []);
  await own.settled();
  const received = all.map((one) => ({ type: "saved_snippets", op: "add", saved_snippet: one }));
  t.strictSame(own.ofType("saved_snippets"), received);
  await other.settled();
  t.strictSame(other.ofType("saved_snippets"), []);
});

t.test("[spec 7, D12] empty, long and missing values are rejected with their messages by POST and PATCH", async (t) => {
  const person = await newUser();
  const id = await save(person);
  const changes = await person.watchChanges();
  const cases: readonly (readonly [Params, object])[] = [
    [{ title: "" }, blank],
    [{ title: " \n" }, blank],
    [{ content: "" }, blank],
    [{ content: "  " }, blank],
    [{ title: "ad\u200bmin" }, refusal("Invalid character in title, at position 3.")],
    [{ title: "t".repeat(titleMax + 1) }, refusal("title is too long (limit: 60 characters)")],
    [{ title: "🙂".repeat(titleMax + 1) }, refusal("title is too long (limit: 60 characters)")],
    [{ content: "c".repeat(contentMax + 1) }, refusal("content is too long (limit: 10000 characters)")],
    [{ title: "", content: "c".repeat(contentMax + 1) }, refusal("content is too long (limit: 10000 characters)")],
  ];
  for (const [params, expected] of cases) {
    await expects(t, person.post("/saved_snippets", { ...hello, ...params }), expected);
    await expects(t, person.patch(`/saved_snippets/${id}`, params), expected);
  }
  for (const name of ["title", "content"]) {
    const expected = refusal(`Missing '${name}' argument`, "REQUEST_VARIABLE_MISSING", 400, { var_name: name });
    await expects(t, person.post("/saved_snippets", { ...hello, [name]: undefined }), expected);
  }
  t.strictSame(await changes(), []);
  t.match(await snippetsOf(person), [hello]);
});

t.test("[behaviour 1.8] title and content are accepted at their limits, in code points after trimming", async (t) => {
  const person = await newUser();
  const longest = { title: "🙂".repeat(titleMax), content: "🙂".repeat(contentMax) };
  await save(person, { title: ` ${longest.title} `, content: `\n${longest.content} ` });
  t.match(await snippetsOf(person), [longest]);
});

t.test("[S3] saved_snippets_per_user_max: one more is rejected until one is deleted", async (t) => {
  const person = await newUser();
  const countMax = limits.saved_snippets_per_user_max;
  const rows = Array.from({ length: countMax - 1 }, (_, index) => {
    const id = 1_000_000 + index;
    return [[person.userId, id], { id, userId: person.userId, ...hello, createdAt: 0 }] as const;
  });
  server.writeMany("savedSnippets", rows);
  const last = await save(person);
  t.equal((await snippetsOf(person)).length, countMax);
  await expects(t, person.post("/saved_snippets", hello), "Too many saved snippets");
  await expects(t, person.delete(`/saved_snippets/${last}`), success());
  t.equal((await person.post("/saved_snippets", hello)).status, 200);
});

t.test("only values sent change; the event has the whole snippet, and only after a change", async (t) => {
  const person = await newUser();
  const id = await save(person);
  const [{ date_created: created }] = await snippetsOf(person);
  const follower = await person.follow(wanted);
  const steps: readonly (readonly [Params, object])[] = [
    [{ title: " New " }, { title: "New", content: hello.content }],
    [{ content: "Text" }, { title: "New", content: "Text" }],
    [
      { title: "Both", content: "again" },
      { title: "Both", content: "again" },
    ],
  ];
  for (const [params, expected] of steps) {
    await expects(t, person.patch(`/saved_snippets/${id}`, params), success());
    await expects(t, person.patch(`/saved_snippets/${id}`, params), success(), "repeating it changes nothing");
    t.strictSame(await snippetsOf(person), [{ id, ...expected, date_created: created }]);
  }
  await expects(t, person.patch(`/saved_snippets/${id}`, {}), success());
  await follower.settled();
  t.strictSame(
    follower.ofType("saved_snippets"),
    steps.map(([, whole]) => ({
      type: "saved_snippets",
      op: "update",
      saved_snippet: { id, ...whole, date_created: created },
    })),
  );
});

t.test("a snippet is deleted once, with an event to its owner", async (t) => {
  const person = await newUser();
  const id = await save(person);
  const follower = await person.follow(wanted);
  await expects(t, person.delete(`/saved_snippets/${id}`), success());
  await expects(t, person.delete(`/saved_snippets/${id}`), missing);
  await expects(t, person.patch(`/saved_snippets/${id}`, { title: "x" }), missing);
  t.strictSame(await snippetsOf(person), []);
  await follower.settled();
  t.strictSame(follower.ofType("saved_snippets"), [{ type: "saved_snippets", op: "remove", saved_snippet_id: id }]);
  t.ok((await save(person)) > id, "no id is used twice");
});

t.test("[S1] another user's snippet gets the answer for a missing one", async (t) => {
  const person = await newUser();
  const id = await save(person);
  const changes = await person.watchChanges();
  for (const where of [id, 0, 999_999_999_999]) {
    await expects(t, member.patch(`/saved_snippets/${where}`, { title: "x" }), missing);
    await expects(t, member.delete(`/saved_snippets/${where}`), missing);
  }
  t.equal((await member.delete("/saved_snippets/abc")).status, 404);
  t.match(await snippetsOf(person), [hello]);
  t.strictSame(await changes(), []);
});

t.test("[behaviour 2.19] every user can save snippets, guests and bots included", async (t) => {
  for (const client of await oneOfEachKind(server)) {
    const id = await save(client);
    await expects(t, client.patch(`/saved_snippets/${id}`, { title: "x" }), success(), `${client.userId}`);
    t.match(await snippetsOf(client), [{ id, title: "x" }]);
    await expects(t, client.delete(`/saved_snippets/${id}`), success());
  }
});

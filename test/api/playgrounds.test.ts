/**
 * Code playgrounds (spec 4.18; public API: /realm/playgrounds): creation, the list in /register and events, removal.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, guest } = await startServerWithUsers(t, [
  "administrator",
  "moderator",
  "guest",
]);

const python = {
  name: "Python playground",
  pygments_language: "Python",
  url_template: "https://python.example/run?code={code}",
};
const listed = async (client = owner) =>
  (await client.register({ fetch_event_types: ["realm_playgrounds"] }))["realm_playgrounds"];

async function clear() {
  for (const { id } of (await listed()) as { id: number }[]) await owner.delete(`/realm/playgrounds/${id}`);
}

t.test("[spec 4.18] administrators add and remove playgrounds; everybody gets them in state and events", async (t) => {
  const follower = await guest.follow({ event_types: ["realm_playgrounds", "message"] });
  t.strictSame(await listed(guest), []);
  const first = (await owner.post("/realm/playgrounds", python)).body.id;
  const rust = { name: " Rust ", pygments_language: "rust", url_template: " https://rust.example/{?code} " };
  const second = (await administrator.post("/realm/playgrounds", rust)).body.id;
  t.ok(Number.isInteger(first) && second > first, "the answer has the id");
  const both = [
    { id: first, ...python },
    { id: second, name: "Rust", pygments_language: "rust", url_template: "https://rust.example/{?code}" },
  ];
  t.strictSame(await listed(guest), both);
  await expects(t, administrator.delete(`/realm/playgrounds/${first}`), success());
  await follower.settled();
  const last = follower.ofType("realm_playgrounds").at(-1);
  t.equal(follower.ofType("realm_playgrounds").length, 3);
  t.strictSame(last, { type: "realm_playgrounds", realm_playgrounds: await listed(guest) }, "events = fresh state");
  t.strictSame(await listed(), [both[1]]);
  await clear();
});

t.test("[spec 4.18] only administrators change playgrounds", async (t) => {
  const { id } = (await owner.post("/realm/playgrounds", python)).body;
  const refused = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
  for (const by of [moderator, guest]) {
    await expects(t, by.post("/realm/playgrounds", { ...python, name: "Mine" }), refused);
    await expects(t, by.delete(`/realm/playgrounds/${id}`), refused);
  }
  t.strictSame(await listed(), [{ id, ...python }]);
  await clear();
});

t.test("[spec 4.18] the URL must be an RFC 6570 template with exactly one variable `code`", async (t) => {
  const missing = 'Missing the required variable "code" in the URL template';
  const more = '"code" should be the only variable present in the URL template';
  const cases: [string, string][] = [
    ["https://x.example/run", missing],
    ["https://x.example/{Code}", missing],
    ["https://x.example/{source}", missing],
    ["https://x.example/{code}{lang}", more],
    ["https://x.example/{?lang,code}", more],
    ...["javascript:alert({code})", "data:text/html,{code}", "{+code}", "//x.example/{code}", "x.example/{code}"].map(
      (bad): [string, string] => [bad, "The URL template must begin with https:// or http://."],
    ),
    ["https://x.example/{code", "Invalid URL template."],
    ["https://x.example/code}", "Invalid URL template."],
    ["https://x.example/{}", "Invalid URL template."],
    ["https://x.example/{=code}", "Invalid URL template."],
    ["https://x.example/{co de}", "Invalid URL template."],
    ["  ", "This field cannot be blank."],
  ];
  for (const [template, message] of cases) {
    const answer = await owner.post("/realm/playgrounds", { ...python, url_template: template });
    t.strictSame(outcome(answer), refusal(message), template);
  }
  const good = [
    "{+code}",
    "{#code}",
    "{/code}",
    "{;code}",
    "{?code}",
    "{&code}",
    "{code:9}",
    "{code*}",
    "{code}{code}",
  ];
  for (const expression of good) {
    const made = { ...python, name: expression, url_template: `https://x.example/a${expression}` };
    t.equal((await owner.post("/realm/playgrounds", made)).status, 200, expression);
  }
  await clear();
});

t.test("[D113] `pygments_language` is stored as sent, without a check that the lexer exists", async (t) => {
  for (const language of ["Python", "PYTHON", "c++", "C#", "no-such.lexer/1", " spaced "]) {
    t.equal((await owner.post("/realm/playgrounds", { ...python, pygments_language: language })).status, 200);
    const all = (await listed()) as { pygments_language: string }[];
    t.equal(all.at(-1)?.pygments_language, language);
  }
  t.equal(((await listed()) as unknown[]).length, 6, "another spelling is another language");
  await clear();
});

t.test("[spec 4.18, S3] names and languages are required, not blank, and limited in length", async (t) => {
  for (const name of ["name", "pygments_language", "url_template"]) {
    const { [name]: _left, ...rest } = python as Params;
    const answer = await owner.post("/realm/playgrounds", rest);
    t.match(answer.body, { code: "REQUEST_VARIABLE_MISSING", var_name: name });
    const blank = await owner.post("/realm/playgrounds", { ...python, [name]: " " });
    t.strictSame(outcome(blank), refusal("This field cannot be blank."));
  }
  const bounds: [string, (length: number) => string, number][] = [
    ["name", (length) => "😀".repeat(length), limits.playground_name_code_points_max],
    ["pygments_language", (length) => "l".repeat(length), limits.code_language_code_points_max],
    ["url_template", (length) => `https://{code}${"a".repeat(length - 14)}`, limits.url_code_points_max],
  ];
  for (const [name, text, max] of bounds) {
    t.equal(
      (await owner.post("/realm/playgrounds", { ...python, [name]: text(max) })).status,
      200,
      `${name} at its bound`,
    );
    const over = await owner.post("/realm/playgrounds", { ...python, [name]: text(max + 1) });
    t.strictSame(outcome(over), refusal(`${name} is too long (limit: ${max} characters)`));
  }
  const odd = await owner.post("/realm/playgrounds", { ...python, pygments_language: "py<b>" });
  t.strictSame(outcome(odd), refusal("Invalid characters in pygments language"));
  await clear();
});

t.test("a name is unique per language, and an unknown playground cannot be deleted", async (t) => {
  await owner.post("/realm/playgrounds", python);
  const again = refusal("Realm playground with this Realm, Pygments language and Name already exists.");
  await expects(t, owner.post("/realm/playgrounds", python), again);
  t.equal((await owner.post("/realm/playgrounds", { ...python, name: "Other" })).status, 200);
  await expects(t, owner.delete("/realm/playgrounds/9999"), "Invalid playground");
  await clear();
});

t.test("[S3] playgrounds_per_realm_max: one more is rejected", async (t) => {
  for (let id = 1; id < limits.playgrounds_per_realm_max; id++) {
    server.write("playgrounds", 10_000 + id, {
      id: 10_000 + id,
      name: `p${id}`,
      language: "x",
      urlTemplate: "https://x.example/{code}",
    });
  }
  t.equal((await owner.post("/realm/playgrounds", python)).status, 200);
  const over = await owner.post("/realm/playgrounds", { ...python, name: "over" });
  t.strictSame(outcome(over), refusal("Too many playgrounds"));
});

t.test("[D277] a stored playground with another scheme than http and https is shown to no client", async (t) => {
  server.write("playgrounds", 900, { id: 900, name: "Old", language: "x", urlTemplate: "javascript:alert({code})" });
  const shown = (await listed(guest)) as { name: string }[];
  t.notOk(shown.some(({ name }) => name === "Old"));
  t.equal((await owner.delete("/realm/playgrounds/900")).status, 200);
});

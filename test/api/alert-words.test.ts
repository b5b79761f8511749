/** Alert words: GET, POST and DELETE /users/me/alert_words (public API: alert words). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { expects, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { newUsers, oneOfEachKind } from "../support/server-with-users.ts";

const server = await startTestServer(t);
const member = await server.user("member");
const path = "/users/me/alert_words";
const wanted = { event_types: ["alert_words", "message"] };
const wordMax = limits.alert_word_code_points_max;

const newUser = newUsers(server);

function words(...list: readonly string[]) {
  return success({ alert_words: list });
}

t.test("POST adds words, returns the list, sends an event to the owner", async (t) => {
  const person = await newUser();
  const [own, other] = [await person.follow(wanted), await member.follow(wanted)];
  await expects(t, person.get(path), words());
  const steps: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["soup"], ["soup"]],
    [
      ["Natural", " two words "],
      ["Natural", "soup", "two words"],
    ],
    [
      ["apple", "SOUP", "apple"],
      ["apple", "Natural", "soup", "two words"],
    ],
  ];
  for (const [given, expected] of steps) {
    await expects(t, person.post(path, { alert_words: given }), words(...expected));
    await expects(t, person.get(path), words(...expected));
    t.strictSame((await person.register({ fetch_event_types: ["alert_words"] }))["alert_words"], expected);
  }
  await expects(t, member.get(path), words(), "other users do not see them");
  await own.settled();
  t.strictSame(
    own.ofType("alert_words"),
    steps.map(([, expected]) => ({ type: "alert_words", alert_words: expected })),
  );
  await other.settled();
  t.strictSame(other.ofType("alert_words"), []);
});

t.test("DELETE removes words whatever their case and ignores unknown ones", async (t) => {
  const person = await newUser();
  await person.post(path, { alert_words: ["one", "Two", "three", "Ärger"] });
  const follower = await person.follow(wanted);
  await expects(t, person.delete(path, { alert_words: ["TWO", " one ", "four"] }), words("three", "Ärger"));
  await expects(t, person.delete(path, { alert_words: ["ÄRGER"] }), words("three"));
  await expects(t, person.delete(path, { alert_words: ["x".repeat(5000)] }), words("three"));
  await expects(t, person.delete(path, { alert_words: ["three"] }), words());
  await follower.settled();
  const alertWords = follower.ofType("alert_words").map((event) => event.alert_words);
  t.strictSame(alertWords, [["three", "Ärger"], ["three"], []]);
});

t.test("existing, blank and unknown words change nothing and send no event", async (t) => {
  const person = await newUser();
  await person.post(path, { alert_words: ["Here"] });
  const changes = await person.watchChanges();
  for (const given of [[], ["here", "HERE "], ["", "  "]]) {
    await expects(t, person.post(path, { alert_words: given }), words("Here"), "the first spelling is kept");
  }
  for (const given of [[], ["there"], [""]]) {
    await expects(t, person.delete(path, { alert_words: given }), words("Here"));
  }
  t.strictSame(await changes(), []);
});

t.test("each kind of invalid input is rejected with its error message", async (t) => {
  const person = await newUser();
  const changes = await person.watchChanges();
  const cases: readonly (readonly [Params, object])[] = [
    [{ alert_words: ["x".repeat(wordMax + 1)] }, refusal("alert_words[0] is too long (limit: 100 characters)")],
    [{ alert_words: ["a", "🙂".repeat(wordMax + 1)] }, refusal("alert_words[1] is too long (limit: 100 characters)")],
    [{ alert_words: [`${"x".repeat(70)}\0`] }, refusal("Invalid character in alert word, at position 71.")],
    [{ alert_words: ["soup", "\u001b[2J"] }, refusal("Invalid character in alert word, at position 1.")],
    [{ alert_words: ["a\nb"] }, refusal("Invalid character in alert word, at position 2.")],
    [{ alert_words: "word" }, refusal("alert_words is not valid JSON")],
    [{ alert_words: '"word"' }, refusal("alert_words is not a list")],
    [{ alert_words: [1] }, refusal("alert_words[0] is not a string")],
    [{ alert_words: null }, refusal("alert_words is not a list")],
    [{}, refusal("Missing 'alert_words' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "alert_words" })],
  ];
  for (const [params, expected] of cases) await expects(t, person.post(path, params), expected);
  for (const [params, expected] of cases.slice(5)) {
    await expects(t, person.delete(path, params), expected);
  }
  t.strictSame(await changes(), []);
  const longest = "🙂".repeat(wordMax);
  await expects(t, person.post(path, { alert_words: [longest] }), words(longest));
  await expects(t, person.delete(path, { alert_words: [longest] }), words());
});

t.test("[S3] alert_words_per_user_max: one more is rejected, in one request and across requests", async (t) => {
  const person = await newUser();
  const countMax = limits.alert_words_per_user_max;
  const many = Array.from({ length: countMax + 1 }, (_, index) => `word${index}`);
  const tooLong = refusal(`alert_words is too long (limit: ${countMax} items)`);
  await expects(t, person.post(path, { alert_words: many }), tooLong);
  await expects(t, person.delete(path, { alert_words: many }), tooLong);
  const known = many.slice(2).map((word) => [[person.userId, word], { word }] as const);
  server.writeMany("alertWords", known);
  const tooMany = refusal("Too many alert words");
  await expects(t, person.post(path, { alert_words: ["a", "b"] }), tooMany);
  t.equal((await person.post(path, { alert_words: ["a"] })).body.alert_words.length, countMax);
  await expects(t, person.post(path, { alert_words: ["b"] }), tooMany);
  t.equal(
    (await person.post(path, { alert_words: ["A", "word7"] })).status,
    200,
    "adding an existing word is not rejected",
  );
});

t.test("every user has their own list, guests and bots included", async (t) => {
  const everybody = await oneOfEachKind(server);
  for (const client of everybody) {
    const own = `word of ${client.userId}`;
    await expects(t, client.post(path, { alert_words: [own] }), words(own));
  }
  for (const client of everybody) await expects(t, client.get(path), words(`word of ${client.userId}`));
  for (const client of everybody) {
    await expects(t, client.delete(path, { alert_words: [`word of ${client.userId}`] }), words());
  }
});

/**
 * Custom profile fields (public API: /realm/profile_fields): creation, list, changes, order, deletion. Values are
 * tested in profile-data.test.ts.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { makeBot } from "../support/bots.ts";
import { expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { colours, enter, fieldSeenBy, fieldsSeenBy, fieldTypes, makeField, profileOf } from "../support/profiles.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";

const { server, owner, administrator, moderator, member, guest } = await startServerWithUsers(t, everyRole);
const { bot } = await makeBot(member, "reader");

const notAdministrator = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
const notFound = (id: number) => refusal(`Field id ${id} not found.`);
const custom = { subtype: "custom", url_pattern: "https://forge.example/%(username)s" };

t.test("everybody sees the fields as created, in the order of creation", async (t) => {
  await expects(t, guest.get("/realm/profile_fields"), success({ custom_fields: [] }));
  const made = [
    await makeField(owner, " Phone ", fieldTypes.short),
    await makeField(administrator, "Colour", fieldTypes.list, {
      hint: "which one?",
      field_data: colours,
      display_in_profile_summary: true,
      required: true,
      editable_by_user: false,
    }),
    await makeField(owner, "Forge", fieldTypes.account, { field_data: custom }),
    await makeField(owner, "ignored for known sites", fieldTypes.account, { field_data: { subtype: "github" } }),
    await makeField(owner, "Born", fieldTypes.date, { field_data: { of: "no use" } }),
  ];
  const common = { hint: "", field_data: "", required: false, editable_by_user: true };
  const expected = [
    { ...common, name: "Phone", type: 1 },
    {
      ...common,
      name: "Colour",
      type: 3,
      hint: "which one?",
      field_data: JSON.stringify(colours),
      required: true,
      editable_by_user: false,
      display_in_profile_summary: true,
    },
    { ...common, name: "Forge", type: 7, field_data: JSON.stringify(custom) },
    { ...common, name: "GitHub username", type: 7, field_data: '{"subtype":"github"}' },
    { ...common, name: "Born", type: 4 },
  ].map((field, index) => ({ ...field, id: made[index], order: made[index] }));
  for (const client of [owner, member, guest, bot]) t.same(await fieldsSeenBy(client), expected);
  t.equal((await owner.anonymous().get("/realm/profile_fields")).status, 401);
});

t.test("the state has the fields, their types and the predefined sites", async (t) => {
  const state = await guest.register({ fetch_event_types: ["custom_profile_fields", "realm"] });
  t.strictSame(state["custom_profile_fields"], await fieldsSeenBy(guest));
  t.strictSame(state["custom_profile_field_types"], {
    SHORT_TEXT: { id: 1, name: "Text (short)" },
    LONG_TEXT: { id: 2, name: "Text (long)" },
    SELECT: { id: 3, name: "List of options" },
    DATE: { id: 4, name: "Date" },
    URL: { id: 5, name: "Link" },
    USER: { id: 6, name: "Users" },
    EXTERNAL_ACCOUNT: { id: 7, name: "External account" },
    PRONOUNS: { id: 8, name: "Pronouns" },
  });
  const sites = state["realm_default_external_accounts"] as Record<string, object>;
  t.strictSame(Object.keys(sites["github"] ?? {}).sort(), ["hint", "name", "text", "url_pattern"]);
});

t.test("only administrators change fields", async (t) => {
  const id = await makeField(owner, "Guarded", fieldTypes.short);
  const operations = {
    create: () => [`/realm/profile_fields`, { name: "x", field_type: 1 }, "POST"] as const,
    update: () => [`/realm/profile_fields/${id}`, { hint: "y" }, "PATCH"] as const,
    reorder: () => [`/realm/profile_fields`, { order: [] }, "PATCH"] as const,
    delete: () => [`/realm/profile_fields/${id}`, {}, "DELETE"] as const,
  };
  for (const [name, operation] of Object.entries(operations)) {
    const [path, params, method] = operation();
    for (const client of [moderator, member, guest, bot]) {
      const answer = await { POST: client.post, PATCH: client.patch, DELETE: client.delete }[method].call(
        client,
        path,
        params,
      );
      t.strictSame(outcome(answer), notAdministrator, `${name} by ${client.account?.email}`);
    }
  }
  t.match(await fieldSeenBy(owner, id), { hint: "" });
  t.equal((await administrator.patch(`/realm/profile_fields/${id}`, { hint: "z" })).status, 200);
  t.equal((await administrator.delete(`/realm/profile_fields/${id}`)).status, 200);
});

const long = (length: number) => "n".repeat(length);
const nameMax = limits.profile_field_name_code_points_max;
const hintMax = limits.profile_field_hint_code_points_max;

t.test("each invalid new field is rejected with its exact error message, and nothing changes", async (t) => {
  await makeField(owner, "Taken", fieldTypes.short);
  await makeField(owner, "Second in summary", fieldTypes.short, { display_in_profile_summary: true });
  const changes = await owner.watchChanges();
  const list = (field_data: unknown) => ({ field_type: 3, field_data });
  const account = (field_data: unknown) => ({ field_type: 7, field_data });
  const choice = { text: "A", order: "1" };
  const cases: readonly (readonly [Params, string])[] = [
    [{ name: "" }, "Label cannot be blank."],
    [{ name: undefined }, "Label cannot be blank."],
    [{ name: "   " }, "Label cannot be blank."],
    [{ name: long(nameMax + 1) }, `name is too long (limit: ${nameMax} characters)`],
    [{ hint: long(hintMax + 1) }, `hint is too long (limit: ${hintMax} characters)`],
    [{ name: "Taken" }, "A field with that label already exists."],
    [{ name: " Taken " }, "A field with that label already exists."],
    [{ field_type: 0 }, "Invalid field type."],
    [{ field_type: 9 }, "Invalid field type."],
    [{ field_type: "x" }, "field_type is not valid JSON"],
    [{ field_data: [] }, "field_data is not a dict"],
    [{ required: 1 }, "required is not a boolean"],
    [{ display_in_profile_summary: true }, "Only 2 custom profile fields can be displayed in the profile summary."],
    [list(undefined), "Field must have at least one choice."],
    [list({}), "Field must have at least one choice."],
    [list({ "": choice }), "'value' cannot be blank."],
    [list({ a: "A" }), "field_data is not a dict"],
    [list({ a: { order: "1" } }), "text key is missing from field_data"],
    [list({ a: { text: "A" } }), "order key is missing from field_data"],
    [list({ a: { text: "A", order: 1 } }), 'field_data["order"] is not a string'],
    [list({ a: { text: " ", order: "1" } }), 'field_data["text"] cannot be blank.'],
    [list({ a: { ...choice, more: "x" } }), "Unexpected arguments: more"],
    [list({ a: choice, b: { ...choice, order: "2" } }), "Field must not have duplicate choices."],
    [
      list({ a: { text: long(limits.profile_field_data_code_points_max), order: "1" } }),
      `field_data is too long (limit: ${limits.profile_field_data_code_points_max} characters)`,
    ],
    [account(undefined), "subtype key is missing from field_data"],
    [account({ subtype: "" }), 'field_data["subtype"] cannot be blank.'],
    [account({ subtype: 7 }), 'field_data["subtype"] is not a string'],
    [account({ subtype: "elsewhere" }), "Invalid external account type"],
    [account({ subtype: "constructor" }), "Invalid external account type"],
    [account({ subtype: "custom" }), "Custom external account must define URL pattern"],
    [account({ subtype: "custom", url_pattern: "https://e.com" }), "URL pattern must contain '%(username)s'."],
    [
      account({ subtype: "custom", url_pattern: "https://e.com/%(username)s/%(username)s" }),
      "URL pattern must contain '%(username)s'.",
    ],
    [account({ subtype: "custom", url_pattern: "%(username)s" }), 'field_data["url_pattern"] is not a URL'],
    [account({ ...custom, more: 1 }), "Unexpected arguments: more"],
  ];
  for (const [params, msg] of cases) {
    const answer = await owner.post("/realm/profile_fields", { name: "New", field_type: 1, ...params });
    t.strictSame(outcome(answer), refusal(msg), JSON.stringify(params).slice(0, 120));
  }
  const missing = refusal("Missing 'field_type' argument", "REQUEST_VARIABLE_MISSING", 400, {
    var_name: "field_type",
  });
  await expects(t, owner.post("/realm/profile_fields", { name: "New" }), missing);
  t.strictSame(await changes(), []);
});

t.test("long text and user fields cannot be in the profile summary; two fields in it may still change", async (t) => {
  for (const field of await fieldsSeenBy(owner)) {
    if (field.display_in_profile_summary) await owner.delete(`/realm/profile_fields/${field.id}`);
  }
  const unsupported = refusal("Field type not supported for display in profile summary.");
  for (const type of [fieldTypes.long, fieldTypes.people]) {
    const params = { name: "Large", field_type: type, display_in_profile_summary: true };
    await expects(t, owner.post("/realm/profile_fields", params), unsupported);
    const id = await makeField(owner, `Large ${type}`, type);
    const shown = await owner.patch(`/realm/profile_fields/${id}`, { display_in_profile_summary: true });
    t.strictSame(outcome(shown), unsupported);
  }
  const first = await makeField(owner, "S1", fieldTypes.short, { display_in_profile_summary: true });
  await makeField(owner, "S2", fieldTypes.short, { display_in_profile_summary: true });
  const third = await makeField(owner, "S3", fieldTypes.short);
  const full = refusal("Only 2 custom profile fields can be displayed in the profile summary.");
  const show = (id: number, shows: boolean) =>
    owner.patch(`/realm/profile_fields/${id}`, { display_in_profile_summary: shows });
  await expects(t, show(third, true), full);
  t.equal((await show(first, true)).status, 200, "it already is one of the two");
  t.equal((await show(first, false)).status, 200);
  t.equal((await show(third, true)).status, 200);
  t.match(await fieldSeenBy(owner, third), { display_in_profile_summary: true });
  t.notOk("display_in_profile_summary" in (await fieldSeenBy(owner, first)), "present only if true");
});

t.test("[S3] name, hint and data of a field are accepted at their limits, in code points", async (t) => {
  const room = limits.profile_field_data_code_points_max - JSON.stringify({ a: { text: "", order: "1" } }).length;
  const choices = { a: { text: "🙂".repeat(room), order: "1" } };
  const id = await makeField(owner, "🙂".repeat(nameMax), fieldTypes.list, {
    hint: "🙂".repeat(hintMax),
    field_data: choices,
  });
  t.match(await fieldSeenBy(owner, id), { name: "🙂".repeat(nameMax), field_data: JSON.stringify(choices) });
  await owner.delete(`/realm/profile_fields/${id}`);
});

t.test("[S3] profile_fields_max limits the fields of an organization", async (t) => {
  const full = await startTestServer(t);
  for (let id = 1001; id < 1000 + limits.profile_fields_max; id++) {
    full.write("profileFields", id, {
      id,
      type: 1,
      name: `n${id}`,
      hint: "",
      order: id,
      fieldData: "",
      displayInSummary: false,
      isRequired: false,
      isEditableByUser: true,
      isUsedForMatching: false,
    });
  }
  const last = await full.owner.post("/realm/profile_fields", { name: "last", field_type: 1 });
  t.equal(last.status, 200);
  t.equal((await fieldsSeenBy(full.owner)).length, limits.profile_fields_max);
  const more = await full.owner.post("/realm/profile_fields", { name: "one more", field_type: 1 });
  t.strictSame(outcome(more), refusal("Too many profile fields"));
});

t.test("PATCH changes the parameters sent and keeps the others", async (t) => {
  const id = await makeField(owner, "Before", fieldTypes.list, { hint: "h", field_data: colours });
  const change = async (params: Params) => outcome(await owner.patch(`/realm/profile_fields/${id}`, params));
  t.strictSame(await change({ name: " After " }), success());
  t.strictSame(await change({ required: true, editable_by_user: false }), success());
  t.same(await fieldSeenBy(owner, id), {
    id,
    name: "After",
    type: 3,
    hint: "h",
    field_data: JSON.stringify(colours),
    order: id,
    required: true,
    editable_by_user: false,
  });
  t.strictSame(await change({ hint: "" }), success());
  t.match(await fieldSeenBy(owner, id), { hint: "" });
  t.strictSame(await change({ name: "" }), refusal("Label cannot be blank."));
  t.strictSame(await change({ name: "Taken" }), refusal("A field with that label already exists."));
  t.strictSame(await change({ name: "After" }), success(), "its own name");
  t.strictSame(await change({ hint: long(hintMax + 1) }), refusal(`hint is too long (limit: ${hintMax} characters)`));
  t.strictSame(await change({ field_data: {} }), refusal("Field must have at least one choice."));
  const body = (await owner.patch(`/realm/profile_fields/${id}`, { field_type: 1 })).body;
  t.strictSame(body.ignored_parameters_unsupported, ["field_type"]);
  await expects(t, owner.patch("/realm/profile_fields/999999", { name: "x" }), notFound(999_999));
  t.equal((await owner.patch("/realm/profile_fields/x", {})).status, 404);
});

t.test("the field of a predefined site keeps its name; its visibility may change", async (t) => {
  const id = (await fieldsSeenBy(owner)).find((field) => field.name === "GitHub username")?.id;
  const change = async (params: Params) => outcome(await owner.patch(`/realm/profile_fields/${id}`, params));
  const fixed = refusal("Default custom field cannot be updated.");
  t.strictSame(await change({ name: "Other" }), fixed);
  t.strictSame(await change({ hint: "Other" }), fixed);
  t.strictSame(await change({ field_data: custom }), fixed);
  const same = { name: "GitHub username", hint: "", field_data: { subtype: "github" } };
  t.strictSame(await change({ ...same, required: true }), success());
  t.match(await fieldSeenBy(owner, id), { required: true, name: "GitHub username" });
  const again = await owner.post("/realm/profile_fields", { field_type: 7, field_data: { subtype: "github" } });
  t.strictSame(outcome(again), refusal("A field with that label already exists."));
});

t.test("PATCH /realm/profile_fields sets the order, and no field may be missing", async (t) => {
  const before = (await fieldsSeenBy(owner)).map(({ id }) => id);
  const reversed = [...before].reverse();
  await expects(t, owner.patch("/realm/profile_fields", { order: [999_999, ...reversed] }), success());
  const ids = (await fieldsSeenBy(member)).map(({ id }) => id);
  t.strictSame(ids, reversed);
  const last = await makeField(owner, "Last of all", fieldTypes.short);
  const found = (await fieldsSeenBy(member)).map(({ id }) => id);
  t.strictSame(found, [...reversed, last], "a new field is the last one");
  const incomplete = refusal("Invalid order mapping.");
  await expects(t, owner.patch("/realm/profile_fields", { order: reversed }), incomplete);
  await expects(t, owner.patch("/realm/profile_fields", { order: [] }), incomplete);
  await expects(t, owner.patch("/realm/profile_fields", { order: ["a"] }), "order[0] is not an integer");
});

t.test("DELETE removes a field with all its values, and its id is never used again", async (t) => {
  const id = await makeField(owner, "Going", fieldTypes.short);
  for (const person of [member, guest]) t.equal((await enter(person, id, "kept?")).status, 200);
  await expects(t, owner.delete(`/realm/profile_fields/${id}`), success());
  t.equal(await fieldSeenBy(owner, id), undefined);
  for (const person of [member, guest]) t.notOk(id in (await profileOf(person)));
  await expects(t, owner.delete(`/realm/profile_fields/${id}`), notFound(id));
  await server.realm.dispatcher.idle();
  t.equal(server.realm.lmdb.get("profileValues", [member.userId, id]), undefined);
  t.ok((await makeField(owner, "Going", fieldTypes.short)) > id);
});

t.test("removing a choice deletes the values that use it, in slices if there are many", async (t) => {
  const people = await server.users("many", limits.profile_values_per_command_max + 20);
  const id = await makeField(owner, "Shade", fieldTypes.list, { field_data: colours });
  for (const [index, userId] of people.entries()) {
    const value = index % 2 === 0 ? "red" : "blue";
    server.write("profileValues", [userId, id], { userId, fieldId: id, value, renderedValue: null });
  }
  const valuesNow = () => people.map((userId) => server.realm.lmdb.get("profileValues", [userId, id])?.value);
  await expects(t, owner.patch(`/realm/profile_fields/${id}`, { field_data: { blue: colours.blue } }), success());
  await server.realm.dispatcher.idle();
  t.strictSame(
    valuesNow(),
    people.map((_, index) => (index % 2 === 0 ? undefined : "blue")),
  );
  await owner.delete(`/realm/profile_fields/${id}`);
  await server.realm.dispatcher.idle();
  t.ok(valuesNow().every((value) => value === undefined));
});

t.test("[S1] fields of another organization do not exist here", async (t) => {
  const other = await startTestServer(t);
  const id = (await fieldsSeenBy(owner))[0]?.id;
  t.strictSame(await fieldsSeenBy(other.owner), []);
  await expects(t, other.owner.delete(`/realm/profile_fields/${id}`), notFound(id));
});
